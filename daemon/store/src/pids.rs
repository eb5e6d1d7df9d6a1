//! Hands out pids, each once in the life of a home.
//!
//! `pid.next` is the ground truth: it is written and synced before the first pid of a block is used,
//! so that a crash may skip numbers but never repeats one. Called when a session is created.

use std::io;
use std::sync::{Mutex, PoisonError};

use proto::Pid;
use serde::Deserialize;

use crate::disk::{At, Fault, replace};
use crate::home::Home;
use crate::log;

/// So many pids are taken with one sync.
const BLOCK: u64 = 16;

/// Above this a pid would not fit the catalog; a file that says so is corrupt.
const PID_MAX: u64 = i64::MAX as u64 - BLOCK;

/// The counter of a home. There must be one alone: whoever has it holds the home's lock.
#[derive(Debug)]
pub struct Pids {
    home: Home,
    block: Mutex<Block>,
    rebuilt: bool,
}

/// Pids from `next` to below `limit` are ours to hand out; the file says `limit`.
#[derive(Debug)]
struct Block {
    next: u64,
    limit: u64,
}

impl Pids {
    /// Reads the counter. Where it is missing or corrupt, it starts above every pid that the first
    /// record of any session has.
    ///
    /// # Errors
    /// The disk cannot be read.
    pub fn open(home: &Home) -> Result<Self, Fault> {
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

    /// Whether the counter had to be made again from the sessions.
    #[must_use]
    pub fn rebuilt(&self) -> bool {
        self.rebuilt
    }

    /// From now on hands out neither `pid` nor one below it. For what others know of pids: the catalog, the books.
    pub fn raise_above(&self, pid: Pid) {
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        // Where this leaves the block that was taken, the next pid takes a new one.
        block.next = block.next.max(pid.0.min(PID_MAX) + 1);
    }

    /// A pid that was never handed out.
    ///
    /// # Errors
    /// The counter cannot be written; nothing was handed out.
    pub fn next(&self) -> Result<Pid, Fault> {
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

    /// Puts back what is left of the block: the next life goes on with the next number. Where one more is wanted after
    /// all, it takes another block.
    ///
    /// # Errors
    /// The counter cannot be written; the numbers that are left are skipped then.
    pub fn put_back(&self) -> Result<(), Fault> {
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        if block.next < block.limit {
            // Before it is known to be written: what is handed out from here on stands above it.
            block.limit = block.next;
            self.write(block.next)?;
        }
        Ok(())
    }

    fn write(&self, next: u64) -> Result<(), Fault> {
        let path = self.home.pid_next();
        let temporary = path.with_added_extension("tmp");
        replace(&path, &temporary, format!("{next}\n").as_bytes())
    }
}

/// The number in `pid.next`. Anything but a plain number is corrupt.
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

/// A number above every pid in the logs. A whole block above, because the rest of the highest one's
/// block may have been handed out to sessions that left nothing behind.
fn above_all(home: &Home) -> Result<u64, Fault> {
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
