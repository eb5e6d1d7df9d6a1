//! Records of the commands in the background.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{CallId, Pid};

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
