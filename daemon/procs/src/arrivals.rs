//! Watches for protected names that come while a sandboxed command runs, and for protected files that lose what
//! holds them, and moves new content to the quarantine.
//!
//! The kernel cannot keep a missing name free without something in its place, and nothing is put into
//! the user's tree. So the names are looked for at each change of their directories, and when the
//! command has ended. A record on disk names them while it runs, so that a killed daemon's successor
//! looks too.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use contract::{ChildEvent, Quarantined};
use proto::Pid;
use sandbox::{AbsentName, Arrival, HeldFile, HeldFileStatus, Quarantine, QuarantineOutcome};
use tokio::sync::mpsc;
use tokio::time::sleep;

use directory_changes::DirectoryChanges;
use records::{Record, Records};

#[cfg(target_os = "linux")]
mod directory_changes;
#[cfg(not(target_os = "linux"))]
#[path = "arrivals/directory_changes_none.rs"]
mod directory_changes;
mod records;

pub(crate) use records::Watched;

/// Pause between two looks, while directories change all the time.
const PAUSE: Duration = Duration::from_millis(10);
/// Time between two looks at a file that nothing holds any more.
const EXPOSED: Duration = Duration::from_millis(250);
/// Paths that are remembered for commands that are being prepared.
const EXPECTED_MAX: usize = 64;
/// Names that may come during one command. One that makes more is stopped.
const ARRIVALS_MAX: usize = 16;

/// The watches of all commands of the daemon.
#[derive(Debug)]
pub(crate) struct Arrivals {
    dir: PathBuf,
    records: Records,
    /// What commands of a daemon before this one made is looked for once, before anything new is agreed to.
    after_crash: Mutex<bool>,
    /// The newest paths that someone else was about to create: a command that is being prepared has not seen them.
    expected: Mutex<VecDeque<(Instant, Vec<PathBuf>)>>,
    running: Mutex<Vec<Weak<ArrivalWatch>>>,
}

/// The watch of one command.
#[derive(Debug)]
pub(crate) struct ArrivalWatch {
    session: Pid,
    /// The command runs in the background, so its end may be far: all names are moved away while it
    /// runs. Otherwise only what git would obey, so that a command is not disturbed half-way.
    in_background: bool,
    quarantine: Quarantine,
    /// Locked during a look, but not while repositories are searched. `None`: the watch has finished.
    watched: Mutex<Option<Watched>>,
    /// What came and was not reported yet.
    came: Mutex<Vec<Quarantined>>,
    /// Nothing holds a file any more that git obeys.
    is_exposed: AtomicBool,
    /// How many came so far.
    count: AtomicU64,
    changes: DirectoryChanges,
    record: PathBuf,
}

/// When a look is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Running,
    Ended,
}

