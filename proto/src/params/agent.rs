//! Sub-agents: the definitions that a session can start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::params::command::CommandSource;
use crate::words::words;

/// Parameters of `agent.list`: one of both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentListParams")]
pub struct ListParams {
    /// As a new session in this directory would have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Those of this session (pid, id or name), as the files are now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Answer of `agent.list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentListOutput")]
pub struct ListOutput {
    /// Sorted by name.
    pub agents: Vec<AgentInfo>,
    /// Files that are left out, and what has no effect in others, in sentences.
    pub problems: Vec<String>,
    /// Directories that definitions are read from, in order: the first that has a name counts.
    #[serde(default)]
    pub directories: Vec<AgentDirectory>,
}

/// A directory of definitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentDirectory {
    /// Absolute. It need not exist.
    pub path: String,
    pub source: CommandSource,
}

words! {
    /// Where a sub-agent works.
    AgentIsolation default None {
        /// In the directory of the session that starts it.
        None = "none",
        /// In a git worktree of its own.
        Worktree = "worktree",
    }
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentInfo {
    pub name: String,
    pub description: String,
    /// Names of its tools. Absent: those of the session that starts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Names of tools that it does not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disallowed_tools: Vec<String>,
    /// Absent: that of the session that starts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// Every call of it that changes something is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Where it works.
    #[serde(default)]
    pub isolation: AgentIsolation,
    /// MCP servers that are started for it alone, by name. Empty: it uses those of the session that starts it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp_servers: Vec<String>,
    /// The agent that works on the same task if this one fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    pub source: CommandSource,
    /// Absent: it comes with the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The file whose agent counts instead of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_by: Option<String>,
}
