//! MCP servers: what is configured, how they are, and changing the user's own list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Pid;

/// Parameters of `mcp.list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpListParams")]
pub struct ListParams {
    /// Servers that sessions of this directory have. Absent: the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// Answer of `mcp.list`, `mcp.add` and `mcp.remove`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpListOutput")]
pub struct ListOutput {
    pub servers: Vec<McpServer>,
    /// Entries that are ignored, and why, in sentences.
    pub problems: Vec<String>,
}

/// One configured server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McpServer {
    pub name: String,
    /// `user` or `project`.
    pub scope: String,
    /// File that configures it.
    pub source: String,
    /// Command line or address, with its variables not replaced, and stars for a password in an address.
    pub target: String,
    /// Whether its program runs in the sandbox of commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sandbox: bool,
    /// `starting`, `ready`, `unreachable` (it does not answer now), `backing off`, `failed`, `needs login`, `disabled` or `stopped` (no session has needed it).
    pub state: String,
    /// Why it does not work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Port of `localhost` that the browser is sent back to after a login. Absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_port: Option<u16>,
    /// Names under which the model calls its tools, as they were listed last.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Tools that are left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// Answer of `mcp.resources`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpResourcesOutput")]
pub struct ResourcesOutput {
    /// By server and address; at most 500 of a server.
    pub resources: Vec<McpResource>,
}

/// A resource of a server: `@SERVER:URI` in a prompt attaches it.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct McpResource {
    pub server: String,
    pub uri: String,
    /// What the server calls it.
    pub name: String,
}

/// Parameters of `mcp.restart`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpRestartParams")]
pub struct RestartParams {
    pub name: String,
    /// As for `mcp.test`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Of a server that is not shared, only the process of this session. Absent: the processes of all sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Pid>,
}

/// Parameters of `mcp.test`, `mcp.logs` and `mcp.logout`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpServerParams")]
pub struct ServerParams {
    pub name: String,
    /// Directory whose server it is. Absent: one of the user's own, in the user's home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// Answer of `mcp.logs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpLogsOutput")]
pub struct LogsOutput {
    /// Newest lines that the server wrote to its standard error, and what happened to it; oldest first.
    pub lines: Vec<String>,
}

/// Parameters of `mcp.add`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpAddParams")]
pub struct AddParams {
    pub name: String,
    /// Its entry, as `mcp.json` has it: `command`, `args` and `env`, or `url` and `headers`.
    pub entry: Map<String, Value>,
}

/// Parameters of `mcp.remove`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpRemoveParams")]
pub struct RemoveParams {
    pub name: String,
}

/// Parameters of `mcp.login`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpLoginParams")]
pub struct LoginParams {
    pub name: String,
    /// Directory whose server it is. Absent: one of the user's own, in the user's home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Where the browser is sent afterwards: an `http://` address of this machine with a port, at which the client listens.
    pub redirect_uri: String,
}

/// Answer of `mcp.login`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpLoginOutput")]
pub struct LoginOutput {
    /// What the user opens in a browser. Its `state` comes back in the redirect.
    pub authorization_url: String,
    /// How long the login waits for `mcp.login_finish`.
    pub seconds: u64,
}

/// Parameters of `mcp.login_finish`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpLoginFinishParams")]
pub struct LoginFinishParams {
    pub name: String,
    /// As for `mcp.login`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whole address that the browser was redirected to.
    pub redirected: String,
}

/// Answer of `mcp.logout`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "McpLogoutOutput")]
pub struct LogoutOutput {
    /// Whether there was a login.
    pub removed: bool,
    /// What became of its tokens at the authorization server. Absent: there was no login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation: Option<Revocation>,
    /// Why the tokens could not be revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of the tokens of a deleted login at their authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "McpRevocation")]
pub enum Revocation {
    /// It accepts them no more.
    Done,
    /// It cannot revoke tokens: they end when they expire.
    Unsupported,
    /// It may still accept them.
    Failed,
}
