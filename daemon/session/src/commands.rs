//! What an actor is told: by clients, and by the work it has started.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::Outcome;
use hooks::{HookChain, Hooks};
use proto::hook::HookFinished;
use proto::params::Empty;
use proto::params::approval::AnswerParams;
use proto::params::compact::{CompactOutput, CompactParams, PinParams};
use proto::params::forecast::Forecast;
use proto::params::history::RewindParams;
use proto::params::hook::ListOutput;
use proto::params::session::{
    EditParams, InspectOutput, InspectPart, PromptOutput, QueueOutput, ReorderParams,
    SessionSummary, Signal, SignalOutput, Until, WaitOutput, When,
};
use proto::params::{plan, question};
use proto::record::{ChildExited, ChildSpawned, ReasoningHarvested, SessionSet};
use proto::state::OnAsk;
use proto::{ApprovalId, CallId, Failure, ItemId, Pid, PromptId, RequestId, Seq};
use store::log::{DiskFailure, LogFile};
use tokio::sync::oneshot;
use turn::Judgement;

use crate::asking::Material;
use crate::blocks::Makeup;
use crate::call::Ready;
use crate::checkpoint::Checkpoint;
use crate::fanout::{Join, Joined};
use crate::parting::Leave;
use crate::permissions::Standing;
use crate::resetting::Done;
use crate::rewind::{Begun, Marks, Rewound};

/// Where an answer goes. The caller may be gone: that changes nothing for the session.
pub type Reply<T> = oneshot::Sender<Result<T, Failure>>;

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
        set: SessionSet,
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
    Replies {
        params: question::AnswerParams,
        by: String,
        reply: Reply<Empty>,
    },
    AnswerPlan {
        params: plan::AnswerParams,
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
    /// Everything up to here is on disk.
    Durable(Seq),
    /// The log takes no more: why, and what failed where that can be mended.
    WriteFailed(String, Option<DiskFailure>),
    /// The catalog knows the state that the session had at this record.
    Cataloged(Seq),
    Judged {
        call: CallId,
        judgement: Box<Judgement>,
        ready: Ready,
        /// What hooks said to it before.
        hooks: Vec<HookFinished>,
    },
    CallEnded {
        call: CallId,
        outcome: Box<Outcome>,
        duration_ms: u64,
    },
    /// The reasoning of an answer has been turned into lists, or why not.
    Harvested {
        number: u64,
        found: Result<ReasoningHarvested, String>,
    },
    /// Hooks have run, and nothing waits for them.
    HooksRan(Vec<HookFinished>),
    /// Hooks have spoken about the first prompt that waits for them.
    PromptAsked(HookChain),
    /// Hooks have been told of the turn's end.
    EndTold(Vec<HookFinished>),
    /// Settings were read again.
    HooksRead {
        read: Box<Hooks>,
        reply: Reply<ListOutput>,
    },
    /// A command of the session runs in the background.
    ChildSpawned(ChildSpawned),
    /// It has ended.
    ChildExited(ChildExited),
    /// A running tool has printed.
    Output,
    /// Somebody else has changed files that were read.
    FilesChanged,
    RetryDue {
        item: ItemId,
        attempt: u32,
    },
    TimeUp {
        turn: u64,
    },
    /// The rule of an answer that holds always is on disk, or will not be.
    RuleKept {
        approval_id: ApprovalId,
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