impl Arrivals {
    /// `dir`: the quarantine. It is made when it is needed.
    pub(crate) fn new(dir: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            records: Records::new(&dir),
            dir,
            after_crash: Mutex::new(false),
            expected: Mutex::default(),
            running: Mutex::default(),
        })
    }

    /// Watches these until the watch is finished. `prepared`: when they were found out, or before. Blocks.
    ///
    /// # Errors
    /// The record cannot be written.
    pub(crate) fn begin(
        &self,
        (session, in_background): (Pid, bool),
        mut watched: Watched,
        prepared: Instant,
    ) -> io::Result<Option<Arc<ArrivalWatch>>> {
        if watched.is_empty() {
            return Ok(None);
        }
        // What a command in the background has made is not known before it was judged.
        for watch in self.running() {
            let before = lock(&watch.watched);
            let before = before.iter().flat_map(|watched| &watched.repositories);
            let before: Vec<_> = before.collect();
            for known in &mut watched.repositories {
                if let Some(before) = before.iter().find(|other| other.root == known.root) {
                    known.places.retain(|place| before.places.contains(place));
                }
            }
        }
        let changes = DirectoryChanges::open();
        changes.add(&directories(&watched));
        // Locked until both are there: a record without a watch is of a daemon that was killed.
        let mut running = lock(&self.running);
        for (at, paths) in &*lock(&self.expected) {
            if *at >= prepared {
                watched.expect(paths);
            }
        }
        let watch = Arc::new(ArrivalWatch {
            session,
            in_background,
            quarantine: Quarantine::new(self.dir.clone()),
            record: self.records.create(session, &watched)?,
            watched: Mutex::new(Some(watched)),
            came: Mutex::default(),
            is_exposed: AtomicBool::new(false),
            count: AtomicU64::new(0),
            changes,
        });
        running.retain(|watch| watch.strong_count() > 0);
        running.push(Arc::downgrade(&watch));
        drop(running);
        Ok(Some(watch))
    }

    fn running(&self) -> Vec<Arc<ArrivalWatch>> {
        let running = lock(&self.running);
        running.iter().filter_map(Weak::upgrade).collect()
    }

    /// Someone else is about to create these paths, with the user's approval: they are no arrivals.
    pub(crate) fn expect(&self, paths: &[PathBuf]) {
        self.look_after_crash();
        let mut expected = lock(&self.expected);
        expected.push_back((Instant::now(), paths.to_vec()));
        if expected.len() > EXPECTED_MAX {
            expected.pop_front();
        }
        drop(expected);
        for watch in self.running() {
            let mut watched = lock(&watch.watched);
            let Some(watched) = &mut *watched else {
                continue;
            };
            watched.expect(paths);
            let record = Record {
                watched: watched.clone(),
                came: Vec::new(),
            };
            if let Err(error) = records::replace(&watch.record, &record) {
                tracing::warn!(%error, "an approved path cannot be recorded for the time after a crash");
            }
        }
    }

    /// Records of commands that no longer run.
    fn left_records(&self) -> Vec<PathBuf> {
        // In this order: a command that starts meanwhile has a watch before its record is found.
        let mut records = self.records.list();
        let running = self.running();
        records.retain(|record| running.iter().all(|watch| watch.record != *record));
        records
    }

    /// Moves away names that came during commands of a killed daemon. Done once; blocks until it is.
    fn look_after_crash(&self) {
        let mut done = lock(&self.after_crash);
        if std::mem::replace(&mut *done, true) {
            return;
        }
        for path in self.left_records() {
            let (Some(record), Some(session)) = (records::read(&path), records::session_of(&path))
            else {
                let _ = fs::remove_file(&path);
                continue;
            };
            let mut watched = record.watched;
            let quarantine = Quarantine::new(self.dir.clone());
            let mut came = record.came;
            came.extend(look(&quarantine, session, &mut watched, true));
            came.extend(search(&quarantine, session, &watched));
            keep(&path, came);
        }
    }

    /// What came during commands of this session that a killed daemon ran, and what nobody was there
    /// to hear of. Blocks.
    pub(crate) fn leftovers(&self, session: Pid) -> Vec<Quarantined> {
        self.look_after_crash();
        let mut came = Vec::new();
        for path in self.left_records() {
            if records::session_of(&path) == Some(session)
                && let Some(record) = records::read(&path)
            {
                came.extend(record.came);
                let _ = fs::remove_file(&path);
            }
        }
        came
    }

    /// Brings something back to its place. Blocks.
    pub(crate) fn put_back(&self, item: &Quarantined) -> Result<(), String> {
        let path = Path::new(&item.path);
        let Some(kept) = &item.kept else {
            return Ok(());
        };
        self.expect(&[path.to_path_buf()]);
        let quarantine = Quarantine::new(self.dir.clone());
        quarantine.put_back(Path::new(kept), path, item.restored)
    }
}

/// Keeps the finds for the next start of the session, in the record's place.
fn keep(record: &Path, came: Vec<Quarantined>) {
    if came.is_empty() {
        let _ = fs::remove_file(record);
        return;
    }
    let watched = Watched::default();
    if let Err(error) = records::replace(record, &Record { watched, came }) {
        tracing::error!(%error, "what a command made cannot be noted");
    }
}

impl ArrivalWatch {
    /// Looks for the names at each change, and reports what came. Never returns. Dropping it loses
    /// nothing. `stop` stops the command.
    pub(crate) async fn watch(
        self: &Arc<Self>,
        events: &mpsc::Sender<ChildEvent>,
        stop: impl Fn(),
    ) {
        loop {
            // A write through a mapping, or another name of the file, changes no directory that is watched.
            tokio::select! {
                () = self.changes.changed() => {}
                () = sleep(EXPOSED), if self.is_exposed.load(Ordering::Relaxed) => {}
            }
            self.look(When::Running).await;
            if self.count.load(Ordering::Relaxed) > ARRIVALS_MAX as u64 {
                stop();
            }
            self.report(events).await;
            sleep(PAUSE).await;
        }
    }

    /// Looks once more, when no process of the command is left. If nobody hears of what came, the
    /// record keeps it for the next start of the session.
    pub(crate) async fn finish(self: Arc<Self>, events: &mpsc::Sender<ChildEvent>) {
        self.look(When::Ended).await;
        self.report(events).await;
        let done = tokio::task::spawn_blocking(move || {
            // Nobody writes the record from now on.
            let mut watched = lock(&self.watched);
            *watched = None;
            keep(&self.record, std::mem::take(&mut *lock(&self.came)));
        });
        let _ = done.await;
    }

