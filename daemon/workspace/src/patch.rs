//! Patches over several files: read from text, and applied to a file's bytes.
//!
//! Pure, and total: whatever the text, there is a result or an error. Takes unified diffs (`git diff`, `diff -u`) and
//! the envelope `*** Begin Patch`. Line numbers and counts of hunks are hints; what a hunk's old lines say must be in
//! the file. Called by `tools`.

mod apply;
mod head;
mod parse;

pub use apply::{Applied, HunkError, apply};
pub use parse::{PatchError, parse};

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The path before; `None`: it is made new.
    pub old: Option<String>,
    /// The path after; `None`: it is deleted. Another than `old`: it is renamed.
    pub new: Option<String>,
    pub hunks: Vec<Hunk>,
    /// Delete the file whatever is in it: the envelope's deletions show no lines.
    pub whole: bool,
    /// It would change the file's mode, which is not done.
    pub mode: bool,
}

impl FilePatch {
    /// The path by which people know the file: the new one, where there is one.
    #[must_use]
    pub fn name(&self) -> &str {
        self.new.as_deref().or(self.old.as_deref()).unwrap_or("")
    }
}

/// Lines that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The first line in the old file, from 1; for a hunk without old lines, the line before. `None`: not told.
    pub start: Option<u64>,
    /// A line that stands somewhere before (envelope): from there on the place is looked for.
    pub anchor: Option<String>,
    /// It is at the end of the file (envelope).
    pub at_end: bool,
    pub lines: Vec<HunkLine>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    pub kind: LineKind,
    /// Without its end.
    pub text: String,
    /// The file ends behind it, without a line feed.
    pub unended: bool,
}

/// What a hunk does with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Context,
    Deleted,
    Added,
}

#[cfg(test)]
mod tests;
