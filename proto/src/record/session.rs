//! Records of the session itself: it is made, set, paused, left and taken up again.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::options::SessionOptions;
use crate::outcome::{OutcomeKind, Reason};
use crate::state::{State, WaitingFor};
use crate::{CallId, Failure, Pid, RequestId, SessionId};

/// `session.created`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCreated {
    pub session: SessionId,
    pub pid: Pid,
    /// Parent session; 0: started by a client.
    pub ppid: Pid,
    /// Changed only when the log is repaired or restored; a cursor belongs to one epoch.
    pub epoch: u64,
    pub cwd: String,
    /// The workspace root, fixed for the session's life.
    pub root: String,
    pub provider_kind: String,
    /// Context window in tokens; 0: unknown.
    pub context_window: u64,
    /// SHA-256 of the frozen prefix, hexadecimal.
    pub prefix_sha256: String,
    /// Directories that the session may write in, beside its root: chosen by its creator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_dirs: Vec<String>,
    /// Instruction files in the prefix, in their order: paths from the workspace root, or absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<String>,
    /// Names of the tools of the session, sorted; fixed for its life.
    pub tools: Vec<String>,
    /// Environment of the session's tools: variables that may be in the log, with their values.
    pub env: BTreeMap<String, String>,
    /// Names of the other variables of the client; their values were in memory only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_names: Vec<String>,
    /// Names of variables of the client that commands do not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_held: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Origin of its first messages, if it was forked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Call that it works for, if it is a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentOf>,
    /// Version of the daemon that wrote this.
    pub version: String,
    /// Resolved: as the client asked for them, else as the config says.
    #[serde(flatten)]
    pub options: SessionOptions,
}

/// What a session was forked from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    pub session: SessionId,
    pub pid: Pid,
    /// Last copied turn.
    pub turn: u64,
    /// Session at the root of all forks; it identifies their common prefix to the cache.
    pub first: SessionId,
}

/// What a sub-agent works for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentOf {
    /// Session of the call.
    pub parent: SessionId,
    pub call: CallId,
    /// Name of its definition.
    pub name: String,
    /// What it does, in a few words for the user; empty: the call has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// 1: its parent was started by a client.
    pub depth: u32,
    /// MCP servers that run for this session alone, by name. It has the tools of no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp_servers: Vec<String>,
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

/// `session.set`: only the changed options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSet {
    #[serde(flatten)]
    pub options: SessionOptions,
    /// Whether the session is paused: nothing new starts. Set by the signals `PAUSE` and `RESUME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Of a pause: it holds for the whole tree. Sub-agents that the session creates meanwhile are created paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<bool>,
    /// Rule of this session that the user revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
    /// A directory that the session may write in from now on. Absolute, without links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_dir: Option<String>,
    /// Name of the requesting client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Set for a fallback model: the failure of the model that it replaces for the rest of the turn. The end of the
    /// turn restores model and effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<Failure>,
    /// The model's context window is another than was known. Set by the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<ContextWindow>,
}

/// A context window that was found out while the session lived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextWindow {
    pub tokens: u64,
    /// The provider named it when it refused a request. False: from the config, the catalog or the endpoint's list.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

/// `session.state`: a move of the state table, with its cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionState {
    pub state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<WaitingFor>,
    /// Why: `prompt`, `approval 3.1`, `429 from deepseek, try 2 of 8`, …
    pub cause: String,
    /// Milliseconds until the next retry, if it waits for one.
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

/// `session.suspended`: the daemon handed over to a newer one, which continues the session from here, once, whatever
/// its recovery policy is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSuspended {}

/// `session.shortened`: the log had lost its newest records when it was loaded, because it was cut or restored from a
/// backup. From here on the session has another epoch, and cursors of the earlier one are refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionShortened {
    /// The new epoch.
    pub epoch: u64,
    /// The newest record that the catalog of sessions knew of.
    pub known: crate::Seq,
}
