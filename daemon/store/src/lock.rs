//! The home lock: a kernel lock ensures one daemon per home.
//!
//! The text in the lock file is for users only: no process is signalled and no socket removed
//! because of it. Taken at start-up, before anything else in the home is touched.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::disk::{DiskError, IoContext, private, try_lock, unlock};
use crate::home::Home;

/// Why the lock could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another daemon uses this home{}", holder_suffix(.holder))]
    Held {
        path: PathBuf,
        /// The text that the daemon wrote into the file. May be empty or outdated.
        holder: String,
    },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

fn holder_suffix(holder: &str) -> String {
    if holder.is_empty() {
        String::new()
    } else {
        format!(" ({})", holder.replace('\n', ", "))
    }
}

/// The lock. It is released on drop or when the process dies.
#[derive(Debug)]
pub struct HomeLock {
    file: File,
}

impl Drop for HomeLock {
    fn drop(&mut self) {
        // An empty file shows users that no daemon runs. The file itself must remain: if it were
        // removed, two processes could lock it.
        self.file.set_len(0).ok();
        unlock(&self.file);
    }
}

impl HomeLock {
    /// Takes the lock of a home without waiting. Writes `socket` into the file for users.
    ///
    /// # Errors
    /// Another daemon has it, or the file system has no locks.
    pub fn acquire(home: &Home, socket: &Path) -> Result<Self, LockError> {
        let path = home.lock();
        loop {
            let mut file = private()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .at("open the lock", &path)?;
            if !try_lock(&file).at("lock", &path)? {
                let holder = read_holder(&mut file).unwrap_or_default();
                return Err(LockError::Held { path, holder });
            }
            if !is_at(&file, &path).at("look at the lock", &path)? {
                // The file was removed between opening and locking, so our lock is on a file
                // without a name.
                continue;
            }
            return Ok(Self::new(file, socket));
        }
    }

    /// Writing the text may fail: a full disk must not prevent a start. The lock itself counts.
    fn new(file: File, socket: &Path) -> Self {
        let lock = Self { file };
        lock.write_holder(socket).ok();
        lock
    }

    fn write_holder(&self, socket: &Path) -> io::Result<()> {
        let mut file = &self.file;
        file.set_len(0)?;
        file.seek(io::SeekFrom::Start(0))?;
        let text = format!("pid {}\nsocket {}\n", std::process::id(), socket.display());
        file.write_all(text.as_bytes())
    }
}

/// The lock of the daemon's parent on the directory of the home: one parent per home. It is released on drop or when the
/// process dies.
#[derive(Debug)]
pub struct ParentLock {
    home: File,
}

impl Drop for ParentLock {
    fn drop(&mut self) {
        unlock(&self.home);
    }
}

impl ParentLock {
    /// Takes the lock without waiting; `None`: another parent has it. Makes the directory if there is none.
    ///
    /// # Errors
    /// The disk refuses, or the file system has no locks.
    pub fn try_acquire(home: &Path) -> Result<Option<Self>, DiskError> {
        if !home.exists() {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(home).at("create the home", home)?;
        }
        let file = File::open(home).at("open the home", home)?;
        let is_taken = try_lock(&file).at("lock the home", home)?;
        Ok(is_taken.then_some(Self { home: file }))
    }
}

fn read_holder(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(4096).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Whether `path` still names this file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match path.symlink_metadata() {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
