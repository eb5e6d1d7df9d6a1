//! Records of the commands in the background, and of sub-agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Spent;
use crate::words::words;
use crate::{CallId, Pid, SessionId};

/// `child.spawned`: a command of the session runs in the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChildSpawned {
    /// Its own number, of the same row as those of sessions.
    pub pid: Pid,
    pub kind: ChildKind,
    /// The call that started it.
    pub call: CallId,
    /// The command, for display.
    pub command: String,
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
}
