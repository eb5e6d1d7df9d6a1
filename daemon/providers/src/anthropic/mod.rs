//! The kind `anthropic`: `/v1/messages` with server-sent events.
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
const KIND: &str = "anthropic";

/// Creates codec and provider for an entry of this kind.
pub(crate) fn open(
    options: ProviderOptions,
    _: &ProviderContext,
) -> Result<OpenedProvider, OpenError> {
    let endpoint = Endpoint::new(&options, path(&options.base_url), Auth::ApiKey)?;
    let endpoint = endpoint.with_beta(compaction::beta);
    let codec = codec::Messages::new(&options)?;
    let vendor = Vendor::new(options, endpoint, stream::Collector::new);
    Ok((Arc::new(codec), Arc::new(vendor)))
}

/// The path to append to the base URL. The vendor's libraries expect a URL without the version,
/// others one with it.
pub(crate) fn path(base: &str) -> &'static str {
    let stem = base.trim();
    let stem = stem.split(['?', '#']).next().unwrap_or(stem);
    if stem.trim_end_matches('/').ends_with("/v1") {
        "/messages"
    } else {
        "/v1/messages"
    }
}

#[cfg(test)]
mod tests;
