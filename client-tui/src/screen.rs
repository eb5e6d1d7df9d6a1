//! What is written to the terminal: rows that have changed, at the place where the cursor stands.
//!
//! Not on a screen that is ours but at the end of what was there before, as a shell's prompt: finished lines go into the
//! terminal's own scrollback and stay there, below them a viewport of as many rows as it needs is drawn again and again.
//! All moves are relative, so that nothing must be asked of the terminal. What covers everything is drawn on the
//! alternate screen, by the same code.

mod paint;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::text::Line;

pub use paint::Depth;
use paint::Row;

use crate::terminal::{KEYS_OFF, KEYS_ON};
use crate::view::Panel;

/// Printed lines that are remembered, by their cells: more than any screen has rows.
const REMEMBERED_MAX: usize = 1_000;

/// What was written, for measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames in which anything had changed.
    pub frames: u64,
    pub bytes: u64,
    pub writes: u64,
}

/// How much of what we believe to be on the screen can be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    #[default]
    None,
    /// Rows below the cursor may be gone.
    Height,
    /// Rows may be broken or cut at the new edge, those of the transcript too.
    Width,
    /// Anything may be anywhere.
    All,
}

/// A viewport as it stands on the screen.
#[derive(Debug, Default)]
struct Drawn {
    rows: Vec<Row>,
    /// Where the cursor is in it, and whether it is shown: `None` before the first frame.
    cursor: Option<Cursor>,
    /// From its first row on the screen may show anything.
    doubtful: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cursor {
    row: usize,
    column: usize,
    shown: bool,
}

/// Writes frames to a terminal.
#[derive(Debug)]
pub struct Screen<W: Write> {
    out: W,
    columns: usize,
    rows: usize,
    /// How many colours the terminal has.
    pub colours: Depth,
    /// The terminal is known to break rows at the new edge when it gets narrower. Where it is not known, lines that such
    /// a terminal pushes into its scrollback are printed once more rather than that one that cuts rows loses them.
    pub reflows: bool,
    inline: Drawn,
    /// What is on the alternate screen while that is shown.
    cover: Option<Drawn>,
    cover_wanted: bool,
    doubt: Doubt,
    /// Rows of the screen when the inline viewport was drawn last.
    rows_before: usize,
    /// Cells of the lines above the viewport, the newest last.
    printed: VecDeque<usize>,
    /// Lines that came while the screen was covered.
    kept: Vec<Line<'static>>,
    /// Whether the alternate screen is shown, for who restores the terminal after a panic.
    covered: Arc<AtomicBool>,
    counts: Counts,
}

impl<W: Write> Screen<W> {
    /// A screen of this size. The cursor stands where the first row is to be.
    pub fn new(out: W, columns: u16, rows: u16) -> Self {
        Self {
            out,
            columns: usize::from(columns.max(1)),
            rows: usize::from(rows.max(1)),
            colours: Depth::True,
            reflows: false,
            inline: Drawn::default(),
            cover: None,
            cover_wanted: false,
            doubt: Doubt::None,
            rows_before: usize::from(rows.max(1)),
            printed: VecDeque::new(),
            kept: Vec::new(),
            covered: Arc::new(AtomicBool::new(false)),
            counts: Counts::default(),
        }
    }

    /// Tells here from now on whether the alternate screen is shown.
    pub fn share(&mut self, covered: Arc<AtomicBool>) {
        covered.store(self.cover.is_some(), Ordering::Relaxed);
        self.covered = covered;
    }

    /// One frame: `above` goes into the scrollback for good, the panel is what stands below it.
    ///
    /// While the screen is covered the lines are kept, and printed when it is not any more.
    ///
    /// # Errors
    ///
    /// The terminal cannot be written to; it is gone as a rule.
    pub fn draw(&mut self, above: &[Line<'static>], panel: &Panel) -> io::Result<()> {
        let mut bytes = String::new();
        self.switch(&mut bytes);
        if self.cover.is_some() {
            self.kept.extend_from_slice(above);
            self.draw_cover(panel, &mut bytes);
        } else {
            let mut lines = std::mem::take(&mut self.kept);
            lines.extend_from_slice(above);
            self.settle_doubt(false, &mut bytes);
            self.draw_inline(&lines, panel, &mut bytes);
        }
        self.flush(bytes)
    }

    /// Whether something covers everything from the next frame on: the alternate screen is shown.
    pub fn cover(&mut self, on: bool) {
        self.cover_wanted = on;
    }

    /// The terminal has another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let (columns, rows) = (usize::from(columns.max(1)), usize::from(rows.max(1)));
        if (columns, rows) == (self.columns, self.rows) {
            // It may have had another one in between, and have cut what stood there.
            self.forget_cover();
            return;
        }
        // Terminals do not agree on what becomes of the hidden screen, nor of the place that its cursor returns to.
        let doubt = match (&self.cover, columns == self.columns) {
            (Some(_), _) => Doubt::All,
            (None, true) => Doubt::Height,
            (None, false) => Doubt::Width,
        };
        self.doubt = self.doubt.max(doubt);
        (self.columns, self.rows) = (columns, rows);
        self.forget_cover();
    }

