//! What the provider's cache served of a session's requests, and the frozen prefix that they all begin with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::{CacheMiss, Purpose};
use crate::{Seq, Stamp};

/// Parameters of `session.cache`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheParams {
    pub session: String,
    /// Only rows of records after this one.
    #[serde(default)]
    pub after: Seq,
    /// Maximum number of rows; 0 or absent: 200.
    #[serde(default)]
    pub limit: u64,
}

/// Answer of `session.cache`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CacheOutput {
    /// Requests, and the resets between them, oldest first.
    pub rows: Vec<CacheRow>,
    /// `after` of the next page; absent at the end.
    #[serde(default)]
    pub next: Option<Seq>,
    /// Totals of the whole session, on every page.
    pub totals: CacheTotals,
    pub prefix_sha256: String,
    pub prefix_bytes: u64,
    /// Lifetime of unused cache entries at the provider, in milliseconds; absent: unknown.
    #[serde(default)]
    pub ttl_ms: Option<u64>,
    /// Time when the cache expires unless a request comes before; absent: unknown, or nothing is cached.
    #[serde(default)]
    pub expires_at: Option<Stamp>,
}

/// What happened to the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum CacheRow {
    Request(CachedRequest),
    /// Earlier bytes change from here on, on purpose.
    Reset {
        seq: Seq,
        at: Stamp,
        reason: String,
    },
}

/// One request that the provider counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CachedRequest {
    /// Its record.
    pub seq: Seq,
    /// Time when its answer ended.
    pub at: Stamp,
    pub turn: u64,
    pub step: u64,
    pub attempt: u32,
    /// Empty in old logs.
    pub provider: String,
    /// Empty in old logs.
    pub model: String,
    #[serde(default)]
    pub purpose: Purpose,
    /// False: the provider reported nothing, and the numbers are 0.
    pub reported: bool,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    /// Tokens that a perfect cache would have served; absent if unknown.
    #[serde(default)]
    pub expected_cached: Option<u64>,
    /// Milliseconds since the previous request for an answer was sent; absent for the first one and for side requests.
    #[serde(default)]
    pub gap_ms: Option<u64>,
    /// Why far less than expected was served.
    #[serde(default)]
    pub miss: Option<CacheMiss>,
}

/// Sums over the requests of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheTotals {
    pub requests: u64,
    /// Requests with a report; the sums are over these.
    pub reported: u64,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    /// Sum over the requests with a known expectation.
    pub expected_cached: u64,
    pub resets: u64,
    /// Requests with far fewer cached tokens than expected.
    pub misses: u64,
    /// Requests that changed earlier bytes without a reset: bugs of Reasonix.
    pub rewrites: u64,
}

/// Parameters of `session.prefix`: of a session, or of one that would be made in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrefixParams {
    /// Pid, id or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Absolute path: show the prefix of a new session there. Creates none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Model of the new session, if not the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Variables for which the client has keys; they may decide which provider is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Number of parts that the client has already.
    #[serde(default)]
    pub after: u64,
}

/// Answer of `session.prefix`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrefixOutput {
    pub provider: String,
    pub model: String,
    pub sha256: String,
    /// Bytes of all parts.
    pub bytes: u64,
    pub parts: Vec<PrefixPart>,
    /// `after` of the next page; absent at the end.
    #[serde(default)]
    pub next: Option<u64>,
    /// Whether tokens are estimated from a count of the provider for this session; otherwise four bytes are one token.
    pub measured: bool,
}

/// A part of a frozen prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrefixPart {
    pub kind: PrefixKind,
    /// Name of the tool or the instruction file, if any.
    pub name: String,
    pub bytes: u64,
    /// Estimated.
    pub tokens: u64,
    /// The exact bytes that are sent.
    pub text: String,
    /// Instructions from a project that is not trusted. They permit nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
}

/// What a part is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrefixKind {
    #[default]
    System,
    /// An instruction file, at the end of the system prompt.
    Instructions,
    /// The list of skills, in the system prompt after the instruction files.
    Skills,
    /// The lines of facts from earlier sessions, behind the instruction files.
    Memory,
    /// The schema of a tool.
    Tool,
    /// Parameters that the provider's entry adds.
    Extra,
}
