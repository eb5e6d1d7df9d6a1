//! Events that may be merged or dropped: they have no `seq`. They show in pieces what a record contains whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::params::interaction::Interaction;
use crate::params::session::SessionSummary;
use crate::{CallId, ItemId, Seq};

macro_rules! lives {
    ($($(#[$doc:meta])* $variant:ident($data:ty) = $kind:literal;)*) => {
        /// What a live event says.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Live { $($(#[$doc])* $variant($data),)* }

        impl Live {
            /// The kind as the event carries it.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)* }
            }

            /// The `data` of the event.
            ///
            /// # Errors
            /// Never for these types; serde's signature.
            pub fn to_json(&self) -> Result<String, serde_json::Error> {
                match self { $(Self::$variant(data) => serde_json::to_string(data),)* }
            }

            /// Reads `data` by its kind. `None`: this build has no live event of that kind.
            #[must_use]
            pub fn decode(kind: &str, data: &str) -> Option<Result<Self, serde_json::Error>> {
                Some(match kind {
                    $($kind => serde_json::from_str(data).map(Self::$variant),)*
                    _ => return None,
                })
            }

            /// Kind and JSON Schema of the data, for the reference.
            pub fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<(&'static str, schemars::Schema)> {
                vec![$(($kind, generator.subschema_for::<$data>())),*]
            }
        }
    };
}

lives! {
    /// The answer grows.
    Text(Delta) = "delta.text";
    /// The reasoning grows.
    Reasoning(Delta) = "delta.reasoning";
    /// The arguments of a call grow.
    ToolArgs(Delta) = "delta.tool_args";
    /// A running tool prints.
    ToolOutput(ToolOutput) = "tool.output";
    /// The text streamed for this item is void.
    Partial(Partial) = "message.partial";
    /// Something about the stream or the turn that is not worth a record.
    Status(Value) = "status";
    ClientJoined(ClientPresence) = "client.joined";
    ClientLeft(ClientPresence) = "client.left";
    /// The state at the moment of attaching, if no replay was asked for.
    Snapshot(Box<Snapshot>) = "snapshot";
    /// All durable events have been sent; live ones follow.
    Sync(Box<Sync>) = "sync";
}

/// A piece of a message in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Delta {
    /// The growing message. The finished message has the same id.
    pub item: ItemId,
    /// The growing call (`delta.tool_args` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Bytes of this item's text (reasoning, arguments) that came before.
    pub offset: u64,
    pub text: String,
}

/// A piece of the output of a running tool.
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
    /// A retry, or a later message of the same answer, replaces it.
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
    /// Newest durable record included in this state.
    pub seq: Seq,
    pub epoch: u64,
    pub session: SessionSummary,
    pub queue: Vec<crate::params::session::QueuedPrompt>,
    /// The to-do list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<crate::record::Todo>,
    /// Events since the last client detached; absent if there are none or a client is attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<Away>,
}

/// While you were away.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Away {
    /// Time when the last client detached.
    pub since: crate::Stamp,
    /// Newest record that the client had seen.
    pub seq: Seq,
    /// Turns that have ended since.
    pub turns: u64,
    /// Outcome of the newest one.
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
    /// Newest durable record that was sent or is in the snapshot.
    pub seq: Seq,
    pub epoch: u64,
    /// Messages in progress, with their text so far.
    pub live: Vec<Delta>,
    /// Open approvals and questions.
    pub interactions: Vec<Interaction>,
    /// Number of attached clients, including this one.
    #[serde(default)]
    pub attached: u64,
}
