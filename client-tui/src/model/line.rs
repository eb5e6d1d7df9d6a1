//! A single-line text field in a dialog: a note, a reply, a search query. It is edited by the keys of the composer.

use crossterm::event::KeyEvent;
use unicode_segmentation::UnicodeSegmentation;

use super::composer::text::Text;
use crate::keymap::{self, Context};
use crate::render::wrap;

/// Bytes that it takes at most: it is a line, not a file.
const BYTES_MAX: usize = 8 * 1024;

/// The line and the caret in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    text: Text,
}

impl Input {
    /// A field with this text, the caret at its end.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut input = Self::default();
        input.insert(text);
        input
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_str()
    }

    /// The text, trimmed; `None` if it is blank.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        Some(self.text().trim().to_owned()).filter(|words| !words.is_empty())
    }

    /// Inserts a text at the caret, cleaned and on one line. Text beyond the limit is dropped.
    pub fn insert(&mut self, text: &str) {
        let mut text = client::text::line(&text.replace("\r\n", "\n").replace('\r', "\n"));
        let room = BYTES_MAX.saturating_sub(self.text().len());
        while text.len() > room {
            text.pop();
        }
        self.text.insert(&text);
    }

    /// Takes a key that writes or moves; false: it is none of those.
    pub fn key(&mut self, key: &KeyEvent) -> bool {
        let action = keymap::find(Context::Composer, key);
        if action.is_some_and(|action| self.text.edit(action)) {
            return true;
        }
        let letter = keymap::letter(key);
        if let Some(letter) = letter {
            self.insert(letter.encode_utf8(&mut [0; 4]));
        }
        letter.is_some()
    }

    /// The part of the line that fits into `width` cells with the caret in it, and the caret's column there.
    #[must_use]
    pub fn part(&self, width: usize) -> (String, usize) {
        let (left, right) = (self.text.before(), self.text.after());
        let mut column: usize = left.graphemes(true).map(wrap::width).sum();
        let mut shown = left;
        let room = width.saturating_sub(1);
        for grapheme in left.graphemes(true) {
            if column <= room {
                break;
            }
            column = column.saturating_sub(wrap::width(grapheme));
            shown = shown.strip_prefix(grapheme).unwrap_or_default();
        }
        let mut out = shown.to_owned();
        let mut used = column;
        for grapheme in right.graphemes(true) {
            used += wrap::width(grapheme);
            if used > width {
                break;
            }
            out.push_str(grapheme);
        }
        (out, column)
    }
}

#[cfg(test)]
mod tests;
