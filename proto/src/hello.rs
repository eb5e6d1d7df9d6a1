//! The handshake: who is there, which versions, which role.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Stamp;
use crate::words::words;

words! {
    /// Rights of a connection. Each role includes the ones before it.
    Role {
        /// Read only.
        Watch = "watch",
        /// Also answer approvals and questions.
        Approve = "approve",
        /// Also send prompts, interrupt, and change settings.
        Drive = "drive",
    }
}

/// Who a client says it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientInfo {
    /// Shown to other clients: name of the user or of the program (`reasonix run`).
    pub name: String,
    pub version: String,
    #[serde(default)]
    pub build: String,
    /// `cli`, `tui`, `editor`, `test`, …
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub pid: u32,
    /// Whether the client can answer questions.
    #[serde(default)]
    pub interactive: bool,
}

/// Parameters of `daemon.hello`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HelloParams {
    pub client: ClientInfo,
    /// Oldest and newest protocol version that the client speaks.
    pub protocol: [u32; 2],
    pub role: Role,
    /// Where the client works: servers that are configured there may want variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Keys for sessions that lost theirs when the daemon restarted, and variables of MCP servers, by name. Kept in memory
    /// only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, String>,
}

/// Answer of `daemon.hello`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HelloOutput {
    pub daemon: DaemonInfo,
    /// Protocol version of the connection.
    pub protocol: u32,
    pub capabilities: Vec<String>,
    /// Role of the connection: the requested one, or a lower one.
    pub role: Role,
    /// Home directory of this daemon.
    pub home: String,
    /// Names of environment variables with keys of providers. A client sends those it has when it creates a session.
    pub key_variables: Vec<String>,
    /// Variables whose keys sessions are waiting for, and those that entries of MCP servers name and the daemon lacks; every
    /// client that has one offers it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub wanted_keys: BTreeSet<String>,
    /// Variables passed to commands although they look secret; `*` matches any letters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_variables: Vec<String>,
}

/// Who the daemon is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonInfo {
    pub version: String,
    pub build: String,
    pub pid: u32,
    pub started_at: Stamp,
    /// Differs after each start of the daemon.
    pub instance: String,
}
