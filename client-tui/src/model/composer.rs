//! The composer: text with a caret, its history, the menus of commands and files, pasted chips.

pub mod chips;
pub mod history;
pub mod menu;
pub mod rows;
pub mod text;
pub mod vim;

use std::borrow::Cow;
use std::collections::HashMap;

use client::prompt::Prompt;
use proto::{PromptId, SessionId, TextOrigin};

use crate::messages::Language;
use crate::messages::composer::Msg;

/// A paste of more lines or characters becomes a chip.
const PASTE_LINES: usize = 10;
const PASTE_CHARACTERS: usize = 1000;

/// Up to this many characters that return from the editor or a failed send are put back as plain text, to be edited.
/// A paste becomes a chip much earlier, as nobody typed it.
const LAID_OUT: usize = 10_000;

/// A prompt as the composer takes it for one: without a blank before it, a line that begins with `!` is a command.
#[must_use]
pub fn as_text(prompt: &Prompt) -> Cow<'_, Prompt> {
    let first = prompt.parts().first().copied();
    match first {
        Some((text, None)) if text.starts_with('!') => {
            let mut text = Prompt::typed(" ");
            text.push(prompt);
            Cow::Owned(text)
        }
        _ => Cow::Borrowed(prompt),
    }
}

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
    drafts: HashMap<Option<SessionId>, history::Draft>,
    /// What was cleared last, if nothing was sent since.
    cleared: Option<String>,
    /// Prompts of the queue that the text goes before when it is sent, as it was taken out of the queue there. Until the
    /// text is sent, cleared or left.
    pub following: Vec<PromptId>,
}

impl Composer {
    /// An empty one; `vim`: with vim's keys.
    #[must_use]
    pub fn new(vim: bool) -> Self {
        let mut composer = Self::default();
        composer.set_vim(vim);
        composer
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.as_str().is_empty()
    }

