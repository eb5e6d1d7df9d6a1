//! What the person writes: text with a caret, its history, the menus of commands and files, what was pasted.

pub mod chips;
pub mod history;
pub mod menu;
pub mod rows;
pub mod text;
pub mod vim;

use std::collections::HashMap;

use proto::SessionId;

use crate::messages::Language;
use crate::messages::composer::Msg;

/// A paste of more lines or characters becomes a chip.
const PASTE_LINES: usize = 10;
const PASTE_CHARACTERS: usize = 1000;

/// So many characters that come back, of the editor or of what could not be sent, stand there to be read and written
/// on. A paste is a chip far earlier: nobody wrote it.
const LAID_OUT: usize = 10_000;

/// The composer.
#[derive(Debug, Default)]
pub struct Composer {
    pub buffer: text::Text,
    pub chips: chips::Chips,
    pub history: history::History,
    pub menu: menu::Menu,
    /// `None`: its keys are off.
    pub vim: Option<vim::Vim>,
    /// Drafts of sessions that were left; `None`: of one that is still to be made.
    aside: HashMap<Option<SessionId>, history::Draft>,
}

impl Composer {
    /// An empty one; `vim`: with vim's keys.
    #[must_use]
    pub fn new(vim: bool) -> Self {
        let mut composer = Self::default();
        composer.set_vim(vim);
        composer
    }

