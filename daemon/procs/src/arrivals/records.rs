//! The records of running commands on disk: a killed daemon's successor looks for their files, too.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use contract::{KnownRepositories, Quarantined};
use proto::Pid;
use sandbox::{AbsentName, HeldFile};
use serde::{Deserialize, Serialize};

/// Their directory, in the quarantine's.
const RECORDS: &str = "running";

/// The paths to look at while a command runs and when it has ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Watched {
    pub absent: Vec<AbsentName>,
    #[serde(default)]
    pub held: Vec<HeldFile>,
    #[serde(default)]
    pub repositories: Vec<KnownRepositories>,
}

impl Watched {
    pub(super) fn is_empty(&self) -> bool {
        self.absent.is_empty() && self.held.is_empty() && self.repositories.is_empty()
    }

    /// Someone else is about to create these paths, with the user's approval.
    pub(super) fn expect(&mut self, paths: &[PathBuf]) {
        let Self {
            absent,
            held,
            repositories,
        } = self;
        absent.retain(|name| !paths.iter().any(|path| name.holds(path)));
        held.retain(|file| !paths.iter().any(|path| path == file.path()));
        for known in repositories {
            // The repository that it belongs to.
            let around = paths.iter().filter_map(|path| path.parent());
            known.places.extend(around.map(Path::to_path_buf));
        }
    }
}

/// What a killed daemon's successor needs to know about a command.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(flatten)]
    pub watched: Watched,
    /// Finds that could not be reported.
    pub came: Vec<Quarantined>,
}

/// All records of a quarantine.
#[derive(Debug)]
pub(super) struct Records {
    dir: PathBuf,
    counter: AtomicU64,
}

impl Records {
    pub(super) fn new(quarantine: &Path) -> Self {
        Self {
            dir: quarantine.join(RECORDS),
            counter: AtomicU64::new(0),
        }
    }

    /// A new record of a command of this session.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(&self, session: Pid, watched: &Watched) -> io::Result<PathBuf> {
        let line = serde_json::to_vec(&Record {
            watched: watched.clone(),
            came: Vec::new(),
        })?;
        loop {
            let number = self.counter.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{}-{number}", session.0, std::process::id());
            let path = self.dir.join(name);
            match write_new(&path, &line) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let mut private = DirBuilder::new();
                    private.recursive(true).mode(0o700).create(&self.dir)?;
                }
                // Of a daemon that had the same process id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The records that are there.
    pub(super) fn list(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten();
        let paths = entries.flatten().map(|entry| entry.path());
        paths.filter(|path| path.extension().is_none()).collect()
    }
}

/// The session whose command a record is about.
pub(super) fn session_of(record: &Path) -> Option<Pid> {
    let name = record.file_name()?.to_str()?;
    name.split('-').next()?.parse().ok().map(Pid)
}

/// `None`: killed while it was written, so its command had not started.
pub(super) fn read(record: &Path) -> Option<Record> {
    let line = fs::read(record).ok()?;
    serde_json::from_slice(&line).ok()
}

/// Puts another record into the place of one.
///
/// # Errors
/// The one before is still there.
pub(super) fn replace(path: &Path, record: &Record) -> io::Result<()> {
    let line = serde_json::to_vec(record)?;
    let new = path.with_extension("new");
    let _ = fs::remove_file(&new);
    write_new(&new, &line)?;
    fs::rename(new, path)
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
