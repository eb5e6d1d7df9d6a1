//! Whether the home that was locked is still the one at its path.
//!
//! A home can be deleted, moved, or put back from a backup while its daemon runs: then the daemon's lock, logs and
//! counters have no names any more, or are another's. It must not write a second history beside the one that came.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The lock file as it was when it was taken.
#[derive(Clone, Debug)]
pub struct Hold {
    path: PathBuf,
    file: (u64, u64),
}

impl Hold {
    /// Remembers the lock file. Called when the lock has just been taken.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_path_buf(),
            file: identity(path)?,
        })
    }

    /// Whether it is gone, or another stands in its place. What cannot be looked at just now is not gone.
    pub fn is_lost(&self) -> bool {
        match identity(&self.path) {
            Ok(there) => there != self.file,
            Err(error) => matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ),
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let meta = fs::symlink_metadata(path)?;
    Ok((meta.dev(), meta.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_that_was_moved_deleted_or_replaced_is_lost() {
        let dir = tempfile::tempdir().expect("a directory");
        let (home, away) = (dir.path().join("home"), dir.path().join("away"));
        let lock = home.join("lock");
        fs::create_dir(&home).expect("a home");
        fs::write(&lock, "pid 1").expect("a lock");
        let hold = Hold::of(&lock).expect("its identity");
        assert!(!hold.is_lost());
        fs::write(&lock, "pid 2").expect("other words in the same file");
        assert!(!hold.is_lost());

        fs::rename(&home, &away).expect("move it");
        assert!(hold.is_lost(), "nothing stands there");
        fs::create_dir(&home).expect("another home");
        fs::write(&lock, "pid 1").expect("its lock");
        assert!(hold.is_lost(), "another one stands there");
        fs::remove_dir_all(&home).expect("remove that");
        fs::rename(&away, &home).expect("move it back");
        assert!(!hold.is_lost(), "the same one again");
        fs::remove_dir_all(&home).expect("remove it");
        fs::write(&home, "a file").expect("a file in its place");
        assert!(hold.is_lost());
    }
}
