//! The machine's interface: events that come in (`Input`), and actions that go out (`Effect`).

use contract::provider::{ProviderError, Reported};
use contract::tool::StoppedBy;
use contract::{
    CallAction, Decision, EffectivePermissions, ElicitationAnswer, Outcome, PlanRequest, ToolChoice,
};
use proto::item::{Finish, Thought, ToolCall, ToolKind};
use proto::params::elicitation::Elicitation;
use proto::params::interaction::{Approval, InteractionAnswer};
use proto::params::session::When;
use proto::record::{
    CallEdit, CheckpointCreated, ChildExited, ChildSpawned, GoalChanged, GoalStarted,
    PlannerFinished, PromptEdited, PromptMoved, PromptQueued, Purpose, SessionRewound, SessionSet,
    Usage, Verdict,
};
use proto::{CallId, InteractionId, ItemId, PromptId, Record, RequestId, Seq, Stamp};

use crate::compacting::{ResetJob, ResetJobOutcome};

/// The current time: wall clock for display, monotonic clock for durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    pub wall: Stamp,
    /// Milliseconds since a fixed moment in this daemon process.
    pub mono_ms: u64,
}

/// An event.
#[derive(Clone, Debug)]
pub enum Input {
    /// A new prompt. The caller has checked `when: now`, duplicates and emptiness.
    Prompt { prompt: PromptQueued, when: When },
    /// Withdraws a queued prompt. Ignored if it has started.
    Unqueue(PromptId),
    /// Changes the text of a queued prompt. Ignored if it has started.
    Edit(PromptEdited),
    /// Moves a queued prompt. Ignored if it has started.
    Move(PromptMoved),
    /// Pauses the session (`true`: nothing new starts) or resumes it (`false`).
    Pause {
        paused: bool,
        /// It holds for the sub-agents below it, also for those that come during it.
        tree: bool,
        by: String,
        request_id: Option<RequestId>,
    },
    /// The daemon hands over to a new process: nothing new starts, and the session is suspended once nothing runs.
    Suspend,
    /// Like `Suspend`, but without waiting: drops the request in flight and stops running calls. `partial` is the shown
    /// part of an answer in progress. The next daemon process takes it over; the usage reported with it is logged here.
    SuspendNow { partial: Option<Box<Answer>> },
    /// A user starts a goal, in place of one in progress.
    StartGoal(Box<GoalStarted>),
    /// A user changes the limits of the goal. The caller has asked `Facts::check_goal_change`.
    ChangeGoal(Box<GoalChanged>),
    /// A user stops the goal and the running turn. Ignored if there is no goal.
    StopGoal {
        by: String,
        request_id: Option<RequestId>,
        partial: Option<Box<Answer>>,
    },
    /// A background command of the session has started.
    ChildSpawned(ChildSpawned),
    /// A background command of the session has ended.
    ChildExited(ChildExited),
    /// Settings change.
    Set(Box<SessionSet>),
    /// The planner has ended.
    Planned(Box<PlannerFinished>),
    /// A complete answer of the model.
    Answered(Box<Answer>),
    /// A request failed; `partial` is the part of its answer that was shown.
    Broke {
        error: ProviderError,
        partial: Box<Answer>,
        /// Uniform in 0..1: spreads retries.
        jitter: f64,
        /// The key came from a client of an earlier daemon process and is lost.
        key_lost: bool,
    },
    /// The provider began another message within its answer: `dropped`, which came before, is billed and does not count.
    AnswerRestarted { dropped: Box<Answer> },
    /// The request is not sent yet: it waits for its turn in the provider's queue.
    RequestWaits {
        cause: String,
        /// When it may be sent, if that is known.
        in_ms: Option<u64>,
        /// The provider has failed repeatedly.
        down: bool,
    },
    /// The waiting request is sent.
    RequestSent,
    /// The wait after this try of this answer is over.
    RetryDue { item: ItemId, attempt: u32 },
    /// The wait before a restart is over.
    RestartDue,
    /// The missing API key is available again.
    CredentialsArrived,
    /// The policy has judged a call.
    Judged {
        call: CallId,
        judgement: Box<Judgement>,
    },
    /// The user answered, or no client is left that could. The caller has checked for `stale`, `already_resolved` and
    /// answers that do not fit.
    Resolved(Box<InteractionResolution>),
    /// A running call asks the user.
    CallAsks(Box<CallQuestion>),
    /// A running call does not need the answer to this question any more.
    CallWithdraws { call: CallId, number: u64 },
    /// A rewind starts: no turn starts until `Rewound` or `NotRewound`. Ignored during a turn, another rewind or a
    /// hand-over; check `Machine::is_rewinding`. Call `Facts::plan_rewind` only after this input: until the rewind is
    /// over, no message is added that it could cut in two.
    Rewind,
    /// The rewind succeeded. The cache reset that it causes is logged after it.
    Rewound(SessionRewound),
    /// The rewind failed. If files were saved for it, users are notified that some may have been restored.
    NotRewound,
    /// A user requests a compaction. Ignored during a turn and a hand-over; check `Machine::is_compacting`.
    Compact {
        /// What the summary should keep.
        instructions: String,
        request_id: Option<RequestId>,
    },
    /// The context window of the session's model, as config, catalog or the endpoint's list have it now, in tokens.
    ContextWindow(u64),
    /// A user undoes the newest compaction. Ignored during a turn, and if no compaction can be undone.
    UndoCompaction { request_id: Option<RequestId> },
    /// A job that changes earlier bytes of requests has ended.
    JobEnded {
        number: u64,
        end: Box<ResetJobOutcome>,
    },
    /// The `Stop` hooks have been notified of the turn's end.
    TurnEndNotified,
    /// A call has ended.
    CallEnded {
        call: CallId,
        outcome: Box<Outcome>,
        duration_ms: u64,
    },
    /// Stops the turn now. `partial` is the shown part of an answer in progress.
    Stop {
        reason: StopReason,
        partial: Option<Box<Answer>>,
    },
    /// A timer of turn `turn` has expired. The machine checks its own clock, because a timer from before a pause
    /// expires early; then it is armed again.
    TimeUp {
        turn: u64,
        partial: Option<Box<Answer>>,
    },
    /// A user closes an interactive session.
    Close { request_id: Option<RequestId> },
}

