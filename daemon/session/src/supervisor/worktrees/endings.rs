//! The end of a session's worktree: removed if nothing changed in it, else kept and reported.
//!
//! A session that a client started ends its worktree itself, each time that it exits. A sub-agent's worktree ends with
//! the call that it works for, because the call's result has the report.

use std::sync::{Arc, Weak};

use proto::params::worktree::{WorktreeOutput, WorktreeReport, WorktreeState};
use proto::state::State;
use proto::{Failure, Pid, SessionId};
use store::worktrees::{self as entries, Worktree};
use tokio::sync::watch;

use super::report;
use crate::actor::handle::{PublishedState, SessionHandle};
use crate::supervisor::Supervisor;
use crate::tasks::{self, blocking};

/// Ends the worktree of a session whenever it exits, as long as it is in memory. Holds no handle.
pub(crate) async fn tend(
    supervisor: Weak<Supervisor>,
    session: SessionId,
    mut seen: watch::Receiver<PublishedState>,
) {
    let has_exited = |seen: &PublishedState| seen.summary.state == State::Exited;
    if seen.borrow().summary.ppid != Pid(0) {
        return;
    }
    loop {
        if seen.wait_for(|seen| !has_exited(seen)).await.is_err()
            || seen.wait_for(has_exited).await.is_err()
        {
            return;
        }
        let Some(supervisor) = supervisor.upgrade() else {
            return;
        };
        // In a task of its own: a git command that is cut off would leave the worktree half removed.
        let ending = async move { supervisor.settle_worktree(session).await };
        let _ = tasks::shielded(ending).await;
    }
}

impl Supervisor {
    /// See `session.worktree`.
    ///
    /// # Errors
    /// As `find`.
    pub async fn worktree(&self, session: &str) -> Result<WorktreeOutput, Failure> {
        let session = self.find_id(session).await?;
        let worktree = self.settle_worktree(session).await;
        Ok(WorktreeOutput { worktree })
    }

    /// Reports on the worktree of a session, and ends it if the session has exited. `None`: it has none.
    pub(crate) async fn settle_worktree(&self, session: SessionId) -> Option<WorktreeReport> {
        let _turn = self.worktree_turn.acquire().await.ok()?;
        let worktree = self.worktree_of(session).await?;
        let handle = self.load(session).await.ok()?;
        let pid = handle.pid();
        let exited = has_exited(&handle).await?;
        let changes = match self.changes(&worktree).await {
            Err(reason) => {
                self.keep_worktree(session, &worktree, exited).await;
                return Some(report::unknown(&worktree, reason));
            }
            Ok(changes) => changes,
        };
        if !exited {
            let state = WorktreeState::InUse;
            return Some(report::with_changes(&worktree, state, pid, changes));
        }
        // A prompt may have come while git looked at it.
        if changes.is_empty() && has_exited(&handle).await? {
            match self.remove_worktree(session, &worktree).await {
                Ok(()) => return Some(report::bare(&worktree, WorktreeState::Removed)),
                Err(reason) => {
                    self.keep_worktree(session, &worktree, true).await;
                    return Some(report::unknown(&worktree, reason));
                }
            }
        }
        self.keep_worktree(session, &worktree, true).await;
        let state = WorktreeState::Kept;
        Some(report::with_changes(&worktree, state, pid, changes))
    }

    /// Before a session is deleted: its worktree is kept if anything in it has changed, whatever crashes now. True: it
    /// goes with the session.
    pub(crate) async fn prepare_worktree_for_deletion(&self, session: SessionId) -> bool {
        let Ok(_turn) = self.worktree_turn.acquire().await else {
            return false;
        };
        let Some(worktree) = self.worktree_of(session).await else {
            return false;
        };
        let changes = self.changes(&worktree).await;
        let goes = changes.is_ok_and(|changes| changes.is_empty());
        self.keep_worktree(session, &worktree, !goes).await;
        goes
    }

    /// The worktree of a session, by its entry.
    pub(crate) async fn worktree_of(&self, session: SessionId) -> Option<Worktree> {
        let home = Arc::clone(&self.services.home);
        blocking(move || entries::get(&home, session)).await.ok()?
    }

    /// Notes that a worktree stays after its session.
    async fn keep_worktree(&self, session: SessionId, worktree: &Worktree, kept: bool) {
        if !kept || worktree.kept {
            return;
        }
        let (home, mut entry) = (Arc::clone(&self.services.home), worktree.clone());
        entry.kept = true;
        let put = blocking(move || entries::put(&home, session, &entry)).await;
        if let Ok(Err(error)) = put {
            // The next start looks at it again.
            tracing::warn!(%session, %error, "the entry of a worktree could not be written");
        }
    }
}

async fn has_exited(handle: &SessionHandle) -> Option<bool> {
    let exited = handle.read(|actor| actor.machine.facts().exited.is_some());
    exited.await.ok()
}
