//! `skill.list`: the skills that a model or a prompt can use.

use std::sync::Arc;

use proto::Failure;
use proto::params::skill::{ListOutput, ListParams};

use super::rules::asked;
use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    let scope = asked(params.session, params.cwd)?;
    daemon.supervisor.skills(&scope).await
}
