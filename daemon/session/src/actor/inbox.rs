//! The messages to an actor: from clients, and from the work it has started.

use std::sync::Arc;

use hooks::{HookChain, Hooks};
use proto::hook::HookFinished;
use proto::item::ToolCall;
use proto::params::hook::ListOutput;
use proto::record::{PlannerFinished, ReasoningExtracted};
use proto::{CallId, Failure, InteractionId, ItemId, Pid, Seq};
use store::log::LogFile;
use tokio::sync::mpsc;
use turn::Judgement;

use crate::actor::Actor;
use crate::actor::commands::rewind::Rewound;
use crate::actor::review::Review;
use crate::assembly::guards::Outdated;
use crate::calls::ahead::EarlyJudgement;
use crate::calls::call::Ready;
use crate::calls::events::CallEvent;
use crate::context::reset::Done;
use crate::journal::JournalEvent;
use crate::reporter::Reporter;

pub(crate) use crate::tasks::Reply;

/// Whole lines of a log: file, offset, length, and the session they belong to.
pub type Page = (Arc<LogFile>, u64, usize, Pid);

/// A request to a session: the actor performs it between two messages.
pub type Command = Box<dyn FnOnce(&mut Actor) + Send>;

/// A report of work that the actor has started.
pub enum Happened {
    /// A writing job has ended.
    Journal(JournalEvent),
    Call(CallEvent),
    /// The catalog knows the state that the session had at this record.
    Cataloged(Seq),
    Judged {
        call: CallId,
        judgement: Box<Judgement>,
        ready: Box<Ready>,
        /// What hooks said to it before.
        hooks: Vec<HookFinished>,
    },
    /// These calls were judged before the machine wants them.
    EarlyJudgement(Vec<EarlyJudgement>),
    /// A reviewer has looked at a call that was judged. `None`: the settings want none.
    Reviewed {
        number: u64,
        call: CallId,
        judgement: Box<Judgement>,
        review: Option<Review>,
    },
    /// The settings forbid more than this call was to be judged by.
    Outdated {
        call: ToolCall,
        outdated: Outdated,
        /// What hooks said to it before.
        hooks: Vec<HookFinished>,
    },
    /// The reasoning of an answer has been turned into lists, or why not.
    ReasoningExtracted {
        number: u64,
        found: Result<ReasoningExtracted, String>,
    },
    /// The request for an MCP server has ended, with or without an answer.
    SamplingEnded {
        number: u64,
    },
    /// Hooks have spoken about the first prompt that waits for them.
    PromptAsked(HookChain),
    /// Hooks have been notified of the turn's end.
    TurnEndNotified(Vec<HookFinished>),
    /// Settings were read again.
    HooksRead {
        read: Box<Hooks>,
        reply: Reply<ListOutput>,
    },
    /// The context window of the session's model as it is known now, in tokens; 0: unknown.
    ContextWindow {
        model: String,
        tokens: u64,
    },
    /// The planner has ended.
    Planned(Box<PlannerFinished>),
    RestartDue,
    RetryDue {
        item: ItemId,
        attempt: u32,
    },
    TimeUp {
        turn: u64,
    },
    /// The rule of an answer that holds always is on disk, or will not be.
    RuleKept {
        id: InteractionId,
        kept: Result<(), Failure>,
    },
    /// A job that changes earlier bytes of requests has ended.
    ResetReady {
        number: u64,
        done: Box<Done>,
    },
    /// The session has gone back.
    Rewound(Box<Rewound>),
    /// It has not.
    NotRewound,
    /// Calls that were asked to stop should have come back by now.
    Overdue {
        calls: Vec<CallId>,
    },
}

/// Puts the events of a session's calls into its inbox.
pub(crate) fn call_reporter(happened: &mpsc::UnboundedSender<Happened>) -> Reporter<CallEvent> {
    let happened = happened.clone();
    // An actor that has ended takes no events.
    Reporter::new(move |event| drop(happened.send(Happened::Call(event))))
}

/// Puts the events of a session's log into its inbox.
pub(crate) fn journal_reporter(
    happened: &mpsc::UnboundedSender<Happened>,
) -> Reporter<JournalEvent> {
    let happened = happened.clone();
    // As for calls.
    Reporter::new(move |event| drop(happened.send(Happened::Journal(event))))
}
