//! The kind `openai`: `/chat/completions` with server-sent events, as OpenAI began it and everybody speaks it.
//!
//! `codec` writes requests, `wire` says what events look like, `stream` and `calls` collect an answer out of them.
//! Called by the registry.

mod calls;
mod codec;
mod stream;
mod wire;

use std::sync::Arc;

use contract::Request;
use contract::provider::{Part, Provider, ProviderError};
use futures::stream::{BoxStream, StreamExt};

use crate::failure::{Entry, Site};
use crate::http::Endpoint;
use crate::options::{Options, Timeouts};
use crate::registry::{OpenError, Opened};

/// Makes codec and provider for an entry of this kind.
pub(crate) fn open(options: Options) -> Result<Opened, OpenError> {
    let endpoint = Endpoint::new(&options, "/chat/completions")?;
    let codec = codec::Chat::new(&options)?;
    let entry = Entry {
        name: options.name,
        models: options.models,
        key_env: options.api_key_env,
        header_values: options
            .headers
            .into_iter()
            .map(|(_, value)| value)
            .collect(),
    };
    let vendor = Vendor {
        endpoint,
        timeouts: options.timeouts,
        entry: Arc::new(entry),
    };
    Ok((Arc::new(codec), Arc::new(vendor)))
}

/// An endpoint that speaks chat completions.
struct Vendor {
    endpoint: Endpoint,
    timeouts: Timeouts,
    entry: Arc<Entry>,
}

impl Provider for Vendor {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        let site = Site {
            entry: self.entry.clone(),
            key: request.key.clone(),
        };
        let has_key = request
            .key
            .as_ref()
            .is_some_and(|key| !key.expose().trim().is_empty());
        if let (Some(variable), false) = (&self.entry.key_env, has_key) {
            return futures::stream::iter([Err(site.no_key(variable))]).boxed();
        }
        let collect = stream::Collector::new(site.clone(), request.model.clone(), request.answered);
        crate::read::stream(self.endpoint.clone(), self.timeouts, site, request, collect)
    }
}

#[cfg(test)]
mod tests;
