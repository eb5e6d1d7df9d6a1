//! What hooks are configured, and how they went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hook::{HookEvent, HookOutcome};

/// Parameters of `hook.list`: one of both. Neither: the user's own hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HookListParams")]
pub struct ListParams {
    /// Current hooks of the files for this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Hooks of this session (pid, id or name), as last read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Answer of `hook.list` and `hook.reload`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HookListOutput")]
pub struct ListOutput {
    /// In the order of their execution.
    pub hooks: Vec<HookStatus>,
    /// Problems of the files, in sentences.
    pub problems: Vec<String>,
}

/// One hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookStatus {
    pub event: HookEvent,
    /// Pattern of tools, as written; absent: all, or not about tools.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
    pub command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub timeout_ms: u64,
    /// File of the hook.
    pub source: String,
    /// False: its project is not trusted, and it never runs.
    pub trusted: bool,
    /// Why it never runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Last outcome in the requested session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastRun>,
}

/// How a hook went last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastRun {
    pub outcome: HookOutcome,
    pub duration_ms: u64,
}

/// Parameters of `hook.reload`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HookReloadParams")]
pub struct ReloadParams {
    /// Pid, id or name.
    pub session: String,
}
