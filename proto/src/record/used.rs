//! Records of what requests used, and of what was made of their reasoning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ItemId;
use crate::words::words;

/// `usage`: what one provider request took, as the provider reported it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    pub item: ItemId,
    /// The provider that was asked, by its name in the config; empty in logs of before it was noted: the session's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// The model that was asked; empty as `provider`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    #[serde(default, skip_serializing_if = "Purpose::is_answer")]
    pub purpose: Purpose,
    /// The step of the turn, from 1.
    pub step: u64,
    /// The try that succeeded, from 1.
    pub attempt: u32,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    /// What an ideal cache of prefixes would have served; absent where that cannot be said: the first request, one behind
    /// a cache reset, or one that reported nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_cached: Option<u64>,
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
    /// Of the prompt's tokens: those that the vendor put into its cache, where it says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// False where the provider reported nothing: the numbers are then 0.
    pub reported: bool,
    /// Millionths of a US dollar; absent where the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    pub request_bytes: u64,
    pub first_token_ms: u64,
    pub duration_ms: u64,
    /// Why the vendor's cache served far less than `expected_cached`, or that earlier bytes have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_miss: Option<CacheMiss>,
}

/// A request that the vendor's cache served far less of than it should have: under half of `expected_cached`, and at least
/// 1,024 tokens less. Or one that changed earlier bytes, whatever was served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheMiss {
    pub cause: MissCause,
    /// Milliseconds between the sending of the request before and of this one.
    #[serde(default)]
    pub gap_ms: u64,
    /// Where the bytes begin to differ from the request before: `model`, `system`, `tools`, `extra`, or `message N`, from
    /// 1. Of `ours` only.
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
    /// The vendor has told nothing of its cache in this session yet: nobody can say.
    NotReported,
}

words! {
    /// What a request was for.
    Purpose default Answer {
        /// An answer of the conversation.
        Answer = "answer",
        /// The summary of a compaction.
        Summary = "summary",
        /// A trace of reasoning turned into lists.
        Extraction = "extraction",
        /// One of several answers to the same request, of which another may win.
        Sample = "sample",
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

/// `reasoning.extracted`: what a model has reasoned before an answer, in lists, made by another request. For people: it is
/// never sent to a model. At most five entries a list, each short.
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
    /// The lists that hold anything, each with what it is called.
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
