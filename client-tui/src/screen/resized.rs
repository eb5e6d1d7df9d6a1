//! Positions on the screen after a change of size or look, and the moves to where redrawing begins.

use std::io::Write;

use super::drawn::{Cursor, vertical};
use super::paint::Row;
use super::{Doubt, Screen};

/// Rows of the screen above the viewport: between these two, as it is not known where the shell left off.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowsAbove {
    least: usize,
    most: usize,
    /// Blank rows below the viewport, at most.
    blank: usize,
}

impl RowsAbove {
    /// Of a screen that nothing was drawn on.
    pub(super) fn unknown(rows: usize) -> Self {
        Self {
            least: 0,
            most: rows,
            blank: rows,
        }
    }

    /// Rows above the viewport that are redrawn as part of it.
    fn drawn_over(&mut self, rows: usize) {
        self.least = self.least.saturating_sub(rows);
        self.most = self.most.saturating_sub(rows);
    }

    /// `rows` more rows were printed, and there is space for `room`.
    pub(super) fn printed(&mut self, rows: usize, room: usize) {
        self.least = (self.least + rows).min(room);
        self.most = (self.most + rows).min(room);
        self.blank = room - self.least;
    }

    /// The screen has another height, and place for `room`. One that got higher may show the end of its scrollback again.
    pub(super) fn resized(&mut self, before: usize, now: usize, room: usize) {
        self.least = self.least.min(room);
        self.blank = self.blank.saturating_sub(before.saturating_sub(now));
        self.most = (self.most + now.saturating_sub(before)).min(room);
    }
}

impl<W: Write> Screen<W> {
    /// Rows of the screen that are above the inline viewport for certain.
    pub fn above(&self) -> usize {
        self.above.least
    }

    /// Moves up to where the viewport begins, or the visible transcript above it; everything below is redrawn.
    pub(super) fn settle_doubt(&mut self, transcript: bool, bytes: &mut String) {
        let doubt = self.doubt;
        if doubt == Doubt::None {
            return;
        }
        let row = self.inline.cursor.unwrap_or_default().row;
        let (up, overwritten) = match (doubt, transcript) {
            (Doubt::None | Doubt::Height, _) => (row, 0),
            (_, true) => (self.up(self.visible()), self.overwritten()),
            (_, false) => (self.up(0), 0),
        };
        self.doubt = Doubt::None;
        self.above.drawn_over(overwritten);
        if doubt == Doubt::All {
            self.above = RowsAbove::default();
        } else if self.reflows && transcript {
            // The number of rows above those is unknown; they are the terminal's.
            self.above.least = 0;
        }
        if doubt == Doubt::All {
            bytes.push_str("\x1b[H");
        } else {
            vertical(up.min(self.rows - 1), 0, bytes);
        }
        let left = self.printed.len().saturating_sub(overwritten);
        self.printed.truncate(left);
        self.inline.rows.clear();
        self.inline.doubtful = true;
        if let Some(cursor) = &mut self.inline.cursor {
            (cursor.row, cursor.column) = (0, 0);
        }
    }

    /// Rows from the cursor up to the first of so many printed lines, as in a terminal that breaks rows at the new edge. In
    /// one that cuts them they are fewer.
    fn up(&self, lines: usize) -> usize {
        let Cursor { row, column, .. } = self.inline.cursor.unwrap_or_default();
        let above = self.inline.rows.iter().take(row);
        let above: usize = above.map(|row| height(row.cells, self.columns)).sum();
        above + column / self.columns + self.wrapped(lines)
    }

    /// Printed lines that are overwritten when the visible ones are redrawn. There may be more if the terminal has
    /// truncated its rows.
    pub(super) fn overwritten(&self) -> usize {
        let visible = self.visible();
        if self.doubt == Doubt::All {
            // A window that became higher while covered may show the end of its scrollback again.
            let grown = self.rows.saturating_sub(self.rows_before);
            return (visible + grown).min(self.printed.len());
        }
        if self.reflows {
            return visible;
        }
        let row = self.inline.cursor.unwrap_or_default().row;
        let up = self.up(visible).min(self.rows - 1);
        let most = self.printed.len().min(self.above.most);
        up.saturating_sub(row).max(visible).min(most)
    }

    /// Printed lines that are whole on the screen.
    fn visible(&self) -> usize {
        let most = self.printed.len().min(self.above.least);
        if !self.reflows {
            return most;
        }
        // Blank rows below the viewport stay, as in tmux, where others are pushed out above.
        let mut taken = self.above.blank;
        let broken = |row: &Row| height(row.cells, self.columns);
        taken += self.inline.rows.iter().map(broken).sum::<usize>();
        let newest = self.printed.iter().rev().take(most);
        let fits = newest.take_while(|row| {
            taken += height(row.cells, self.columns);
            taken <= self.rows
        });
        fits.count()
    }

    /// Rows that the newest `lines` printed lines take when broken at the edge.
    fn wrapped(&self, lines: usize) -> usize {
        let newest = self.printed.iter().rev().take(lines);
        newest.map(|row| height(row.cells, self.columns)).sum()
    }
}

/// Rows that a line takes when broken at the edge.
fn height(cells: usize, columns: usize) -> usize {
    cells.div_ceil(columns).max(1)
}
