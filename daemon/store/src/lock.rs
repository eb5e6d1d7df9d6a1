//! One daemon a home: a kernel lock that is held for the daemon's life.
//!
//! What the file says is for people. Nobody is signalled and no socket removed because of it. Called
//! at start-up, before anything else of the home is touched.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::disk::{At, Fault, private, try_lock, unlock};
use crate::home::Home;

/// Why the lock was not to be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another daemon has this home{}", told(.holder))]
    Held {
        path: PathBuf,
        /// What that daemon wrote into the file; may be empty or out of date.
        holder: String,
    },
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn told(holder: &str) -> String {
    if holder.is_empty() {
        String::new()
    } else {
        format!(" ({})", holder.replace('\n', ", "))
    }
}

/// The lock. Dropping it, or dying, gives it back.
#[derive(Debug)]
pub struct HomeLock {
    file: File,
}

impl Drop for HomeLock {
    fn drop(&mut self) {
        // An empty file tells people that no daemon runs; the file itself stays, because a
        // removed one could be locked by two.
        self.file.set_len(0).ok();
        unlock(&self.file);
    }
}

impl HomeLock {
    /// Takes the lock of a home, without waiting. `socket` is told to people.
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
                // Somebody removed the file between opening and locking: what we hold has no name.
                continue;
            }
            return Ok(Self::held(file, socket));
        }
    }

    /// The lock counts, and its text is for people: a full disk must not keep a daemon from its home.
    fn held(file: File, socket: &Path) -> Self {
        let lock = Self { file };
        lock.tell(socket).ok();
        lock
    }

    fn tell(&self, socket: &Path) -> io::Result<()> {
        let mut file = &self.file;
        file.set_len(0)?;
        file.seek(io::SeekFrom::Start(0))?;
        let text = format!("pid {}\nsocket {}\n", std::process::id(), socket.display());
        file.write_all(text.as_bytes())
    }
}

fn read_holder(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(4096).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Whether this path is still the name of this file.
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
