//! What a session's tools may ask about past messages.

use futures::FutureExt;
use futures::future::BoxFuture;
use proto::params::history::{AroundOutput, AroundParams, SearchOutput, SearchParams};
use proto::{ErrorName, Failure};

/// Past messages, as one session may look at them. The session and the workspace of a search are its own.
pub trait PastMessages: Send + Sync {
    /// See `history.search`.
    fn search(&self, params: SearchParams) -> BoxFuture<'static, Result<SearchOutput, Failure>>;

    /// See `history.around`.
    fn around(&self, params: AroundParams) -> BoxFuture<'static, Result<AroundOutput, Failure>>;
}

/// There are none.
impl PastMessages for () {
    fn search(&self, _: SearchParams) -> BoxFuture<'static, Result<SearchOutput, Failure>> {
        async { Err(none()) }.boxed()
    }

    fn around(&self, _: AroundParams) -> BoxFuture<'static, Result<AroundOutput, Failure>> {
        async { Err(none()) }.boxed()
    }
}

fn none() -> Failure {
    let text = "There are no past messages here.";
    Failure::new(ErrorName::NotFound, text, "Go on without them.")
}
