//! What happens to a turn, and what it wants done.

use contract::provider::{ProviderError, Reported};
use contract::{CallAction, Decision, EffectivePermissions, Outcome, ToolChoice};
use proto::item::{Finish, Thought, ToolCall, ToolKind};
use proto::params::interaction::{Approval, InteractionAnswer};
use proto::params::session::When;
use proto::record::{
    CallEdit, CheckpointCreated, ChildExited, ChildSpawned, PromptEdited, PromptMoved,
    PromptQueued, Purpose, SessionRewound, SessionSet, Usage,
};
use proto::{CallId, InteractionId, ItemId, PromptId, Record, RequestId, Seq, Stamp};

use crate::compacting::{ResetJob, ResetJobOutcome};

/// This moment: the wall clock for showing, the monotonic one for durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    pub wall: Stamp,
    /// Milliseconds since some fixed moment of this life of the daemon.
    pub mono_ms: u64,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// A prompt that has been checked for `when: now`, duplicates and emptiness.
    Prompt { prompt: PromptQueued, when: When },
    /// A prompt is taken back. Ignored where it has started.
    Unqueue(PromptId),
    /// A prompt that waits gets other words. Ignored where it has started.
    Edit(PromptEdited),
    /// A prompt that waits gets another place. Ignored where it has started.
    Move(PromptMoved),
    /// Nothing new is to start (`true`), or it goes on (`false`).
    Pause {
        paused: bool,
        by: String,
        request_id: Option<RequestId>,
    },
    /// The daemon hands over: nothing new starts, and when nothing runs any more the session is suspended.
    Suspend,
    /// As `Suspend`, and there is no more time: the request in flight is dropped, calls that run are stopped.
    /// `partial` is what has been shown of an answer in progress: the next life has it, what was reported with it counts
    /// here.
    SuspendNow { partial: Option<Box<Answer>> },
    /// A command of the session runs in the background.
    ChildSpawned(ChildSpawned),
    /// It has ended.
    ChildExited(ChildExited),
    /// Settings change.
    Set(Box<SessionSet>),
    /// An answer of the model is whole.
    Answered(Box<Answer>),
    /// A request came to nothing; `partial` is what had been shown of it.
    Broke {
        error: ProviderError,
        partial: Box<Answer>,
        /// Uniform in 0..1: spreads retries.
        jitter: f64,
        /// The key came from a client in an earlier life of the daemon and is gone.
        key_lost: bool,
    },
    /// The request is not sent yet: it waits for its turn at the vendor.
    RequestWaits {
        cause: String,
        /// When it may go on, where that is known.
        in_ms: Option<u64>,
        /// The vendor has failed again and again.
        down: bool,
    },
    /// It has waited for its turn, and is sent now.
    RequestSent,
    /// The wait after this try of this answer is over.
    RetryDue { item: ItemId, attempt: u32 },
    /// A key is there again.
    CredentialsArrived,
    /// Policy has looked at a call.
    Judged {
        call: CallId,
        judgement: Box<Judgement>,
    },
    /// The user answered, or nobody is left who could. Checked for `stale`, `already_resolved` and answers that do not fit
    /// before.
    Resolved(Box<InteractionResolution>),
    /// The session goes back: no turn starts until `Rewound` or `NotRewound`. Ignored in a turn, while it goes back already
    /// and in a hand-over: `Machine::is_rewinding` tells. What it leads to (`Facts::plan_rewind`) is planned behind this:
    /// until it is over nothing is said that could be cut in two.
    Rewind,
    /// It has gone back. The cache reset that belongs to it is logged behind it.
    Rewound(SessionRewound),
    /// It has not. Where files had been kept for it, people are told that some may be put back.
    NotRewound,
    /// A person wants the context compacted. Ignored in a turn and in a hand-over: `Machine::is_compacting` tells.
    Compact {
        /// What the summary is to keep.
        instructions: String,
        request_id: Option<RequestId>,
    },
    /// A person takes the newest compaction back. Ignored in a turn, and where there is none that can be.
    UndoCompaction { request_id: Option<RequestId> },
    /// A job that changes earlier bytes of requests has come to its end.
    JobEnded {
        number: u64,
        end: Box<ResetJobOutcome>,
    },
    /// Who was to be notified of the turn's end has been.
    EndTold,
    /// Somebody else has changed files that the session has read.
    FilesChanged,
    /// A call has ended.
    CallEnded {
        call: CallId,
        outcome: Box<Outcome>,
        duration_ms: u64,
    },
    /// The turn is to end now. `partial` is what has been shown of an answer in progress.
    Stop {
        reason: StopReason,
        partial: Option<Box<Answer>>,
    },
    /// A timer of turn `turn` has run out. The machine's own clock says whether the turn's time has: a timer from before
    /// a pause comes early, and is armed again.
    TimeUp {
        turn: u64,
        partial: Option<Box<Answer>>,
    },
    /// An interactive session is closed by a person.
    Close { request_id: Option<RequestId> },
}

/// Why a turn is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// A person interrupts the turn.
    User,
    /// The turn's own limit.
    Timeout,
    /// The daemon goes down: the session stays as it is, and goes on in the next life.
    Shutdown,
    /// The session is to end.
    Term,
    /// The session is to end, and its processes are killed at once.
    Kill,
}

