//! `process.*`.

use std::sync::Arc;

use proto::Failure;
use proto::params::process::{ListOutput, ListParams};

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    Ok(ListOutput {
        processes: daemon.supervisor.processes(params).await?,
        children: daemon.procs.table(),
    })
}
