//! What the provider's cache served, and the frozen prefix.

use std::sync::Arc;

use proto::Failure;
use proto::params::cache as p;

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn cache(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::CacheParams,
) -> Result<p::CacheOutput, Failure> {
    daemon.supervisor.cache(&params).await
}

pub async fn prefix(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::PrefixParams,
) -> Result<p::PrefixOutput, Failure> {
    daemon.supervisor.prefix(params).await
}
