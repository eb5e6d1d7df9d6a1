//! The handshake: who is there, which versions, which role.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Stamp;
use crate::words::words;

words! {
    /// What a connection may do. Each role may do all that the one before it may.
    Role {
        /// Only reads.
        Watch = "watch",
        /// May also answer approvals and questions.
        Approve = "approve",
        /// May also prompt, interrupt and set.
        Drive = "drive",
    }
}

/// Who a client says it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientInfo {
    /// Shown to other clients: what the person is called, or the program (`reasonix run`).
    pub name: String,
    pub version: String,
    #[serde(default)]
    pub build: String,
    /// `cli`, `tui`, `editor`, `test`, …
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub pid: u32,
    /// A person sits in front of it and could answer a question.
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
    /// Keys for sessions that lost theirs with the last life of the daemon, by variable name. Kept in memory only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, String>,
}

/// Answer of `daemon.hello`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HelloOutput {
    pub daemon: DaemonInfo,
    /// The version that both will speak.
    pub protocol: u32,
    pub capabilities: Vec<String>,
    /// The role that the connection really has: what was asked, or less.
    pub role: Role,
    /// The home whose sessions this daemon owns.
    pub home: String,
    /// Names of environment variables that hold providers' keys: a client sends those it has when it creates a session.
    pub key_variables: Vec<String>,
    /// Those whose keys sessions wait for now: every client that has one offers it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub wanted_keys: BTreeSet<String>,
    /// Names, with `*`, of what commands get of the variables that are otherwise held back from them.
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
    /// Differs in every life of the daemon.
    pub instance: String,
}
