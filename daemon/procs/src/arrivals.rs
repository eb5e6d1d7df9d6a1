//! Watches for protected names that come while a sandboxed command runs, and moves them to the
//! quarantine.
//!
//! The kernel cannot keep a missing name free without something in its place, and nothing is put into
//! the user's tree. So the names are looked for at each change of their directories, and when the
//! command has ended. A record on disk names them while it runs, so that a killed daemon's successor
//! looks too.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use contract::{ChildEvent, KnownRepositories, Quarantined};
use proto::Pid;
use sandbox::{AbsentName, Arrival, Moved, Quarantine};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::sleep;

use directory_changes::DirectoryChanges;

#[cfg(target_os = "linux")]
mod directory_changes;
#[cfg(not(target_os = "linux"))]
#[path = "arrivals/directory_changes_none.rs"]
mod directory_changes;

/// The records of running commands, in the quarantine's directory.
const RECORDS: &str = "running";
/// Pause between two looks, while directories change all the time.
const PAUSE: Duration = Duration::from_millis(10);
/// Names that may come during one command. One that makes more is stopped.
const ARRIVALS_MAX: usize = 16;

/// The watches of all commands of the daemon.
#[derive(Debug)]
pub(crate) struct Arrivals {
    dir: PathBuf,
    running: Mutex<Vec<Weak<ArrivalWatch>>>,
    counter: AtomicU64,
}

/// The watch of one command.
#[derive(Debug)]
pub(crate) struct ArrivalWatch {
    session: Pid,
    /// The command runs in the background, so its end may be far: all names are moved away while it
    /// runs. Otherwise only what git would obey, so that a command is not disturbed half-way.
    in_background: bool,
    quarantine: Quarantine,
    /// Locked during a look.
    names: Mutex<Vec<AbsentName>>,
    /// What was there before: repositories that came since are looked for at the end.
    repositories: Mutex<Vec<KnownRepositories>>,
    /// What came and was not reported yet.
    came: Mutex<Vec<Quarantined>>,
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

/// What a killed daemon's successor needs to know about a command.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    absent: Vec<AbsentName>,
    #[serde(default)]
    repositories: Vec<KnownRepositories>,
    /// What came and could not be reported.
    came: Vec<Quarantined>,
}

