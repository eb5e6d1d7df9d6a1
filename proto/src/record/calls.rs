//! Records of a turn and its calls: what was decided, asked, done, and how it ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Changed, KnownFile};
use crate::item::{CallStatus, Display, ToolKind};
use crate::params::interaction::InteractionAnswer;
use crate::words::words;
use crate::{CallId, InteractionId, PromptId, RequestId};

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

words! {
    /// What policy says to a call.
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
    /// The file that holds all of an output where the model or `display` has less.
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

/// `interaction.resolved`: the user answered, or the daemon closed it. An approved plan also takes the session back to the
/// mode `normal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InteractionResolved {
    pub interaction_id: InteractionId,
    pub call: CallId,
    /// Absent: the daemon closed it. An approval is then denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<InteractionAnswer>,
    /// Why the daemon closed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who answered: the client's name; `reasonix` where the daemon closed it.
    pub by: String,
    /// It was closed because nobody was there, or the last user who could have answered has left.
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
