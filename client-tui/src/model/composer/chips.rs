//! Long pastes and text that nobody typed, shown as one mark: `[pasted 45 lines #1]`.
//!
//! In the buffer a chip is one character of the end of the last private plane, which nothing else gets into ([`plain`]):
//! so caret, deletion and undo take it as one, and a chip that was typed by hand is only text.

use std::collections::BTreeMap;

use client::prompt::Prompt;
use proto::TextOrigin;

const FIRST: u32 = 0x10_f000;
const LAST: u32 = 0x10_fffd;

/// The chips of the draft and of the history.
#[derive(Debug, Default)]
pub struct Chips {
    kept: BTreeMap<char, Chip>,
    next: u32,
}

/// A paste, or text that nobody typed.
#[derive(Debug)]
pub struct Chip {
    /// How it is shown, in the language that was set when it came.
    pub label: String,
    /// Of the chips of its draft, from 1.
    pub number: usize,
    pub text: String,
    /// Where text comes from that nobody typed. `None`: the user pasted it.
    pub origin: Option<TextOrigin>,
}

/// Whether this character represents a paste.
#[must_use]
pub fn is_chip(character: char) -> bool {
    (FIRST..=LAST).contains(&u32::from(character))
}

/// Text from outside, made safe for the buffer: only line feeds, no control characters, no chips.
#[must_use]
pub fn plain(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut text = client::text::clean(&lines);
    text.retain(|character| !is_chip(character));
    text
}

impl Chips {
    /// Stores a paste. Returns the character that represents it, `None` if there are too many.
    pub fn add(&mut self, chip: Chip) -> Option<char> {
        let count = LAST - FIRST + 1;
        let free = (0..count)
            .filter_map(|n| char::from_u32(FIRST + (self.next + n) % count))
            .find(|character| !self.kept.contains_key(character))?;
        self.next = (u32::from(free) - FIRST + 1) % count;
        self.kept.insert(free, chip);
        Some(free)
    }

    #[must_use]
    pub fn get(&self, character: char) -> Option<&Chip> {
        self.kept.get(&character)
    }

    /// The number of the next chip in this text.
    #[must_use]
    pub fn number(&self, text: &str) -> usize {
        let numbers = text.chars().filter_map(|it| Some(self.get(it)?.number));
        numbers.max().unwrap_or_default() + 1
    }

    /// The text with the pasted ones in their places.
    #[must_use]
    pub fn expand(&self, text: &str) -> String {
        self.written(text, |chip| &chip.text)
    }

    /// The same with the parts that nobody typed.
    #[must_use]
    pub fn prompt(&self, text: &str) -> Prompt {
        let mut prompt = Prompt::default();
        for character in text.chars() {
            match self.get(character) {
                Some(chip) => match chip.origin {
                    Some(origin) => prompt.push_untyped(&chip.text, origin),
                    None => prompt.text.push_str(&chip.text),
                },
                None if is_chip(character) => {}
                None => prompt.text.push(character),
            }
        }
        prompt
    }

    /// The text with the chips as they are shown.
    #[must_use]
    pub fn shown(&self, text: &str) -> String {
        self.written(text, |chip| &chip.label)
    }

    fn written(&self, text: &str, of: impl Fn(&Chip) -> &str) -> String {
        let mut out = String::with_capacity(text.len());
        for character in text.chars() {
            match self.get(character) {
                Some(chip) => out.push_str(of(chip)),
                None if is_chip(character) => {}
                None => out.push(character),
            }
        }
        out
    }

    /// Forgets those that none of these texts holds.
    pub fn retain<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        let used: std::collections::BTreeSet<char> = texts
            .flat_map(str::chars)
            .filter(|character| is_chip(*character))
            .collect();
        self.kept.retain(|character, _| used.contains(character));
    }
}
