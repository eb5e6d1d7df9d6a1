//! Sessions that are deleted when they have exited. Their client deletes them; this is for those whose client, or whose
//! daemon, was killed.
//!
//! A marker on disk says which they are (`store::markers`). It comes before the session and goes after it.

use std::sync::Arc;
use std::time::Duration;

use proto::SessionId;
use proto::params::session::SessionSummary;
use proto::state::{Kind, State};

use crate::actor::departure::EvictionReason;
use crate::supervisor::Supervisor;
use crate::supervisor::delete::works;
use crate::tasks::blocking;

/// How long such a session rests before it is deleted: its client may be about to come back.
const RESTS: Duration = Duration::from_secs(5);

impl Supervisor {
    /// Deletes what a daemon that was killed has left of them, but for those that have unfinished work. Called at the
    /// start, before any session comes or goes.
    pub(crate) async fn sweep_ephemeral_at_start(&self) {
        for session in self.ephemeral().await {
            let home = Arc::clone(&self.services.home);
            let gone = blocking(move || {
                let gone = matches!(home.session_dir(session).try_exists(), Ok(false));
                gone && store::markers::unmark_ephemeral(&home, session).is_ok()
            });
            if matches!(gone.await, Ok(true)) {
                continue;
            }
            self.delete_ephemeral(session).await;
        }
    }

    /// Deletes those that have exited, and that nobody follows.
    pub(crate) async fn sweep_ephemeral(&self) {
        for session in self.ephemeral().await {
            let loaded = self.slots.loaded(session);
            if loaded.is_some_and(|handle| handle.shared.activity.last().elapsed() < RESTS) {
                continue;
            }
            self.delete_ephemeral(session).await;
        }
    }

    async fn ephemeral(&self) -> Vec<SessionId> {
        let home = Arc::clone(&self.services.home);
        match blocking(move || store::markers::list_ephemeral(&home)).await {
            Ok(Ok(sessions)) => sessions,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the ephemeral sessions cannot be listed");
                Vec::new()
            }
            Err(failure) => {
                tracing::warn!(%failure, "the ephemeral sessions cannot be listed");
                Vec::new()
            }
        }
    }

    async fn delete_ephemeral(&self, session: SessionId) {
        // One that is being made is not known yet.
        let Ok(summary) = self.summary(&session.to_string()).await else {
            return;
        };
        // What the catalog says of followers is of the life before.
        let followed = summary.attached > 0 && self.slots.loaded(session).is_some();
        if followed || !is_over(&summary) {
            return;
        }
        let removed = self
            .remove(session, summary.pid, EvictionReason::Unused)
            .await;
        if let Err(failure) = removed {
            tracing::warn!(%session, %failure, "an ephemeral session could not be deleted");
        }
    }
}

/// Whether nothing comes of a session any more. One of a run that has no prompt has lost its client.
fn is_over(summary: &SessionSummary) -> bool {
    let rests = match summary.state {
        State::Exited => true,
        State::Idle => summary.kind == Kind::Headless,
        State::Running | State::Waiting | State::Paused => false,
    };
    rests && !works(summary)
}
