//! A directory of facts: `NAME.md`, and earlier versions in `archive/NAME.N.md`.
//!
//! Knows names and bytes, not what a fact says. Writes are atomic, and what a write replaces goes to the archive first:
//! nothing that was written is lost. Writers take turns: a home has one daemon, which calls only this.

use std::fs::read_dir;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::disk::{DiskError, IoContext as _, private, private_dir, replace, sync_dir};

/// Bytes of one file.
const FILE_BYTES_MAX: u64 = 64 * 1024;
/// Directory entries that are looked at.
const ENTRIES_MAX: usize = 200_000;
/// Files of a directory that count: the first by name.
pub const FACTS_MAX: usize = 2_000;

/// Held while files change.
static WRITING: Mutex<()> = Mutex::new(());

/// Why a file cannot be read as a fact. Its text is a reason, as in "it is left out: …".
#[derive(Debug, thiserror::Error)]
pub enum FactFileError {
    #[error("it is a link")]
    Link,
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it has more than {FILE_BYTES_MAX} bytes")]
    TooLarge,
    #[error("it is not a text file")]
    NotText,
    #[error("it cannot be read: {0}")]
    Io(io::Error),
}

/// The names in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactNames {
    /// Sorted, at most [`FACTS_MAX`].
    pub names: Vec<String>,
    /// Whether there are more.
    pub more: bool,
}

/// One directory of facts. It need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactFiles {
    dir: PathBuf,
}

impl FactFiles {
    /// The facts in this directory. Its parent is created with it.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The file of an active fact.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.md"))
    }

    /// The file of an archived version.
    #[must_use]
    pub fn archived_path(&self, name: &str, version: u64) -> PathBuf {
        self.archive().join(format!("{name}.{version}.md"))
    }

    fn archive(&self) -> PathBuf {
        self.dir.join("archive")
    }

    /// Names of the files that may be active facts, without `.md`.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn names(&self) -> Result<FactNames, DiskError> {
        let mut names = stems(&self.dir)?;
        names.sort_unstable();
        let more = names.len() > FACTS_MAX;
        names.truncate(FACTS_MAX);
        Ok(FactNames { names, more })
    }

    /// Archived versions, by name and version.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn archived(&self) -> Result<Vec<(String, u64)>, DiskError> {
        let mut found: Vec<_> = stems(&self.archive())?
            .iter()
            .filter_map(|stem| versioned(stem))
            .collect();
        found.sort_unstable();
        found.truncate(FACTS_MAX);
        Ok(found)
    }

    /// The text of an active fact. `None`: there is no such file.
    ///
    /// # Errors
    /// It is not a regular text file of bounded size.
    pub fn read(&self, name: &str) -> Result<Option<String>, FactFileError> {
        read(&self.path(name))
    }

    /// The text of an archived version. `None`: there is no such file.
    ///
    /// # Errors
    /// As [`FactFiles::read`].
    pub fn read_archived(&self, name: &str, version: u64) -> Result<Option<String>, FactFileError> {
        read(&self.archived_path(name, version))
    }

    /// Saves a fact. The version before goes to the archive, whoever has written it.
    ///
    /// # Errors
    /// The disk refuses; the version before is still active.
    pub fn write(&self, name: &str, text: &str) -> Result<(), DiskError> {
        let _writing = lock();
        self.create()?;
        self.write_locked(name, text)
    }

    fn write_locked(&self, name: &str, text: &str) -> Result<(), DiskError> {
        let path = self.path(name);
        match read(&path) {
            // The same again: there is nothing to keep.
            Ok(Some(before)) if before == text => return Ok(()),
            Ok(Some(before)) => {
                let kept = self.free_archived_path(name)?;
                replace(&kept, &temporary(&kept), before.as_bytes())?;
            }
            Ok(None) => {}
            // What is no fact is moved away as it is.
            Err(_) => self.move_away(name)?,
        }
        replace(&path, &temporary(&path), text.as_bytes())
    }

    /// Moves a fact to the archive. Whether there was one.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn forget(&self, name: &str) -> Result<bool, DiskError> {
        let _writing = lock();
        if self.path(name).symlink_metadata().is_err() {
            return Ok(false);
        }
        self.create()?;
        self.move_away(name)?;
        Ok(true)
    }

    /// Makes an archived version active again, and puts what was active into the archive.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn restore(&self, name: &str, version: u64, text: &str) -> Result<(), DiskError> {
        let _writing = lock();
        self.create()?;
        self.write_locked(name, text)?;
        let kept = self.archived_path(name, version);
        std::fs::remove_file(&kept).at("remove", &kept)?;
        sync_dir(&self.archive())
    }

    fn move_away(&self, name: &str) -> Result<(), DiskError> {
        let path = self.path(name);
        let kept = self.free_archived_path(name)?;
        std::fs::rename(&path, &kept).at("archive", &path)?;
        sync_dir(&self.archive())?;
        sync_dir(&self.dir)
    }

    /// Where the next archived version of a fact goes.
    fn free_archived_path(&self, name: &str) -> Result<PathBuf, DiskError> {
        let stems = stems(&self.archive())?;
        let versions = stems.iter().filter_map(|stem| versioned(stem));
        let newest = versions
            .filter(|(known, _)| known == name)
            .map(|(_, version)| version)
            .max();
        let next = newest.unwrap_or(0).saturating_add(1);
        Ok(self.archived_path(name, next))
    }

    fn create(&self) -> Result<(), DiskError> {
        let parent = self.dir.parent().unwrap_or(Path::new("/"));
        if private_dir(parent)?
            && let Some(above) = parent.parent()
        {
            sync_dir(above)?;
        }
        if private_dir(&self.dir)? {
            sync_dir(parent)?;
        }
        if private_dir(&self.archive())? {
            sync_dir(&self.dir)?;
        }
        Ok(())
    }
}

fn lock() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file that becomes `path`. Its name is the same each time: what a killed daemon left of it is overwritten.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// Names of the files in a directory that end in `.md`, without that. Hidden ones are left out.
fn stems(dir: &Path) -> Result<Vec<String>, DiskError> {
    let entries = match read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).at("read the directory", dir),
    };
    let mut stems = Vec::new();
    for entry in entries.take(ENTRIES_MAX) {
        let name = entry.at("read the directory", dir)?.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(".md"));
        let visible = stem.filter(|stem| !stem.is_empty() && !stem.starts_with('.'));
        stems.extend(visible.map(str::to_owned));
    }
    Ok(stems)
}

/// `NAME.N` taken apart.
fn versioned(stem: &str) -> Option<(String, u64)> {
    let (name, version) = stem.rsplit_once('.')?;
    Some((name.to_owned(), version.parse().ok()?))
}

fn read(path: &Path) -> Result<Option<String>, FactFileError> {
    // A pipe that nobody writes into must not hold us up.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let opened = private().read(true).custom_flags(flags as i32).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return Err(FactFileError::Link);
        }
        // A socket.
        Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
            return Err(FactFileError::NotAFile);
        }
        Err(error) => return Err(FactFileError::Io(error)),
    };
    let metadata = file.metadata().map_err(FactFileError::Io)?;
    if !metadata.is_file() {
        return Err(FactFileError::NotAFile);
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(FactFileError::TooLarge);
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    let mut bounded = file.take(FILE_BYTES_MAX + 1);
    bounded.read_to_end(&mut bytes).map_err(FactFileError::Io)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(FactFileError::TooLarge);
    }
    let text = String::from_utf8(bytes).map_err(|_| FactFileError::NotText)?;
    if text.contains('\0') {
        return Err(FactFileError::NotText);
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests;
