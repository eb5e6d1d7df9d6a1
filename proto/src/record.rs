//! Records: durable events. The same record is a line in the log and, without the daemon's own part, an event.

mod calls;
mod children;
mod files;
mod goal;
mod planner;
mod queue;
mod reviewed;
mod session;
mod skill;
mod supervision;
mod used;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::hook::HookFinished;
use crate::item::{AssistantMessage, ToolMessage, UserMessage};
use crate::outcome::TurnEnded;
use crate::params::interaction::Interaction;
use crate::reset::{CacheReset, Pinned};
use crate::{Pid, Seq, Stamp};

pub use calls::{
    CallEdit, CallsRepaired, InteractionResolved, PolicyDecided, Quarantined, Todo, TodoStatus,
    TodoUpdated, ToolBlocked, ToolFinished, ToolStarted, TurnStarted, Unattended, Verdict,
};
pub use children::{
    AgentFinished, AgentStarted, ChildExited, ChildKind, ChildSpawned, UserCommand,
    UserCommandResult,
};
pub use files::{
    Changed, CheckpointCreated, FileState, Kept, KnownFile, ReportedFile, RewoundFile,
    RewoundResult, SessionRewound,
};
pub use goal::{
    ContinueReason, GoalChanged, GoalCheck, GoalContinued, GoalEnded, GoalOutcome, GoalReport,
    GoalReported, GoalResearch, GoalResumed, GoalStarted, ReportStatus,
};
pub use planner::{PlannerFinished, PlannerStarted, PlanningOutcome};
pub use queue::{
    AddedLimits, PromptEdited, PromptMoved, PromptQueued, PromptReferences, PromptUnqueued,
};
pub use reviewed::{CallReviewed, ReviewVerdict};
pub use session::{
    AgentOf, ContextWindow, Origin, Rules, SessionCreated, SessionExited, SessionReopened,
    SessionSet, SessionShortened, SessionState, SessionSuspended,
};
pub use skill::SkillUse;
pub use supervision::{GaveUpReason, RestartPrompt, SessionGaveUp, SessionRestarted};
pub use used::{CacheMiss, MissCause, Purpose, ReasoningExtracted, Usage};

/// A record of a session's log, without its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub seq: Seq,
    pub at: Stamp,
    pub turn: Option<u64>,
    pub body: Body,
}

macro_rules! bodies {
    ($($(#[$doc:meta])* $variant:ident($data:ty) = $kind:literal;)*) => {
        /// What a record says. A kind that this build does not know is carried along as it came.
        #[allow(clippy::large_enum_variant, reason = "one is read or written at a time")]
        #[derive(Clone, Debug)]
        pub enum Body {
            $($(#[$doc])* $variant($data),)*
            Unknown { kind: String, data: Box<RawValue> },
        }

        impl Body {
            /// Every kind that this build knows, in the order of `docs/log-format.md`.
            pub const KINDS: &'static [&'static str] = &[$($kind),*];

            /// The kind as the log and the event carry it.
            #[must_use]
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                    Self::Unknown { kind, .. } => kind,
                }
            }

            /// The `data` member, as JSON text.
            ///
            /// # Errors
            /// Never for our own types; the signature is that of serde.
            pub fn to_json(&self) -> Result<String, serde_json::Error> {
                match self {
                    $(Self::$variant(data) => serde_json::to_string(data),)*
                    Self::Unknown { data, .. } => Ok(data.get().to_owned()),
                }
            }

            /// Reads `data` by its kind.
            ///
            /// # Errors
            /// The data of a known kind is not of that kind's form.
            pub fn decode(kind: &str, data: &RawValue) -> Result<Self, serde_json::Error> {
                match kind {
                    $($kind => serde_json::from_str(data.get()).map(Self::$variant),)*
                    _ => Ok(Self::Unknown { kind: kind.to_owned(), data: data.to_owned() }),
                }
            }

            /// Kind and JSON Schema of the data, for the reference.
            pub fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
                vec![$(($kind, generator.subschema_for::<$data>())),*]
            }
        }
    };
}

