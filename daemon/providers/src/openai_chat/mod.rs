//! The kind `openai`: `/chat/completions` with server-sent events, as OpenAI began it and everybody speaks it.
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

/// Makes codec and provider for an entry of this kind.
pub(crate) fn open(options: Options, _: &Means) -> Result<Opened, OpenError> {
    let endpoint = Endpoint::new(&options, "/chat/completions", Auth::Bearer)?;
    let codec = codec::Chat::new(&options)?;
    let vendor = Vendor::new(options, endpoint, |site, request| {
        stream::Collector::new(site, request.model.clone(), request.answered)
    });
    Ok((Arc::new(codec), Arc::new(vendor)))
}

#[cfg(test)]
mod tests;
