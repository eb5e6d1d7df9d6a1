//! The kind `anthropic`: `/v1/messages` with server-sent events.
//!
//! `codec` writes requests, `wire` says what events look like, `stream` collects an answer out of them. Called by the
//! registry.

mod codec;
pub(crate) mod stream;
mod wire;

use std::sync::Arc;

use crate::http::{Auth, Endpoint};
use crate::options::Options;
use crate::registry::{Means, OpenError, Opened};
use crate::vendor::Vendor;

/// The name of the kind: thoughts of this name are ours to read.
const KIND: &str = "anthropic";

/// Makes codec and provider for an entry of this kind.
pub(crate) fn open(options: Options, _: &Means) -> Result<Opened, OpenError> {
    let endpoint = Endpoint::new(&options, path(&options.base_url), Auth::ApiKey)?;
    let codec = codec::Messages::new(&options)?;
    let vendor = Vendor::new(options, endpoint, |site, request| {
        stream::Collector::new(site, request.model.clone(), request.answered)
    });
    Ok((Arc::new(codec), Arc::new(vendor)))
}

/// What is appended to an address. The vendor's own libraries take it without the version, others write it with.
fn path(base: &str) -> &'static str {
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
