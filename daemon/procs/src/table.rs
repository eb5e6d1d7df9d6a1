//! The table of running commands. A row exists from before the start until no process is left.
//!
//! Starts and kills nothing: a stop is a request in the row, which `drive` executes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use contract::SpawnError;
use proto::Pid;
use proto::params::process::ChildProcess;
use proto::record::ChildKind;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// All rows, shared by `Procs` and the tasks of the commands.
pub(crate) struct Table {
    inner: Mutex<Inner>,
    /// Notifies when a row is removed.
    gone: watch::Sender<()>,
}

#[derive(Default)]
struct Inner {
    next: u64,
    /// Once set, no command is admitted.
    stopping: bool,
    rows: BTreeMap<u64, ProcessRow>,
}

struct ProcessRow {
    session: Pid,
    title: String,
    /// For a background command.
    number: Option<Pid>,
    /// `None` until the command runs.
    os_pid: Option<u32>,
    /// It waits for the end of another command.
    waits: bool,
    since: Instant,
    stop_request: StopRequest,
}

impl Table {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: Mutex::default(),
            gone: watch::Sender::new(()),
        })
    }

    /// Adds a row for a command that is about to start.
    pub fn admit(
        self: &Arc<Self>,
        session: Pid,
        title: String,
        number: Option<Pid>,
    ) -> Result<TableEntry, SpawnError> {
        let mut inner = self.lock();
        if inner.stopping {
            return Err(SpawnError::Stopping);
        }
        let id = inner.next;
        inner.next += 1;
        let stop_request = StopRequest::default();
        let row = ProcessRow {
            session,
            title,
            number,
            os_pid: None,
            waits: false,
            since: Instant::now(),
            stop_request: stop_request.clone(),
        };
        inner.rows.insert(id, row);
        Ok(TableEntry {
            table: Arc::clone(self),
            id,
            stop_request,
        })
    }

    /// Refuses new commands from now on.
    pub fn close(&self) {
        self.lock().stopping = true;
    }

    /// Whether `close` was called.
    pub fn is_closed(&self) -> bool {
        self.lock().stopping
    }

    /// Requests a stop of the commands of one session, or of all.
    pub fn stop(&self, of: Option<Pid>, grace_ms: u64) {
        for row in self.lock().of(of) {
            row.stop_request.stop(grace_ms);
        }
    }

    /// Requests a stop of the background command with this number. Returns whether there was one.
    pub fn stop_number(&self, number: Pid, grace_ms: u64) -> bool {
        let inner = self.lock();
        let row = inner.rows.values().find(|row| row.number == Some(number));
        if let Some(row) = row {
            row.stop_request.stop(grace_ms);
        }
        row.is_some()
    }

    /// Waits until no row of this session, or none at all, is left.
    pub async fn until_none(&self, of: Option<Pid>) {
        let mut gone = self.gone.subscribe();
        while self.count(of) > 0 {
            // We own the sender, so it lives as long as `self`.
            if gone.changed().await.is_err() {
                return;
            }
        }
    }

    /// Number of rows of one session, or of all.
    pub fn count(&self, of: Option<Pid>) -> usize {
        self.lock().of(of).count()
    }

    /// The rows of commands that run or wait for a place, oldest first.
    pub fn list(&self) -> Vec<ChildProcess> {
        let inner = self.lock();
        let shown = |row: &&ProcessRow| row.waits || row.os_pid.is_some();
        let listed = inner.rows.values().filter(shown).map(|row| ChildProcess {
            session: row.session,
            os_pid: row.os_pid,
            kind: match row.number {
                Some(_) => ChildKind::Shell,
                None => ChildKind::Command,
            },
            pid: row.number,
            command: row.title.clone(),
            // The daemon knows.
            server: false,
            running_ms: u64::try_from(row.since.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        listed.collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No code below can leave the rows half changed, so a poisoned lock still guards valid
        // data.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn of(&self, of: Option<Pid>) -> impl Iterator<Item = &ProcessRow> {
        self.rows
            .values()
            .filter(move |row| of.is_none_or(|session| row.session == session))
    }
}

/// A row of the table. Dropping it removes the row.
pub(crate) struct TableEntry {
    table: Arc<Table>,
    id: u64,
    stop_request: StopRequest,
}

impl TableEntry {
    /// Waits until one more command may run. A stop ends the wait.
    pub async fn place(
        &self,
        places: Arc<Semaphore>,
        program: &str,
    ) -> Result<OwnedSemaphorePermit, SpawnError> {
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            return Ok(place);
        }
        tracing::warn!(
            program,
            "as many commands run as the limit of open files allows: this one waits"
        );
        self.set_waits(true);
        let mut stop = self.stop_request.watch();
        let place = tokio::select! {
            place = places.acquire_owned() => place.map_err(|_| SpawnError::Stopping),
            _ = stop.wait_for(Option::is_some) => Err(self.stopped(program)),
        };
        self.set_waits(false);
        place
    }

    fn set_waits(&self, waits: bool) {
        if let Some(row) = self.table.lock().rows.get_mut(&self.id) {
            row.waits = waits;
        }
    }

    /// Records that the command runs.
    pub fn started(&self, os_pid: u32) {
        if let Some(row) = self.table.lock().rows.get_mut(&self.id) {
            row.os_pid = Some(os_pid);
            row.since = Instant::now();
        }
    }

    /// Receives stop requests for this command.
    pub fn stop_request(&self) -> &StopRequest {
        &self.stop_request
    }

    /// The error of a start that was stopped.
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

impl Drop for TableEntry {
    fn drop(&mut self) {
        self.table.lock().rows.remove(&self.id);
        self.table.gone.send_replace(());
    }
}

/// A stop request: the shortest grace period so far, or none.
#[derive(Clone)]
pub(crate) struct StopRequest(Arc<watch::Sender<Option<u64>>>);

impl Default for StopRequest {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }
}

impl StopRequest {
    /// Requests a stop. Only a shorter grace period than before changes anything.
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

impl contract::spawn::ChildControl for StopRequest {
    fn stop(&self, grace_ms: u64) {
        Self::stop(self, grace_ms);
    }
}