    /// Whether nothing is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.as_str().is_empty()
    }

    /// Takes what is written, with pasted texts in their places, and remembers it in the history.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.history.push(self.buffer.as_str());
        self.empty();
        let killed = std::iter::once(self.buffer.killed());
        let aside = self.aside.values().map(|draft| draft.text.as_str());
        let texts = self.history.texts().chain(killed).chain(aside);
        self.chips.retain(texts);
        text
    }

    /// Lays what is written aside until its session is here again; `None`: one that is still to be made.
    pub fn lay_aside(&mut self, session: Option<SessionId>) {
        let draft = self.written();
        if !draft.text.is_empty() {
            self.aside.insert(session, draft);
        }
        self.empty();
    }

    /// Lays text from outside aside for a session that is not here, as its draft; where it has one, into the history.
    pub fn lay_for(&mut self, session: SessionId, text: &str, language: Language) {
        if self.aside.contains_key(&Some(session)) {
            return self.remember(text);
        }
        let text = self.laid(text, language);
        let caret = text.len();
        self.aside
            .insert(Some(session), history::Draft { text, caret });
    }

    /// What is written. What the history shows is not: the draft that the way through it began with is.
    fn written(&mut self) -> history::Draft {
        let shown = self.buffer.as_str();
        self.history.end(shown).unwrap_or_else(|| history::Draft {
            text: shown.to_owned(),
            caret: self.buffer.caret(),
        })
    }

    /// Puts what was laid aside for this session before what was written since it is being loaded.
    pub fn take_up(&mut self, session: Option<SessionId>) {
        let Some(draft) = self.aside.remove(&session) else {
            return;
        };
        let since = self.written();
        let caret = match since.text.is_empty() {
            true => draft.caret,
            false => draft.text.len() + since.caret,
        };
        let text = draft.text + &since.text;
        self.put(&text, caret);
    }

    /// Nothing is written, and nothing of what was can be undone.
    fn empty(&mut self) {
        self.history.leave();
        self.buffer.reset();
        self.menu.reset();
        if let Some(vim) = &mut self.vim {
            *vim = vim::Vim::default();
        }
    }

    /// What is written, with pasted texts in their places.
    #[must_use]
    pub fn text(&self) -> String {
        self.chips.expand(self.buffer.as_str())
    }

    /// Puts text in place of what is written, the caret at its end. Can be undone.
    pub fn set(&mut self, text: &str) {
        let text = chips::plain(text);
        self.history.leave();
        self.put(&text, text.len());
    }

    /// The same with text from outside, which may be long: more than can be laid out at every key is a chip.
    pub fn restore(&mut self, text: &str, language: Language) {
        let text = self.laid(text, language);
        self.history.leave();
        self.put(&text, text.len());
    }

    /// Puts a text before what is written.
    pub fn prepend(&mut self, text: &str, language: Language) {
        let written = self.written().text;
        let text = self.laid(text, language);
        let caret = text.len();
        self.history.leave();
        match written.is_empty() {
            true => self.put(&text, caret),
            false => self.put(&format!("{text}\n\n{written}"), caret),
        }
    }

    /// Text from outside as it stands in the buffer.
    fn laid(&mut self, text: &str, language: Language) -> String {
        let text = chips::plain(text);
        match text.chars().nth(LAID_OUT).is_some() {
            true => self.chip(text, 1, language),
            false => text,
        }
    }

    /// A prompt that was said before, here or elsewhere, for the history: the newest. One that is among the newest already
    /// came from here.
    pub fn remember(&mut self, text: &str) {
        let text = chips::plain(text);
        if !self.history.said(&text, |entry| self.chips.expand(entry)) {
            self.history.push(&text);
        }
    }

    /// Switches vim's keys on or off.
    pub fn set_vim(&mut self, on: bool) {
        self.vim = on.then(vim::Vim::default);
    }

    /// Whether vim's normal mode has the keys.
    #[must_use]
    pub fn is_normal(&self) -> bool {
        self.vim.as_ref().is_some_and(|vim| vim.normal)
    }

    /// Takes a paste at the caret: as it is, or as a chip where it is long.
    pub fn paste(&mut self, text: &str, language: Language) {
        let text = chips::plain(text);
        let (lines, characters) = (text.lines().count(), text.chars().count());
        if lines <= PASTE_LINES && characters <= PASTE_CHARACTERS {
            return self.buffer.insert(&text);
        }
        let number = self.chips.number(self.buffer.as_str());
        let chip = self.chip(text, number, language);
        self.buffer.insert(&chip);
    }

    /// Makes a chip of it: what stands for it in the buffer, the text itself where there are too many.
    fn chip(&mut self, text: String, number: usize, language: Language) -> String {
        let (lines, characters) = (text.lines().count(), text.chars().count());
        let (what, count) = match lines {
            ..=1 => (Msg::PastedCharacters, characters),
            lines => (Msg::PastedLines, lines),
        };
        let label = language.fill(what, &[&count.to_string(), &number.to_string()]);
        let chip = chips::Chip {
            label,
            number,
            text: text.clone(),
        };
        match self.chips.add(chip) {
            Some(chip) => chip.to_string(),
            None => text,
        }
    }

    /// Shows the prompt before; whether there was one.
    pub fn older(&mut self) -> bool {
        let buffer = &self.buffer;
        let entry = self.history.older(|| history::Draft {
            text: buffer.as_str().to_owned(),
            caret: buffer.caret(),
        });
        let Some(entry) = entry.map(str::to_owned) else {
            return false;
        };
        self.put(&entry, entry.len());
        true
    }

    /// Shows the prompt behind, the draft at last; whether there was one.
    pub fn newer(&mut self) -> bool {
        let Some(draft) = self.history.newer() else {
            return false;
        };
        self.put(&draft.text, draft.caret);
        true
    }

    fn put(&mut self, text: &str, caret: usize) {
        let all = 0..self.buffer.as_str().len();
        self.buffer.replace(all, text);
        self.buffer.go(caret);
        // What nobody typed opens no menu, which would take the keys that go on through the history.
        self.menu.close(text);
        if self.is_normal() {
            vim::settle(&mut self.buffer);
        }
    }

    /// Moves a row up or down in rows of this width, keeping the column; whether there was one.
    pub fn row(&mut self, down: bool, width: usize) -> bool {
        let laid = rows::Rows::new(self.buffer.as_str(), &self.chips, width);
        let (row, column) = laid.place(self.buffer.caret());
        let column = self.buffer.goal.unwrap_or(column);
        let row = match down {
            true => Some(row + 1).filter(|row| *row < laid.count()),
            false => row.checked_sub(1),
        };
        let Some(row) = row else {
            return false;
        };
        let at = laid.offset(row, column);
        self.buffer.go(at);
        self.buffer.goal = Some(column);
        if self.is_normal() {
            vim::settle(&mut self.buffer);
        }
        true
    }
}

#[cfg(test)]
mod tests;
