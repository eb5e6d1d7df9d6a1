//! Saves files before a session changes them, and restores them. Knows no turns: a rewind names records of the log, and
//! this crate reads the changes of files from them and reverts these.
//!
//! Blocks. `session` calls it on threads that may block.

mod alternates;
mod content;
mod cut_off;
mod files;
mod keeper;
mod past;
mod restore;
mod shadow;
mod trees;

pub use alternates::are_readable as objects_are_readable;
pub use cut_off::{InterruptedRewinds, PlannedRewind};
pub use files::PathSnapshots;
pub use keeper::{Checkpoint, Keeper, Watched};
pub use past::{FileHistory, read, read_rewind, rewound_at};
pub use restore::{Restore, RestoreOptions};
pub use shadow::{Entry, Kind};
