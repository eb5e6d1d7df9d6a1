//! `session.rewind`, `session.checkpoints`.

use std::sync::Arc;

use proto::Failure;
use proto::params::{history, session};

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn rewind(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: history::RewindParams,
) -> Result<history::RewindOutput, Failure> {
    let _guest = daemon.admit()?;
    let handle = daemon.supervisor.find(&params.session).await?;
    handle.rewind(params, peer.name()).await
}

pub async fn checkpoints(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: session::OneParams,
) -> Result<history::CheckpointsOutput, Failure> {
    let handle = daemon.supervisor.find(&params.session).await?;
    handle.checkpoints().await
}
