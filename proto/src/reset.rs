//! Cache resets: where earlier bytes of a conversation change, and what requests begin with from there on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ItemId, RequestId, Seq, SessionOptions};

/// `cache.reset`: earlier bytes of the conversation change with the next request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CacheReset {
    /// Why: `rewind`, `compaction`, `compaction undone`, `switch` (another model), `effort`, `reload`, …
    pub reason: String,
    /// Fixed start of requests from here on, in order, replacing all messages before this record. Absent: the listed
    /// records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Vec<Piece>>,
    /// Whether it was copied from the session that this one was forked from: earlier messages are incomplete here, or
    /// were rendered for another provider.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carried: bool,
    /// The undone reset; its inserted messages no longer apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Seq>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Compaction>,
    /// Provider and prefix from here on (in the `own` member of the line).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// A part of the fixed start of requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Piece {
    /// The messages from this record to that one, both included.
    Run(Seq, Seq),
    /// Messages inserted by a reset, in the `own` member of that record.
    Element {
        /// The record of the reset; 0: the record that says this.
        reset: Seq,
        /// Which of its elements, from 0.
        element: u32,
    },
}

/// What a compaction did. Token counts are estimates but for `tokens_before`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compaction {
    pub trigger: Trigger,
    /// Tokens of the newest request and its answer, as reported by the provider, else estimated.
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// Number of messages replaced by the summary.
    pub folded: u64,
    /// Number of shortened tool results.
    pub shortened: u64,
    /// Messages that are kept word for word.
    pub kept: u64,
    /// The summary, as the model gets it. Empty if only tool results were shortened.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// It was written without the model, which failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mechanical: bool,
    /// The provider compacted the conversation itself, and requests hold its compaction. `summary` stands for it where
    /// another provider is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub server: bool,
    /// Folded messages as runs of records (first and last), for the archive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archive: Vec<(Seq, Seq)>,
}

/// What a compaction was made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The newest request came near the end of the model's window.
    #[default]
    Auto,
    /// A person asked for it.
    Manual,
    /// The provider refused a request as too long.
    TooLong,
}

/// Provider and prefix from here on (in the `own` member of the line).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wire {
    /// The provider, by its name in the config.
    pub provider: String,
    pub provider_kind: String,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Context window in tokens; 0: unknown.
    pub context_window: u64,
    /// SHA-256 of the prefix, hexadecimal.
    pub prefix_sha256: String,
}

impl Wire {
    /// The model as `provider/model`.
    #[must_use]
    pub fn full_model(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    /// Whether this is the model, with the effort, that the options name.
    #[must_use]
    pub fn is_asked_by(&self, options: &SessionOptions) -> bool {
        self.is_model_of(options) && options.effort == self.effort
    }

    /// Whether this is the model that the options name, whatever the effort.
    #[must_use]
    pub fn is_model_of(&self, options: &SessionOptions) -> bool {
        options.provider() == self.provider && options.model_name() == self.model
    }
}

/// `message.pinned`: a message stays word for word in every compaction, or no longer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pinned {
    pub item: ItemId,
    pub pinned: bool,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
