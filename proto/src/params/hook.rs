//! What hooks are configured, and how they went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hook::{HookEvent, HookOutcome};

/// Parameters of `hook.list`: one of both. Neither: the user's own hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HookListParams")]
pub struct ListParams {
    /// What the files say now that count in this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What this session (pid, id or name) uses, as it was read last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Answer of `hook.list` and `hook.reload`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HookListOutput")]
pub struct ListOutput {
    /// In the order in which they run.
    pub hooks: Vec<HookStatus>,
    /// Problems of the files, in sentences.
    pub problems: Vec<String>,
}

/// One hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookStatus {
    pub event: HookEvent,
    /// The tools that it is for, as it was written; absent: all, or it is not about tools.
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
    /// How it went last in the session that was asked for.
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
