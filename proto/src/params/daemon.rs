//! The daemon itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hello::{DaemonInfo, Role};

/// Answer of `daemon.status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusOutput {
    pub daemon: DaemonInfo,
    pub pid: u32,
    pub version: String,
    pub uptime_s: u64,
    pub home: String,
    pub socket: String,
    /// Resident memory of the daemon, in bytes.
    pub memory_bytes: u64,
    pub sessions: SessionCounts,
    pub clients: Vec<ClientStatus>,
    /// State of the sandbox, and its limits.
    pub confinement: String,
    /// Problems of the config, one per line.
    pub problems: Vec<String>,
}

/// How many sessions there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCounts {
    pub stored: u64,
    pub loaded: u64,
    pub running: u64,
    pub waiting: u64,
}

/// One connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientStatus {
    pub name: String,
    /// `cli`, `tui`, `editor`, `test`, …
    #[serde(default)]
    pub kind: String,
    pub pid: u32,
    pub role: Role,
    pub connected_s: u64,
}

/// Parameters of `daemon.shutdown`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownParams {
    pub mode: ShutdownMode,
}

/// How to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShutdownMode {
    /// Interrupt running turns.
    Now,
    /// Take no new turns, and go when the last one has ended.
    Idle,
    /// Suspend running turns before their next step and exit; the next daemon continues them.
    HandOver,
}
