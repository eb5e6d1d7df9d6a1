//! Everything that runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Pid;
use crate::params::session::SessionSummary;
use crate::record::ChildKind;

/// Parameters of `process.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProcessListParams")]
pub struct ListParams {
    /// Also sessions that have exited.
    #[serde(default)]
    pub all: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Only sub-agents that work below this session, at any depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<Pid>,
    /// `change` of a list that is known: of sessions that have not changed since, only the pids are wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
}

/// Answer of `process.list`, by pid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProcessListOutput")]
pub struct ListOutput {
    pub processes: Vec<SessionSummary>,
    /// Those that have not changed since the list that is known; with `since` only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchanged: Vec<Pid>,
    /// Operating-system processes of the tools of these sessions.
    pub children: Vec<ChildProcess>,
    /// Number of the newest change that the answer includes; another one after a restart of the daemon.
    #[serde(default)]
    pub change: u64,
}

/// Parameters of `process.wait`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProcessWaitParams")]
pub struct WaitParams {
    /// `change` of the list that is to be kept up to date.
    pub since: u64,
    /// How long to wait for another one, in milliseconds; at most 30,000.
    pub wait_ms: u64,
}

/// Answer of `process.wait`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProcessWaitOutput")]
pub struct WaitOutput {
    /// Number of the newest change; that of the request if nothing has changed.
    pub change: u64,
}

/// An operating-system process that a session's tool runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChildProcess {
    pub session: Pid,
    /// Absent: it waits for the end of another command, since as many run as the daemon has file descriptors for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_pid: Option<u32>,
    pub kind: ChildKind,
    /// Its number, if it runs in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<Pid>,
    pub command: String,
    pub running_ms: u64,
    /// It is an MCP server. `session` is 0, unless the server is for one session alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub server: bool,
}

/// Parameters of `process.kill`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProcessKillParams")]
pub struct KillParams {
    /// For a background command.
    pub pid: Pid,
}

/// Answer of `process.kill`: it is on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProcessKillOutput")]
pub struct KillOutput {
    /// Whether there was anything to stop.
    pub delivered: bool,
}
