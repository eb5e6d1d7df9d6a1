//! What is written to the terminal: rows that have changed, at the place where the cursor stands.
//!
//! Not on a screen that is ours but at the end of what was there before, as a shell's prompt: finished lines go into the
//! terminal's own scrollback and stay there, below them a viewport of as many rows as it needs is drawn again and again.
//! All moves are relative, so that nothing must be asked of the terminal. What covers everything is drawn on the
//! alternate screen, by the same code.

mod drawn;
mod paint;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::text::Line;

use drawn::{Cursor, Drawn, draw_panel, vertical};
pub use paint::Depth;
use paint::Row;

use crate::terminal::{KEYS_OFF, KEYS_ON};
use crate::view::Panel;

/// Printed lines that are remembered, by their cells: more than any screen has rows.
const REMEMBERED_MAX: usize = 1_000;

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
    /// The terminal knows little: it is not asked to tell keys apart.
    pub plain: bool,
    inline: Drawn,
    /// What is on the alternate screen while that is shown.
    cover: Option<Drawn>,
    cover_wanted: bool,
    doubt: Doubt,
    /// Rows of the screen when the inline viewport was drawn last.
    rows_before: usize,
    /// Cells of the lines above the viewport, the newest last.
    printed: VecDeque<usize>,
    /// Whether the alternate screen is shown, for who restores the terminal after a panic.
    covered: Arc<AtomicBool>,
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
            plain: false,
            inline: Drawn::default(),
            cover: None,
            cover_wanted: false,
            doubt: Doubt::None,
            rows_before: usize::from(rows.max(1)),
            printed: VecDeque::new(),
            covered: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Tells here from now on whether the alternate screen is shown.
    pub fn share(&mut self, covered: Arc<AtomicBool>) {
        covered.store(self.cover.is_some(), Ordering::Relaxed);
        self.covered = covered;
    }

    /// One frame: `above` goes into the scrollback for good, the panel is what stands below it.
    ///
    /// While the screen is covered there is no place for lines: they come when it is not any more
    /// ([`is_covered`](Self::is_covered)).
    ///
    /// # Errors
    ///
    /// The terminal cannot be written to; it is gone as a rule.
    pub fn draw(&mut self, above: &[Line<'static>], panel: &Panel) -> io::Result<()> {
        let mut bytes = String::new();
        self.switch(&mut bytes);
        if self.cover.is_some() {
            debug_assert!(above.is_empty(), "lines for a covered screen");
            self.draw_cover(panel, &mut bytes);
        } else {
            self.settle_doubt(false, &mut bytes);
            self.draw_inline(above, panel, &mut bytes);
        }
        self.flush(bytes)
    }

    /// Whether something covers everything from the next frame on: the alternate screen is shown.
    pub fn cover(&mut self, on: bool) {
        self.cover_wanted = on;
    }

    /// Whether something covers everything, from the next frame on at the latest.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        self.cover_wanted
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

    /// What stands of the transcript on the screen looks otherwise now: the next frame, a [`reprint`](Self::reprint), prints
    /// it anew.
    pub fn outdated(&mut self) {
        self.doubt = self.doubt.max(Doubt::Width);
    }

    /// What was printed cannot be printed again: it is the shell's from now on, and stays as it stands.
    pub fn forget(&mut self) {
        self.printed.clear();
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
        match self.doubt {
            Doubt::All => self.rows,
            _ => self.wrapped(self.overwritten()),
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
            Doubt::All => room,
            _ => self.wanted(),
        };
        self.doubt = self.doubt.max(Doubt::Width);
        self.settle_doubt(true, &mut bytes);
        let from = last.len().saturating_sub(wanted);
        self.draw_inline(last.get(from..).unwrap_or_default(), panel, &mut bytes);
        self.flush(bytes)
    }

    /// Gives the terminal back: the viewport is erased, the cursor stands on a fresh line below the transcript, with
    /// `above` as its last lines. A frame after that begins anew from where the cursor stands then.
    ///
    /// # Errors
    ///
    /// The terminal cannot be written to.
    pub fn leave(&mut self, above: &[Line<'static>]) -> io::Result<()> {
        let mut bytes = String::new();
        let cover_wanted = std::mem::take(&mut self.cover_wanted);
        self.switch(&mut bytes);
        self.settle_doubt(false, &mut bytes);
        self.draw_inline(above, &Panel::default(), &mut bytes);
        bytes.push_str("\r\x1b[?25h");
        self.inline = Drawn::default();
        self.printed.clear();
        self.cover_wanted = cover_wanted;
        self.flush(bytes)
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
                bytes.push_str(if self.plain { "" } else { KEYS_ON });
                self.cover = Some(Drawn::default());
            }
            (false, true) => {
                bytes.push_str(if self.plain { "" } else { KEYS_OFF });
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

    /// Writes a frame at once.
    fn flush(&mut self, bytes: String) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        // Without the terminal's own wrapping a row stays a row, also where the terminal counts its cells differently.
        let frame = format!("\x1b[?2026h\x1b[?7l{bytes}\x1b[?7h\x1b[?2026l");
        self.out.write_all(frame.as_bytes())?;
        self.out.flush()
    }
}

/// Rows that a line takes where it is broken at the edge.
fn height(cells: usize, columns: usize) -> usize {
    cells.div_ceil(columns).max(1)
}

#[cfg(test)]
mod tests;
