//! Deletes sessions in which nothing has happened for long. Never one that works, waits, is paused, or that somebody is
//! attached to.

use std::sync::Arc;

use proto::params::history::{PruneOutput, Pruned};
use proto::params::process;
use proto::params::session::SessionSummary;
use proto::state::State;
use proto::{Failure, Stamp};

use crate::actor::departure::EvictionReason;
use crate::supervisor::Supervisor;
use crate::supervisor::delete::{Removed, works};
use crate::supervisor::listing::index_failure;
use crate::tasks::blocking;

/// How the label of a session begins that the daemon started by its config (contract, chapter 70). Without the session
/// its work would be started again.
pub const AUTOSTART_LABEL: &str = "autostart:";

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

impl Supervisor {
    /// See `session.prune`; `keep_days` is the number that holds, `now` the moment that they are counted back from.
    ///
    /// # Errors
    /// `storage`: the catalog cannot be read. A session that cannot be deleted is reported in the daemon's log, and
    /// counts as kept.
    pub async fn prune(
        &self,
        keep_days: u64,
        dry_run: bool,
        now: Stamp,
    ) -> Result<PruneOutput, Failure> {
        let days = i64::try_from(keep_days).unwrap_or(i64::MAX);
        let before = Stamp(now.0.saturating_sub(days.saturating_mul(DAY_MS)));
        let mut old = self.everything().await?;
        old.retain(|summary| summary.active_at < before);
        old.sort_by_key(|summary| summary.active_at);
        let mut pruned = PruneOutput {
            sessions: Vec::new(),
            bytes: 0,
            kept: 0,
        };
        for summary in old {
            let gone = if is_kept(&summary) {
                None
            } else if dry_run {
                let dir = self.services.home.session_dir(summary.session);
                Some(blocking(move || store::session_dirs::dir_bytes(&dir)).await?)
            } else {
                self.refuse_when_closing()?;
                self.pruned(&summary).await
            };
            let Some(bytes) = gone else {
                pruned.kept += 1;
                continue;
            };
            pruned.bytes = pruned.bytes.saturating_add(bytes);
            pruned.sessions.push(Pruned {
                session: summary.session,
                pid: summary.pid,
                name: summary.name,
                cwd: summary.cwd,
                active_at: summary.active_at,
                bytes,
            });
        }
        Ok(pruned)
    }

    async fn pruned(&self, summary: &SessionSummary) -> Option<u64> {
        let (session, pid) = (summary.session, summary.pid);
        match self.remove(session, pid, EvictionReason::Unused).await {
            Ok(Removed::Gone(bytes)) => Some(bytes),
            Ok(Removed::Stays) => None,
            Err(failure) => {
                tracing::warn!(%pid, %failure, "an old session could not be deleted");
                None
            }
        }
    }

    /// Every session in short.
    pub(crate) async fn everything(&self) -> Result<Vec<SessionSummary>, Failure> {
        self.is_filled().await;
        self.services.catalog.flush().await;
        let catalog = Arc::clone(&self.catalog);
        let all = process::ListParams {
            all: true,
            ..process::ListParams::default()
        };
        let mut found = blocking(move || catalog.processes(&all))
            .await?
            .map_err(|error| index_failure(&error))?;
        self.freshen(&mut found);
        Ok(found)
    }
}

/// Whether it stays however old it is.
fn is_kept(summary: &SessionSummary) -> bool {
    let mut labels = summary.labels.iter();
    labels.any(|label| label.starts_with(AUTOSTART_LABEL))
        || works(summary)
        || summary.state == State::Paused
        || summary.attached > 0
        || summary.children > 0
}
