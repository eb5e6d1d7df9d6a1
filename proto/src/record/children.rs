//! Records of the commands in the background, of those that users run themselves, and of sub-agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Spent;
use crate::item::{CallStatus, Display};
use crate::outcome::Denied;
use crate::words::words;
use crate::{CallId, Pid, RequestId, SessionId};

/// `child.spawned`: a command of the session runs beside its turns: one that the model left in the background, or one
/// that a user runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChildSpawned {
    /// Its own number, of the same row as those of sessions.
    pub pid: Pid,
    pub kind: ChildKind,
    /// The call that started it. Of a user's command the name under which its output is reported.
    pub call: CallId,
    /// The command, for display.
    pub command: String,
    /// The user's command that it is (`session.shell`). Absent: the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserCommand>,
}

/// A shell command that a user runs in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserCommand {
    /// As it was typed, without the `!`.
    pub line: String,
    /// The client that asked for it.
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// The outcome of a user's command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserCommandResult {
    pub status: CallStatus,
    /// How it ended and its output, as the model gets them with the next prompt.
    pub text: String,
    /// For people.
    pub display: Display,
    /// The file that holds all of an output that was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill: Option<String>,
    pub duration_ms: u64,
}

words! {
    /// Kind of a child process of a session.
    ChildKind {
        /// A command in the foreground.
        Command = "command",
        /// A command in the background.
        Shell = "shell",
    }
}

/// `child.exited`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChildExited {
    pub pid: Pid,
    #[serde(default)]
    pub code: Option<i32>,
    #[serde(default)]
    pub signal: Option<i32>,
    /// Reason, if it was ended: `kill_shell`, `the session ended`, `the daemon stopped`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Of a user's command. Absent if the daemon was killed while it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<UserCommandResult>>,
}

/// A sub-agent that works beside the turns of its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStarted {
    pub session: SessionId,
    pub pid: Pid,
    /// Name of its definition.
    pub agent: String,
}

/// `agent.finished`: a sub-agent of the session has come to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentFinished {
    /// The call that started it.
    pub call: CallId,
    pub session: SessionId,
    pub pid: Pid,
    /// Name of its definition.
    pub agent: String,
    /// What it and its own sub-agents have used in all. Their logs hold it too: this counts for budgets alone.
    pub spent: Spent,
    /// Calls that were denied because no client could approve them, as its newest turn reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Denied>,
    /// A denial ended its work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
}
