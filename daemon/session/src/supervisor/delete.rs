//! How a session is deleted: it leaves memory, its usage enters the usage ledger, its directory is removed.
//!
//! The rename of the directory is the moment that counts. Before it, whatever crashes, the session is whole; after it,
//! there is none, and the remains are removed at the next start.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use proto::params::history::{DeleteOutput, DeleteParams};
use proto::params::session::SessionSummary;
use proto::state::State;
use proto::{ErrorName, Failure, Pid, SessionId};
use store::catalog::Catalog;
use store::home::Home;
use store::session_dirs::SweptSessions;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::actor::departure::{EvictionReason, EvictionRequest};
use crate::actor::handle::SessionHandle;
use crate::assembly::key_keeper::KeysByVariable;
use crate::supervisor::Supervisor;
use crate::supervisor::slots::Left;
use crate::supervisor::stats;
use crate::tasks::{self, blocking};

/// How long a session that seems to rest may take to say that it does: its last records are on their way to the disk.
const SETTLES: Duration = Duration::from_secs(2);
/// What its commands may take to be gone after TERM.
const GRACE_MS: u64 = 2_000;
/// When they are waited for no longer.
const COMMANDS_MAX: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_millis(10);

/// The outcome of a request to remove a session.
pub(crate) enum Removed {
    /// It is gone; bytes that were freed.
    Gone(u64),
    /// It has something to do.
    Stays,
}

impl Supervisor {
    /// See `session.delete`.
    ///
    /// # Errors
    /// As `find`; `busy`: it works, waits, or has prompts; `confirm_needed`; `storage`, `shutting_down`.
    pub async fn delete(&self, params: &DeleteParams) -> Result<DeleteOutput, Failure> {
        self.refuse_when_closing()?;
        let summary = self.summary(&params.session).await?;
        let (session, pid) = (summary.session, summary.pid);
        if works(&summary) {
            return Err(busy(&summary));
        }
        if !params.confirm {
            return Err(self.confirm_needed(&summary).await?);
        }
        match self.remove(session, pid, EvictionReason::Deleted).await? {
            Removed::Gone(bytes) => {
                self.services.changes.note(session);
                let worktree = self.worktree_of(session).await;
                Ok(DeleteOutput {
                    session,
                    pid,
                    bytes,
                    worktree: worktree.map(|kept| kept.path.to_string_lossy().into_owned()),
                })
            }
            Removed::Stays => Err(busy(&summary)),
        }
    }

    /// What would be lost.
    async fn confirm_needed(&self, summary: &SessionSummary) -> Result<Failure, Failure> {
        let dir = self.services.home.session_dir(summary.session);
        let bytes = blocking(move || store::session_dirs::dir_bytes(&dir)).await?;
        let (pid, turns) = (summary.pid, summary.turns);
        let name = summary.name.as_deref();
        let named = name.map_or_else(String::new, |name| format!(" (`{name}`)"));
        Ok(Failure::new(
            ErrorName::ConfirmNeeded,
            format!(
                "This would permanently delete session {pid}{named}: {turns} turns, {bytes} bytes."
            ),
            "Confirm with `confirm`. Forks of the session stay complete; its usage stays in the statistics.",
        )
        .with("turns", turns)
        .with("bytes", bytes)
        .with("pid", pid.0))
    }

    /// Takes a session away, if it lets go of its work. Comes to its end whoever stops waiting for it.
    pub(crate) async fn remove(
        &self,
        session: SessionId,
        pid: Pid,
        reason: EvictionReason,
    ) -> Result<Removed, Failure> {
        let Some(me) = self.me.upgrade() else {
            return Err(tasks::shutting_down());
        };
        let removing = tasks::shielded(async move {
            let removed = me.remove_now(session, pid, reason).await;
            if removed.is_err() {
                // It has left memory, and stays after all: its pending work is not forgotten.
                me.bring_back(session).await;
            }
            removed
        });
        removing.await?
    }

