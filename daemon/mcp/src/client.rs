//! A connection to one server, behind a trait: what the pool needs of it. The implementation on the official SDK is in
//! `client/sdk.rs`.

mod asker;
mod changes;
mod connection;
mod content;
mod depth;
mod elicitation;
mod handler;
pub(crate) mod http;
mod http_session;
mod in_flight;
pub mod oauth;
mod reach;
mod sampling;
pub(crate) mod sdk;
pub(crate) mod stdio;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use contract::tool::{Cancel, Progress, Questions};
use futures::future::BoxFuture;
use proto::Pid;
use serde_json::{Map, Value};

use crate::config::ServerConfig;
use crate::listing::RawTools;
use crate::log::ServerLog;
use crate::prompt::RawPrompt;

/// What a server is started or connected to with.
#[derive(Clone)]
pub struct ConnectRequest {
    /// With its variables replaced.
    pub config: ServerConfig,
    /// Where it works.
    pub cwd: PathBuf,
    pub log: Arc<ServerLog>,
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// The user must log in first.
    NeedsLogin,
    /// Its sandbox cannot be made, so it was not started: why, as a text for the user.
    NoSandbox(String),
    /// A text for the user.
    Failed(String),
}

impl From<String> for ConnectError {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

/// Starts servers, or connects to them.
pub trait Connect: Send + Sync {
    /// Resolves once the server has answered the handshake. Dropping it leaves no process.
    fn connect(
        &self,
        request: ConnectRequest,
    ) -> BoxFuture<'static, Result<Arc<dyn Connection>, ConnectError>>;
}

/// One call of a tool.
pub struct ToolRequest {
    /// The session that makes it.
    pub session: Pid,
    /// As the server names it.
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub timeout: Duration,
    pub cancel: Arc<dyn Cancel>,
    pub progress: Arc<dyn Progress>,
    /// Asks the user if the server does.
    pub questions: Arc<dyn Questions>,
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The server answered with an error.
    Refused(String),
    /// Nothing answers at its address.
    Unreachable {
        reason: String,
        /// Whether the call may have arrived.
        arrived: bool,
    },
    /// The call exceeded its time limit. The server was asked to cancel it.
    TimedOut,
    /// The user stopped it.
    Cancelled,
    /// The server ended or the connection broke while the call ran.
    Lost,
    /// The server does not accept the login, or not for this call.
    NeedsLogin,
    /// The server wants the user to open these links first. It has done nothing.
    NeedsLinks {
        links: Vec<String>,
        decision: LinkDecision,
    },
}

/// What the user did about a link that was shown to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkDecision {
    /// They open it.
    Accepted,
    Declined,
    /// No user could be asked, or the question was closed without a decision.
    NotAsked,
}

/// A part of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultPart {
    Text(String),
    /// An image, as its server calls it: base64, not checked.
    Image {
        media_type: String,
        base64: String,
    },
    /// Something else that is no text: its kind (`audio`), its media type, and its size in bytes.
    Binary {
        kind: &'static str,
        media_type: String,
        bytes: usize,
    },
}

/// What a tool returned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    pub parts: Vec<ResultPart>,
    pub structured: Option<Value>,
    pub is_error: bool,
}

/// A resource as its server lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawResource {
    pub uri: String,
    pub name: String,
    pub description: String,
    pub media_type: Option<String>,
    /// In bytes.
    pub size: Option<u64>,
}

/// A server that answers. Dropping it ends the connection, and the process with all that it started.
pub trait Connection: Send + Sync {
    /// Its tools. The error is a text for the user.
    fn list_tools(&self) -> BoxFuture<'_, Result<RawTools, ConnectError>>;

    /// Calls a tool.
    fn call(&self, request: ToolRequest) -> BoxFuture<'_, Result<ToolResult, CallError>>;

    /// Its prompts. The error is a text for the user.
    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<RawPrompt>, String>>;

    /// The text of a prompt. The error is a text for the user.
    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, String>>;

    /// Whether it has resources.
    fn has_resources(&self) -> bool;

    /// Its resources. The error is a text for the model.
    fn list_resources(&self) -> BoxFuture<'_, Result<Vec<RawResource>, String>>;

    /// The text of a resource; what is no text is a note on it. The error is a text for the user.
    fn resource<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<String, String>>;

    /// Resolves each time the server reports that its tools or prompts have changed.
    fn list_changed(&self) -> BoxFuture<'_, ()>;

    /// Resolves when the cause for which its address does not answer is another one than `known`. `None`: it answers. Never for
    /// a program, whose end is noticed.
    fn reach_changed<'a>(&'a self, known: Option<&'a str>) -> BoxFuture<'a, Option<String>>;

    /// Asks whether it is there. A failure that is no refused login is also seen by `reach_changed` and `closed`.
    fn ping(&self) -> BoxFuture<'_, Result<(), ConnectError>>;

    /// Its process. `None`: it is no program that we have started.
    fn os_pid(&self) -> Option<u32>;

    /// Whether the settings of its sandbox are others than when it was started. Blocks.
    fn is_outdated(&self) -> bool;

    /// Ends it, whoever holds it: calls in flight fail.
    fn close(&self);

    /// Resolves when it answers no more, with the reason.
    fn closed(&self) -> BoxFuture<'_, String>;
}

/// `file://` and the path of a directory, percent-encoded.
pub(crate) fn file_uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let mut uri = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(*byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
