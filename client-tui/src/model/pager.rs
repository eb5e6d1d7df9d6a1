//! Something to read on the whole screen: the transcript, help, changes.

/// What is read, and where.
#[derive(Debug)]
pub struct Pager {
    pub what: Reading,
}

/// What is read.
#[derive(Debug)]
pub enum Reading {
    /// The transcript, each part to be opened.
    Transcript,
    /// Keys and commands.
    Help,
    /// Lines that were made before.
    Lines { title: String, lines: Vec<String> },
    /// Unified diffs, one a file.
    Diff {
        title: String,
        diffs: Vec<(String, String)>,
    },
}
