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
    /// Instructions for the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Preview the effect; send and change nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preview: bool,
    /// Undo the newest compaction. Possible until a later turn has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undo: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Keys requested by `daemon.hello`, by variable name. Kept in memory only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, String>,
}

/// Answer of `session.compact`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactOutput {
    /// Record of the cache reset; absent: nothing has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// The compaction, done or previewed; of an undo: the undone one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Compaction>,
    /// Why nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Of a preview: cost of the next prompt without and with the compaction. The summary is not written yet; its cost
    /// comes on top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecasts: Option<Box<Forecasts>>,
}

/// Parameters of `session.pin`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PinParams {
    pub session: String,
    /// A message by its id (`m7.3`), or all of a turn (`m7`).
    pub item: ItemId,
    /// Remove the pin.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpin: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
