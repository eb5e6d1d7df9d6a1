//! Records: durable events. The same record is a line in the log and, less what is the daemon's own, an event.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::budget::Budget;
use crate::hook::HookFinished;
use crate::item::{AssistantMessage, CallStatus, Display, ToolMessage, UserMessage};
use crate::outcome::{OutcomeKind, Reason, TurnEnded};
use crate::params::approval::{Approval, Decision, Scope};
use crate::params::history::What;
use crate::params::plan::{self, Plan};
use crate::params::question::{Question, Reply};
use crate::reset::{CacheReset, Pinned};
use crate::state::{Kind, Mode, OnAsk, Posture, State, WaitingFor};
use crate::{
    ApprovalId, CallId, Failure, ItemId, Pid, PlanId, PromptId, QuestionId, RequestId, Seq,
    SessionId, Stamp,
};

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
            /// Never for the types that stand here; serde's signature.
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
    ToolStarted(ToolStarted) = "tool.started";
    ToolBlocked(ToolBlocked) = "tool.blocked";
    ToolFinished(ToolFinished) = "tool.finished";
    ApprovalRequested(Approval) = "approval.requested";
    ApprovalResolved(ApprovalResolved) = "approval.resolved";
    QuestionAsked(Question) = "question.asked";
    QuestionAnswered(QuestionAnswered) = "question.answered";
    PlanProposed(Plan) = "plan.proposed";
    PlanResolved(PlanResolved) = "plan.resolved";
    TodoUpdated(TodoUpdated) = "todo.updated";
    CheckpointCreated(CheckpointCreated) = "checkpoint.created";
    SessionRewound(SessionRewound) = "session.rewound";
    CacheReset(CacheReset) = "cache.reset";
    MessagePinned(Pinned) = "message.pinned";
    ChildSpawned(ChildSpawned) = "child.spawned";
    ChildExited(ChildExited) = "child.exited";
    HookFinished(HookFinished) = "hook.finished";
    Usage(Usage) = "usage";
    Notice(Notice) = "notice";
    CallsRepaired(CallsRepaired) = "calls.repaired";
    ReasoningHarvested(ReasoningHarvested) = "reasoning.harvested";
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

/// `session.created`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCreated {
    pub session: SessionId,
    pub pid: Pid,
    /// The session that started this one; 0: a client did.
    pub ppid: Pid,
    /// Changed only when the log is repaired or restored; a cursor belongs to one epoch.
    pub epoch: u64,
    pub cwd: String,
    /// The workspace root, fixed for the session's life.
    pub root: String,
    pub provider: String,
    pub provider_kind: String,
    pub model: String,
    /// How hard the model thinks; absent: as it does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Tokens that the model can take; 0: not known.
    pub context_window: u64,
    /// SHA-256 of the frozen prefix, hexadecimal.
    pub prefix_sha256: String,
    pub kind: Kind,
    pub posture: Posture,
    #[serde(default, skip_serializing_if = "Mode::is_normal")]
    pub mode: Mode,
    /// Calls that change anything are refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    pub on_ask: OnAsk,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Steps a turn may have; 0: no limit.
    pub max_steps: u64,
    /// Milliseconds a turn may take; 0: no limit.
    pub timeout_ms: u64,
    /// Rules of this session alone.
    #[serde(default, skip_serializing_if = "Rules::is_empty")]
    pub rules: Rules,
    /// The environment of the session's tools: names that may stand in the log, with their values.
    pub env: BTreeMap<String, String>,
    /// Names of the other variables that the client gave; their values were in memory only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_names: Vec<String>,
    /// Names of variables of the client that commands do not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_held: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Where its first messages come from, if it was forked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The version of the daemon that wrote this.
    pub version: String,
    /// What it may use in its whole life.
    #[serde(default, skip_serializing_if = "Budget::is_empty")]
    pub budget: Budget,
    /// What the model has reasoned is turned into lists for people.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub harvest: bool,
    /// Samples of each request, of which one is taken; absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<u32>,
}

/// What a session was forked from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    pub session: SessionId,
    pub pid: Pid,
    /// The last turn that was taken over.
    pub turn: u64,
    /// The session at the root of all forks: the vendor's cache knows their common prefix by it.
    pub first: SessionId,
}

