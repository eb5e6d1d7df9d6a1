//! The text as rows of a width, and the row and column of an offset.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::chips::{self, Chips};
use super::text::{Class, class};
use crate::render::wrap;

/// The text laid out.
#[derive(Debug)]
pub struct Rows<'a> {
    text: &'a str,
    chips: &'a Chips,
    width: usize,
    /// Offsets of each row, without the line feed that ends it. Never empty.
    rows: Vec<Range<usize>>,
}

impl<'a> Rows<'a> {
    /// Breaks the text into rows of at most `width` cells: at blanks if that leaves something, else anywhere between
    /// clusters.
    #[must_use]
    pub fn new(text: &'a str, chips: &'a Chips, width: usize) -> Self {
        let mut out = Self {
            text,
            chips,
            width: width.max(1),
            rows: Vec::new(),
        };
        let mut start = 0;
        for line in text.split('\n') {
            out.line(start, line);
            start += line.len() + 1;
        }
        out
    }

    fn line(&mut self, start: usize, line: &str) {
        let (mut from, mut used) = (start, 0);
        // Where the row could end, and how much of the row that leaves to the next one.
        let mut blank: Option<(usize, usize)> = None;
        for (at, cluster) in line.grapheme_indices(true) {
            let (at, cells) = (start + at, self.cells(cluster));
            let kind = class(cluster);
            if used + cells > self.width && at > from {
                let broken = blank
                    .filter(|_| matches!(kind, Class::Word | Class::Mark))
                    .filter(|(_, left)| left + cells <= self.width);
                let (end, left) = broken.unwrap_or((at, 0));
                self.rows.push(from..end);
                (from, used, blank) = (end, left, None);
            }
            used += cells;
            match (kind, blank) {
                (Class::Word | Class::Mark, Some((_, left))) => {
                    blank = blank.map(|(end, _)| (end, left + cells));
                }
                (Class::Word | Class::Mark, None) => {}
                (Class::Blank | Class::Wide | Class::Chip, _) => {
                    blank = Some((at + cluster.len(), 0));
                }
            }
        }
        self.rows.push(from..start + line.len());
    }

    /// How many rows there are: at least one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// How a cluster is drawn.
    fn drawn<'b>(&self, cluster: &'b str) -> Cow<'b, str> {
        let whole = match cluster {
            "\t" => " ".repeat(wrap::TAB),
            cluster if cluster.chars().any(chips::is_chip) => self.chips.shown(cluster),
            cluster => return Cow::Borrowed(cluster),
        };
        // One thing is on one row, however narrow that is.
        let (mut out, mut used) = (String::new(), 0);
        for part in whole.graphemes(true) {
            used += wrap::width(part);
            if used > self.width {
                break;
            }
            out.push_str(part);
        }
        Cow::Owned(out)
    }

    fn cells(&self, cluster: &str) -> usize {
        let drawn = self.drawn(cluster);
        drawn.graphemes(true).map(wrap::width).sum()
    }

    /// The row of an offset, and the cells before it there. An offset at a row break is in the lower row.
    #[must_use]
    pub fn place(&self, at: usize) -> (usize, usize) {
        let row = self.rows.partition_point(|row| row.start <= at);
        let row = row.saturating_sub(1);
        let start = self.rows.get(row).map_or(0, |row| row.start);
        let before = self.text.get(start..at).unwrap_or_default();
        let cells = before.graphemes(true).map(|it| self.cells(it)).sum();
        (row, cells)
    }

    /// The offset in a row that is nearest to a column from the left.
    #[must_use]
    pub fn offset(&self, row: usize, column: usize) -> usize {
        let Some(range) = self.rows.get(row) else {
            return self.text.len();
        };
        let broken = self
            .rows
            .get(row + 1)
            .is_some_and(|next| next.start == range.end);
        let (mut used, mut at) = (0, range.start);
        for (offset, cluster) in self.row_text(row).grapheme_indices(true) {
            at = range.start + offset;
            used += self.cells(cluster);
            if used > column {
                return at;
            }
        }
        match broken {
            true => at,
            false => range.end,
        }
    }

    fn row_text(&self, row: usize) -> &'a str {
        let range = self.rows.get(row).cloned();
        range
            .and_then(|range| self.text.get(range))
            .unwrap_or_default()
    }

    /// The pieces of a row, and whether each is a chip.
    #[must_use]
    pub fn pieces(&self, row: usize) -> Vec<(String, bool)> {
        let mut out: Vec<(String, bool)> = Vec::new();
        for cluster in self.row_text(row).graphemes(true) {
            let chip = class(cluster) == Class::Chip;
            let drawn = self.drawn(cluster);
            match out.last_mut().filter(|last| last.1 == chip) {
                Some(last) => last.0.push_str(&drawn),
                None => out.push((drawn.into_owned(), chip)),
            }
        }
        out
    }
}

/// Cells of the mark before the text.
pub const MARK: usize = 2;

/// Cells for the text on a screen with this many columns: after the mark, and with one left for the caret at the end
/// of a full row.
#[must_use]
pub fn width(columns: usize) -> usize {
    columns.saturating_sub(MARK + 1).max(1)
}
