//! `process.*`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use proto::params::process::{
    KillOutput, KillParams, ListOutput, ListParams, WaitOutput, WaitParams,
};
use proto::{Failure, SessionId};

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

/// From TERM to KILL.
const GRACE_MS: u64 = 2_000;

/// The longest wait for a change of the list.
const WAIT_MAX_MS: u64 = 30_000;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    // Read before the list: what changes meanwhile is in the next one, too.
    let change = daemon.supervisor.list_change();
    let changed = params
        .since
        .and_then(|since| daemon.supervisor.changed_since(since));
    let processes = daemon.supervisor.processes(params).await?;
    let (processes, unchanged): (Vec<_>, Vec<_>) = processes.into_iter().partition(|session| {
        let is_new = |changed: &HashSet<SessionId>| changed.contains(&session.session);
        // Why a session can only be read may change without it.
        session.read_only.is_some() || changed.as_ref().is_none_or(is_new)
    });
    let servers = daemon.mcp.processes();
    let mut children = daemon.procs.table();
    for child in &mut children {
        let server = child.os_pid.and_then(|os_pid| servers.get(&os_pid));
        child.server = server.is_some();
        if let Some(Some(owner)) = server {
            child.session = *owner;
        }
    }
    Ok(ListOutput {
        change,
        processes,
        unchanged: unchanged.into_iter().map(|session| session.pid).collect(),
        children,
    })
}

pub async fn wait(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: WaitParams,
) -> Result<WaitOutput, Failure> {
    let wait = Duration::from_millis(params.wait_ms.min(WAIT_MAX_MS));
    let change = daemon.supervisor.next_list_change(params.since, wait).await;
    Ok(WaitOutput { change })
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
