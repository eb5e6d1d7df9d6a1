//! The log of a session: reading it, finding records in it, appending to it.
//!
//! One writer a log, held by the kernel's lock. What records mean is not known here.

mod file;
mod gather;
mod index;
mod renew;
mod scan;

pub use file::{AppendError, Kernel, LogFile, OpenError, Opened, Repair, Syncer};
pub use gather::Gathered;
pub use index::{Index, Tag, Where};
pub use renew::{RenewError, Renewed, Trouble, renew};
pub use scan::{Scan, Tail, first, read, tail};

#[cfg(any(test, fuzzing))]
pub(crate) use scan::scan;

/// The name of the log in its session's directory.
pub const LOG_NAME: &str = "log.jsonl";

#[cfg(test)]
mod tests;
