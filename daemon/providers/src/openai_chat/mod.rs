//! The kind `openai`: `/chat/completions` with server-sent events, introduced by OpenAI and
//! supported by most vendors.
//!
//! `codec` writes requests, and `stream` collects an answer from events. Called by the registry.

mod base_response;
mod codec;
mod image_messages;
mod raw_thoughts;
pub(crate) mod stream;
mod strict_roles;
mod vendor_members;
mod vendor_rules;

use std::sync::Arc;

use crate::http::{Auth, Endpoint};
use crate::options::ProviderOptions;
use crate::registry::{OpenError, OpenedProvider, ProviderContext};
use crate::vendor::Vendor;

/// Creates codec and provider for an entry of this kind.
pub(crate) fn open(
    options: ProviderOptions,
    _: &ProviderContext,
) -> Result<OpenedProvider, OpenError> {
    let endpoint = Endpoint::new(&options, "/chat/completions", Auth::Bearer)?;
    let codec = codec::Chat::new(&options)?;
    let vendor = Vendor::new(options, endpoint, stream::Collector::new);
    Ok((Arc::new(codec), Arc::new(vendor)))
}

#[cfg(test)]
mod tests;
