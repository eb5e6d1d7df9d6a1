//! A daemon that is older than this client and has no work: it is asked to exit, so that the installed one can start.
//!
//! Called once, by a client that has just connected for the first time and may start a daemon. In every other case
//! one works with the daemon that is there (contract, chapter 10, *Upgrade*).

use proto::hello::Role;
use proto::methods::{DaemonShutdown, DaemonStatus, ProcessList};
use proto::params::daemon::{ShutdownMode, ShutdownParams, StatusOutput};
use proto::params::process::{ListOutput, ListParams};
use proto::params::{Empty, daemon};
use proto::state::State;

use crate::call;
use crate::connect::{Connection, Options, Start};
use crate::start;
use crate::version::{Skew, skew};

/// Whether the daemon was asked to go, and goes: its process number is to be waited for.
pub(crate) async fn stop_older_daemon(options: &Options, connection: &Connection) -> Option<u32> {
    let daemon = &connection.hello.daemon;
    let may = options.start != Start::Never && connection.hello.role == Role::Drive;
    if !may || skew(&options.version, &daemon.version) != Skew::ClientNewer {
        return None;
    }
    let status = call::made::<DaemonStatus>(connection, &Empty {})
        .await
        .ok()?;
    let all = ListParams::default();
    let runs = call::made::<ProcessList>(connection, &all).await.ok()?;
    if !is_idle(&status, &runs) {
        return None;
    }
    // The one that would be started instead must be newer too: else every command would do this again.
    let installed = start::program_version().await?;
    if skew(&installed, &daemon.version) != Skew::ClientNewer {
        return None;
    }
    let shutdown = ShutdownParams {
        mode: ShutdownMode::Idle,
    };
    // It may be gone before its answer is read.
    match call::made::<DaemonShutdown>(connection, &shutdown).await {
        Ok(_) | Err(call::CallError::Lost { .. }) => Some(daemon.pid),
        Err(_) => None,
    }
}

/// Whether nobody would notice that the daemon is gone: no work, no process, no client but the one that asks.
fn is_idle(status: &StatusOutput, runs: &ListOutput) -> bool {
    let daemon::SessionCounts {
        stored: _,
        loaded: _,
        running,
        waiting,
    } = status.sessions;
    running == 0
        && waiting == 0
        && status.clients.len() <= 1
        && runs.children.is_empty()
        && runs.processes.iter().all(|session| {
            matches!(session.state, State::Idle | State::Exited) && session.queued == 0
        })
}
