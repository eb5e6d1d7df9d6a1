//! Feeds the index from the logs, in one thread of its own, in nobody's way.
//!
//! The thread starts with the first note. It first looks through all sessions for what the index lacks, oldest first, and
//! between two of them takes in what has just been written. A failure of a log leaves out that session; a damaged index
//! is made again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use proto::{Seq, SessionId};
use rusqlite::Connection;
use store::home::Home;

use crate::database::{self, IndexError};
use crate::writer;

/// How long what is written is gathered before it is taken in, unless somebody waits for it.
const GATHER: Duration = Duration::from_millis(200);
/// How long to wait before the index is tried again.
const RETRY: Duration = Duration::from_secs(5);
/// How long without work until the database is closed.
const IDLE: Duration = Duration::from_secs(30);
/// How much lower than others the thread's claim on the processor is.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// How much of the past is in the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexProgress {
    /// Sessions that were looked at since the start.
    pub sessions: u64,
    /// Sessions that there are to look at.
    pub of: u64,
    /// All were looked at.
    pub is_complete: bool,
}

/// Takes notes of what was written. Cheap to clone; the thread ends with the last clone.
#[derive(Clone)]
pub struct HistoryFeed(Arc<Handle>);

struct Handle(Arc<Shared>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.wake.notify_all();
    }
}

struct Shared {
    home: Arc<Home>,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    /// Sessions that were written to, with the newest durable record.
    written: BTreeMap<SessionId, Seq>,
    removed: BTreeSet<SessionId>,
    /// Words of removed sessions may still be in the file.
    forget: bool,
    /// Look through all sessions.
    look: bool,
    /// Make the index again.
    rebuild: bool,
    waiters: Vec<Sender<()>>,
    progress: IndexProgress,
    /// Why the newest round failed. `None`: it did not.
    failure: Option<String>,
    has_thread: bool,
    is_closed: bool,
}

impl State {
    fn has_work(&self) -> bool {
        let has_news = !self.written.is_empty() || !self.removed.is_empty() || self.forget;
        let has_orders = self.look || self.rebuild || !self.waiters.is_empty();
        has_news || has_orders || self.is_closed
    }

