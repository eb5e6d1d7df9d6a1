//! What sessions were: forks, exports, deletion, search, statistics.

use std::sync::Arc;
use std::time::Duration;

use proto::params::{history, session};
use proto::{ErrorName, Failure, Stamp};

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

/// How long the commands of a deleted session are waited for.
const CLEARED_MAX: Duration = Duration::from_secs(3);

pub async fn fork(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: history::ForkParams,
) -> Result<history::ForkOutput, Failure> {
    let guest = daemon.admit()?;
    // What was begun is finished, also where the connection goes in the middle of it.
    finished(tokio::spawn(async move {
        let _guest = guest;
        daemon.supervisor.fork(params).await
    }))
    .await
}

pub async fn export(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: history::ExportParams,
) -> Result<session::PieceOutput, Failure> {
    daemon.supervisor.export(&params).await
}

pub async fn delete(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: history::DeleteParams,
) -> Result<history::DeleteOutput, Failure> {
    let guest = daemon.admit()?;
    finished(tokio::spawn(async move {
        let _guest = guest;
        let gone = daemon.supervisor.delete(&params).await?;
        // Its commands were stopped; who hears that it is gone finds nothing of them.
        let cleared = daemon.procs.session_gone(gone.pid);
        if tokio::time::timeout(CLEARED_MAX, cleared).await.is_err() {
            tracing::warn!(pid = %gone.pid, "a deleted session's commands take their time to end");
        }
        Ok(gone)
    }))
    .await
}

pub async fn prune(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: history::PruneParams,
) -> Result<history::PruneOutput, Failure> {
    let guest = daemon.admit()?;
    let keep_days = match params.keep_days {
        Some(days) => days,
        None => daemon.settings(None).settings.keep_days,
    };
    if keep_days == 0 {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            "0 days means that sessions are kept for ever: there is nothing to prune.",
            "Say how many days (`keep_days`), or set `sessions.keep_days`.",
        ));
    }
    finished(tokio::spawn(async move {
        let _guest = guest;
        let (supervisor, now) = (&daemon.supervisor, Stamp::now());
        supervisor.prune(keep_days, params.dry_run, now).await
    }))
    .await
}

pub async fn search(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: history::SearchParams,
) -> Result<history::SearchOutput, Failure> {
    daemon.supervisor.search(params).await
}

pub async fn stats(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: history::StatsParams,
) -> Result<history::StatsOutput, Failure> {
    daemon.supervisor.stats(params).await
}

async fn finished<T>(work: tokio::task::JoinHandle<Result<T, Failure>>) -> Result<T, Failure> {
    work.await.map_err(|error| {
        let text = format!("the daemon has a bug: {error}");
        Failure::new(ErrorName::Internal, text, "")
    })?
}
