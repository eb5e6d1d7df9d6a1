//! The kind `openai-responses`: `/responses` with server-sent events. The vendor stores nothing.
//!
//! `codec` writes requests, `compaction` those for the vendor's own compaction, and `stream` collects an answer from
//! events. Called by the registry.

mod codec;
mod compaction;
pub(crate) mod stream;

use std::sync::Arc;

use crate::http::{Auth, Endpoint};
use crate::options::ProviderOptions;
use crate::registry::{OpenError, OpenedProvider, ProviderContext};
use crate::vendor::Vendor;

/// The name of the kind. Thoughts with this name are ours to read.
const KIND: &str = "openai-responses";

/// The kind of thoughts that hold the `phase` of the text behind them: the final answer, or a comment on the way there.
const PHASE: &str = "openai-responses.phase";

/// The kind of thoughts with reasoning that is not encrypted. Sent back where the entry has `sends_reasoning`.
const OPEN_REASONING: &str = "openai-responses.open";

/// Creates codec and provider for an entry of this kind.
pub(crate) fn open(
    options: ProviderOptions,
    _: &ProviderContext,
) -> Result<OpenedProvider, OpenError> {
    let endpoint = Endpoint::new(&options, "/responses", Auth::Bearer)?;
    let codec = codec::Responses::new(&options)?;
    let vendor = Vendor::new(options, endpoint, stream::Collector::new);
    Ok((Arc::new(codec), Arc::new(vendor)))
}

#[cfg(test)]
mod tests;