    /// Something else wrote to the terminal: the next frame, a [`reprint`](Self::reprint), draws the whole screen anew.
    pub fn redraw(&mut self) {
        self.doubt = Doubt::All;
        self.forget_cover();
    }

    /// Whether what stands of the transcript on the screen may be broken: the next frame is to be a
    /// [`reprint`](Self::reprint).
    #[must_use]
    pub fn stale(&self) -> bool {
        !self.cover_wanted && self.doubt >= Doubt::Width
    }

    /// How many rows of transcript a [`reprint`](Self::reprint) has use for.
    #[must_use]
    pub fn wanted(&self) -> usize {
        if self.cover_wanted {
            return 0;
        }
        let kept = self.kept_rows();
        match self.doubt {
            Doubt::All => self.rows.max(kept),
            _ => kept + self.wrapped(self.overwritten()),
        }
    }

    /// Erases what is on the screen of the transcript and prints it again: the last [`wanted`](Self::wanted) of these
    /// rows, with which that ends which [`draw`](Self::draw) was given so far; then the panel. Lines that are new come
    /// with the next `draw`.
    ///
    /// # Errors
    ///
    /// The terminal cannot be written to.
    pub fn reprint(&mut self, last: &[Line<'static>], panel: &Panel) -> io::Result<()> {
        let mut bytes = String::new();
        self.switch(&mut bytes);
        if self.cover.is_some() {
            self.doubt = self.doubt.max(Doubt::Width);
            self.draw_cover(panel, &mut bytes);
            return self.flush(bytes);
        }
        let room = self.rows.saturating_sub(panel.rows.len());
        let wanted = match self.doubt {
            Doubt::All => room.max(self.kept_rows()),
            _ => self.wanted(),
        };
        self.kept.clear();
        self.doubt = self.doubt.max(Doubt::Width);
        self.settle_doubt(true, &mut bytes);
        let from = last.len().saturating_sub(wanted);
        self.draw_inline(last.get(from..).unwrap_or_default(), panel, &mut bytes);
        self.flush(bytes)
    }

    /// Gives the terminal back: the viewport is erased, the cursor stands on a fresh line below the transcript. A frame
    /// after that begins anew from where the cursor stands then.
    ///
    /// # Errors
    ///
    /// The terminal cannot be written to.
    pub fn leave(&mut self) -> io::Result<()> {
        let mut bytes = String::new();
        let cover_wanted = std::mem::take(&mut self.cover_wanted);
        self.switch(&mut bytes);
        self.settle_doubt(false, &mut bytes);
        let lines = std::mem::take(&mut self.kept);
        self.draw_inline(&lines, &Panel::default(), &mut bytes);
        bytes.push_str("\r\x1b[?25h");
        self.inline = Drawn::default();
        self.printed.clear();
        self.cover_wanted = cover_wanted;
        self.flush(bytes)
    }

    /// What was written so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The writer.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    fn forget_cover(&mut self) {
        if let Some(cover) = &mut self.cover {
            *cover = Drawn::default();
        }
    }

    /// Enters or leaves the alternate screen. It has keyboard flags of its own.
    fn switch(&mut self, bytes: &mut String) {
        match (self.cover_wanted, self.cover.is_some()) {
            (true, false) => {
                if self.doubt > Doubt::None {
                    self.doubt = Doubt::All;
                }
                bytes.push_str("\x1b[?1049h");
                bytes.push_str(KEYS_ON);
                self.cover = Some(Drawn::default());
            }
            (false, true) => {
                bytes.push_str(KEYS_OFF);
                bytes.push_str("\x1b[?1049l");
                // Whether the cursor is shown is the terminal's, not the screen's.
                let shown = self.cover.take().and_then(|cover| cover.cursor);
                if let Some(cursor) = &mut self.inline.cursor {
                    cursor.shown = shown.is_some_and(|cursor| cursor.shown);
                }
            }
            _ => return,
        }
        self.covered.store(self.cover_wanted, Ordering::Relaxed);
    }

    fn draw_cover(&mut self, panel: &Panel, bytes: &mut String) {
        let size = (self.columns, self.rows);
        if let Some(cover) = &mut self.cover {
            if cover.cursor.is_none() {
                bytes.push_str("\x1b[H");
            }
            draw_panel(cover, Vec::new(), panel, size, self.colours, bytes);
        }
    }

