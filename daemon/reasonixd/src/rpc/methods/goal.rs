//! `goal.*`: goals of sessions.

use std::sync::Arc;

use proto::Failure;
use proto::params::goal::{
    ChangeOutput, ChangeParams, StartOutput, StartParams, StatusOutput, StopOutput, StopParams,
};
use proto::params::session::OneParams;

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn start(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: StartParams,
) -> Result<StartOutput, Failure> {
    let _guest = daemon.admit()?;
    let session = daemon.session(&params.session).await?;
    session.start_goal(params, peer.name()).await
}

pub async fn status(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: OneParams,
) -> Result<StatusOutput, Failure> {
    daemon.session(&params.session).await?.goal_status().await
}

pub async fn change(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: ChangeParams,
) -> Result<ChangeOutput, Failure> {
    // A goal that goes on starts a turn.
    let _guest = daemon.admit()?;
    let session = daemon.session(&params.session).await?;
    session.change_goal(params, peer.name()).await
}

pub async fn stop(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: StopParams,
) -> Result<StopOutput, Failure> {
    let session = daemon.session(&params.session).await?;
    session.stop_goal(params, peer.name()).await
}
