//! The user's files: no other crate touches them.
//!
//! Knows paths, files, edits, diffs and searches, but not sessions, tools, policy or an async
//! runtime: every call blocks. Used by `tools`, and by code that must know where a path leads.

mod denied_paths;
mod deny_read;
mod diff;
mod edit;
mod file_check;
mod git_directories;
mod git_named;
mod glob;
mod handle;
mod held_name;
mod home;
mod ignore_rules;
mod list;
mod multi_write;
mod patch;
mod programs;
mod protected;
mod read;
mod repository;
mod resolve;
mod restore;
mod search;
mod small_file;
mod state;
mod transfer;
mod tree;
mod tree_walk;
mod unasked_reads;
mod window;
mod workspace;
mod worktree;
mod write;

#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use denied_paths::{DeniedAccess, DeniedPaths};
pub use diff::{FileDiff, unified};
pub use edit::{EditError, EditResult, SimilarPassage, replace};
pub use file_check::FileCheck;
pub use git_directories::GitDirectory;
pub use glob::{GLOB_FILES_MAX, GlobQuery, GlobResult};
pub use home::holds_home;
pub use list::{DirContents, DirListing, EntryKind, ListEntry};
pub use multi_write::{MultiWriteError, PlannedWrite};
pub use patch::{
    FilePatch, Hunk, HunkError, HunkLine, LineKind, PatchError, PatchedContent, apply, parse,
};
pub use programs::{FoundProgram, WritableDirs};
pub use protected::{guarded, is_protected};
pub use read::{FileContent, FileError, FileKind, FileStamp, FileStart, OpenFile, SIZE_MAX};
pub use repository::{GitDirs, has_work_tree, is_repository};
pub use resolve::{Access, PathError, ResolvedPath, names_directory};
pub use restore::RestoreTarget;
pub use search::{FileMatches, SearchError, SearchLine, SearchMode, SearchQuery, SearchResult};
pub use small_file::{SmallFile, read_small};
pub use state::{PathSnapshot, PathState};
pub use transfer::{COPIED_MAX, MOVED_MAX, MoveMethod};
pub use window::{LineWindow, WindowContent};
pub use workspace::{Workspace, WorkspaceOptions};
pub use worktree::{Survey, SurveyEntry, SurveyedRepository, TooManyFiles};
pub use write::{ExpectedFile, WriteStep};