    fn draw_inline(&mut self, lines: &[Line<'static>], panel: &Panel, bytes: &mut String) {
        let size = (self.columns, self.rows);
        let lines: Vec<Row> = (lines.iter())
            .map(|line| Row::of(line, self.columns, self.colours))
            .collect();
        self.printed.extend(lines.iter().map(|line| line.cells));
        let many = self.printed.len().saturating_sub(REMEMBERED_MAX);
        self.printed.drain(..many);
        self.rows_before = self.rows;
        draw_panel(&mut self.inline, lines, panel, size, self.colours, bytes);
    }

    /// Goes up to where the viewport begins, or what is visible of the transcript above it; what is below is drawn anew.
    fn settle_doubt(&mut self, transcript: bool, bytes: &mut String) {
        let doubt = std::mem::take(&mut self.doubt);
        if doubt == Doubt::None {
            return;
        }
        let (up, overwritten) = match (doubt, transcript) {
            (Doubt::None | Doubt::Height, _) => (self.inline.cursor.unwrap_or_default().row, 0),
            (_, true) => (self.up(self.visible()), self.overwritten()),
            (_, false) => (self.up(0), 0),
        };
        if doubt == Doubt::All {
            bytes.push_str("\x1b[H");
            self.printed.clear();
        } else {
            vertical(up.min(self.rows - 1), 0, bytes);
            let left = self.printed.len().saturating_sub(overwritten);
            self.printed.truncate(left);
        }
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

    /// Printed lines that are drawn over where the visible ones are drawn anew: more than these, it may be, where the
    /// terminal has cut its rows.
    fn overwritten(&self) -> usize {
        let visible = self.visible();
        if self.reflows {
            return visible;
        }
        let row = self.inline.cursor.unwrap_or_default().row;
        let up = self.up(visible).min(self.rows - 1);
        up.saturating_sub(row).max(visible).min(self.printed.len())
    }

    /// Printed lines that are on the screen.
    fn visible(&self) -> usize {
        let cursor = self.inline.cursor.unwrap_or_default();
        let before = self.rows_before.saturating_sub(self.inline.rows.len());
        let now = self.rows.saturating_sub(1 + cursor.row);
        let most = self.printed.len().min(before).min(now);
        if !self.reflows {
            return most;
        }
        let broken = |row: &Row| height(row.cells, self.columns);
        let mut taken: usize = self.inline.rows.iter().map(broken).sum();
        let newest = self.printed.iter().rev().take(most);
        let fits = newest.take_while(|cells| {
            let fits = taken < self.rows;
            taken += height(**cells, self.columns);
            fits
        });
        fits.count()
    }

    /// Rows that so many of the newest printed lines take where they are broken at the edge.
    fn wrapped(&self, lines: usize) -> usize {
        let newest = self.printed.iter().rev().take(lines);
        newest.map(|cells| height(*cells, self.columns)).sum()
    }

    fn kept_rows(&self) -> usize {
        let kept = self.kept.iter();
        kept.map(|line| height(line.width(), self.columns)).sum()
    }

    /// Writes a frame at once.
    fn flush(&mut self, bytes: String) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        // Without the terminal's own wrapping a row stays a row, also where the terminal counts its cells differently.
        let frame = format!("\x1b[?2026h\x1b[?7l{bytes}\x1b[?7h\x1b[?2026l");
        self.counts.frames += 1;
        self.counts.writes += 1;
        self.counts.bytes += frame.len() as u64;
        self.out.write_all(frame.as_bytes())?;
        self.out.flush()
    }
}

/// Rows that a line takes where it is broken at the edge.
fn height(cells: usize, columns: usize) -> usize {
    cells.div_ceil(columns).max(1)
}

/// Moves between rows that are there.
fn vertical(from: usize, to: usize, bytes: &mut String) {
    let _ = match from.abs_diff(to) {
        0 => Ok(()),
        1 if to < from => bytes.write_str("\x1b[A"),
        1 => bytes.write_str("\x1b[B"),
        by if to < from => write!(bytes, "\x1b[{by}A"),
        by => write!(bytes, "\x1b[{by}B"),
    };
}

/// Writes what of the viewport has changed, `lines` above it. The rows of old and new are compared where they stand on
/// the screen: a line that is where it was while it was alive is not written again.
fn draw_panel(
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

/// Writes the rows that differ from those that stand there; the row where the cursor is left.
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
        // Below the last row the terminal scrolls where it must.
        for _ in there..=index {
            bytes.push('\n');
        }
        there = there.max(index + 1);
        at = index;
        if drawn.doubtful && index + 1 == new.len() {
            // Last, not first: tmux, and others, keep in their scrollback what is erased from the first row on.
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

/// Whether something of the old row would be seen behind the new one. Terminals do not agree on the cells of everything
/// beyond ASCII.
fn outlasts(old: &Row, new: &Row) -> bool {
    old.cells > new.cells || !old.bytes.is_ascii()
}

#[cfg(test)]
mod tests;
