//! A vendor over HTTP: the common part of the HTTP kinds.

use std::sync::Arc;

use contract::Request;
use contract::provider::{Part, Provider, ProviderError};
use futures::stream::{BoxStream, StreamExt};

use crate::failure::{EntryInfo, ErrorContext};
use crate::gathered::Gathered;
use crate::http::Endpoint;
use crate::options::{ProviderOptions, Timeouts};
use crate::read::Collect;

/// An endpoint whose answers a `Collect` understands.
pub(crate) struct Vendor<C> {
    endpoint: Endpoint,
    timeouts: Timeouts,
    entry: Arc<EntryInfo>,
    collect: fn(Gathered) -> C,
}

impl<C: Collect> Vendor<C> {
    pub(crate) fn new(
        options: ProviderOptions,
        endpoint: Endpoint,
        collect: fn(Gathered) -> C,
    ) -> Self {
        Self {
            endpoint,
            timeouts: options.timeouts,
            entry: Arc::new(EntryInfo::of(options)),
            collect,
        }
    }
}

impl<C: Collect> Provider for Vendor<C> {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        let site = ErrorContext {
            entry: self.entry.clone(),
            key: request.key.clone(),
        };
        if let Some(error) = site.lacks_key() {
            return futures::stream::iter([Err(error)]).boxed();
        }
        let gathered = Gathered::new(site.clone(), request.model.clone(), request.answered);
        let collect = (self.collect)(gathered);
        crate::read::stream(self.endpoint.clone(), self.timeouts, site, request, collect)
    }
}
