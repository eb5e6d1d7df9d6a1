//! A command that is edited within the dialog. It runs exactly as shown: invisible characters are left out.

use crossterm::event::KeyEvent;

use crate::keymap::{self, Action, Context};
use crate::model::composer::chips::{self, Chips};
use crate::model::composer::rows::Rows;
use crate::model::composer::text::Text;

/// Bytes that it takes at most.
const BYTES_MAX: usize = 256 * 1024;

/// The text and the caret in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandBox {
    text: Text,
    /// It was to be sent without anything in it.
    pub is_refused: bool,
}

impl CommandBox {
    /// With this command, the caret at its end.
    #[must_use]
    pub fn new(command: &str) -> Self {
        let mut edited = Self::default();
        edited.insert(command);
        edited
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_str()
    }

    /// The place of the caret.
    #[must_use]
    pub fn caret(&self) -> usize {
        self.text.caret()
    }

    /// The command to run; `None` if it is blank.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        let text = self.text();
        (!text.trim().is_empty()).then(|| text.to_owned())
    }

    /// Inserts a text at the caret. Text beyond the limit is dropped.
    pub fn insert(&mut self, text: &str) {
        let mut text: String = chips::plain(text).chars().filter(is_seen).collect();
        let room = BYTES_MAX.saturating_sub(self.text().len());
        while text.len() > room {
            text.pop();
        }
        self.text.insert(&text);
    }

    /// Takes a key that writes or moves; false: it is none of those. `width`: the cells of a row.
    pub fn key(&mut self, key: &KeyEvent, width: usize) -> bool {
        self.is_refused = false;
        match keymap::find(Context::Composer, key) {
            Some(Action::Newline) => self.text.insert("\n"),
            Some(Action::Up) => self.row(false, width),
            Some(Action::Down) => self.row(true, width),
            Some(action) if self.text.edit(action) => {}
            _ => {
                let Some(letter) = keymap::letter(key) else {
                    return false;
                };
                self.insert(letter.encode_utf8(&mut [0; 4]));
            }
        }
        true
    }

    /// Moves a row up or down, if there is one.
    fn row(&mut self, down: bool, width: usize) {
        let chips = Chips::default();
        let laid = Rows::new(self.text.as_str(), &chips, width);
        let (row, column) = laid.place(self.text.caret());
        let column = self.text.goal.unwrap_or(column);
        let row = match down {
            true => Some(row + 1).filter(|row| *row < laid.count()),
            false => row.checked_sub(1),
        };
        if let Some(row) = row {
            let at = laid.offset(row, column);
            self.text.go(at);
            self.text.goal = Some(column);
        }
    }
}

/// Whether the character is visible, or moves the text after it.
fn is_seen(character: &char) -> bool {
    let mut bytes = [0; 4];
    let text: &str = character.encode_utf8(&mut bytes);
    matches!(character, '\n' | '\t') || client::text::exact(text) == text
}
