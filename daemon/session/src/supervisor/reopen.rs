//! A session that can only be read goes on by itself when what kept it from working has ended: a disk that takes
//! writes again, a directory or a provider that is back.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use proto::record::SessionCreated;
use proto::{Body, Failure, SessionId};
use store::log::{RenewOutcome, renew};
use tokio::sync::watch;

use crate::actor::handle::{PublishedState, Reopen, SessionHandle};
use crate::journal::{Cause, Closed};
use crate::supervisor::Supervisor;
use crate::supervisor::eviction::leave;
use crate::supervisor::slots::Left;
use crate::tasks::{self, blocking};

/// The first wait before a failed disk is tried again; doubles each time.
const WAIT_MIN: Duration = Duration::from_secs(2);
const WAIT_MAX: Duration = Duration::from_secs(60);
/// At most one attempt in this time, however many clients ask for it.
const BETWEEN: Duration = Duration::from_secs(1);

impl Reopen for Supervisor {
    fn reopen(self: Arc<Self>, old: SessionHandle) -> BoxFuture<'static, Option<SessionHandle>> {
        async move { self.repair(&old).await }.boxed()
    }
}

/// Waits until a session is closed by its disk, then tries to fix it until that is done. Holds no handle.
pub(crate) async fn tend(
    supervisor: Weak<Supervisor>,
    session: SessionId,
    mut seen: watch::Receiver<PublishedState>,
) {
    let by_disk = |seen: &PublishedState| {
        let closed = seen.closed.as_ref();
        closed.is_some_and(|closed| closed.cause == Cause::Disk && closed.is_repairable())
    };
    if seen.wait_for(by_disk).await.is_err() {
        return;
    }
    let mut wait = WAIT_MIN;
    loop {
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(WAIT_MAX);
        let Some(supervisor) = supervisor.upgrade() else {
            return;
        };
        let attempt = async move {
            let loaded = supervisor.slots.loaded(session);
            match loaded {
                Some(handle) => supervisor.repair(&handle).await.is_some(),
                None => false,
            }
        };
        if tasks::shielded(attempt).await.unwrap_or(false) {
            return;
        }
    }
}

impl Supervisor {
    /// Tries to bring a closed session back. `None`: it stays as it is.
    pub(crate) async fn repair(&self, old: &SessionHandle) -> Option<SessionHandle> {
        let session = old.id();
        // One attempt at a time; later callers get the first one's result.
        let mut tried = old.shared.tried.lock().await;
        let loaded = self.slots.loaded(session);
        if !loaded.is_some_and(|loaded| loaded.is(old)) {
            return self.load(session).await.ok();
        }
        if tried.is_some_and(|tried| tried.elapsed() < BETWEEN) {
            return None;
        }
        // The next daemon opens the log: nothing may take its place then.
        self.refuse_when_closing().ok()?;
        let closed = old.closed()?;
        let word = self.look_again(old, &closed).await;
        *tried = Some(Instant::now());
        match word {
            Ok(word) => {
                tracing::info!(%session, word, "the session is writable again");
                self.replace(old, word).await
            }
            Err(reason) => {
                tracing::debug!(%session, reason, "the session is still read-only");
                None
            }
        }
    }

    /// Whether the cause that closed the session is gone; the notice for users.
    async fn look_again(&self, old: &SessionHandle, closed: &Closed) -> Result<String, String> {
        let dir = self.services.home.session_dir(old.id());
        let words = |failure: Failure| failure.message;
        match (closed.cause, closed.broken) {
            (Cause::Disk, Some(broken)) => {
                let disk = self.services.assembly.syncer();
                let renewed = blocking(move || {
                    renew(&dir, broken.upto, broken.trouble, disk.as_ref())
                        .map_err(|error| store::reason(&error))
                });
                let renewed = renewed.await.map_err(words)??;
                Ok(reported(&renewed, &closed.reason))
            }
            (Cause::Directory, _) => {
                let cwd = old.summary().cwd;
                let there = blocking(move || Path::new(&cwd).is_dir());
                match there.await.map_err(words)? {
                    true => Ok("The working directory exists again.".into()),
                    false => Err("the directory is still missing".into()),
                }
            }
            (Cause::Provider, _) => {
                let assembly = Arc::clone(&self.services.assembly);
                let looked = blocking(move || {
                    let created = first_record(&dir)?;
                    assembly.resume(&created).unusable.map_or(Ok(()), Err)
                });
                looked.await.map_err(words)??;
                Ok("The provider is configured again.".into())
            }
            (Cause::Disk, None) | (Cause::Log, _) => Err(closed.reason.clone()),
        }
    }

    /// Puts a fresh life in the place of a closed one.
    async fn replace(&self, old: &SessionHandle, word: String) -> Option<SessionHandle> {
        let (session, me) = (old.id(), self.me.clone());
        let end = self
            .slots
            .retire(old, || leave(me, old.clone(), Some(word)));
        if let Some(end) = end {
            // It has to leave: its refusal would not count.
            let (Left::Gone | Left::Stays(_)) = end.await;
        }
        match self.load(session).await {
            Ok(handle) => Some(handle),
            Err(failure) => {
                tracing::error!(%session, %failure, "a repaired session cannot be loaded");
                None
            }
        }
    }
}

fn reported(renewed: &RenewOutcome, reason: &str) -> String {
    let what = match renewed {
        RenewOutcome::Sound | RenewOutcome::Cut { .. } => String::new(),
        RenewOutcome::Copied { kept: Some(kept) } => {
            format!(
                " The log was rewritten to a new file; the old one is `{}`.",
                kept.display()
            )
        }
        RenewOutcome::Copied { kept: None } => " The log was rewritten to a new file.".to_owned(),
    };
    format!(
        "The log could not be written for a while ({reason}). It is writable again; actions refused in the meantime were not done.{what}"
    )
}

fn first_record(dir: &Path) -> Result<SessionCreated, String> {
    let first = store::log::first(dir, |raw| raw.record().map(|record| record.body));
    match first.map_err(|error| store::reason(&error))? {
        Some(Ok(Body::SessionCreated(created))) => Ok(created),
        _ => Err("its first record cannot be read".into()),
    }
}