    /// A look that is dropped still ends, and its finds are reported later.
    async fn look(self: &Arc<Self>, when: When) {
        let watch = Arc::clone(self);
        let looked = tokio::task::spawn_blocking(move || {
            let mut locked = lock(&watch.watched);
            let Some(watched) = &mut *locked else {
                return;
            };
            if when == When::Running {
                // New directories first: what comes into one after this look wakes the next.
                watch.changes.add(&directories(watched));
            }
            let all = when == When::Ended || watch.in_background;
            let mut came = look(&watch.quarantine, watch.session, watched, all);
            let is_exposed = watched.held.iter().any(HeldFile::is_exposed);
            watch.is_exposed.store(is_exposed, Ordering::Relaxed);
            if when == When::Ended {
                let known = watched.clone();
                drop(locked);
                came.extend(search(&watch.quarantine, watch.session, &known));
            }
            // A file that another program replaced is not of the command.
            let made = came
                .iter()
                .filter(|item| item.kept.is_some() || item.problem.is_some());
            watch
                .count
                .fetch_add(made.count() as u64, Ordering::Relaxed);
            lock(&watch.came).extend(came);
        });
        let _ = looked.await;
    }

    async fn report(&self, events: &mpsc::Sender<ChildEvent>) {
        if lock(&self.came).is_empty() {
            return;
        }
        // Cancel-safe: what came is only taken when there is room for it.
        if let Ok(permit) = events.reserve().await {
            permit.send(ChildEvent::Quarantined(std::mem::take(&mut *lock(
                &self.came,
            ))));
        }
    }
}

/// Moves away what came: all of it, or only what must not wait. What cannot be moved is reported once.
fn look(
    quarantine: &Quarantine,
    session: Pid,
    watched: &mut Watched,
    all: bool,
) -> Vec<Quarantined> {
    let mut came = Vec::new();
    watched.absent.retain(|name| match name.arrival() {
        Ok(None) => true,
        Ok(Some(arrival)) if !all && !arrival.at_once => true,
        Err(_) if !all && !name.at_once => true,
        Ok(Some(arrival)) => {
            let moved = take(quarantine, session, &arrival);
            let is_moved = moved.as_ref().is_none_or(|moved| moved.problem.is_none());
            came.extend(moved);
            is_moved
        }
        Err(error) => {
            came.push(stuck(&name.path, &error));
            false
        }
    });
    watched.held.retain_mut(|file| {
        if !all && !file.at_once() {
            return true;
        }
        match file.look() {
            HeldFileStatus::Held => true,
            HeldFileStatus::Replaced => {
                came.push(replaced(file.path()));
                false
            }
            HeldFileStatus::RunsMore(arrival) => {
                let moved = restore(quarantine, session, (file, arrival));
                let is_moved = moved.as_ref().is_none_or(|moved| moved.problem.is_none());
                came.extend(moved);
                is_moved
            }
        }
    });
    came
}

/// Puts the original content into the place of what replaced it, and moves that away.
fn restore(
    quarantine: &Quarantine,
    session: Pid,
    (file, arrival): (&HeldFile, Arrival),
) -> Option<Quarantined> {
    match file.restore(arrival) {
        Ok(arrival) => take(quarantine, session, &arrival).map(|moved| Quarantined {
            restored: true,
            ..moved
        }),
        Err(error) => Some(stuck(file.path(), &error)),
    }
}

/// Moves away what may run something of the repositories that came, wherever they are.
fn search(quarantine: &Quarantine, session: Pid, watched: &Watched) -> Vec<Quarantined> {
    let mut came = Vec::new();
    for known in &watched.repositories {
        let (arrivals, searched) = sandbox::new_repositories(known);
        let moved = arrivals
            .iter()
            .filter_map(|one| take(quarantine, session, one));
        came.extend(moved);
        came.extend(searched.err().map(|error| stuck(&known.root, &error)));
    }
    came
}

/// Moves one thing away. `None`: it was gone.
fn take(quarantine: &Quarantine, session: Pid, arrival: &Arrival) -> Option<Quarantined> {
    match quarantine.take(&session.0.to_string(), arrival) {
        Ok(QuarantineOutcome::To(kept)) => Some(Quarantined {
            path: arrival.path.to_string_lossy().into_owned(),
            kept: Some(kept.to_string_lossy().into_owned()),
            restored: false,
            problem: None,
        }),
        Ok(QuarantineOutcome::Gone) => None,
        Err(error) => Some(stuck(&arrival.path, &error)),
    }
}

/// What is still in its place.
fn stuck(path: &Path, error: &io::Error) -> Quarantined {
    Quarantined {
        problem: Some(error.to_string()),
        ..replaced(path)
    }
}

/// A protected file that another program has put there, and that the command could change from then on.
fn replaced(path: &Path) -> Quarantined {
    Quarantined {
        path: path.to_string_lossy().into_owned(),
        kept: None,
        restored: false,
        problem: None,
    }
}

/// Where something would come.
fn directories(watched: &Watched) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for name in &watched.absent {
        AbsentName::add_directories(name, &mut all);
    }
    let around = watched.held.iter().filter_map(|file| file.path().parent());
    all.extend(around.map(Path::to_path_buf));
    all
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
