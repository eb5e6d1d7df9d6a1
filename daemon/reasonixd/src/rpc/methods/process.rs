//! `process.*`.

use std::sync::Arc;

use proto::Failure;
use proto::params::process::{KillOutput, KillParams, ListOutput, ListParams};

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

/// From TERM to KILL.
const GRACE_MS: u64 = 2_000;

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

pub async fn kill(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: KillParams,
) -> Result<KillOutput, Failure> {
    let running = daemon.procs.table();
    if let Some(child) = running.iter().find(|child| child.pid == Some(params.pid)) {
        // Before it ends: its session logs who ended it.
        let logged = daemon
            .supervisor
            .child_killed(child.session, params.pid, peer.name());
        logged.await;
    }
    let delivered = daemon.procs.stop_number(params.pid, GRACE_MS);
    Ok(KillOutput { delivered })
}
