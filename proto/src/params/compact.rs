//! Parameters and answers of `session.compact` and `session.pin`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::params::forecast::Forecasts;
use crate::reset::Compaction;
use crate::{ItemId, RequestId, Seq};

/// Parameters of `session.compact`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactParams {
    pub session: String,
    /// What the summary is to keep, in words for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Only say what it would do: nothing is asked and nothing changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preview: bool,
    /// Bring back what the newest compaction has folded. Possible until a turn that began behind it has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undo: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Keys by variable name, of those that `daemon.hello` asked for. Kept in memory only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, String>,
}

/// Answer of `session.compact`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactOutput {
    /// The record of the cache reset; absent: nothing has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// What was done, or would be. Of an undoing: what was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Compaction>,
    /// Why nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Of a preview: what the next prompt costs without it, and with it. The summary is not written yet: it comes to that,
    /// and to what its writing costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecasts: Option<Box<Forecasts>>,
}

/// Parameters of `session.pin`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PinParams {
    pub session: String,
    /// A message by its id (`m7.3`), or all of a turn (`m7`).
    pub item: ItemId,
    /// It is to stay word for word no longer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpin: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
