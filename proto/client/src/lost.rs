//! What became of a daemon whose connection was lost, as far as its home shows: whether a client that waits for it may
//! start it again. Called by `connect`, before each try that might.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;

use proto::Stamp;

use crate::paths::Paths;

/// A daemon that there was a connection to, and its home at that moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DaemonFacts {
    started_at: Stamp,
    /// Device and inode; `None` if they could not be read.
    home: Option<(u64, u64)>,
}

/// What may have become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossCause {
    /// Nobody asked it to stop.
    Crashed,
    /// It was stopped, or handed over: who wants it again starts it.
    Stopped,
    /// Its home is not there any more, or is another one.
    Homeless,
    /// The home does not show it.
    Unclear,
}

impl DaemonFacts {
    /// A daemon that has answered.
    pub(crate) fn new(paths: &Paths, started_at: Stamp) -> Self {
        Self {
            started_at,
            home: fs::metadata(&paths.home).ok().map(|meta| identity(&meta)),
        }
    }

    /// What became of it.
    pub(crate) fn fate(&self, paths: &Paths) -> LossCause {
        let now = match fs::metadata(&paths.home) {
            Ok(meta) => Some(identity(&meta)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return LossCause::Unclear,
        };
        match (self.home, now) {
            (None, _) => return LossCause::Unclear,
            (then, now) if then != now => return LossCause::Homeless,
            _ => {}
        }
        // Written before a stop is acknowledged, and never removed.
        match fs::metadata(paths.home.join("run").join("stop")) {
            Ok(meta) if modified_ms(&meta) >= self.started_at.0 => LossCause::Stopped,
            Ok(_) => LossCause::Crashed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => LossCause::Crashed,
            Err(_) => LossCause::Unclear,
        }
    }
}

fn identity(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

fn modified_ms(meta: &Metadata) -> i64 {
    meta.mtime()
        .saturating_mul(1000)
        .saturating_add(meta.mtime_nsec() / 1_000_000)
}

#[cfg(test)]
mod tests;