    async fn remove_now(
        &self,
        session: SessionId,
        pid: Pid,
        reason: EvictionReason,
    ) -> Result<Removed, Failure> {
        let due = Instant::now() + SETTLES;
        if self.slots.loaded(session).is_none() && self.is_marked(session).await? {
            if reason == EvictionReason::Unused {
                return Ok(Removed::Stays);
            }
            // An unfinished turn of a crash is looked at before it is lost. One that cannot be read has none.
            let _ = self.load(session).await;
        }
        loop {
            self.refuse_when_closing()?;
            let reported = Arc::new(Mutex::new(None));
            let end = match self.slots.loaded(session) {
                Some(handle) => self.slots.retire(&handle, || {
                    self.leave_for_good(Some(handle.clone()), session, pid, reason, &reported)
                }),
                None => self.slots.hold(session, || {
                    self.leave_for_good(None, session, pid, reason, &reported)
                }),
            };
            let Some(end) = end else {
                // Somebody loads it, or it is about to leave by itself.
                sleep(LOOK).await;
                if Instant::now() > due {
                    return Ok(Removed::Stays);
                }
                continue;
            };
            match end.clone().await {
                Left::Stays(handle) => {
                    self.slots.stay(&handle, &end);
                    let moves = handle.is_unfinished() || reason == EvictionReason::Unused;
                    if moves || Instant::now() > due {
                        return Ok(Removed::Stays);
                    }
                    sleep(LOOK).await;
                }
                Left::Gone => {
                    // Dropping the last claim takes the empty slot away.
                    drop(self.slots.claim(session));
                    let reported = reported
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .take();
                    return reported.unwrap_or(Ok(Removed::Stays));
                }
            }
        }
    }

    pub(crate) async fn is_marked(&self, session: SessionId) -> Result<bool, Failure> {
        let home = Arc::clone(&self.services.home);
        blocking(move || store::markers::is_marked(&home, session)).await
    }

    /// The end of a session: its actor leaves, its commands end, then its files. Whoever wants it meanwhile waits.
    fn leave_for_good(
        &self,
        handle: Option<SessionHandle>,
        session: SessionId,
        pid: Pid,
        reason: EvictionReason,
        reported: &Arc<Mutex<Option<Result<Removed, Failure>>>>,
    ) -> BoxFuture<'static, Left> {
        let (me, reported) = (self.me.clone(), Arc::clone(reported));
        async move {
            if let Some(handle) = handle
                && !leaves(&handle, reason).await
            {
                return Left::Stays(handle);
            }
            let Some(supervisor) = me.upgrade() else {
                return Left::Gone;
            };
            // Keys and values of it are of no use to anybody.
            drop(supervisor.kept.take(session));
            let keeper = supervisor.services.assembly.key_keeper();
            keeper.keep(Some(session), &KeysByVariable::new());
            supervisor.end_commands(pid).await;
            let worktree_goes = supervisor.prepare_worktree_for_deletion(session).await;
            supervisor.services.catalog.flush().await;
            let (home, catalog) = (
                Arc::clone(&supervisor.services.home),
                Arc::clone(&supervisor.catalog),
            );
            let purged = blocking(move || purge(&home, &catalog, session)).await;
            supervisor.services.history.removed(session);
            let result = purged.and_then(|purged| purged);
            if worktree_goes && matches!(result, Ok(Removed::Gone(_))) {
                supervisor.discard_worktree(session).await;
            }
            *reported.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            Left::Gone
        }
        .boxed()
    }

    async fn end_commands(&self, pid: Pid) {
        let spawn = self.services.assembly.spawn();
        if spawn.running(pid).is_empty() {
            return;
        }
        spawn.stop_session(pid, GRACE_MS);
        let due = Instant::now() + COMMANDS_MAX;
        while !spawn.running(pid).is_empty() && Instant::now() < due {
            sleep(LOOK).await;
        }
    }

    /// Sweeps what crashes have left of sessions that came or went. Called before any comes or goes: remains found then
    /// are removed at leisure. Returns the sessions that have a directory.
    pub(crate) async fn sweep_gone(&self) -> Vec<SessionId> {
        let home = Arc::clone(&self.services.home);
        let found = blocking(move || store::session_dirs::sweep(&home)).await;
        let SweptSessions {
            leftovers,
            sessions,
        } = match found {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the sessions cannot be listed");
                return Vec::new();
            }
            Err(failure) => {
                tracing::warn!(%failure, "the sessions cannot be listed");
                return Vec::new();
            }
        };
        if !leftovers.is_empty() {
            tasks::spawn_blocking(move || {
                for dir in leftovers {
                    if let Err(error) = store::session_dirs::remove_dir(&dir) {
                        tracing::warn!(%error, "the rest of a session that is gone stays");
                    }
                }
            });
        }
        sessions
    }
}

