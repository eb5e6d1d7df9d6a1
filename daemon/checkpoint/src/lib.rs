//! What files were before a session changes them, and putting them back. Knows no turns: a rewind names records of the
//! log, and this crate reads there what happened to files, and restores them.
//!
//! Blocks. Called by `session`, on threads that may block.

mod content;
mod cut_off;
mod files;
mod keeper;
mod past;
mod restore;
mod shadow;
mod trees;

pub use cut_off::{Broken, PlannedRewind};
pub use files::PathSnapshots;
pub use keeper::{Checkpoint, Keeper, Watched};
pub use past::{Past, of_undo, read, rewound_at};
pub use restore::{Restore, RestoreOptions};
pub use shadow::{Entry, Kind};
