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
use workspace::GitDirs;

use super::git::Git;
use super::report::{self, WorktreeChanges};
use crate::actor::handle::{PublishedState, SessionHandle};
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

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
        let _ = tokio::spawn(ending).await;
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

    /// What has changed in a worktree.
    async fn changes(&self, worktree: &Worktree) -> Result<WorktreeChanges, String> {
        let git = self.git_in(worktree).await?;
        let base = worktree.base.as_str();
        let others = ["ls-files", "-z", "--others", "--exclude-standard"];
        let others = git.paths(&others).await?;
        let mut changed = git.paths(&diff(base)).await?;
        let uncommitted = !others.is_empty() || !git.paths(&diff("HEAD")).await?.is_empty();
        changed.extend(others);
        changed.sort();
        changed.dedup();
        // Without a wildcard, git would look below this name.
        let own = format!("--branches={}*", worktree.branch);
        let added = ["rev-list", "--count", "HEAD", &own, "--not", base];
        let commits = git.line(&added).await?.parse();
        let head = git.line(&["rev-parse", "--abbrev-ref", "HEAD"]).await?;
        Ok(WorktreeChanges {
            changed,
            commits: commits.map_err(|_| "git counted no commits")?,
            uncommitted,
            elsewhere: head.trim() != worktree.branch,
        })
    }

    /// Git in a worktree, which must still be one of its repository.
    async fn git_in(&self, worktree: &Worktree) -> Result<Git, String> {
        let (path, common) = (worktree.path.clone(), worktree.common.clone());
        let dirs = blocking(move || {
            let dirs = GitDirs::of_work_tree(&path)?;
            (dirs.common() == common).then_some(dirs)
        });
        let dirs = dirs.await.map_err(|failure| failure.message)?;
        let dirs = dirs.ok_or("its `.git` file is missing or was replaced")?;
        let spawn = self.services.assembly.spawn();
        Git::open(spawn, dirs.own(), &worktree.path, &worktree.search_path).await
    }
}

async fn has_exited(handle: &SessionHandle) -> Option<bool> {
    let exited = handle.read(|actor| actor.machine.facts().exited.is_some());
    exited.await.ok()
}

/// The paths that differ from a commit.
fn diff(commit: &str) -> [&str; 9] {
    [
        "diff",
        "--name-only",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
        commit,
        "--",
    ]
}
