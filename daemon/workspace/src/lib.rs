//! The user's files: the only crate that touches them.
//!
//! Knows paths, files, edits, diffs and searches; knows nothing of sessions, tools or policy, and of no runtime:
//! every call blocks. Used by `tools`, and by whoever must know where a path leads.

mod closed;
mod closing;
mod diff;
mod edit;
mod gitdirs;
mod glance;
mod glob;
mod handle;
mod list;
mod patch;
mod protected;
mod read;
mod repository;
mod resolve;
mod restore;
mod search;
mod state;
mod together;
mod transfer;
mod tree;
mod window;
mod workspace;
mod worktree;
mod write;

#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use closing::{Closes, Closing};
pub use diff::{Change, unified};
pub use edit::{EditError, Edited, Passage, replace};
pub use gitdirs::GitDirectory;
pub use glance::Glance;
pub use glob::{GLOBBED_MAX, GlobQuery, Globbed};
pub use list::{Inside, Leaf, Listing, What};
pub use patch::{
    Applied, FilePatch, Hunk, HunkError, HunkLine, LineKind, PatchError, apply, parse,
};
pub use protected::{guarded, is_protected};
pub use read::{Content, FileError, FileKind, OpenFile, SIZE_MAX, Stamp};
pub use repository::{GitDirs, is_repository};
pub use resolve::{Access, PathError, Resolved};
pub use restore::Wanted;
pub use search::{Entry, Found, Line, Mode, Query, SearchError};
pub use state::{Look, State};
pub use together::{Planned, TogetherError};
pub use transfer::{COPIED_MAX, MOVED_MAX, Moved};
pub use window::{Kept, Window};
pub use workspace::{Options, Workspace};
pub use worktree::{Mark, Repository, TooMany, Tree};
pub use write::{Expected, Step};
