//! What runs right now. A row stands from before the start of a command until nothing of it is left.
//!
//! Starts nothing and kills nothing itself: a stop is a wish in the row, which `drive` acts on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use contract::SpawnError;
use proto::Pid;
use proto::params::process::ChildProcess;
use proto::record::ChildKind;
use tokio::sync::watch;

/// All rows, shared by `Procs` and the tasks that drive the children.
pub(crate) struct Table {
    inner: Mutex<Inner>,
    /// Ticks when a row is gone.
    gone: watch::Sender<()>,
}

#[derive(Default)]
struct Inner {
    next: u64,
    /// Once set, nothing new is admitted.
    stopping: bool,
    rows: BTreeMap<u64, Row>,
}

struct Row {
    session: Pid,
    title: String,
    /// Of a command in the background.
    number: Option<Pid>,
    /// `None` until the command runs.
    os_pid: Option<u32>,
    since: Instant,
    wish: Wish,
}

impl Table {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: Mutex::default(),
            gone: watch::Sender::new(()),
        })
    }

    /// A row for a command that is about to be started.
    pub fn admit(
        self: &Arc<Self>,
        session: Pid,
        title: String,
        number: Option<Pid>,
    ) -> Result<Entry, SpawnError> {
        let mut inner = self.lock();
        if inner.stopping {
            return Err(SpawnError::Stopping);
        }
        let id = inner.next;
        inner.next += 1;
        let wish = Wish::default();
        let row = Row {
            session,
            title,
            number,
            os_pid: None,
            since: Instant::now(),
            wish: wish.clone(),
        };
        inner.rows.insert(id, row);
        Ok(Entry {
            table: Arc::clone(self),
            id,
            wish,
        })
    }

    /// Admits nothing from now on.
    pub fn close(&self) {
        self.lock().stopping = true;
    }

    /// Whether `close` was called.
    pub fn is_closed(&self) -> bool {
        self.lock().stopping
    }

    /// Asks for a stop of the children of one session, or of all.
    pub fn stop(&self, of: Option<Pid>, grace_ms: u64) {
        for row in self.lock().of(of) {
            row.wish.stop(grace_ms);
        }
    }

    /// Asks for a stop of the command in the background that has this number. Whether there was one.
    pub fn stop_number(&self, number: Pid, grace_ms: u64) -> bool {
        let inner = self.lock();
        let row = inner.rows.values().find(|row| row.number == Some(number));
        if let Some(row) = row {
            row.wish.stop(grace_ms);
        }
        row.is_some()
    }

    /// Returns when no row of this session, or none at all, is left.
    pub async fn until_none(&self, of: Option<Pid>) {
        let mut gone = self.gone.subscribe();
        while self.count(of) > 0 {
            // The sender is ours: it cannot be gone while `self` is there.
            if gone.changed().await.is_err() {
                return;
            }
        }
    }

    /// Rows of one session, or all.
    pub fn count(&self, of: Option<Pid>) -> usize {
        self.lock().of(of).count()
    }

    /// The rows whose commands run, oldest first.
    pub fn list(&self) -> Vec<ChildProcess> {
        let inner = self.lock();
        let listed = inner.rows.values().filter_map(|row| {
            Some(ChildProcess {
                session: row.session,
                os_pid: row.os_pid?,
                kind: match row.number {
                    Some(_) => ChildKind::Shell,
                    None => ChildKind::Command,
                },
                pid: row.number,
                command: row.title.clone(),
                running_ms: u64::try_from(row.since.elapsed().as_millis()).unwrap_or(u64::MAX),
            })
        });
        listed.collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No code below can leave the rows half changed, so a poisoned lock still guards good data.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn of(&self, of: Option<Pid>) -> impl Iterator<Item = &Row> {
        self.rows
            .values()
            .filter(move |row| of.is_none_or(|session| row.session == session))
    }
}

/// A row of the table; dropping it takes the row out.
pub(crate) struct Entry {
    table: Arc<Table>,
    id: u64,
    wish: Wish,
}

impl Entry {
    /// The command runs.
    pub fn started(&self, os_pid: u32) {
        if let Some(row) = self.table.lock().rows.get_mut(&self.id) {
            row.os_pid = Some(os_pid);
            row.since = Instant::now();
        }
    }

    /// Where stops of this child are asked for.
    pub fn wish(&self) -> &Wish {
        &self.wish
    }

    /// Why a start that was stopped did not happen.
    pub fn stopped(&self, program: &str) -> SpawnError {
        if self.table.is_closed() {
            return SpawnError::Stopping;
        }
        SpawnError::Start {
            program: program.to_owned(),
            reason: "it was stopped before it ran".to_owned(),
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.table.lock().rows.remove(&self.id);
        self.table.gone.send_replace(());
    }
}

/// A wish that a child ends: the shortest grace anybody gave it, or nothing yet.
#[derive(Clone)]
pub(crate) struct Wish(Arc<watch::Sender<Option<u64>>>);

impl Default for Wish {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }
}

impl Wish {
    /// Asks for the end. Only a shorter grace than before changes anything.
    pub fn stop(&self, grace_ms: u64) {
        self.0.send_if_modified(|grace| {
            let shorter = grace.is_none_or(|before| grace_ms < before);
            if shorter {
                *grace = Some(grace_ms);
            }
            shorter
        });
    }

    pub fn watch(&self) -> watch::Receiver<Option<u64>> {
        self.0.subscribe()
    }
}

impl contract::spawn::ChildControl for Wish {
    fn stop(&self, grace_ms: u64) {
        Self::stop(self, grace_ms);
    }
}
