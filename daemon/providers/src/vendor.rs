//! A vendor over HTTP: what the kinds that speak to one have in common.

use std::sync::Arc;

use contract::Request;
use contract::provider::{Part, Provider, ProviderError};
use futures::stream::{BoxStream, StreamExt};

use crate::failure::{Entry, Site};
use crate::http::Endpoint;
use crate::options::{Options, Timeouts};
use crate::read::Collect;

/// An endpoint whose answers a `Collect` understands.
pub(crate) struct Vendor<C> {
    endpoint: Endpoint,
    timeouts: Timeouts,
    entry: Arc<Entry>,
    collect: fn(Site, &Request) -> C,
}

impl<C: Collect> Vendor<C> {
    pub(crate) fn new(
        options: Options,
        endpoint: Endpoint,
        collect: fn(Site, &Request) -> C,
    ) -> Self {
        Self {
            endpoint,
            timeouts: options.timeouts,
            entry: Arc::new(Entry::of(options)),
            collect,
        }
    }
}

impl<C: Collect> Provider for Vendor<C> {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        let site = Site {
            entry: self.entry.clone(),
            key: request.key.clone(),
        };
        if let Some(error) = site.lacks_key() {
            return futures::stream::iter([Err(error)]).boxed();
        }
        let collect = (self.collect)(site.clone(), &request);
        crate::read::stream(self.endpoint.clone(), self.timeouts, site, request, collect)
    }
}
