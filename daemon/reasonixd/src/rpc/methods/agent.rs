//! `agent.list`: the sub-agents that a session can start.

use std::sync::Arc;

use proto::Failure;
use proto::params::agent::{ListOutput, ListParams};

use super::rules::asked;
use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    let scope = asked(params.session, params.cwd)?;
    daemon.supervisor.agents(&scope).await
}
