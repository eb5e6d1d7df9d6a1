//! Events that may be merged or dropped: they have no `seq`. What they show in pieces, a record tells whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::params::interaction::Interaction;
use crate::params::session::SessionSummary;
use crate::{CallId, ItemId, Seq};

/// What a live event says.
#[derive(Clone, Debug, PartialEq)]
pub enum Live {
    /// `delta.text`: the answer grows.
    Text(Delta),
    /// `delta.reasoning`: the reasoning grows.
    Reasoning(Delta),
    /// `delta.tool_args`: the arguments of a call grow.
    ToolArgs(Delta),
    /// `tool.output`: a running tool prints.
    ToolOutput(ToolOutput),
    /// `message.partial`: what was streamed under this item does not count any more.
    Partial(Partial),
    /// `status`: something about the stream or the turn that is not worth a record.
    Status(Value),
    /// `client.joined`.
    ClientJoined(ClientPresence),
    /// `client.left`.
    ClientLeft(ClientPresence),
    /// `snapshot`: the state at the moment of attaching, where no replay was asked for.
    Snapshot(Box<Snapshot>),
    /// `sync`: all that was durable has been sent; from here on it is live.
    Sync(Box<Sync>),
}

impl Live {
    /// The kind as the event carries it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "delta.text",
            Self::Reasoning(_) => "delta.reasoning",
            Self::ToolArgs(_) => "delta.tool_args",
            Self::ToolOutput(_) => "tool.output",
            Self::Partial(_) => "message.partial",
            Self::Status(_) => "status",
            Self::ClientJoined(_) => "client.joined",
            Self::ClientLeft(_) => "client.left",
            Self::Snapshot(_) => "snapshot",
            Self::Sync(_) => "sync",
        }
    }

    /// The `data` of the event.
    ///
    /// # Errors
    /// Never for the types that stand here; serde's signature.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Text(data) | Self::Reasoning(data) | Self::ToolArgs(data) => {
                serde_json::to_string(data)
            }
            Self::ToolOutput(data) => serde_json::to_string(data),
            Self::Partial(data) => serde_json::to_string(data),
            Self::Status(data) => serde_json::to_string(data),
            Self::ClientJoined(data) | Self::ClientLeft(data) => serde_json::to_string(data),
            Self::Snapshot(data) => serde_json::to_string(data),
            Self::Sync(data) => serde_json::to_string(data),
        }
    }

    /// Reads `data` by its kind. `None` for a kind that is no live event of this build.
    #[must_use]
    pub fn decode(kind: &str, data: &str) -> Option<Result<Self, serde_json::Error>> {
        let from = serde_json::from_str;
        Some(match kind {
            "delta.text" => from(data).map(Self::Text),
            "delta.reasoning" => from(data).map(Self::Reasoning),
            "delta.tool_args" => from(data).map(Self::ToolArgs),
            "tool.output" => serde_json::from_str(data).map(Self::ToolOutput),
            "message.partial" => serde_json::from_str(data).map(Self::Partial),
            "status" => serde_json::from_str(data).map(Self::Status),
            "client.joined" => serde_json::from_str(data).map(Self::ClientJoined),
            "client.left" => serde_json::from_str(data).map(Self::ClientLeft),
            "snapshot" => serde_json::from_str(data).map(Self::Snapshot),
            "sync" => serde_json::from_str(data).map(Self::Sync),
            _ => return None,
        })
    }
}

/// A piece of a message in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Delta {
    /// The message that grows. The finished message carries the same id.
    pub item: ItemId,
    /// The call that grows (`delta.tool_args` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Bytes of this item's text (reasoning, arguments) that came before.
    pub offset: u64,
    pub text: String,
}

/// A piece of what a running tool prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolOutput {
    pub call: CallId,
    /// Bytes of this call's output that came before.
    pub offset: u64,
    pub text: String,
}

/// A message in progress that came to nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Partial {
    pub item: ItemId,
    /// A new attempt takes its place.
    pub superseded: bool,
}

/// A client that came or went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientPresence {
    pub name: String,
    pub role: crate::hello::Role,
}

/// The state at the moment of attaching.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// The newest durable record that this state includes.
    pub seq: Seq,
    pub epoch: u64,
    pub session: SessionSummary,
    pub queue: Vec<crate::params::session::QueuedPrompt>,
    /// What the model has set out to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<crate::record::Todo>,
    /// What happened since the last person left; absent where nothing did, or somebody is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<Away>,
}

/// While you were away.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Away {
    /// When the last person left.
    pub since: crate::Stamp,
    /// The newest record that they had seen.
    pub seq: Seq,
    /// Turns that ended since.
    pub turns: u64,
    /// How the newest of them ended.
    #[serde(default)]
    pub outcome: Option<crate::outcome::OutcomeKind>,
    /// Files that were changed by tools, each once, oldest first; at most 100.
    pub files: Vec<String>,
    /// Commands that ran.
    pub commands: u64,
    pub usage: crate::outcome::UsageTotals,
}

/// The border between replay and live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sync {
    /// The newest durable record that has been sent, or that the snapshot includes.
    pub seq: Seq,
    pub epoch: u64,
    /// Messages in progress, as far as they have come.
    pub live: Vec<Delta>,
    /// What waits for the user.
    pub interactions: Vec<Interaction>,
    /// How many clients follow the session now, the one that reads this included.
    #[serde(default)]
    pub attached: u64,
}
