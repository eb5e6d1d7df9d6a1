//! The files in `<home>`: logs, their sidecars and blobs, and the catalog that is derived from
//! them.
//!
//! Blocking code without an async runtime: the daemon calls it from threads that may block.
//! `docs/log-format.md` specifies the log format. Of a record this crate knows only the envelope.

pub mod format;
pub mod log;

pub mod blob;
pub mod catalog;
pub mod fact_files;
pub mod home;
pub mod lock;
pub mod markers;
pub mod pids;
pub mod session_dirs;
pub mod sidecar;
pub mod usage_ledger;
pub mod worktrees;

mod disk;

#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use disk::{DiskError, is_full, reason};
