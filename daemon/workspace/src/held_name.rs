//! One name at a time: between looking at a file and replacing it, no other session of this daemon replaces it.
//!
//! Other programs are not kept out; for them the last look stands right before the rename.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Condvar, LazyLock, Mutex, PoisonError};

use rustix::fd::OwnedFd;

/// A directory's device and inode, and a name in it.
type Key = (u64, u64, OsString);

/// The names that are held. Each has its own turn, so that a disk that hangs delays only those who write to the same name.
static HELD: LazyLock<Mutex<HashSet<Key>>> = LazyLock::new(Mutex::default);
static FREED: Condvar = Condvar::new();

/// The right to replace what a name stands for. Given back on drop.
pub(crate) struct HeldName(Key);

impl HeldName {
    /// Waits until nobody else holds this name of a directory.
    ///
    /// # Errors
    /// The directory cannot be looked at.
    pub(crate) fn hold(dir: &OwnedFd, name: &Path) -> io::Result<Self> {
        let stat = rustix::fs::fstat(dir)?;
        let key = (stat.st_dev, stat.st_ino, name.as_os_str().to_owned());
        let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = FREED
            .wait_while(held, |held| held.contains(&key))
            .unwrap_or_else(PoisonError::into_inner);
        held.insert(key.clone());
        Ok(Self(key))
    }
}

impl Drop for HeldName {
    fn drop(&mut self) {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.remove(&self.0);
        FREED.notify_all();
    }
}