impl Supervisor {
    /// Removes what a crash has left of sessions before their first records: nobody was notified of them, and their ids
    /// are free. Called before any session comes or goes, with those that have a directory.
    pub(crate) async fn sweep_uncreated(&self, there: Vec<SessionId>) {
        let (home, catalog) = (Arc::clone(&self.services.home), Arc::clone(&self.catalog));
        let swept = blocking(move || {
            // To read all that it knows takes long where there are many, and most times it knows all of them: then only
            // those are looked at that would be loaded now.
            if catalog
                .count()
                .is_ok_and(|known| known >= there.len() as u64)
            {
                let marked = store::markers::list(&home).unwrap_or_default();
                let unknown = marked.into_iter();
                let unknown = unknown.filter(|session| matches!(catalog.get(*session), Ok(None)));
                return store::session_dirs::sweep_uncreated(&home, unknown);
            }
            // Without a catalog, all of them are looked at.
            let known: HashSet<_> = catalog.ids().unwrap_or_default().into_iter().collect();
            let unknown = there.into_iter().filter(|session| !known.contains(session));
            store::session_dirs::sweep_uncreated(&home, unknown);
        });
        if let Err(failure) = swept.await {
            tracing::warn!(%failure, "what a crash left of sessions without records stays");
        }
    }
}

/// Asks an actor to leave for good. True: it has.
async fn leaves(handle: &SessionHandle, reason: EvictionReason) -> bool {
    let (reply, left) = oneshot::channel();
    let leave = EvictionRequest { reason, reply };
    if !handle
        .send(Box::new(|actor| actor.leave_memory(leave)))
        .await
    {
        return true;
    }
    // It refuses by dropping the request; one that died of a bug answers nothing.
    left.await.is_ok() || handle.shared.commands.is_closed()
}

/// Removes everything that there is of a session. Blocks.
fn purge(home: &Home, catalog: &Catalog, session: SessionId) -> Result<Removed, Failure> {
    let bytes = store::session_dirs::dir_bytes(&home.session_dir(session));
    let failed = |what: &str, reason: String| {
        Failure::new(
            ErrorName::Storage,
            format!("The session was not deleted: {what}: {reason}"),
            "Check whether the disk is full, read-only or missing, then delete the session again.",
        )
    };
    // On disk before the session goes: no sum gets smaller (a line too many does not count).
    stats::close_books(home, session)
        .map_err(|reason| failed("its usage could not be saved", reason))?;
    let unpublished = store::session_dirs::unpublish(home, session)
        .map_err(|error| failed("its directory could not be removed", store::reason(&error)))?;
    // From here on it is gone; what fails now is only in the way.
    if let Err(error) = store::markers::unmark(home, session) {
        tracing::warn!(%session, %error, "the marker of a deleted session stays");
    }
    if let Err(error) = catalog.remove(session) {
        tracing::warn!(%session, %error, "the catalog still has a deleted session");
    }
    if let Some(unpublished) = unpublished
        && let Err(error) = store::session_dirs::remove_dir(&unpublished)
    {
        tracing::warn!(%session, %error, "the rest of a deleted session stays until the next start");
    }
    if let Err(error) = store::markers::unmark_ephemeral(home, session) {
        tracing::warn!(%session, %error, "the marker of a deleted session stays");
    }
    Ok(Removed::Gone(bytes))
}

/// Whether it has something to do, as far as others know.
pub(crate) fn works(summary: &SessionSummary) -> bool {
    let moves = summary.read_only.is_none();
    let waits = matches!(summary.state, State::Running | State::Waiting)
        || summary.pending_interactions > 0;
    moves && (waits || summary.queued > 0)
}

fn busy(summary: &SessionSummary) -> Failure {
    let pid = summary.pid;
    let (what, hint) = match summary.state {
        State::Paused => (
            "is paused during a turn",
            format!(
                "Resume it with `reasonix resume {pid}` or stop it with `reasonix kill {pid}`, then delete it."
            ),
        ),
        State::Waiting => (
            "waits",
            format!("Stop it with `reasonix kill {pid}` or answer its question, then delete it."),
        ),
        _ => (
            "has work to do",
            format!(
                "Stop it with `reasonix kill {pid}` or wait until it finishes, then delete it."
            ),
        ),
    };
    Failure::new(
        ErrorName::Busy,
        format!("Session {pid} {what}, so it was not deleted."),
        hint,
    )
    .with("state", serde_json::json!(summary.state))
}
