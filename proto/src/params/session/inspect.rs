//! The parts of a session that can be looked at.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{QueuedPrompt, SessionSummary};
use crate::budget::BudgetNode;
use crate::{ItemId, Seq, Stamp};

/// Parameters of `session.inspect`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InspectParams {
    pub session: String,
    pub part: InspectPart,
}

/// What can be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InspectPart {
    Status,
    Context,
    Files,
    Children,
    Env,
    Budget,
}

/// Answer of `session.inspect`: the part that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "part", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "made once, and sent")]
pub enum InspectOutput {
    Status {
        summary: SessionSummary,
        queue: Vec<QueuedPrompt>,
        /// Labels, limits, rules and grants in force, as settings would write them.
        settings: BTreeMap<String, String>,
        /// Who is attached, and as what.
        clients: Vec<crate::live::ClientPresence>,
    },
    Context {
        /// Tokens of the newest request and its answer, as the provider reported them.
        tokens: u64,
        /// Whether the provider reported nothing, and `tokens` is estimated from the request's bytes.
        #[serde(default)]
        estimated: bool,
        /// 0: not known.
        window: u64,
        prefix_sha256: String,
        prefix_bytes: u64,
        /// Messages that a request holds now, and the bytes of their wire forms.
        messages: u64,
        message_bytes: u64,
        /// Parts of the context, in order.
        #[serde(default)]
        blocks: Vec<Block>,
    },
    Files {
        /// Files that tools of this session have changed, newest first.
        changed: Vec<ChangedFile>,
    },
    Children {
        children: Vec<crate::params::process::ChildProcess>,
    },
    Env {
        /// What commands of this session see, with values that may be shown.
        shown: BTreeMap<String, String>,
        /// Variables with values only in the memory of the daemon.
        hidden: Vec<String>,
        /// Variables with values that were lost when the daemon ended.
        lost: Vec<String>,
        /// Variables that commands do not get, by their names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        held_back: Vec<String>,
    },
    Budget {
        /// From the day down to the session.
        nodes: Vec<BudgetNode>,
    },
}

/// A file that a session has changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    pub path: String,
    pub turn: u64,
    pub at: Stamp,
    /// Lines added by tools. Without changes by commands and patches of several files.
    pub added: u64,
    pub removed: u64,
    /// A tool for files changed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// A command changed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_command: bool,
}

/// A part of a request, as `session.inspect` lists them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    pub kind: BlockKind,
    /// Id of the message, for pins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// Its record; absent for content inserted by a cache reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Stamp>,
    pub bytes: u64,
    /// Estimated from the bytes, at the rate of the newest request.
    pub tokens: u64,
    /// Number of messages.
    pub messages: u64,
    /// Whether the provider's cache served it in the newest request; absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<bool>,
    /// Whether it is pinned: kept word for word in every compaction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
}

/// What a part of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    System,
    Tools,
    /// All messages before those that are listed one by one.
    Older,
    User,
    Assistant,
    Tool,
    /// Summary of folded messages.
    Summary,
}
