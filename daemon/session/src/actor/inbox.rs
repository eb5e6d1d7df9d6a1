//! What an actor is told: by clients, and by the work it has started.

use std::collections::BTreeMap;
use std::sync::Arc;

use hooks::{HookChain, Hooks};
use proto::hook::HookFinished;
use proto::params::Empty;
use proto::params::compact::{CompactOutput, CompactParams, PinParams};
use proto::params::forecast::Forecast;
use proto::params::history::RewindParams;
use proto::params::hook::ListOutput;
use proto::params::interaction::AnswerParams;
use proto::params::session::{
    EditParams, InspectOutput, InspectPart, PromptOutput, QueueOutput, ReorderParams,
    SessionSummary, Signal, SignalOutput, Until, WaitOutput, When,
};
use proto::record::{ReasoningExtracted, SessionSet};
use proto::state::OnAsk;
use proto::{CallId, Failure, InteractionId, ItemId, Pid, PromptId, RequestId, Seq};
use store::log::LogFile;
use tokio::sync::{mpsc, oneshot};
use turn::Judgement;

use crate::actor::departure::Leave;
use crate::actor::rewind::{Begun, Marks, Rewound};
use crate::calls::call::Ready;
use crate::calls::events::CallEvent;
use crate::calls::permissions::Standing;
use crate::context::reset::Done;
use crate::journal::JournalEvent;
use crate::reporter::Reporter;
use crate::request::blocks::Makeup;
use crate::request::in_flight::Material;
use crate::viewers::fanout::{Join, Joined};
use checkpoint::Checkpoint;

pub use crate::tasks::Reply;

/// Whole lines of a log: file, offset, length, and the session they belong to.
pub type Page = (Arc<LogFile>, u64, usize, Pid);

/// A prompt, and what came with it.
pub struct Prompting {
    pub text: String,
    pub when: When,
    pub on_ask: Option<OnAsk>,
    pub request_id: Option<RequestId>,
    pub by: String,
    pub credentials: BTreeMap<String, String>,
    pub env: BTreeMap<String, String>,
    /// What the model is told beside it.
    pub note: Option<String>,
    pub reply: Reply<PromptOutput>,
}

/// What clients want of a session.
pub enum Command {
    Prompt(Prompting),
    Unqueue {
        prompt_id: PromptId,
        reply: Reply<Empty>,
    },
    Edit {
        params: EditParams,
        by: String,
        reply: Reply<QueueOutput>,
    },
    Reorder {
        params: ReorderParams,
        by: String,
        reply: Reply<QueueOutput>,
    },
    /// What the next prompt costs as things stand.
    Forecast {
        reply: Reply<Forecast>,
    },
    Set {
        set: Box<SessionSet>,
        /// What people are told of it.
        notice: Option<String>,
        reply: Reply<SessionSummary>,
    },
    Signal {
        signal: Signal,
        request_id: Option<RequestId>,
        by: String,
        reply: Reply<SignalOutput>,
    },
    Close {
        reply: Reply<Empty>,
    },
    Wait {
        until: Until,
        reply: Reply<WaitOutput>,
    },
    Answer {
        params: AnswerParams,
        by: String,
        reply: Reply<Empty>,
    },
    /// A subscriber asks to be fed, from the log or live.
    Join {
        join: Join,
        reply: oneshot::Sender<Result<Joined, Failure>>,
    },
    /// Where the durable lines from this record on stand.
    Lines {
        from: Seq,
        reply: Reply<Option<Page>>,
    },
    /// Keys that came with a hello.
    Credentials(BTreeMap<String, String>),
    /// The daemon hands over: sleep before the next step, or `now`.
    Suspend {
        now: bool,
        reply: oneshot::Sender<()>,
    },
    /// The rules in force, and what else judging depends on.
    Standing {
        reply: Reply<Standing>,
    },
    /// Leave memory.
    Leave(Leave),
    /// Somebody is about to end one of its commands in the background.
    ChildKilled {
        pid: Pid,
        by: String,
        reply: Reply<Empty>,
    },
    /// What a request up to this record is made from.
    Material {
        upto: Seq,
        reply: Reply<Material>,
    },
    /// The same, with what is known of the newest request.
    Makeup {
        reply: Reply<Makeup>,
    },
    Inspect {
        part: InspectPart,
        reply: Reply<InspectOutput>,
    },
    /// Go back to an earlier turn, or take that back.
    Rewind {
        params: RewindParams,
        by: String,
        reply: Reply<Begun>,
    },
    /// Compact the context, say what that would do, or take it back.
    Compact {
        params: CompactParams,
        reply: Reply<CompactOutput>,
    },
    /// Keep a message word for word, or no longer.
    Pin {
        params: PinParams,
        by: String,
        reply: Reply<Empty>,
    },
    /// What a rewind is about to change.
    KeepForRewind {
        kept: Checkpoint,
        /// The rewind that is taken back by it.
        undoes: Option<Seq>,
        reply: Reply<()>,
    },
    /// The hooks that it uses.
    Hooks {
        reply: Reply<ListOutput>,
    },
    /// Read them again.
    ReloadHooks {
        reply: Reply<ListOutput>,
    },
    /// The turns that are shown.
    Marks {
        reply: Reply<Marks>,
    },
    /// The daemon goes down: stop what runs, write what there is, and end.
    Shutdown {
        reply: oneshot::Sender<()>,
    },
}

impl Command {
    /// Whether the session is to do something, and not only to show or to end.
    pub fn changes(&self) -> bool {
        !matches!(
            self,
            // Nothing runs in a session that is closed: there is nothing to interrupt, and nobody waits for that.
            Self::Signal {
                signal: Signal::Int,
                ..
            } | Self::Wait { .. }
                | Self::Join { .. }
                | Self::Lines { .. }
                | Self::Credentials(_)
                | Self::Leave(_)
                | Self::ChildKilled { .. }
                | Self::Material { .. }
                | Self::Makeup { .. }
                | Self::Inspect { .. }
                // Belongs to a rewind of this life.
                | Self::KeepForRewind { .. }
                | Self::Marks { .. }
                | Self::Hooks { .. }
                | Self::ReloadHooks { .. }
                | Self::Standing { .. }
                | Self::Suspend { .. }
                | Self::Shutdown { .. }
        )
    }
}

/// What came of the work that the actor has started.
pub enum Happened {
    /// A writing job has ended.
    Journal(JournalEvent),
    Call(CallEvent),
    /// The catalog knows the state that the session had at this record.
    Cataloged(Seq),
    Judged {
        call: CallId,
        judgement: Box<Judgement>,
        ready: Ready,
        /// What hooks said to it before.
        hooks: Vec<HookFinished>,
    },
    /// The reasoning of an answer has been turned into lists, or why not.
    ReasoningExtracted {
        number: u64,
        found: Result<ReasoningExtracted, String>,
    },
    /// Hooks have spoken about the first prompt that waits for them.
    PromptAsked(HookChain),
    /// Hooks have been told of the turn's end.
    EndTold(Vec<HookFinished>),
    /// Settings were read again.
    HooksRead {
        read: Box<Hooks>,
        reply: Reply<ListOutput>,
    },
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
    /// Calls that were told to stop should have come back by now.
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
