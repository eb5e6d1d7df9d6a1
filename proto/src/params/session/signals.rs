//! Stopping, pausing and continuing a session, and waiting for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outcome::{OutcomeKind, Reason, TurnEnded};
use crate::{Pid, RequestId};

/// What can be sent to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Signal {
    /// Interrupts the turn.
    Int,
    /// Interrupts the turn and ends the session.
    Term,
    /// Ends the session; its processes are killed at once.
    Kill,
    /// Start nothing new until `RESUME`; running work finishes.
    Pause,
    /// Continue after `PAUSE`.
    Resume,
}

/// Parameters of `session.signal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalParams {
    pub session: String,
    pub signal: Signal,
    /// `PAUSE` and `RESUME`: also for the sub-agents below it. One that is created during such a pause is created paused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tree: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `session.interrupt` and `session.signal`: it is on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalOutput {
    /// Whether there was anything to stop.
    pub delivered: bool,
    /// With `tree`: the sub-agents that it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Pid>,
}

/// Parameters of `session.resume`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResumeParams {
    pub session: String,
    /// Requests to the model that the work may take from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add_steps: Option<u64>,
    /// Time that it may take from here on, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Until when `session.wait` waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// The running or queued turns have ended (at once if none is).
    #[default]
    Turn,
    /// The session has exited.
    Exit,
    /// As `turn`, and also when it waits for a person.
    Attention,
}

/// Parameters of `session.wait`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitParams {
    pub session: String,
    #[serde(default)]
    pub until: Until,
    /// Maximum wait in milliseconds; absent: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// Answer of `session.wait`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitOutput {
    /// False: the timeout came first.
    pub done: bool,
    /// It waits for the user (`until: attention`).
    pub attention: bool,
    /// Outcome of the newest turn; absent if there was none.
    #[serde(default)]
    pub ended: Option<TurnEnded>,
    #[serde(default)]
    pub exited: Option<Exited>,
    /// Exit code for scripts.
    pub exit_code: i32,
}

/// How a session exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exited {
    pub outcome: OutcomeKind,
    #[serde(default)]
    pub reason: Option<Reason>,
    pub exit_code: i32,
}
