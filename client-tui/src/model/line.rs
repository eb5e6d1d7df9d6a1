//! A line that is written within a dialog: a note, words of one's own. The caret stands between characters as they are
//! drawn, never within one.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

use crate::keymap::{self, Action, Context};
use crate::render::wrap;

/// Bytes that it takes at most: it is a line, not a file.
const BYTES_MAX: usize = 8 * 1024;

/// The line and the caret in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    text: String,
    /// A byte of the text, or its end; always between two graphemes.
    caret: usize,
}

impl Input {
    /// The line with this text, the caret behind it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut input = Self::default();
        input.insert(text);
        input
    }

    /// What is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is written without blanks around it; `None`: nothing is.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        Some(self.text.trim().to_owned()).filter(|words| !words.is_empty())
    }

    /// Writes a text at the caret: cleaned, on one line. What is too long stays out.
    pub fn insert(&mut self, text: &str) {
        let mut text = client::text::line(&text.replace("\r\n", "\n").replace('\r', "\n"));
        let room = BYTES_MAX.saturating_sub(self.text.len());
        while text.len() > room {
            text.pop();
        }
        self.text.insert_str(self.caret, &text);
        self.caret += text.len();
        // What joins with what stands behind it is one character now.
        self.caret = self.stop_at_or_behind(self.caret);
    }

    /// Takes a key that writes or moves; false: it is none of those.
    pub fn key(&mut self, key: &KeyEvent) -> bool {
        match keymap::find(Context::Composer, key) {
            Some(action) if self.edit(action) => return true,
            _ => {}
        }
        let held = key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
        // AltGr of some terminals is both of them.
        let writes = held.is_empty() || held == KeyModifiers::CONTROL | KeyModifiers::ALT;
        match key.code {
            KeyCode::Char(letter) if writes => {
                self.insert(letter.encode_utf8(&mut [0; 4]));
                true
            }
            _ => false,
        }
    }

    fn edit(&mut self, action: Action) -> bool {
        match action {
            Action::Left => self.caret = self.before(),
            Action::Right => self.caret = self.behind(),
            Action::WordLeft => self.caret = self.word_before(),
            Action::WordRight => self.caret = self.word_behind(),
            Action::LineStart => self.caret = 0,
            Action::LineEnd => self.caret = self.text.len(),
            Action::DeleteBack => self.delete(self.before(), self.caret),
            Action::DeleteForward => self.delete(self.caret, self.behind()),
            Action::DeleteWordBack => self.delete(self.word_before(), self.caret),
            Action::DeleteWordForward => self.delete(self.caret, self.word_behind()),
            Action::DeleteToStart => self.delete(0, self.caret),
            Action::DeleteToEnd => self.delete(self.caret, self.text.len()),
            _ => return false,
        }
        true
    }

    fn delete(&mut self, from: usize, to: usize) {
        if from < to {
            self.text.replace_range(from..to, "");
            self.caret = self.stop_at_or_behind(from);
        }
    }

    /// The grapheme boundary before the caret.
    fn before(&self) -> usize {
        let mut stops = self.text.grapheme_indices(true).map(|(at, _)| at);
        stops.rfind(|at| *at < self.caret).unwrap_or_default()
    }

    /// The grapheme boundary behind the caret.
    fn behind(&self) -> usize {
        self.stop_at_or_behind(self.caret.saturating_add(1))
    }

    fn stop_at_or_behind(&self, at: usize) -> usize {
        let mut stops = self.text.grapheme_indices(true).map(|(stop, _)| stop);
        stops.find(|stop| *stop >= at).unwrap_or(self.text.len())
    }

    fn word_before(&self) -> usize {
        let mut words = self.text.split_word_bound_indices();
        words
            .rfind(|(at, word)| *at < self.caret && !word.trim().is_empty())
            .map_or(0, |(at, _)| self.stop_at_or_before(at))
    }

    fn stop_at_or_before(&self, at: usize) -> usize {
        let mut stops = self.text.grapheme_indices(true).map(|(stop, _)| stop);
        stops.rfind(|stop| *stop <= at).unwrap_or_default()
    }

    fn word_behind(&self) -> usize {
        let mut words = self.text.split_word_bound_indices();
        words
            .find(|(at, word)| at + word.len() > self.caret && !word.trim().is_empty())
            .map_or(self.text.len(), |(at, word)| {
                self.stop_at_or_behind(at + word.len())
            })
    }

    /// The part of the line that fits into `width` cells with the caret in it, and the caret's column there.
    #[must_use]
    pub fn part(&self, width: usize) -> (String, usize) {
        let (left, right) = self.text.split_at_checked(self.caret).unwrap_or(("", ""));
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
