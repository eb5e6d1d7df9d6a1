//! Assigns pids, each once in the lifetime of a home.
//!
//! The file `pid.next` is written and synced before the first pid of a block is used. So a crash
//! may skip numbers but never repeats one. Called when a session is created.

use std::io;
use std::sync::{Mutex, PoisonError};

use proto::Pid;
use serde::Deserialize;

use crate::disk::{DiskError, IoContext, replace};
use crate::home::Home;
use crate::log;

/// How many pids one sync reserves.
const BLOCK: u64 = 16;

/// A larger pid would not fit the catalog. A file with one is corrupt.
const PID_MAX: u64 = i64::MAX as u64 - BLOCK;

/// The pid counter of a home. There must be only one: its owner holds the home lock.
#[derive(Debug)]
pub struct PidCounter {
    home: Home,
    block: Mutex<Block>,
    rebuilt: bool,
}

/// Pids from `next` to below `limit` are free. The file says `limit`.
#[derive(Debug)]
struct Block {
    next: u64,
    limit: u64,
}

impl PidCounter {
    /// Reads the counter. If it is missing or corrupt, starts above every pid in the first records
    /// of all sessions.
    ///
    /// # Errors
    /// The disk cannot be read.
    pub fn open(home: &Home) -> Result<Self, DiskError> {
        let path = home.pid_next();
        let found = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
            text => parse(&text.at("read", &path)?),
        };
        let next = match found {
            Some(next) => next,
            None => above_all(home)?,
        };
        Ok(Self {
            home: home.clone(),
            block: Mutex::new(Block { next, limit: next }),
            rebuilt: found.is_none() && next > 1,
        })
    }

    /// Whether the counter was rebuilt from the sessions.
    #[must_use]
    pub fn rebuilt(&self) -> bool {
        self.rebuilt
    }

    /// Excludes `pid` and everything below it from now on. For pids in the catalog and the usage
    /// ledger.
    pub fn raise_above(&self, pid: Pid) {
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        // If this leaves the reserved block, the next pid reserves a new one.
        block.next = block.next.max(pid.0.min(PID_MAX) + 1);
    }

    /// Returns a pid that was never used.
    ///
    /// # Errors
    /// The counter cannot be written. No pid was assigned.
    pub fn next(&self) -> Result<Pid, DiskError> {
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        if block.next >= block.limit {
            let limit = block.next + BLOCK;
            self.write(limit)?;
            block.limit = limit;
        }
        let pid = Pid(block.next);
        block.next += 1;
        Ok(pid)
    }

    /// Returns the unused rest of the block, so that the next daemon continues with the next
    /// number. A later `next` reserves another block.
    ///
    /// # Errors
    /// The counter cannot be written. The rest of the block is then skipped.
    pub fn put_back(&self) -> Result<(), DiskError> {
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        if block.next < block.limit {
            // Set before the write succeeds: pids assigned from now on are above it.
            block.limit = block.next;
            self.write(block.next)?;
        }
        Ok(())
    }

    fn write(&self, next: u64) -> Result<(), DiskError> {
        let path = self.home.pid_next();
        let temporary = path.with_added_extension("tmp");
        replace(&path, &temporary, format!("{next}\n").as_bytes())
    }
}

/// Parses the content of `pid.next`. Anything but a plain number is corrupt.
fn parse(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('\n')?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let next = digits.parse().ok().filter(|_| plain)?;
    (1..=PID_MAX).contains(&next).then_some(next)
}

#[derive(Deserialize)]
struct Created {
    pid: Pid,
}

/// A number above every pid in the logs. Adds a whole block, because other pids of the last block
/// may belong to sessions that left no trace.
fn above_all(home: &Home) -> Result<u64, DiskError> {
    let mut highest = 0;
    for session in home.session_ids()? {
        let dir = home.session_dir(session);
        let pid = log::first(&dir, |record| {
            let created: Option<Created> = serde_json::from_str(record.data.get()).ok();
            created.filter(|_| record.kind == "session.created")
        });
        match pid {
            Ok(Some(Some(created))) if created.pid.0 <= PID_MAX => {
                highest = highest.max(created.pid.0 + BLOCK - 1);
            }
            Ok(_) => tracing::warn!(%session, "the log's first record has no pid"),
            Err(error) => tracing::warn!(%session, %error, "the log's first record is unreadable"),
        }
    }
    Ok(highest + 1)
}

#[cfg(test)]
mod tests;
