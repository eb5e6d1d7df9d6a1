//! The log of a session: reading it, finding records in it, appending to it.
//!
//! A kernel lock ensures one writer per log. This module does not interpret records.

mod batch_read;
mod file;
mod index;
mod open;
mod renew;
mod scan;

pub use batch_read::{BatchRead, ReadFrom};
pub use file::{AppendError, KernelSyncer, LogFile, Syncer};
pub use index::{ByteLocation, LogIndex, MessageRole};
pub use open::{OpenError, OpenedLog, TornTailRepair};
pub use renew::{DiskFailure, RenewError, RenewOutcome, renew};
pub use scan::{LogPosition, LogScan, first, has_line, read, tail};

#[cfg(any(test, fuzzing))]
pub(crate) use scan::scan;

/// The name of the log in its session's directory.
pub const LOG_NAME: &str = "log.jsonl";

#[cfg(test)]
mod tests;
