//! Parameters and answer of `session.reload`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::params::forecast::Forecasts;
use crate::{RequestId, Seq};

/// Parameters of `session.reload`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReloadParams {
    pub session: String,
    /// Reload although the provider's prompt cache is lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `session.reload`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReloadOutput {
    /// Record of the cache reset; absent: nothing was reset, as nothing has changed that requests begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// Instruction files that are new, changed or gone, skills (`skill NAME`) and tools of MCP servers (`new tool NAME`,
    /// `changed tool NAME`, `removed tool NAME`); `memory` if the lines of facts are others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Instruction files, facts and tools that were left out or cut, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Cost of the next prompt before and after the reload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecasts: Option<Box<Forecasts>>,
}