    /// Somebody waits for it.
    fn is_urgent(&self) -> bool {
        !self.waiters.is_empty() || self.is_closed
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HistoryFeed {
    /// A feed of the index of a home. Nothing is read before the first note.
    #[must_use]
    pub fn new(home: Arc<Home>) -> Self {
        Self(Arc::new(Handle(Arc::new(Shared {
            home,
            state: Mutex::default(),
            wake: Condvar::new(),
        }))))
    }

    /// A session was written to; everything up to this record is durable. Never blocks.
    pub fn written(&self, session: SessionId, durable: Seq) {
        self.note(|state| {
            let newest = state.written.entry(session).or_default();
            *newest = (*newest).max(durable);
        });
    }

    /// A session was deleted.
    pub fn removed(&self, session: SessionId) {
        self.note(|state| {
            state.written.remove(&session);
            state.removed.insert(session);
        });
    }

    /// Looks through all sessions for what the index lacks, if that was not done since the start.
    pub fn start(&self) {
        self.note(|_| {});
    }

    /// Makes the index again from the logs: it is damaged, or a user doubts it.
    pub fn rebuild(&self) {
        self.note(|state| {
            state.rebuild = true;
            state.progress = IndexProgress::default();
        });
    }

    /// Waits until all sessions were looked at and what was noted before is in the index, at most so long; whether it is.
    /// Blocks.
    pub fn flush(&self, patience: Duration) -> bool {
        let (done, wait) = channel();
        self.note(|state| state.waiters.push(done));
        // Else it was dropped, or too slow: the search says what it knows.
        wait.recv_timeout(patience).is_ok()
    }

    /// Why the index cannot be fed now. `None`: it can, as far as is known.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.0.0.lock().failure.clone()
    }

    /// How much of the past is in the index.
    #[must_use]
    pub fn progress(&self) -> IndexProgress {
        self.0.0.lock().progress
    }

    /// Ends the thread, and waits until it has closed the database: closing removes files beside it by their names.
    #[cfg(test)]
    pub(crate) fn end(self, patience: Duration) {
        let shared = Arc::downgrade(&self.0.0);
        drop(self);
        let due = Instant::now() + patience;
        while shared.strong_count() > 0 {
            assert!(Instant::now() < due, "the thread of the feed does not end");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn note(&self, note: impl FnOnce(&mut State)) {
        let shared = &self.0.0;
        let mut state = shared.lock();
        // While it gathers, only what cannot wait wakes the thread.
        let is_awake = state.has_work();
        note(&mut state);
        if !state.has_thread {
            state.look = true;
            let shared = Arc::clone(shared);
            let started = std::thread::Builder::new()
                .name("history".into())
                .spawn(move || {
                    let _ended = Ended(Arc::clone(&shared));
                    Feeder::new(shared).run();
                });
            match started {
                Ok(_) => state.has_thread = true,
                Err(error) => tracing::warn!(%error, "the history index is not fed"),
            }
        }
        if !is_awake || state.is_urgent() {
            shared.wake.notify_all();
        }
    }
}

/// The next note starts another thread, whatever has ended this one.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.has_thread = false;
        state.waiters.clear();
    }
}

/// The thread's own.
struct Feeder {
    shared: Arc<Shared>,
    index: Option<Connection>,
    /// Sessions that are still to be looked at.
    to_look: VecDeque<SessionId>,
    /// Wait until it has looked at all.
    waiting: Vec<Sender<()>>,
    /// Up to where sessions of this daemon are durable.
    durable: BTreeMap<SessionId, Seq>,
}

/// What a round of the thread has to do.
struct Work {
    written: BTreeMap<SessionId, Seq>,
    removed: BTreeSet<SessionId>,
    forget: bool,
    look: bool,
    rebuild: bool,
    waiters: Vec<Sender<()>>,
}

impl Feeder {
    fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            index: None,
            to_look: VecDeque::new(),
            waiting: Vec::new(),
            durable: BTreeMap::new(),
        }
    }

    fn run(mut self) {
        // On Linux this is of the calling thread alone. Without it the thread only competes more.
        #[cfg(target_os = "linux")]
        rustix::process::nice(NICE).ok();
        while let Some(mut work) = self.wait() {
            self.durable.extend(&work.written);
            match self.round(&mut work) {
                Ok(()) => self.shared.lock().failure = None,
                Err(error) if error.is_damage() => {
                    let error = store::reason(&error);
                    tracing::warn!(%error, "the history index is damaged and made again");
                    self.index = None;
                    if let Err(error) = database::remove(&self.shared.home) {
                        tracing::warn!(error = %store::reason(&error), "the damaged history index stays");
                        self.note_failure(&error);
                        self.put_back(work);
                        self.pause();
                        continue;
                    }
                    work.look = true;
                    self.put_back(work);
                }
                Err(error) => {
                    tracing::warn!(error = %store::reason(&error), "the history index is behind");
                    self.index = None;
                    self.note_failure(&error);
                    work.waiters.clear();
                    self.waiting.clear();
                    self.put_back(work);
                    self.pause();
                }
            }
        }
    }

    fn note_failure(&self, error: &IndexError) {
        self.shared.lock().failure = Some(store::reason(error));
    }

    /// Waits for work. `None`: there will be none.
    fn wait(&mut self) -> Option<Work> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        while self.to_look.is_empty() && !state.has_work() {
            if self.index.is_none() {
                let waited = shared.wake.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = shared.wake.wait_timeout(state, IDLE);
            let (locked, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = locked;
            if waited.timed_out() && !state.has_work() {
                // Its memory is of no use to a daemon that rests. Closing it takes time, and notes must not wait.
                drop(state);
                self.index = None;
                state = shared.lock();
            }
        }
        let due = Instant::now() + GATHER;
        while self.to_look.is_empty() && !state.is_urgent() {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = shared.wake.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.is_closed {
            return None;
        }
        Some(Work {
            written: std::mem::take(&mut state.written),
            removed: std::mem::take(&mut state.removed),
            forget: std::mem::take(&mut state.forget),
            look: std::mem::take(&mut state.look),
            rebuild: std::mem::take(&mut state.rebuild),
            waiters: std::mem::take(&mut state.waiters),
        })
    }

    fn round(&mut self, work: &mut Work) -> Result<(), IndexError> {
        let home = Arc::clone(&self.shared.home);
        // Somebody has deleted it.
        if !work.look && !home.history().exists() {
            work.rebuild = true;
            self.shared.lock().progress = IndexProgress::default();
        }
        if work.rebuild {
            self.index = None;
            database::remove(&home)?;
            (work.rebuild, work.look) = (false, true);
        }
        let mut index = match self.index.take() {
            Some(index) => index,
            None => database::open(&home)?,
        };
        work.forget |= !work.removed.is_empty();
        while let Some(session) = work.removed.first().copied() {
            // One that could not be deleted stays.
            if !home.session_dir(session).exists() {
                writer::remove(&mut index, session)?;
                self.durable.remove(&session);
            }
            work.removed.remove(&session);
        }
        if work.forget {
            writer::forget_words(&index)?;
            work.forget = false;
        }
        while let Some((session, upto)) = work.written.first_key_value() {
            let session = *session;
            take_in(&mut index, &home, session, *upto)?;
            work.written.remove(&session);
        }
        if work.look {
            self.to_look = everything(&index, &home)?;
            work.look = false;
            self.shared.lock().progress = IndexProgress {
                sessions: 0,
                of: self.to_look.len() as u64,
                is_complete: self.to_look.is_empty(),
            };
        }
        if let Some(session) = self.to_look.front().copied() {
            let upto = self.durable.get(&session).copied();
            take_in(&mut index, &home, session, upto.unwrap_or(Seq(u64::MAX)))?;
            self.to_look.pop_front();
            let mut state = self.shared.lock();
            state.progress.sessions += 1;
            state.progress.is_complete = self.to_look.is_empty();
        }
        self.waiting.append(&mut work.waiters);
        if self.to_look.is_empty() {
            for waiter in self.waiting.drain(..) {
                waiter.send(()).ok();
            }
        }
        self.index = Some(index);
        Ok(())
    }

    /// What could not be done is done in the next round.
    fn put_back(&self, work: Work) {
        let mut state = self.shared.lock();
        for (session, seq) in work.written {
            let newest = state.written.entry(session).or_default();
            *newest = (*newest).max(seq);
        }
        state.removed.extend(work.removed);
        state.forget |= work.forget;
        state.look |= work.look;
        state.rebuild |= work.rebuild;
        state.waiters.extend(work.waiters);
    }

    fn pause(&self) {
        let due = Instant::now() + RETRY;
        let mut state = self.shared.lock();
        while !state.is_closed {
            // Whoever waits gets no more by waiting longer.
            state.waiters.clear();
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.wake.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// All sessions there are and all that the index has, oldest first.
fn everything(index: &Connection, home: &Home) -> Result<VecDeque<SessionId>, IndexError> {
    let mut sessions: BTreeSet<SessionId> = home.session_ids()?.into_iter().collect();
    sessions.extend(writer::sessions(index)?);
    Ok(sessions.into_iter().collect())
}

/// Takes in what came to a session. One that is to be deleted with its end never comes into the index, and a log that
/// cannot be read is left out.
fn take_in(
    index: &mut Connection,
    home: &Home,
    session: SessionId,
    upto: Seq,
) -> Result<(), IndexError> {
    if store::markers::is_ephemeral(home, session) {
        return writer::remove(index, session);
    }
    match writer::catch_up(index, home, session, upto) {
        Err(IndexError::Log(error)) => {
            tracing::debug!(%session, error = %store::reason(&error), "a log cannot be indexed");
            Ok(())
        }
        taken => taken.map(drop),
    }
}

#[cfg(test)]
mod tests;
