//! Records of the usage of requests, and of the extraction from their reasoning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ItemId;
use crate::words::words;

/// `usage`: the usage of one request, as the provider reported it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    pub item: ItemId,
    /// Requested provider, by its name in the config; empty in old logs: the provider of the session.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// Requested model; empty as `provider`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    #[serde(default, skip_serializing_if = "Purpose::is_answer")]
    pub purpose: Purpose,
    /// The step of the turn, from 1.
    pub step: u64,
    /// Number of the successful try, from 1.
    pub attempt: u32,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    /// Tokens that a perfect prefix cache would have served; absent if unknown: the first request, one after a cache
    /// reset, or one without a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_cached: Option<u64>,
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
    /// Prompt tokens written to the provider's cache, if reported.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// False if the provider reported nothing: the numbers are then 0.
    pub reported: bool,
    /// Cost in millionths of a US dollar; absent if the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    pub request_bytes: u64,
    pub first_token_ms: u64,
    pub duration_ms: u64,
    /// Why the provider's cache served far less than `expected_cached`, or that earlier bytes have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_miss: Option<CacheMiss>,
}

/// A request with far fewer cached tokens than expected: under half of `expected_cached`, and at least 1,024 tokens
/// less. Or a request that changed earlier bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheMiss {
    pub cause: MissCause,
    /// Milliseconds since the previous request was sent.
    #[serde(default)]
    pub gap_ms: u64,
    /// First difference from the previous request: `model`, `system`, `tools`, `extra`, or `message N`, from 1. Only
    /// for `ours`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
}

/// Why the cache did not serve.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MissCause {
    /// The vendor keeps it for a shorter time than has gone by.
    Expired,
    /// How long the vendor keeps it is not known, and more than five minutes have gone by.
    ProbablyExpired,
    /// Earlier bytes changed without a reset: a bug of Reasonix.
    Ours,
    /// Nothing that was sent has changed: it was evicted, or another server answered.
    Vendor,
    /// The provider has reported no cache usage in this session yet; the cause is unknown.
    NotReported,
}

words! {
    /// Purpose of a request.
    Purpose default Answer {
        /// An answer of the conversation.
        Answer = "answer",
        /// The summary of a compaction.
        Summary = "summary",
        /// Extraction of lists from reasoning.
        Extraction = "extraction",
        /// One of several samples of an answer.
        Sample = "sample",
        /// An answer for an MCP server.
        Server = "server",
        /// The review of a risky call.
        Review = "review",
    }
}

impl Purpose {
    /// For `skip_serializing_if`.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        *self == Self::Answer
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// `reasoning.extracted`: lists extracted from the reasoning before an answer, by another request. For display only,
/// never sent to a model. At most five short entries per list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReasoningExtracted {
    /// The answer.
    pub item: ItemId,
    #[serde(default)]
    pub subgoals: Vec<String>,
    #[serde(default)]
    pub hypotheses: Vec<String>,
    #[serde(default)]
    pub uncertainties: Vec<String>,
    #[serde(default)]
    pub rejected_paths: Vec<String>,
}

impl ReasoningExtracted {
    /// The non-empty lists with their names.
    #[must_use]
    pub fn lists(&self) -> Vec<(&'static str, &[String])> {
        let lists = [
            ("subgoals", self.subgoals.as_slice()),
            ("hypotheses", self.hypotheses.as_slice()),
            ("uncertainties", self.uncertainties.as_slice()),
            ("rejected paths", self.rejected_paths.as_slice()),
        ];
        lists
            .into_iter()
            .filter(|(_, list)| !list.is_empty())
            .collect()
    }
}
