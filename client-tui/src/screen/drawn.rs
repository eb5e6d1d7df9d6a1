//! A viewport on the screen: writes only the rows that differ, with moves relative to the cursor.

use std::fmt::Write as _;

use super::paint::{Depth, Row};
use crate::view::Panel;

/// The viewport as it was last drawn.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) rows: Vec<Row>,
    /// Where the cursor is in it, and whether it is shown: `None` before the first frame.
    pub(super) cursor: Option<Cursor>,
    /// From its first row on the screen may show anything.
    pub(super) doubtful: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) shown: bool,
}

/// Moves between rows that are there.
pub(super) fn vertical(from: usize, to: usize, bytes: &mut String) {
    let _ = match from.abs_diff(to) {
        0 => Ok(()),
        1 if to < from => bytes.write_str("\x1b[A"),
        1 => bytes.write_str("\x1b[B"),
        by if to < from => write!(bytes, "\x1b[{by}A"),
        by => write!(bytes, "\x1b[{by}B"),
    };
}

/// Writes the changed rows of the viewport, and `lines` above it. Old and new rows are compared at their places on
/// the screen: a live line that settles in place is not written again.
pub(super) fn draw_panel(
    drawn: &mut Drawn,
    lines: Vec<Row>,
    panel: &Panel,
    (columns, rows): (usize, usize),
    colours: Depth,
    bytes: &mut String,
) {
    let above = lines.len();
    let hidden = panel.rows.len().saturating_sub(rows);
    let mut new = lines;
    new.extend((panel.rows.iter().skip(hidden)).map(|line| Row::of(line, columns, colours)));
    if new.len() == above {
        new.push(Row::default());
    }
    let wanted = panel.cursor.and_then(|(row, column)| {
        let row = usize::from(row).checked_sub(hidden)?;
        (above + row < new.len()).then(|| Cursor {
            row: above + row,
            column: usize::from(column).min(columns - 1),
            shown: true,
        })
    });
    let wanted = wanted.unwrap_or(Cursor {
        row: new.len() - 1,
        column: 0,
        shown: false,
    });
    drawn.doubtful |= drawn.cursor.is_none();
    if above == 0 && !drawn.doubtful && drawn.cursor == Some(wanted) && drawn.rows == new {
        return;
    }
    if drawn.cursor.is_none_or(|cursor| cursor.shown) {
        bytes.push_str("\x1b[?25l");
    }
    let at = write_rows(drawn, &new, bytes);
    vertical(at, wanted.row, bytes);
    bytes.push('\r');
    if wanted.column > 0 {
        let _ = write!(bytes, "\x1b[{}C", wanted.column);
    }
    if wanted.shown {
        bytes.push_str("\x1b[?25h");
    }
    new.drain(..above);
    drawn.rows = new;
    drawn.doubtful = false;
    drawn.cursor = Some(Cursor {
        row: wanted.row - above,
        ..wanted
    });
}

/// Writes the rows that differ from the drawn ones. Returns the row in which the cursor is left.
fn write_rows(drawn: &Drawn, new: &[Row], bytes: &mut String) -> usize {
    let mut at = drawn.cursor.unwrap_or_default().row;
    // The cursor's own row is there even before anything is.
    let mut there = drawn.rows.len().max(1);
    for (index, row) in new.iter().enumerate() {
        if drawn.rows.get(index) == Some(row) {
            continue;
        }
        vertical(at, index.min(there - 1), bytes);
        bytes.push('\r');
        // Below the last row a line feed scrolls the terminal.
        for _ in there..=index {
            bytes.push('\n');
        }
        there = there.max(index + 1);
        at = index;
        if drawn.doubtful && index + 1 == new.len() {
            // Erase last, not first: tmux and others keep rows in their scrollback that are erased from the first row
            // on.
            bytes.push_str("\x1b[J");
        } else if drawn.doubtful || drawn.rows.get(index).is_some_and(|old| outlasts(old, row)) {
            // Before the text: after a row up to the edge its last cell would go too. And tmux remembers a row as long as
            // it once was, unless all of it is erased.
            bytes.push_str("\x1b[K");
        }
        bytes.push_str(&row.bytes);
    }
    if there > new.len() {
        vertical(at, new.len(), bytes);
        bytes.push_str("\r\x1b[J");
        at = new.len();
    }
    at
}

/// Whether a rest of the old row would be visible after the new one. Terminals do not agree on the widths of
/// everything beyond ASCII.
fn outlasts(old: &Row, new: &Row) -> bool {
    old.cells > new.cells || !old.bytes.is_ascii()
}
