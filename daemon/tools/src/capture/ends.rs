//! The beginning and the end of a text that may be too long to keep.

use crate::truncate::TextPieces;

/// The first and the last of a text, in at most three times `max` bytes and what one piece brings.
#[derive(Clone, Debug)]
pub(crate) struct HeadAndTail {
    /// Bytes that are kept of the beginning, and at least of the end.
    max: usize,
    head: String,
    missing: u64,
    tail: String,
}

impl HeadAndTail {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            head: String::new(),
            missing: 0,
            tail: String::new(),
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        let mut text = text;
        if self.tail.is_empty() && self.missing == 0 {
            let room = self.max - self.head.len().min(self.max);
            let taken = text.floor_char_boundary(room);
            self.head.push_str(&text[..taken]);
            text = &text[taken..];
        }
        self.tail.push_str(text);
        // Not at every piece: moving the whole tail has its price.
        if self.tail.len() > 2 * self.max {
            self.drop_before_last(self.max);
        }
    }

    /// The text, as far as it was kept.
    pub(crate) fn pieces(&self) -> TextPieces<'_> {
        TextPieces {
            head: &self.head,
            missing: self.missing,
            tail: &self.tail,
        }
    }

    /// The end of the text, at most `chars_max` characters.
    pub(crate) fn last(&self, chars_max: usize) -> String {
        let before = self.head.chars().rev().filter(|_| self.missing == 0);
        let mut chars: Vec<char> = self
            .tail
            .chars()
            .rev()
            .chain(before)
            .take(chars_max)
            .collect();
        chars.reverse();
        chars.into_iter().collect()
    }

    /// Takes the text so far, and starts again with an empty one.
    pub(crate) fn take(&mut self) -> Self {
        let fresh = Self::new(self.max);
        std::mem::replace(self, fresh)
    }

    /// Keeps no more than twice `max` bytes, and no room for more.
    pub(crate) fn shrink(&mut self, max: usize) {
        if self.head.len() + self.tail.len() > 2 * max {
            let cut = self.head.floor_char_boundary(max);
            let rest = self.head.split_off(cut);
            if self.missing == 0 {
                self.tail.insert_str(0, &rest);
            } else {
                self.missing += rest.len() as u64;
            }
            self.drop_before_last(max);
        }
        self.max = max;
        self.head.shrink_to_fit();
        self.tail.shrink_to_fit();
    }

    fn drop_before_last(&mut self, max: usize) {
        if self.tail.len() > max {
            let dropped = self.tail.ceil_char_boundary(self.tail.len() - max);
            self.tail.drain(..dropped);
            self.missing += dropped as u64;
        }
    }
}

#[cfg(test)]
mod tests;