/// Why a turn is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// A person interrupts the turn.
    User,
    /// The turn's own limit.
    Timeout,
    /// The daemon shuts down: the session keeps its state, and continues in the next daemon process.
    Shutdown,
    /// The session must end.
    Term,
    /// The session must end, and its processes are killed at once.
    Kill,
}

impl StopReason {
    /// Who stops the calls of the turn.
    pub(crate) fn stopped_by(self) -> StoppedBy {
        match self {
            Self::User => StoppedBy::User,
            Self::Timeout => StoppedBy::TimeLimit,
            Self::Shutdown => StoppedBy::Daemon,
            Self::Term | Self::Kill => StoppedBy::Session,
        }
    }
}

/// An answer of the model, complete or partial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<ToolCall>,
    /// Reasoning blocks that the provider requires back unchanged.
    pub thoughts: Vec<Thought>,
    pub finish: Option<Finish>,
    pub reported: Option<Reported>,
    pub cost_micros: Option<u64>,
    pub request_bytes: u64,
    pub first_token_ms: u64,
    pub duration_ms: u64,
    /// Where the request changed earlier bytes although no reset was logged. Only a bug sets it.
    pub rewritten: Option<String>,
    /// The model that was asked; `None`: the session's own.
    pub asked: Option<AskedModel>,
    /// Notices about budgets for users, logged after the usage of this answer.
    pub notices: Vec<String>,
}

/// A model other than the session's own that was asked in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedModel {
    pub provider: String,
    /// As its provider names it.
    pub model: String,
}

/// A request, as recorded in the usage ledger.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    pub item: ItemId,
    pub provider: String,
    pub model: String,
    pub purpose: Purpose,
    /// The step of the turn, from 1; 0: outside a turn.
    pub step: u64,
    /// The try, from 1.
    pub attempt: u32,
}

impl Answer {
    /// The usage of its request. Leaves the expected cache hits and the cache miss empty.
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

/// The result of judging a call before it may run.
#[allow(
    clippy::large_enum_variant,
    reason = "it travels in a box; most are of the large kind"
)]
#[derive(Clone, Debug)]
pub enum Judgement {
    /// The call cannot run at all: unknown tool, or arguments that don't parse.
    Refused(Outcome),
    Decided(Decided),
}

