//! Records of a turn and its calls: decisions, questions, actions, and how they ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentStarted, Changed, KnownFile, ReportedFile, SkillUse};

use crate::item::{CallStatus, Display, ToolKind};
use crate::params::interaction::InteractionAnswer;
use crate::words::words;
use crate::{CallId, InteractionId, PromptId, RequestId};

/// `turn.started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    pub prompt_id: PromptId,
}

/// `policy.decided`: the verdict of the rules about a call, so that it can be replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyDecided {
    pub call: CallId,
    /// The judged tool: the one that `tool_call` invokes, if the call is of that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    pub verdict: Verdict,
    /// Rule or other reason of the verdict: `fallback`, `always asked`, …
    pub rule: String,
    /// Layer of the rule: `user`, `project`, `session`, `run`, `built-in`; `mode`: no rule, but the mode of the
    /// session.
    pub layer: String,
    pub read_only: bool,
    /// Set if `on_ask` replaced a question to the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unattended: Option<Unattended>,
    /// Subject of the call: the command, or the path.
    pub subject: String,
    /// Why it was denied without a question, and how to allow it.
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

words! {
    /// Verdict of the policy about a call.
    Verdict {
        Allow = "allow",
        Ask = "ask",
        Deny = "deny",
    }
}

/// `tool.started`: on disk before a call with side effects starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStarted {
    pub call: CallId,
    pub tool: String,
    #[serde(default, skip_serializing_if = "ToolKind::is_other")]
    pub kind: ToolKind,
    /// Subject of the call: the command, or the path.
    pub subject: String,
    pub read_only: bool,
    /// It runs once more, unsandboxed, with the approval of the user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
}

/// `tool.blocked`: the sandbox stopped a call, and the user may let it run once unsandboxed; or its command made protected
/// names, and the user may have them put back. Its outcome in the sandbox is stored here; it is the result of the call
/// unless it runs again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolBlocked {
    pub call: CallId,
    pub tool: String,
    /// Why the sandbox stopped it, in words; guessed from the output of the command.
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
    /// Protected names that its command made and that were moved away: the user is asked whether to put them back,
    /// instead of whether the call may run unsandboxed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<Quarantined>,
}

/// A file or directory that came under a protected name, or replaced a protected file, while a sandboxed command ran. With
/// neither `kept` nor `problem`: another program replaced a protected file, and the command could write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quarantined {
    /// Where it came.
    pub path: String,
    /// Where it is now. Absent: still in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// The content from before the command is in its place again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restored: bool,
    /// Why it could not be moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// `tool.finished`: how the call went, in the words for people. `message.tool` has the words for the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFinished {
    pub call: CallId,
    pub tool: String,
    pub status: CallStatus,
    pub duration_ms: u64,
    pub display: Display,
    /// File with the whole output, if the model or `display` has less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill: Option<String>,
    /// State of the changed paths after the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
    /// Files that the model has read by this call. It may edit them as long as they are unchanged, also after a restart
    /// of the daemon.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownFile>,
    /// Files that others changed, as the result tells the model. They are not reported again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reported: Vec<ReportedFile>,
    /// The skill that the call loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<SkillUse>,
    /// The sub-agent that the call left in the background. Its result comes as a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentStarted>,
}

/// `interaction.resolved`: the user answered, or the daemon closed it. An approved plan also takes the session back to the
/// mode `normal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InteractionResolved {
    pub interaction_id: InteractionId,
    pub call: CallId,
    /// Absent: the daemon closed it. An approval is then denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<InteractionAnswer>,
    /// The change that the user made to the call: the call runs so, and never as the model wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<CallEdit>,
    /// Why the daemon closed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Name of the client that answered; `reasonix` if the daemon closed it.
    pub by: String,
    /// Whether it was closed because no client could answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// A change that the user made to a call before it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallEdit {
    /// The tool that runs: the one that `tool_call` invokes, if the call is of that.
    pub tool: String,
    /// Its arguments as the model wrote them, as JSON with their canonical names.
    pub original: String,
    /// Its arguments with the command of the user.
    pub edited: String,
    /// That command.
    pub command: String,
}

/// `calls.repaired`: repairs of malformed calls. The lists name calls of the next answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallsRepaired {
    /// They were found in its text or reasoning, undeclared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_up: Vec<CallId>,
    /// Their arguments were cut off, and completed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<CallId>,
    /// Their arguments were flattened, and are nested before they run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<CallId>,
}

/// `todo.updated`: the whole list, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TodoUpdated {
    pub todos: Vec<Todo>,
}

/// One entry of the to-do list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    pub content: String,
    /// Wording while in progress: "Running the tests".
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