bodies! {
    /// The first record of a log.
    SessionCreated(SessionCreated) = "session.created";
    SessionSet(SessionSet) = "session.set";
    SessionState(SessionState) = "session.state";
    SessionExited(SessionExited) = "session.exited";
    SessionReopened(SessionReopened) = "session.reopened";
    SessionSuspended(SessionSuspended) = "session.suspended";
    SessionShortened(SessionShortened) = "session.shortened";
    SessionRestarted(SessionRestarted) = "session.restarted";
    SessionGaveUp(SessionGaveUp) = "session.gave_up";
    PromptQueued(PromptQueued) = "prompt.queued";
    PromptUnqueued(PromptUnqueued) = "prompt.unqueued";
    PromptEdited(PromptEdited) = "prompt.edited";
    PromptMoved(PromptMoved) = "prompt.moved";
    TurnStarted(TurnStarted) = "turn.started";
    TurnEnded(TurnEnded) = "turn.ended";
    User(UserMessage) = "message.user";
    Assistant(AssistantMessage) = "message.assistant";
    Tool(ToolMessage) = "message.tool";
    PolicyDecided(PolicyDecided) = "policy.decided";
    CallReviewed(CallReviewed) = "call.reviewed";
    ToolStarted(ToolStarted) = "tool.started";
    ToolBlocked(ToolBlocked) = "tool.blocked";
    ToolFinished(ToolFinished) = "tool.finished";
    InteractionOpened(Interaction) = "interaction.opened";
    InteractionResolved(InteractionResolved) = "interaction.resolved";
    TodoUpdated(TodoUpdated) = "todo.updated";
    GoalStarted(GoalStarted) = "goal.started";
    GoalChanged(GoalChanged) = "goal.changed";
    GoalReported(GoalReported) = "goal.reported";
    GoalContinued(GoalContinued) = "goal.continued";
    GoalEnded(GoalEnded) = "goal.ended";
    CheckpointCreated(CheckpointCreated) = "checkpoint.created";
    SessionRewound(SessionRewound) = "session.rewound";
    CacheReset(CacheReset) = "cache.reset";
    MessagePinned(Pinned) = "message.pinned";
    ChildSpawned(ChildSpawned) = "child.spawned";
    ChildExited(ChildExited) = "child.exited";
    AgentFinished(AgentFinished) = "agent.finished";
    PlannerStarted(PlannerStarted) = "planner.started";
    PlannerFinished(PlannerFinished) = "planner.finished";
    HookFinished(HookFinished) = "hook.finished";
    Usage(Usage) = "usage";
    Notice(Notice) = "notice";
    CallsRepaired(CallsRepaired) = "calls.repaired";
    ReasoningExtracted(ReasoningExtracted) = "reasoning.extracted";
}

/// The pattern of records that change no fact of a session: they only report. For the fold that names every other one.
#[macro_export]
macro_rules! reports {
    () => {
        $crate::Body::HookFinished(_)
            | $crate::Body::CallsRepaired(_)
            | $crate::Body::ReasoningExtracted(_)
            | $crate::Body::CallReviewed(_)
            | $crate::Body::Unknown { .. }
    };
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind()
            && match (self.to_json(), other.to_json()) {
                (Ok(one), Ok(two)) => one == two,
                _ => false,
            }
    }
}

/// `notice`: something a person should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    pub level: Level,
    pub text: String,
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// What subscribers receive: a durable record (`seq`), or something live (no `seq`).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    pub seq: Option<Seq>,
    pub session: Pid,
    pub at: Stamp,
    pub turn: Option<u64>,
    pub kind: String,
    #[schemars(with = "serde_json::Value")]
    pub data: Box<RawValue>,
}

impl Event {
    /// The body of a durable event.
    ///
    /// # Errors
    /// The data of a known kind is not of that kind's form.
    pub fn body(&self) -> Result<Body, serde_json::Error> {
        Body::decode(&self.kind, &self.data)
    }
}
