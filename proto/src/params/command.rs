//! Custom commands: what a prompt of the form `/name arguments` can run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `command.list`: one of both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CommandListParams")]
pub struct ListParams {
    /// As a new session in this directory would have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Those of this session (pid, id or name).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Answer of `command.list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CommandListOutput")]
pub struct ListOutput {
    /// Sorted by name.
    pub commands: Vec<CommandInfo>,
    /// Files that are left out and keys that have no effect, in sentences.
    pub problems: Vec<String>,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandInfo {
    /// Without the slash.
    pub name: String,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
    pub source: CommandSource,
    /// Absent: it comes with the program, or from an MCP server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The file whose command counts instead of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_by: Option<String>,
    /// False: it comes from a project that is not trusted. It is only text: it permits nothing.
    pub trusted: bool,
}

/// Whose command or agent it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandSource {
    Project,
    User,
    #[default]
    BuiltIn,
    /// A prompt of an MCP server.
    McpServer,
}

impl CommandSource {
    /// As on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::BuiltIn => "built_in",
            Self::McpServer => "mcp_server",
        }
    }
}