/// Permission rules, as they are written in config.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rules {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

impl Rules {
    /// Whether there is no rule at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.ask.is_empty() && self.deny.is_empty()
    }
}

/// `session.set`: only what changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSet {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posture: Option<Posture>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Whether calls that change anything are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_ask: Option<OnAsk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Who is asked from the next request on: `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How hard the model thinks, from the next request on; empty: as it does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Whether the session is paused: nothing new starts. Set by the signals `PAUSE` and `RESUME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// A rule that a person had allowed in this session, and takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
    /// The name of the client that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// What it may use: only the members that change; 0 takes a limit away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Whether what the model has reasoned is turned into lists for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harvest: Option<bool>,
    /// Samples of each request, of which one is taken; 1: none but the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<u32>,
    /// Of the fallback model: `model` stands in, for the rest of the turn, for the one before, which failed with this.
    /// With the end of the turn model and effort are again what they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<Failure>,
}

/// `session.state`: a move of the state table, with its cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionState {
    pub state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<WaitingFor>,
    /// Why: `prompt`, `approval 3.1`, `429 from deepseek, try 2 of 8`, …
    pub cause: String,
    /// Milliseconds until the next try, where it waits for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_in_ms: Option<u64>,
}

/// `session.exited`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionExited {
    pub outcome: OutcomeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    pub exit_code: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// `session.reopened`: an exited session got work again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionReopened {
    pub by: String,
}

/// `session.suspended`: the daemon handed over to a newer one. The next life goes on from here, once, whatever the
/// session does after a crash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSuspended {}

/// `prompt.queued`: accepted, and from now on kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptQueued {
    pub prompt_id: PromptId,
    pub text: String,
    /// Fold it into the running turn, behind the next tool results, instead of waiting for the turn's end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steer: bool,
    /// The name of the client that sent it.
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// `prompt.unqueued`: taken back before it started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptUnqueued {
    pub prompt_id: PromptId,
}

/// `prompt.edited`: a prompt that waits has other words now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptEdited {
    pub prompt_id: PromptId,
    pub text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steer: bool,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// `prompt.moved`: a prompt that waits has another place in the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptMoved {
    pub prompt_id: PromptId,
    /// Prompts that stand before it now.
    pub position: u64,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// `child.spawned`: a command of the session runs in the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChildSpawned {
    /// Its own number, of the same row as those of sessions.
    pub pid: Pid,
    pub kind: ChildKind,
    /// The call that started it.
    pub call: CallId,
    /// What it is, for people.
    pub command: String,
}

/// What a child of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChildKind {
    /// A call in the foreground.
    Command,
    /// A command in the background.
    Shell,
}

/// `child.exited`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChildExited {
    pub pid: Pid,
    #[serde(default)]
    pub code: Option<i32>,
    #[serde(default)]
    pub signal: Option<i32>,
    /// Why, where it did not end by itself: `kill_shell`, `the session ended`, `the daemon stopped`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// `turn.started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    pub prompt_id: PromptId,
}

/// `policy.decided`: what the rules said about a call, so that it can be replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyDecided {
    pub call: CallId,
    /// The tool that was judged: the one that `tool_call` names, where the call is of that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    pub verdict: Verdict,
    /// The rule that decided, or what took its place: `fallback`, `always asked`, …
    pub rule: String,
    /// Where the rule stands: `user`, `project`, `session`, `run`, `built-in`; `mode`: it is none, but what the session
    /// may do now.
    pub layer: String,
    pub read_only: bool,
    /// Nobody had to be asked, or nobody was there: what `on_ask` made of an `ask`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unattended: Option<Unattended>,
    /// What it works on: the command, or the path.
    pub subject: String,
    /// Why it was denied without a person, and what would allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// SHA-256 of tool and arguments, hexadecimal.
    pub input_sha256: String,
}

/// What became of an `ask` without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unattended {
    Allowed,
    Denied,
}

/// What policy says to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}

/// `tool.started`: on disk before a call with side effects starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStarted {
    pub call: CallId,
    pub tool: String,
    /// What it works on: the command, or the path.
    pub subject: String,
    pub read_only: bool,
    /// It runs once more, outside the sandbox that had stopped it: a person has allowed that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
}

