//! Records of the session itself: it is made, set, paused, left and taken up again.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::outcome::{OutcomeKind, Reason};
use crate::state::{Kind, Mode, OnAsk, Posture, State, WaitingFor};
use crate::{Failure, Pid, RequestId, SessionId};

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
    /// The tools that the session has for its whole life.
    #[serde(default, skip_serializing_if = "SessionTools::is_empty")]
    pub tools: SessionTools,
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

/// The tools of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTools {
    /// Sorted.
    pub names: Vec<String>,
    /// SHA-256 over their names, descriptions and schemas, hexadecimal.
    pub sha256: String,
}

impl SessionTools {
    /// Whether no tools are recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
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
