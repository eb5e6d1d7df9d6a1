//! Deletes sessions: one, or all that have been idle for long.

use std::sync::Arc;
use std::time::Duration;

use proto::params::history;
use proto::{ErrorName, Failure, Stamp};

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

/// How long a deletion waits for the end of the session's commands.
const CLEARED_MAX: Duration = Duration::from_secs(3);

pub async fn delete(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: history::DeleteParams,
) -> Result<history::DeleteOutput, Failure> {
    let deletion = |daemon: Arc<Daemon>| async move {
        let deleted = daemon.supervisor.delete(&params).await?;
        // Its commands were stopped. A client that gets the answer finds nothing of them.
        let cleared = daemon.procs.session_gone(deleted.pid);
        if tokio::time::timeout(CLEARED_MAX, cleared).await.is_err() {
            tracing::warn!(pid = %deleted.pid, "the commands of a deleted session are slow to end");
        }
        Ok(deleted)
    };
    daemon.finish(deletion).await
}

pub async fn prune(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: history::PruneParams,
) -> Result<history::PruneOutput, Failure> {
    let pruning = |daemon: Arc<Daemon>| async move {
        let keep_days = match params.keep_days {
            Some(days) => days,
            None => daemon.settings(None).settings.keep_days,
        };
        if keep_days == 0 {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                "0 days keeps all sessions, so there is nothing to prune.",
                "Give the number of days (`keep_days`), or set `sessions.keep_days`.",
            ));
        }
        let (supervisor, now) = (&daemon.supervisor, Stamp::now());
        supervisor.prune(keep_days, params.dry_run, now).await
    };
    daemon.finish(pruning).await
}