/// `tool.blocked`: the sandbox stopped a call, and a person may let it run once outside. What it came to within is kept
/// here: it is the call's result unless it runs again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolBlocked {
    pub call: CallId,
    pub tool: String,
    /// Why the sandbox stopped it, for people. A guess by what the command printed.
    pub reason: String,
    pub status: CallStatus,
    pub duration_ms: u64,
    pub display: Display,
    /// In the words for the model.
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
}

/// `tool.finished`: how the call went, in the words for people. `message.tool` has the words for the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFinished {
    pub call: CallId,
    pub tool: String,
    pub status: CallStatus,
    pub duration_ms: u64,
    pub display: Display,
    /// The file that holds all of an output that was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill: Option<String>,
    /// What it has left at the paths that it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
    /// Files that the model knows by this call. They may be edited as long as they are of this state, whichever daemon
    /// the session lives in then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownFile>,
}

/// `approval.resolved`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalResolved {
    pub approval_id: ApprovalId,
    pub call: CallId,
    pub decision: Decision,
    /// The rule that the answer leaves: with `allow_session` for the rest of the session, with `allow_always` in the file
    /// of what is kept for the workspace, which is on disk before this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Words to the model that came with a no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who answered: the client's name; `reasonix` where the daemon had to.
    pub by: String,
    /// It was denied because the last person who could have answered has left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// `question.answered`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionAnswered {
    pub question_id: QuestionId,
    pub call: CallId,
    /// One for each question, in their order; none where nobody was there.
    pub replies: Vec<Reply>,
    /// Who answered: the client's name; `reasonix` where the daemon had to.
    pub by: String,
    /// The last person who could have answered has left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// `plan.resolved`: an approved plan also takes the session back to the mode `normal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanResolved {
    pub plan_id: PlanId,
    pub call: CallId,
    /// Absent: nobody has answered, and the turn goes on or ends without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<plan::Decision>,
    /// Words to the model that came with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who answered: the client's name; `reasonix` where the daemon had to.
    pub by: String,
    /// Nobody was there who could have answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// `calls.repaired`: what was made of calls that the model got wrong. The first three name calls of the answer that
/// follows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallsRepaired {
    /// They stood in its words or its reasoning, and were not declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_up: Vec<CallId>,
    /// Their arguments broke off, and were closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<CallId>,
    /// Their arguments came flat, and are nested before they run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<CallId>,
    /// It repeats others, and does not run; its result follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back: Option<CallId>,
    /// Somebody else has changed files that were read: what was called before may be called again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cleared: bool,
}

/// `todo.updated`: the whole list, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TodoUpdated {
    pub todos: Vec<Todo>,
}

/// One thing that the model has set out to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    pub content: String,
    /// The same while it is done: "Running the tests".
    pub active_form: String,
    pub status: TodoStatus,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

/// `checkpoint.created`: what files were before a call changes them for the first time in its turn, or before a rewind
/// does. On disk before that. Their content stands in the line's `own` member, or in blobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointCreated {
    /// The call that may change them; absent: a rewind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Kept>,
    /// The tree of the workspace before a command, by its git object id: what commands change is found by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Why changes of commands of this turn cannot be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// What stood at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// Absolute.
    pub path: String,
    pub was: FileState,
}

/// What stands at a path now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    /// Absolute.
    pub path: String,
    pub now: FileState,
}

/// A file that was read or written, at the state that the model knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFile {
    /// Absolute.
    pub path: String,
    /// Of the content, hexadecimal.
    pub sha256: String,
    pub bytes: u64,
    /// Nanoseconds since 1970.
    pub modified_ns: i64,
    pub inode: u64,
}

/// A place in the file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FileState {
    Absent,
    File {
        /// Of the content, hexadecimal.
        sha256: String,
        bytes: u64,
        /// Permission bits.
        mode: u32,
    },
    Link {
        target: String,
    },
    Directory,
    /// It was not kept.
    Unknown {
        why: String,
    },
}

