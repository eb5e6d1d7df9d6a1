//! Writes to the terminal: only rows that have changed, relative to the cursor.
//!
//! The interface does not own the screen. It draws below the existing contents, like a shell's prompt: finished lines
//! go into the terminal's own scrollback and stay there; below them, a viewport of as many rows as it needs is
//! redrawn in place. All moves are relative, so the terminal is never queried. Full-screen views are drawn on the
//! alternate screen, by the same code.

mod drawn;
mod paint;
mod printed;
mod resized;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use drawn::{Drawn, draw_panel};
pub use paint::Depth;
use paint::Row;
use printed::PrintedRow;
use resized::RowsAbove;

use crate::terminal::{KEYS_OFF, KEYS_ON};
use crate::view::Panel;
use crate::view::transcript::{PartIndex, PrintedLine};

/// Printed lines that are remembered: more than any screen has rows.
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
    /// The terminal is known to reflow rows when it gets narrower. If that is unknown, lines that a reflowing
    /// terminal pushes into its scrollback are printed twice, so that a terminal that truncates rows does not lose
    /// them.
    pub reflows: bool,
    /// A plain terminal: do not ask it to distinguish more keys.
    pub plain: bool,
    inline: Drawn,
    /// Contents of the alternate screen while it is shown.
    cover: Option<Drawn>,
    cover_wanted: bool,
    doubt: Doubt,
    /// Rows of the screen when the inline viewport was drawn last.
    rows_before: usize,
    above: RowsAbove,
    /// Lines that the next frame prints again, and the part that they begin with.
    again: Option<(Option<PartIndex>, Vec<PrintedLine>)>,
    /// The lines above the viewport, the newest last.
    printed: VecDeque<PrintedRow>,
    /// Whether the alternate screen is shown, for who restores the terminal after a panic.
    covered: Arc<AtomicBool>,
}

impl<W: Write> Screen<W> {
    /// A screen of this size. The first row is drawn at the cursor.
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
            above: RowsAbove::unknown(rows.max(1).into()),
            again: None,
            printed: VecDeque::new(),
            covered: Arc::new(AtomicBool::new(false)),
        }
    }

    /// From now on, sets this flag while the alternate screen is shown.
    pub fn share(&mut self, covered: Arc<AtomicBool>) {
        covered.store(self.cover.is_some(), Ordering::Relaxed);
        self.covered = covered;
    }

    /// Draws one frame: `above` goes into the scrollback for good, the panel below it.
    ///
    /// While the screen is covered, lines cannot be printed: print them once it is uncovered
    /// ([`is_covered`](Self::is_covered)).
    ///
    /// # Errors
    ///
    /// The terminal cannot be written to; it is gone as a rule.
    pub fn draw(&mut self, above: Vec<PrintedLine>, panel: &Panel) -> io::Result<()> {
        let mut bytes = String::new();
        self.switch(&mut bytes);
        if self.cover.is_some() {
            debug_assert!(above.is_empty(), "lines for a covered screen");
            self.draw_cover(panel, &mut bytes);
        } else {
            let mut lines = self.again(&mut bytes);
            lines.extend(above.into_iter().map(PrintedRow::from));
            self.print(lines, panel, &mut bytes);
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
        // The row of the cursor stays on the screen.
        let cursor = self.inline.cursor.unwrap_or_default().row;
        let room = rows.saturating_sub(1 + cursor);
        self.above.resized(self.rows, rows, room);
        (self.columns, self.rows) = (columns, rows);
        self.forget_cover();
    }

    /// The look of the visible transcript has changed: the next frame, a [`reprint`](Self::reprint), prints it again.
    pub fn outdated(&mut self) {
        self.doubt = self.doubt.max(Doubt::Width);
    }

    /// The printed lines cannot be printed again: they belong to the shell from now on and stay unchanged.
    pub fn forget(&mut self) {
        self.printed.clear();
    }

    /// Something else wrote to the terminal: the next frame, a [`reprint`](Self::reprint), redraws the whole screen.
    pub fn redraw(&mut self) {
        self.doubt = Doubt::All;
        self.forget_cover();
    }

    /// Whether the visible transcript may be broken: then the next frame must be a
    /// [`reprint`](Self::reprint).
    #[must_use]
    pub fn stale(&self) -> bool {
        !self.cover_wanted && self.doubt >= Doubt::Width
    }

    /// Parts of the transcript that are whole among what a [`reprint`](Self::reprint) draws over, in order.
    #[must_use]
    pub fn parts(&self) -> Vec<PartIndex> {
        let over = self.printed.len() - self.overwritten();
        let over = self.printed.iter().skip(over);
        over.filter_map(|row| row.begins).collect()
    }

    /// The next frame prints the visible transcript again: from the part `from`, one of [`parts`](Self::parts), as in
    /// `again`; lines above it, unchanged.
    pub fn reprint(&mut self, from: Option<PartIndex>, again: Vec<PrintedLine>) {
        self.again = Some((from, again));
    }

    /// Gives the terminal back: erases the viewport and leaves the cursor on a fresh line below the transcript, with
    /// `above` as its last lines. A later frame starts from wherever the cursor is then.
    ///
    /// # Errors
    ///
    /// The terminal cannot be written to.
    pub fn leave(&mut self, above: Vec<PrintedLine>) -> io::Result<()> {
        let mut bytes = String::new();
        let cover_wanted = std::mem::take(&mut self.cover_wanted);
        self.switch(&mut bytes);
        let mut lines = self.again(&mut bytes);
        lines.extend(above.into_iter().map(PrintedRow::from));
        self.print(lines, &Panel::default(), &mut bytes);
        bytes.push_str("\r\x1b[?25h");
        self.inline = Drawn::default();
        self.printed.clear();
        self.above = RowsAbove::unknown(self.rows);
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

    /// Moves to where everything is redrawn. Returns the lines to print again there.
    fn again(&mut self, bytes: &mut String) -> Vec<PrintedRow> {
        let Some((from, again)) = self.again.take() else {
            self.settle_doubt(false, bytes);
            return Vec::new();
        };
        self.doubt = self.doubt.max(Doubt::Width);
        let over = self.printed.len() - self.overwritten();
        let over = self.printed.iter().skip(over);
        let kept = over.take_while(|row| row.begins.is_none() || row.begins != from);
        let mut lines = printed::broken(kept, self.columns);
        self.settle_doubt(true, bytes);
        lines.extend(again.into_iter().map(PrintedRow::from));
        lines
    }

    fn print(&mut self, lines: Vec<PrintedRow>, panel: &Panel, bytes: &mut String) {
        let size = (self.columns, self.rows);
        let mut rows = Vec::with_capacity(lines.len());
        for mut line in lines {
            let row = Row::of(&line.line, self.columns, self.colours);
            line.cells = row.cells;
            rows.push(row);
            if self.printed.len() == REMEMBERED_MAX {
                self.printed.pop_front();
            }
            self.printed.push_back(line);
        }
        let lines = rows.len();
        draw_panel(&mut self.inline, rows, panel, size, self.colours, bytes);
        self.rows_before = self.rows;
        let room = self.rows.saturating_sub(self.inline.rows.len());
        self.above.printed(lines, room);
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

#[cfg(test)]
mod tests;
