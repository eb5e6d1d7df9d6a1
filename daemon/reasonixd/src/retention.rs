//! Deletes old sessions once a day, if `sessions.keep_days` says so. Errors go to the daemon's
//! log, and tried again the next day.

use std::sync::Weak;
use std::time::Duration;

use proto::Stamp;

use crate::daemon::Daemon;

/// After a start there is more to do than that.
const FIRST: Duration = Duration::from_secs(5 * 60);
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// Looks once a day, as long as there is a daemon. Dropped between two sessions it leaves each whole or gone.
pub async fn keep(daemon: Weak<Daemon>) {
    let mut pause = FIRST;
    loop {
        tokio::time::sleep(pause).await;
        pause = EVERY;
        let Some(daemon) = daemon.upgrade() else {
            return;
        };
        look(&daemon).await;
    }
}

async fn look(daemon: &Daemon) {
    // Read again each time: it may be changed while the daemon runs.
    let keep_days = daemon.settings(None).settings.keep_days;
    // No guest of the gate: one that nobody needs goes, whatever is done here.
    let goes = daemon.gate.shutdown_reason().is_some() || daemon.hold.is_lost();
    if keep_days == 0 || goes {
        return;
    }
    match daemon
        .supervisor
        .prune(keep_days, false, Stamp::now())
        .await
    {
        Ok(pruned) if pruned.sessions.is_empty() => {}
        Ok(pruned) => tracing::info!(
            keep_days,
            sessions = pruned.sessions.len(),
            bytes = pruned.bytes,
            kept = pruned.kept,
            "old sessions were deleted"
        ),
        Err(failure) => tracing::warn!(%failure, "old sessions could not be deleted"),
    }
}
