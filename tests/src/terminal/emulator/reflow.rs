//! Another size in a terminal that breaks rows at its new edge, and joins the pieces when it gets wider.
//!
//! The text of all rows is written again into a terminal of that size. Colours are lost by it.

use std::num::NonZeroU16;

use vt100::Parser;

use super::{Emulator, SCROLLBACK};

/// A row of the screen.
struct Row {
    text: String,
    /// The next one goes on with it.
    wrapped: bool,
}

impl Emulator {
    pub(super) fn reflow(&mut self, columns: NonZeroU16, rows: NonZeroU16) {
        let before = self.size().0;
        let (row, column) = self.vt().cursor_position();
        let all = self.wrapped_rows();
        let cursor = self.vt().scrollback_len() + usize::from(row);
        let written = all.iter().rposition(|row| !row.text.is_empty());
        let end = written.unwrap_or_default().max(cursor);
        let beside = std::mem::take(self.parser.callbacks_mut());
        let modes = self.vt().input_mode_formatted();
        let hidden = self.vt().hide_cursor();
        self.parser = Parser::new_with_callbacks(rows, columns, SCROLLBACK, beside);
        self.parser.process(modes.as_bytes());
        let mut place = (0, 0);
        for (index, row) in all.iter().take(end + 1).enumerate() {
            let text = match row.wrapped {
                true => padded(&row.text, before),
                false => row.text.clone(),
            };
            if index == cursor {
                place = self.write_with_cursor(&text, column);
            } else {
                self.parser.process(text.as_bytes());
            }
            if index < end && !row.wrapped {
                self.parser.process(b"\r\n");
            }
        }
        let up = self.line() - place.0;
        let up = if up > 0 {
            format!("\x1b[{up}A")
        } else {
            String::new()
        };
        let right = match place.1 {
            0 => String::new(),
            column => format!("\x1b[{column}C"),
        };
        let shown = if hidden { "\x1b[?25l" } else { "" };
        self.parser
            .process(format!("{up}\r{right}{shown}").as_bytes());
    }

    /// Writes a row that the cursor is in: returns the cursor's new line and column.
    fn write_with_cursor(&mut self, text: &str, column: u16) -> (usize, u16) {
        let mut before = Parser::new(NonZeroU16::MIN, NonZeroU16::MAX, 0);
        let mut at = None;
        let mut written = String::new();
        for character in text.chars() {
            if before.screen().cursor_position().1 >= column && at.is_none() {
                self.parser.process(written.as_bytes());
                written.clear();
                at = Some((self.line(), self.vt().cursor_position().1));
            }
            written.push(character);
            before.process(character.to_string().as_bytes());
        }
        self.parser.process(written.as_bytes());
        at.unwrap_or_else(|| {
            let missing = column.saturating_sub(before.screen().cursor_position().1);
            let columns = self.size().0;
            let column = self.vt().cursor_position().1 + missing;
            (self.line(), column.min(columns - 1))
        })
    }

    /// Lines above the cursor, those of the scrollback too.
    fn line(&self) -> usize {
        self.vt().scrollback_len() + usize::from(self.vt().cursor_position().0)
    }

    fn wrapped_rows(&mut self) -> Vec<Row> {
        let mut all = Vec::new();
        let mut above = self.vt().scrollback_len();
        loop {
            self.parser.screen_mut().set_scrollback(above);
            let screen = self.vt();
            let texts = screen.rows(0, super::WIDEST);
            let page = (0..).zip(texts).map(|(index, text)| Row {
                text: text.trim_end().to_owned(),
                wrapped: screen.row_wrapped(index),
            });
            let page: Vec<Row> = page.collect();
            if above == 0 {
                all.extend(page);
                return all;
            }
            let taken = page.len().min(above);
            all.extend(page.into_iter().take(taken));
            above -= taken;
        }
    }
}

/// With the blanks at its end that a row up to the edge may have.
fn padded(text: &str, columns: u16) -> String {
    let mut line = Parser::new(NonZeroU16::MIN, NonZeroU16::MAX, 0);
    line.process(text.as_bytes());
    let missing = columns.saturating_sub(line.screen().cursor_position().1);
    format!("{text}{}", " ".repeat(missing.into()))
}