/// `session.rewound`: what followed a turn is hidden (never erased), files are as they were then, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRewound {
    /// The newest turn that is shown now.
    pub to_turn: u64,
    pub what: What,
    /// The rewind that this takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Seq>,
    /// The records before this one that make up the conversation now, first and last of each run; absent: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Vec<(Seq, Seq)>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RewoundFile>,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// What became of one file in a rewind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewoundFile {
    /// Absolute.
    pub path: String,
    pub result: RewoundResult,
    /// What stood there before the rewind: what its undoing brings back.
    pub before: FileState,
    /// What stands there since.
    pub after: FileState,
}

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum RewoundResult {
    /// It is as it was then.
    Restored,
    /// It was so already.
    Same,
    /// Somebody else has changed it since; it was left alone.
    ChangedSince,
    /// It could not be restored.
    Failed { why: String },
}

/// `usage`: what one provider request took, as the provider reported it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    pub item: ItemId,
    /// The provider that was asked, by its name in the config; empty in logs of before it was noted: the session's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// The model that was asked; empty as `provider`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    #[serde(default, skip_serializing_if = "Purpose::is_answer")]
    pub purpose: Purpose,
    /// The step of the turn, from 1.
    pub step: u64,
    /// The try that succeeded, from 1.
    pub attempt: u32,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    /// What an ideal cache of prefixes would have served; absent where that cannot be said: the first request, one behind
    /// a cache reset, or one that reported nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_cached: Option<u64>,
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
    /// Of the prompt's tokens: those that the vendor put into its cache, where it says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// False where the provider reported nothing: the numbers are then 0.
    pub reported: bool,
    /// Millionths of a US dollar; absent where the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    pub request_bytes: u64,
    pub first_token_ms: u64,
    pub duration_ms: u64,
    /// Why the vendor's cache served far less than `expected_cached`, or that earlier bytes have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_miss: Option<CacheMiss>,
}

/// A request that the vendor's cache served far less of than it should have: under half of `expected_cached`, and at least
/// 1,024 tokens less. Or one that changed earlier bytes, whatever was served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheMiss {
    pub cause: MissCause,
    /// Milliseconds between the sending of the request before and of this one.
    #[serde(default)]
    pub gap_ms: u64,
    /// Where the bytes begin to differ from the request before: `model`, `system`, `tools`, `extra`, or `message N`, from
    /// 1. Of `ours` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
}

/// Why the cache did not serve.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MissCause {
    /// The vendor keeps it for a shorter time than has gone by.
    Expired,
    /// How long the vendor keeps it is not known, and more than five minutes have gone by.
    ProbablyExpired,
    /// Earlier bytes changed without a reset: a bug of Reasonix.
    Ours,
    /// Nothing that was sent has changed: it was evicted, or another server answered.
    Vendor,
    /// The vendor has told nothing of its cache in this session yet: nobody can say.
    NotReported,
}

/// What a request was for.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// An answer of the conversation.
    #[default]
    Answer,
    /// The digest of a compaction.
    Digest,
    /// A trace of reasoning turned into lists.
    Harvest,
    /// One of several answers to the same request, of which another may win.
    Sample,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Answer, Self::Digest, Self::Harvest, Self::Sample];

    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Digest => "digest",
            Self::Harvest => "harvest",
            Self::Sample => "sample",
        }
    }

    /// For `skip_serializing_if`.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        *self == Self::Answer
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// `reasoning.harvested`: what a model has reasoned before an answer, in lists, made by another request. For people: it is
/// never sent to a model. At most five entries a list, each short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReasoningHarvested {
    /// The answer.
    pub item: ItemId,
    #[serde(default)]
    pub subgoals: Vec<String>,
    #[serde(default)]
    pub hypotheses: Vec<String>,
    #[serde(default)]
    pub uncertainties: Vec<String>,
    #[serde(default)]
    pub rejected_paths: Vec<String>,
}

impl ReasoningHarvested {
    /// The lists that hold anything, each with what it is called.
    #[must_use]
    pub fn lists(&self) -> Vec<(&'static str, &[String])> {
        let lists = [
            ("subgoals", self.subgoals.as_slice()),
            ("hypotheses", self.hypotheses.as_slice()),
            ("uncertainties", self.uncertainties.as_slice()),
            ("rejected paths", self.rejected_paths.as_slice()),
        ];
        lists
            .into_iter()
            .filter(|(_, list)| !list.is_empty())
            .collect()
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