/// An answer of the model, as far as it has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<ToolCall>,
    /// What the vendor wants back unchanged.
    pub thoughts: Vec<Thought>,
    pub finish: Option<Finish>,
    pub reported: Option<Reported>,
    pub cost_micros: Option<u64>,
    pub request_bytes: u64,
    pub first_token_ms: u64,
    pub duration_ms: u64,
    /// Where the request changed earlier bytes though no reset was logged. Never, but for a bug.
    pub rewritten: Option<String>,
    /// What people are to be notified of budgets, once its use is noted.
    pub notices: Vec<String>,
}

/// A request, as the books know it.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    pub item: ItemId,
    pub provider: String,
    pub model: String,
    pub purpose: Purpose,
    /// The step of the turn, from 1; 0: of none.
    pub step: u64,
    /// The try, from 1.
    pub attempt: u32,
}

impl Answer {
    /// What the request for it took. Nothing is said of the vendor's cache.
    #[must_use]
    pub fn usage(&self, of: RequestInfo) -> Usage {
        let reported = self.reported.unwrap_or_default();
        Usage {
            item: of.item,
            provider: of.provider,
            model: of.model,
            purpose: of.purpose,
            step: of.step,
            attempt: of.attempt,
            prompt_tokens: reported.prompt_tokens,
            cached_tokens: reported.cached_tokens,
            expected_cached: None,
            output_tokens: reported.output_tokens,
            reasoning_tokens: reported.reasoning_tokens,
            cache_write_tokens: reported.cache_write_tokens,
            reported: self.reported.is_some(),
            cost_micros: self.cost_micros,
            request_bytes: self.request_bytes,
            first_token_ms: self.first_token_ms,
            duration_ms: self.duration_ms,
            cache_miss: None,
        }
    }
}

/// What became of a call before it may run.
#[allow(
    clippy::large_enum_variant,
    reason = "it travels in a box; most are of the large kind"
)]
#[derive(Clone, Debug)]
pub enum Judgement {
    /// It can't run at all: unknown tool, arguments that don't parse.
    Refused(Outcome),
    Decided(Decided),
}

/// What policy says of a call, and what is known of it then.
#[derive(Clone, Debug)]
pub struct Decided {
    pub decision: Decision,
    /// What it works on, for people.
    pub subject: String,
    /// SHA-256 of tool and arguments.
    pub input_sha256: String,
    /// What the call leads to.
    pub action: CallAction,
    /// SHA-256 over what the user is shown of it, whatever they are asked.
    pub shown_hash: String,
    /// Where a yes is asked for twice: the same for the second time. The call runs for a yes to that alone.
    pub again_hash: Option<String>,
    /// What the user is shown, should they have to be asked for a yes.
    pub approval: Approval,
    /// What `on_ask` says to an ask; `Wait` where a person is to be asked. For questions and plans it tells only
    /// whether somebody is there.
    pub unattended: Unattended,
    /// The tool that runs, where the call stands for another one.
    pub tool: String,
    pub kind: ToolKind,
    /// What the session could do when it was looked at. Where that has changed since, it is looked at again.
    pub effective_permissions: EffectivePermissions,
    /// What is kept of the files that it may change, where it is the first of its turn to change them.
    pub checkpoint: Option<CheckpointCreated>,
    /// Somebody else has changed files that the session has read, and it does not know yet.
    pub files_changed: bool,
}

/// What to do with an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unattended {
    Allow,
    /// With the reason, and what would allow it.
    Deny(String),
    Wait,
}

/// How an interaction was settled.
#[derive(Clone, Debug)]
pub struct InteractionResolution {
    pub interaction_id: InteractionId,
    /// `None`: nobody is left who could answer.
    pub answer: Option<InteractionAnswer>,
    /// The call as the answer changes it, where it does.
    pub edit: Option<CallEdit>,
    /// Why there is no answer.
    pub reason: Option<String>,
    pub by: String,
    pub unattended: bool,
    pub request_id: Option<RequestId>,
}

/// Something to be done, in order.
#[allow(
    clippy::large_enum_variant,
    reason = "most are records, and each is done as soon as it is made"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Append this record to the log and publish it. Its `seq` is the next one.
    Append(Record),
    /// Send the conversation up to `upto` to the model.
    Ask {
        upto: Seq,
        item: ItemId,
        attempt: u32,
        tool_choice: ToolChoice,
    },
    /// Plan a cache reset, or render it, and come back with `JobEnded`.
    Reset(ResetJob),
    /// Send the request for a summary that the newest such job has made. Its answer comes as any other.
    AskSummary { item: ItemId, attempt: u32 },
    /// Drop the request in flight.
    CancelAsk,
    /// What was streamed under this item does not count: another try follows.
    Supersede { item: ItemId },
    /// Come back with `RetryDue` after this time.
    Retry {
        item: ItemId,
        attempt: u32,
        in_ms: u64,
    },
    /// Ask policy about a call, and come back with `Judged`.
    Judge { call: ToolCall },
    /// Run a call, once `after` is durable, and come back with `CallEnded`.
    Run { call: ToolCall, after: Option<Seq> },
    /// Stop the calls that run: TERM now, KILL after `grace_ms`. Each still comes back with `CallEnded`.
    CancelCalls { grace_ms: u64 },
    /// Tell who asked for it that the turn has ended, and come back with `EndTold`.
    TellEnd,
    /// Do not wait for that any more. It still comes back.
    CancelTelling,
    /// Come back with `TimeUp` for this turn after this time.
    ArmTimeout { turn: u64, in_ms: u64 },
}