/// The policy's decision about a call, and the facts that it was based on.
#[derive(Clone, Debug)]
pub struct Decided {
    pub decision: Decision,
    /// The user lets this tool run in sessions that only read, although it may change something.
    pub in_read_only_sessions: bool,
    /// The file, command or URL that the call works on, for display.
    pub subject: String,
    /// SHA-256 of tool and arguments.
    pub input_sha256: String,
    /// The action to perform for the call.
    pub action: CallAction,
    /// SHA-256 of the text that the user sees before answering.
    pub shown_hash: String,
    /// Set if the user must confirm twice: the hash of the second confirmation. Only a yes to that one runs the call.
    pub again_hash: Option<String>,
    /// The approval request to show, if the user has to be asked.
    pub approval: Approval,
    /// How `on_ask` handles an approval request; `Wait`: ask a user. For questions and plans it says only whether a
    /// client is attached.
    pub unattended: Unattended,
    /// The tool that runs. It differs from the call's name if the call forwards to another tool.
    pub tool: String,
    pub kind: ToolKind,
    /// The session's permissions when the call was judged. If they have changed since, it is judged again.
    pub effective_permissions: EffectivePermissions,
    /// The checkpoint of the files that the call may change, if it is the first of its turn to change them.
    pub checkpoint: Option<CheckpointCreated>,
}

impl Decided {
    /// The denial of a call that would be asked about after the user has denied all such calls of the answer.
    #[must_use]
    pub fn denied_with_rest(mut self) -> Self {
        self.decision.verdict = Verdict::Deny;
        "denied with another call".clone_into(&mut self.decision.rule);
        Decision::ANSWER_LAYER.clone_into(&mut self.decision.layer);
        self
    }
}

/// How to handle an approval request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unattended {
    Allow,
    /// Deny, with the reason and how to allow it.
    Deny(String),
    Wait,
}

/// How an interaction was resolved.
#[derive(Clone, Debug)]
pub struct InteractionResolution {
    pub interaction_id: InteractionId,
    /// `None`: no client is left that could answer.
    pub answer: Option<InteractionAnswer>,
    /// The change that the answer makes to the call, if any.
    pub edit: Option<CallEdit>,
    /// Why there is no answer.
    pub reason: Option<String>,
    pub by: String,
    pub unattended: bool,
    pub request_id: Option<RequestId>,
}

/// A question of a running call to the user.
#[derive(Clone, Debug)]
pub struct CallQuestion {
    pub call: CallId,
    /// Distinguishes the questions of a call.
    pub number: u64,
    pub question: Elicitation,
    /// SHA-256 of what the user is shown.
    pub shown_hash: String,
    /// Whether a user can be asked.
    pub attended: bool,
}

/// An action for the session to perform. Effects are performed in order.
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
    /// Plan or render a cache reset, then send `JobEnded`.
    Reset(ResetJob),
    /// Send the summary request that the newest planning job built. Its answer arrives like any other.
    AskSummary { item: ItemId, attempt: u32 },
    /// Have the planner work on the turn once all records so far are durable, then send `Planned`.
    Plan(PlanRequest),
    /// Stop the planner. No `Planned` is awaited.
    CancelPlan,
    /// Drop the request in flight.
    CancelAsk,
    /// Discard the text streamed under this item: another try or another message of the same answer follows.
    Supersede { item: ItemId },
    /// Send `RetryDue` after this time.
    Retry {
        item: ItemId,
        attempt: u32,
        in_ms: u64,
    },
    /// Send `RestartDue` after this time.
    ArmRestart { in_ms: u64 },
    /// Let the policy judge a call, then send `Judged`.
    Judge { call: ToolCall },
    /// Run a call once `after` is durable, then send `CallEnded`.
    Run { call: ToolCall, after: Option<Seq> },
    /// Give a running call the answer to its question.
    AnswerCall {
        call: CallId,
        number: u64,
        answer: ElicitationAnswer,
    },
    /// Stop running calls: TERM now, KILL after `grace_ms`. Each still sends `CallEnded`.
    CancelCalls { grace_ms: u64, by: StoppedBy },
    /// Run the `Stop` hooks of the turn that ended, then send `TurnEndNotified`.
    NotifyTurnEnd,
    /// Stop the `Stop` hooks. `TurnEndNotified` is still sent.
    CancelTurnEndNotification,
    /// Send `TimeUp` for this turn after this time.
    ArmTimeout { turn: u64, in_ms: u64 },
}