    /// Takes the text, with pasted texts expanded, and adds it to the history.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.history.push(self.buffer.as_str());
        self.empty();
        let killed = std::iter::once(self.buffer.killed());
        let drafts = self.drafts.values().map(|draft| draft.text.as_str());
        let texts = self.history.texts().chain(killed).chain(drafts);
        self.chips.retain(texts);
        // A command of the client sends nothing.
        if !text.starts_with('/') {
            self.cleared = None;
        }
        text
    }

    /// Clears the text. It is in the history, and [`Self::unsent`], unless it is an earlier prompt that was only shown.
    pub fn clear(&mut self) {
        let draft = self.written().text;
        let draft = self.chips.expand(&draft);
        self.take();
        self.cleared = Some(draft);
    }

    /// Texts that were written and not sent: the present one, or else what was cleared last, and the drafts of sessions
    /// that were left.
    #[must_use]
    pub fn unsent(&self) -> Vec<String> {
        let here = match self.is_empty() {
            true => self.cleared.clone(),
            false => Some(self.text()),
        };
        let drafts = self.drafts.values();
        let drafts = drafts.map(|draft| self.chips.expand(&draft.text));
        let texts = here.into_iter().chain(drafts);
        texts.filter(|text| !text.trim().is_empty()).collect()
    }

    /// Stores the draft until its session is shown again; `None`: the session is not created yet.
    pub fn store_draft(&mut self, session: Option<SessionId>) {
        let draft = self.written();
        if !draft.text.is_empty() {
            self.drafts.insert(session, draft);
        }
        self.empty();
    }

    /// Stores text from outside as the draft of another session; if that has a draft already, adds it to the history.
    pub fn store_draft_for(&mut self, session: SessionId, prompt: &Prompt, language: Language) {
        let text = self.laid(&as_text(prompt), language);
        if self.drafts.contains_key(&Some(session)) {
            return self.history.push(&text);
        }
        let caret = text.len();
        self.drafts
            .insert(Some(session), history::Draft { text, caret });
    }

    /// The current draft. If an unchanged history entry is shown, the draft from before it.
    fn written(&mut self) -> history::Draft {
        let shown = self.buffer.as_str();
        self.history.end(shown).unwrap_or_else(|| history::Draft {
            text: shown.to_owned(),
            caret: self.buffer.caret(),
        })
    }

    /// Puts the stored draft of this session before anything typed while the session was loading.
    pub fn restore_draft(&mut self, session: Option<SessionId>) {
        let Some(draft) = self.drafts.remove(&session) else {
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

    /// Clears the text and its undo history.
    fn empty(&mut self) {
        self.following.clear();
        self.history.leave();
        self.buffer.reset();
        self.menu.reset();
        if let Some(vim) = &mut self.vim {
            *vim = vim::Vim::default();
        }
    }

    /// The text, with pasted texts expanded.
    #[must_use]
    pub fn text(&self) -> String {
        self.chips.expand(self.buffer.as_str())
    }

    /// The same with the parts that nobody typed.
    #[must_use]
    pub fn prompt(&self) -> Prompt {
        self.chips.prompt(self.buffer.as_str())
    }

    /// Replaces the text, with the caret at its end. Can be undone.
    pub fn set(&mut self, text: &str) {
        let text = chips::plain(text);
        self.history.leave();
        self.put(&text, text.len());
    }

    /// The same with a prompt from outside, which may be long: text too long to lay out at every key becomes a chip, and so
    /// does text that nobody typed.
    pub fn restore(&mut self, prompt: &Prompt, language: Language) {
        let text = self.laid(prompt, language);
        self.history.leave();
        self.put(&text, text.len());
    }

    /// Inserts a prompt before the current text.
    pub fn prepend(&mut self, prompt: &Prompt, language: Language) {
        let written = self.written().text;
        let text = self.laid(&as_text(prompt), language);
        let caret = text.len();
        self.history.leave();
        match written.is_empty() {
            true => self.put(&text, caret),
            false => self.put(&format!("{text}\n\n{written}"), caret),
        }
    }

    /// A prompt from outside in the form in which the buffer holds it.
    fn laid(&mut self, prompt: &Prompt, language: Language) -> String {
        let mut laid = String::new();
        for (text, origin) in prompt.parts() {
            let text = chips::plain(text);
            if origin.is_some() || text.chars().nth(LAID_OUT).is_some() {
                let number = self.chips.number(&laid);
                laid.push_str(&self.chip(text, origin, number, language));
            } else {
                laid.push_str(&text);
            }
        }
        laid
    }

    /// Adds a prompt that was sent before, here or elsewhere, to the history as the newest. One among the newest already
    /// came from here.
    pub fn remember(&mut self, prompt: &Prompt, language: Language) {
        let prompt = as_text(prompt);
        let text = chips::plain(&prompt.text);
        if !self.history.said(&text, |entry| self.chips.expand(entry)) {
            let laid = self.laid(&prompt, language);
            self.history.push(&laid);
        }
    }

    /// Adds the prompts of earlier sessions, oldest first, and shows the newest of them if a key has just looked for one.
    pub fn remember_earlier(&mut self, prompts: &[String], language: Language) {
        let laid = prompts.iter().map(|text| {
            let prompt = Prompt::typed(text.as_str());
            self.laid(&as_text(&prompt), language)
        });
        let laid = laid.collect();
        if self.history.put_earlier(laid, self.buffer.as_str()) {
            self.older();
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

    /// Inserts a paste at the caret: as text, or as a chip if it is long.
    pub fn paste(&mut self, text: &str, language: Language) {
        let text = chips::plain(text);
        let (lines, characters) = (text.lines().count(), text.chars().count());
        if lines <= PASTE_LINES && characters <= PASTE_CHARACTERS {
            return self.buffer.insert(&text);
        }
        let number = self.chips.number(self.buffer.as_str());
        let chip = self.chip(text, None, number, language);
        self.buffer.insert(&chip);
    }

    /// Stores the text as a chip and returns the chip's character, or the text itself if there are too many chips.
    fn chip(
        &mut self,
        text: String,
        origin: Option<TextOrigin>,
        number: usize,
        language: Language,
    ) -> String {
        let (lines, characters) = (text.lines().count(), text.chars().count());
        let (what, count) = match (origin, lines) {
            (None, ..=1) => (Msg::PastedCharacters, characters),
            (None, lines) => (Msg::PastedLines, lines),
            (Some(_), ..=1) => (Msg::QuotedCharacters, characters),
            (Some(_), lines) => (Msg::QuotedLines, lines),
        };
        let label = language.fill(what, &[&count.to_string(), &number.to_string()]);
        let chip = chips::Chip {
            label,
            number,
            text: text.clone(),
            origin,
        };
        match self.chips.add(chip) {
            Some(chip) => chip.to_string(),
            None => text,
        }
    }

    /// Shows the next older prompt. Returns whether there was one.
    pub fn older(&mut self) -> bool {
        let buffer = &self.buffer;
        let entry = self.history.older(|| history::Draft {
            text: buffer.as_str().to_owned(),
            caret: buffer.caret(),
        });
        let Some(entry) = entry.map(str::to_owned) else {
            return false;
        };
        self.following.clear();
        self.put(&entry, entry.len());
        true
    }

    /// Shows the next newer prompt, in the end the draft. Returns whether there was one.
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
        // Text that nobody typed opens no menu: a menu would take the keys that move through the history.
        self.menu.close(text);
        if self.is_normal() {
            vim::settle(&mut self.buffer);
        }
    }

    /// Moves a row up or down in rows of this width, keeping the column. Returns whether there was one.
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
