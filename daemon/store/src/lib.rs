//! What stands on disk under `<home>`: logs and what lies beside them, and the catalog that is made from them.
//!
//! Blocking code without an async runtime; the daemon calls it from threads that may block. The format
//! of logs is that of `docs/log-format.md`. Knows records only as far as their envelope.

pub mod format;
pub mod log;

pub mod aside;
pub mod blob;
pub mod books;
pub mod catalog;
pub mod gone;
pub mod home;
pub mod lock;
pub mod markers;
pub mod pids;

mod disk;

#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use disk::{Fault, reason};
