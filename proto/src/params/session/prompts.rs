//! Prompts, the queue of those that wait, and the user's own shell commands.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::state::OnAsk;
use crate::{PromptId, RequestId, Seq, UntypedText};

/// When a prompt starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// At once, or not at all.
    Now,
    /// After the running turn.
    #[default]
    Queue,
    /// Within the running turn, after its next tool results.
    Steer,
}

/// Parameters of `session.prompt`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptParams {
    pub session: String,
    pub text: String,
    /// Its parts that were not typed, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<UntypedText>,
    #[serde(default)]
    pub when: When,
    /// Keys for a session that lost its own, by variable name. Kept in memory only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, String>,
    /// Values of session variables that were lost when the daemon restarted. Others are ignored: a session keeps the
    /// environment of the client that created it. Kept in memory only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// `on_ask` for the turn of this prompt; absent: that of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_ask: Option<OnAsk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `session.prompt`: it is on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptOutput {
    pub prompt_id: PromptId,
    /// Number of prompts before it.
    pub position: u64,
    /// Its record.
    pub seq: Seq,
}

/// Parameters of `session.shell`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShellParams {
    pub session: String,
    /// A line of shell.
    pub command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `session.shell`: the start of the command is on disk, and it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShellOutput {
    /// Record of its start, a `child.spawned`.
    pub seq: Seq,
}

/// Parameters of `session.unqueue`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnqueueParams {
    pub session: String,
    pub prompt_id: PromptId,
}

/// Parameters of `session.edit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EditParams {
    pub session: String,
    pub prompt_id: PromptId,
    pub text: String,
    /// Whether it joins the running turn; absent: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steer: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Parameters of `session.reorder`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReorderParams {
    pub session: String,
    pub prompt_id: PromptId,
    /// Number of prompts to put before it; a large number moves it to the end.
    pub position: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `session.edit` and `session.reorder`: the queue as it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueOutput {
    pub queue: Vec<QueuedPrompt>,
}

/// A prompt that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueuedPrompt {
    pub prompt_id: PromptId,
    pub text: String,
    /// Its parts that were not typed, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<UntypedText>,
    pub steer: bool,
    pub by: String,
    /// `on_ask` for its turn; absent: that of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_ask: Option<OnAsk>,
}
