//! Patches over several files: parses their text and applies them to file contents.
//!
//! Pure and total: any text yields a result or an error. Accepts unified diffs (`git diff`, `diff
//! -u`) and the envelope `*** Begin Patch`. Line numbers and counts of hunks are hints. The old
//! lines of a hunk must be in the file. `tools` calls this.

mod apply;
mod head;
mod parse;

pub use apply::{HunkError, PatchedContent, apply};
pub use parse::{PatchError, parse};

/// The changes of a patch to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The old path. `None`: the file is created.
    pub old: Option<String>,
    /// The new path. `None`: the file is deleted. If it differs from `old`, the file is renamed.
    pub new: Option<String>,
    pub hunks: Vec<Hunk>,
    /// Delete the file whatever its content: deletions in the envelope show no lines.
    pub whole: bool,
    /// The patch would change the file's mode, which is not supported.
    pub mode: bool,
}

impl FilePatch {
    /// The path to show to users: the new one, if there is one.
    #[must_use]
    pub fn name(&self) -> &str {
        self.new.as_deref().or(self.old.as_deref()).unwrap_or("")
    }
}

/// A group of adjacent lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The first line in the old file, from 1. For a hunk without old lines, the line before.
    /// `None` if the patch gives none.
    pub start: Option<u64>,
    /// An earlier line of the file (envelope): the search starts there.
    pub anchor: Option<String>,
    /// The hunk is at the end of the file (envelope).
    pub at_end: bool,
    pub lines: Vec<HunkLine>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    pub kind: LineKind,
    /// Without its line end.
    pub text: String,
    /// The file ends after it, without a line feed.
    pub unended: bool,
}

/// The action of a hunk line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Context,
    Deleted,
    Added,
}

#[cfg(test)]
mod tests;
