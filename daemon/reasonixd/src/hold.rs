//! Whether the home that was locked is still the one at its path.
//!
//! A home can be deleted, moved, or put back from a backup while its daemon runs: then the daemon's lock, logs and
//! counters have no names any more, or are another's. It must not write a second history beside the one that came. Where
//! only the lock is gone, and the home is the same, the lock is taken again.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use store::home::Home;
use store::lock::{HomeLock, LockError};

/// Device, inode and creation time of a file, if the file system knows it: an inode is given to a new file soon.
type Identity = (u64, u64, Option<SystemTime>);

/// The home as it was when it was locked.
#[derive(Debug)]
pub struct LockedHome {
    root: PathBuf,
    socket: PathBuf,
    home: Identity,
    sessions: Identity,
    held: Mutex<HeldLock>,
}

/// The lock file.
#[derive(Debug)]
struct HeldLock {
    file: Identity,
    /// Taken here, in the place of one that was deleted.
    _again: Option<HomeLock>,
}

/// What is at a file's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockFileState {
    Same,
    Nothing,
    Another,
}

impl LockedHome {
    /// Remembers the home. Called when its lock has just been taken.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub fn of(home: &Home, socket: &Path) -> io::Result<Self> {
        Ok(Self {
            root: home.root().to_path_buf(),
            socket: socket.to_path_buf(),
            home: identity(home.root())?,
            sessions: identity(&home.sessions())?,
            held: Mutex::new(HeldLock {
                file: identity(&home.lock())?,
                _again: None,
            }),
        })
    }

    /// Whether the home is gone, or another one or another daemon's. What cannot be looked at just now is not gone. A lock
    /// that was deleted alone is taken again.
    pub fn is_lost(&self) -> bool {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if place(&self.root.join("run/reasonixd.lock"), held.file) == LockFileState::Same {
            return false;
        }
        let is_there = |path: &Path, known| place(path, known) == LockFileState::Same;
        if !is_there(&self.root, self.home) || !is_there(&self.root.join("sessions"), self.sessions)
        {
            return true;
        }
        match self.take_again() {
            Ok(again) => {
                tracing::warn!("the lock of the home was deleted, and has been made again");
                *held = again;
                false
            }
            Err(TakeError::Another) => true,
            Err(TakeError::Disk(error)) => {
                tracing::error!(
                    error,
                    "the lock of the home was deleted and cannot be made again; it is tried again"
                );
                false
            }
        }
    }

    fn take_again(&self) -> Result<HeldLock, TakeError> {
        let home =
            Home::open(&self.root).map_err(|error| TakeError::Disk(store::reason(&error)))?;
        let lock = match HomeLock::acquire(&home, &self.socket) {
            Ok(lock) => lock,
            Err(LockError::Held { .. }) => return Err(TakeError::Another),
            Err(error) => return Err(TakeError::Disk(store::reason(&error))),
        };
        let file = identity(&home.lock()).map_err(|error| TakeError::Disk(error.to_string()))?;
        Ok(HeldLock {
            file,
            _again: Some(lock),
        })
    }
}

/// Why a lock could not be taken again.
enum TakeError {
    /// Another daemon has the home.
    Another,
    Disk(String),
}

fn place(path: &Path, known: Identity) -> LockFileState {
    match identity(path) {
        Ok(there) if there == known => LockFileState::Same,
        Ok(_) => LockFileState::Another,
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => LockFileState::Nothing,
            _ => LockFileState::Same,
        },
    }
}

fn identity(path: &Path) -> io::Result<Identity> {
    let meta = fs::symlink_metadata(path)?;
    Ok((meta.dev(), meta.ino(), meta.created().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(path: &Path) -> (Home, HomeLock, LockedHome) {
        let home = Home::open(path).expect("a home");
        let lock = HomeLock::acquire(&home, Path::new("socket")).expect("its lock");
        let hold = LockedHome::of(&home, Path::new("socket")).expect("its identity");
        (home, lock, hold)
    }

    #[test]
    fn a_home_that_was_moved_deleted_or_replaced_is_lost() {
        let dir = tempfile::tempdir().expect("a directory");
        let (path, away) = (dir.path().join("home"), dir.path().join("away"));
        let (_home, _lock, hold) = held(&path);
        assert!(!hold.is_lost());
        fs::rename(&path, &away).expect("move it");
        assert!(hold.is_lost(), "no file is there");
        let _ = Home::open(&path).expect("another home");
        assert!(hold.is_lost(), "another file is there");
        fs::remove_dir_all(&path).expect("remove that");
        fs::rename(&away, &path).expect("move it back");
        assert!(!hold.is_lost(), "the same one again");
        fs::remove_dir_all(path.join("sessions")).expect("remove all that is in it");
        fs::remove_dir_all(path.join("run")).expect("remove all that is in it");
        let _ = Home::open(&path).expect("a copy in its place");
        assert!(hold.is_lost(), "its content is another daemon's");
        fs::remove_dir_all(&path).expect("remove it");
        fs::write(&path, "a file").expect("a file in its place");
        assert!(hold.is_lost());
    }

    #[test]
    fn a_lock_that_was_deleted_alone_is_taken_again_unless_another_daemon_has_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let (home, _lock, hold) = held(&dir.path().join("home"));
        for _ in 0..2 {
            fs::remove_dir_all(home.run()).expect("delete it");
            assert!(!hold.is_lost());
            let second = HomeLock::acquire(&home, Path::new("socket"));
            assert!(matches!(second, Err(LockError::Held { .. })), "{second:?}");
        }
        fs::remove_file(home.lock()).expect("delete it");
        let another = HomeLock::acquire(&home, Path::new("socket")).expect("another daemon's");
        assert!(hold.is_lost());
        drop(another);
    }
}
