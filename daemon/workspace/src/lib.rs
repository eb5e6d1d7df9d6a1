//! The user's files: the only crate that touches them.
//!
//! Knows paths, files, edits, diffs and searches; knows nothing of sessions, tools or policy, and of no runtime:
//! every call blocks. Used by `tools`, and by whoever must know where a path leads.

mod diff;
mod edit;
mod handle;
mod protected;
mod read;
mod resolve;
mod search;
mod window;
mod workspace;
mod write;

pub use diff::{Change, unified};
pub use edit::{EditError, Edited, Passage, replace};
pub use protected::is_protected;
pub use read::{Content, FileError, FileKind, OpenFile, SIZE_MAX, Stamp};
pub use resolve::{Access, PathError, Resolved};
pub use search::{Entry, Found, Line, Mode, Query, SearchError};
pub use window::{Kept, Window};
pub use workspace::{Options, Workspace};
pub use write::{Expected, Step};