impl Arrivals {
    /// `dir`: the quarantine. It is made when it is needed.
    pub(crate) fn new(dir: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            dir,
            running: Mutex::default(),
            counter: AtomicU64::new(0),
        })
    }

    /// Watches for these names until the watch is finished. Blocks.
    ///
    /// # Errors
    /// The record cannot be written.
    pub(crate) fn begin(
        &self,
        (session, in_background): (Pid, bool),
        absent: Vec<AbsentName>,
        mut repositories: Vec<KnownRepositories>,
    ) -> io::Result<Option<Arc<ArrivalWatch>>> {
        if absent.is_empty() && repositories.is_empty() {
            return Ok(None);
        }
        // What a command in the background has made is not known before it was judged.
        for watch in lock(&self.running).iter().filter_map(Weak::upgrade) {
            let before = lock(&watch.repositories);
            for known in &mut repositories {
                let same = |other: &&KnownRepositories| other.root == known.root;
                if let Some(before) = before.iter().find(same) {
                    known.places.retain(|place| before.places.contains(place));
                }
            }
        }
        let changes = DirectoryChanges::open();
        changes.add(&directories(&absent));
        let watch = Arc::new(ArrivalWatch {
            session,
            in_background,
            quarantine: Quarantine::new(self.dir.clone()),
            record: self.write_record(session, &absent, &repositories)?,
            names: Mutex::new(absent),
            repositories: Mutex::new(repositories),
            came: Mutex::default(),
            count: AtomicU64::new(0),
            changes,
        });
        let mut running = lock(&self.running);
        running.retain(|watch| watch.strong_count() > 0);
        running.push(Arc::downgrade(&watch));
        Ok(Some(watch))
    }

    fn write_record(
        &self,
        session: Pid,
        absent: &[AbsentName],
        repositories: &[KnownRepositories],
    ) -> io::Result<PathBuf> {
        let records = self.dir.join(RECORDS);
        let line = serde_json::to_vec(&Record {
            absent: absent.to_vec(),
            repositories: repositories.to_vec(),
            came: Vec::new(),
        })?;
        loop {
            let number = self.counter.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{}-{number}", session.0, std::process::id());
            let path = records.join(name);
            match write_new(&path, &line) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    DirBuilder::new()
                        .recursive(true)
                        .mode(0o700)
                        .create(&records)?;
                }
                // Of a daemon that had the same process id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Someone else is about to create these paths, with the user's approval: they are no arrivals.
    pub(crate) fn expect(&self, paths: &[PathBuf]) {
        let watches: Vec<_> = lock(&self.running)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for watch in watches {
            let mut names = lock(&watch.names);
            names.retain(|name| !paths.iter().any(|path| name.holds(path)));
            drop(names);
            for known in &mut *lock(&watch.repositories) {
                // The repository that it belongs to.
                let around = paths.iter().filter_map(|path| path.parent());
                known.places.extend(around.map(Path::to_path_buf));
            }
        }
    }

    /// What came during commands of this session that a killed daemon ran, and what nobody was there
    /// to hear of. Moves it away. Blocks.
    pub(crate) fn leftovers(&self, session: Pid) -> Vec<Quarantined> {
        let running: Vec<_> = lock(&self.running)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        let prefix = format!("{}-", session.0);
        let entries = fs::read_dir(self.dir.join(RECORDS)).into_iter().flatten();
        let mut came = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !name.starts_with(&prefix) || running.iter().any(|watch| watch.record == path) {
                continue;
            }
            let read = fs::read(&path).ok();
            let Some(record) = read.and_then(|line| serde_json::from_slice::<Record>(&line).ok())
            else {
                // Killed while it was written: its command had not started.
                let _ = fs::remove_file(&path);
                continue;
            };
            came.extend(record.came);
            let quarantine = Quarantine::new(self.dir.clone());
            came.extend(look(&quarantine, session, &mut record.absent.clone(), true));
            came.extend(search(&quarantine, session, &record.repositories));
            let _ = fs::remove_file(&path);
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
        Quarantine::new(self.dir.clone()).put_back(Path::new(kept), path)
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
            self.changes.changed().await;
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
            let came = std::mem::take(&mut *lock(&self.came));
            let _ = fs::remove_file(&self.record);
            if !came.is_empty() {
                let record = Record {
                    came,
                    ..Record::default()
                };
                let line = serde_json::to_vec(&record).unwrap_or_default();
                if let Err(error) = write_new(&self.record, &line) {
                    tracing::error!(%error, "what a command made cannot be noted");
                }
            }
        });
        let _ = done.await;
    }

    /// A look that is dropped still ends, and its finds are reported later.
    async fn look(self: &Arc<Self>, when: When) {
        let watch = Arc::clone(self);
        let looked = tokio::task::spawn_blocking(move || {
            let mut names = lock(&watch.names);
            // New directories first: what comes into one after this look wakes the next.
            watch.changes.add(&directories(&names));
            let all = when == When::Ended || watch.in_background;
            let mut came = look(&watch.quarantine, watch.session, &mut names, all);
            drop(names);
            if when == When::Ended {
                let known = lock(&watch.repositories).clone();
                came.extend(search(&watch.quarantine, watch.session, &known));
            }
            watch.count.fetch_add(came.len() as u64, Ordering::Relaxed);
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
    names: &mut Vec<AbsentName>,
    all: bool,
) -> Vec<Quarantined> {
    let mut came = Vec::new();
    names.retain(|name| match name.arrival() {
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
    came
}

/// Moves away what may run something of the repositories that came, wherever they are.
fn search(
    quarantine: &Quarantine,
    session: Pid,
    repositories: &[KnownRepositories],
) -> Vec<Quarantined> {
    let mut came = Vec::new();
    for known in repositories {
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
        Ok(Moved::To(kept)) => Some(Quarantined {
            path: arrival.path.to_string_lossy().into_owned(),
            kept: Some(kept.to_string_lossy().into_owned()),
            problem: None,
        }),
        Ok(Moved::Gone) => None,
        Err(error) => Some(stuck(&arrival.path, &error)),
    }
}

/// What is still in its place.
fn stuck(path: &Path, error: &io::Error) -> Quarantined {
    Quarantined {
        path: path.to_string_lossy().into_owned(),
        kept: None,
        problem: Some(error.to_string()),
    }
}

fn directories(names: &[AbsentName]) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for name in names {
        name.add_directories(&mut all);
    }
    all
}

fn write_new(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(line)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
