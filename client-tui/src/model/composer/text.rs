//! The composer's text buffer: caret, undo, and the text deleted last.
//!
//! A buffer of our own, not `ratatui-textarea`'s: that one counts characters, so its caret stops inside a cluster (`é` of
//! two, a family, a flag), and it cannot hold a chip as one thing that undo brings back. Offsets are bytes; the caret
//! is always between two clusters.

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::chips;
use crate::keymap::Action;

/// Edits that can be undone at most.
const UNDO_MAX: usize = 1000;

/// The buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    text: String,
    caret: usize,
    done: Vec<Edit>,
    undone: Vec<Edit>,
    last: Last,
    /// Text deleted by words or lines, or copied; a yank inserts it.
    killed: String,
    /// The column that moves up and down aim at, from the first of them on.
    pub goal: Option<usize>,
}

/// A change, with all that is needed to go back and forth.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    at: usize,
    removed: String,
    inserted: String,
    before: usize,
    after: usize,
}

/// The kind of the last edit: some kinds join with an equal edit before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    Typed,
    Killed,
}

/// Classes of clusters for moves by words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Blank,
    /// Letters, digits and `_` of narrow scripts.
    Word,
    /// Letters of wide scripts, which have no blanks between words.
    Wide,
    Mark,
    Chip,
}

/// The class of a cluster.
#[must_use]
pub fn class(cluster: &str) -> Class {
    let Some(first) = cluster.chars().next() else {
        return Class::Blank;
    };
    if cluster.chars().any(chips::is_chip) {
        Class::Chip
    } else if first.is_whitespace() {
        Class::Blank
    } else if first.is_alphanumeric() || first == '_' {
        match crate::render::wrap::width(cluster) {
            2.. => Class::Wide,
            _ => Class::Word,
        }
    } else {
        Class::Mark
    }
}

impl Text {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    #[must_use]
    pub fn caret(&self) -> usize {
        self.caret
    }

    /// The text before the caret.
    #[must_use]
    pub fn before(&self) -> &str {
        self.part(0..self.caret)
    }

    /// The text after the caret.
    #[must_use]
    pub fn after(&self) -> &str {
        self.part(self.caret..self.text.len())
    }

    /// A part of it; empty if the range is invalid.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// Moves the caret, to the next place between clusters.
    pub fn go(&mut self, at: usize) {
        self.caret = self.snap(at);
        self.last = Last::Other;
        self.goal = None;
    }

    fn snap(&self, at: usize) -> usize {
        let at = at.min(self.text.len());
        let at = (at..self.text.len())
            .find(|at| self.text.is_char_boundary(*at))
            .unwrap_or(self.text.len());
        let mut cursor = GraphemeCursor::new(at, self.text.len(), true);
        match cursor.is_boundary(&self.text, 0) {
            Ok(false) => self.next(at),
            _ => at,
        }
    }

    /// The end of the cluster at this place.
    #[must_use]
    pub fn next(&self, at: usize) -> usize {
        let mut cursor = GraphemeCursor::new(at.min(self.text.len()), self.text.len(), true);
        let next = cursor.next_boundary(&self.text, 0).ok().flatten();
        next.unwrap_or(self.text.len())
    }

    /// The start of the cluster before this place.
    #[must_use]
    pub fn previous(&self, at: usize) -> usize {
        let mut cursor = GraphemeCursor::new(at.min(self.text.len()), self.text.len(), true);
        let previous = cursor.prev_boundary(&self.text, 0).ok().flatten();
        previous.unwrap_or(0)
    }

    /// The cluster at this place; empty at the end.
    #[must_use]
    pub fn cluster(&self, at: usize) -> &str {
        let rest = self.part(at..self.text.len());
        rest.graphemes(true).next().unwrap_or_default()
    }

    /// The class of the cluster at this offset; the end counts as blank.
    #[must_use]
    pub fn class(&self, at: usize) -> Class {
        class(self.cluster(at))
    }

    #[must_use]
    pub fn line_start(&self, at: usize) -> usize {
        self.part(0..at).rfind('\n').map_or(0, |found| found + 1)
    }

    #[must_use]
    pub fn line_end(&self, at: usize) -> usize {
        let rest = self.part(at..self.text.len());
        rest.find('\n').map_or(self.text.len(), |found| at + found)
    }

    /// The start of the word before this place.
    #[must_use]
    pub fn word_left(&self, from: usize) -> usize {
        let mut at = from;
        while at > 0 && matches!(self.class(self.previous(at)), Class::Blank | Class::Mark) {
            at = self.previous(at);
        }
        if at == 0 {
            return at;
        }
        let class = self.class(self.previous(at));
        loop {
            at = self.previous(at);
            if at == 0 || class == Class::Chip || self.class(self.previous(at)) != class {
                return at;
            }
        }
    }

    /// The end of the word after this offset.
    #[must_use]
    pub fn word_right(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.text.len() && matches!(self.class(at), Class::Blank | Class::Mark) {
            at = self.next(at);
        }
        let class = self.class(at);
        while at < self.text.len() && self.class(at) == class {
            at = self.next(at);
            if class == Class::Chip {
                break;
            }
        }
        at
    }

    /// Replaces a part; the caret moves to its end.
    pub fn replace(&mut self, range: Range<usize>, with: &str) {
        self.change(range, with, Last::Other);
    }

    /// Puts text at the caret.
    pub fn insert(&mut self, text: &str) {
        self.change(self.caret..self.caret, text, Last::Other);
    }

    /// Puts a typed character at the caret: a word of them is undone as one.
    pub fn typed(&mut self, text: &str) {
        self.change(self.caret..self.caret, text, Last::Typed);
    }

    /// Deletes a part.
    pub fn delete(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.change(range, "", Last::Other);
        }
    }

    /// Deletes a part and keeps it for a yank. Consecutive deletions are yanked together.
    pub fn kill(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let part = self.part(range.clone()).to_owned();
        let front = range.start < self.caret;
        match (self.last == Last::Killed, front) {
            (true, true) => self.killed.insert_str(0, &part),
            (true, false) => self.killed.push_str(&part),
            (false, _) => self.killed = part,
        }
        self.change(range, "", Last::Killed);
    }

    /// The text that a yank inserts.
    #[must_use]
    pub fn killed(&self) -> &str {
        &self.killed
    }

    /// Keeps text for a yank.
    pub fn keep(&mut self, text: &str) {
        text.clone_into(&mut self.killed);
        self.last = Last::Other;
    }

    pub fn yank(&mut self) {
        let killed = self.killed.clone();
        self.insert(&killed);
    }

    /// Does what a key says that changes text or moves within it; false: it says something else.
    pub fn edit(&mut self, action: Action) -> bool {
        let at = self.caret;
        match action {
            Action::Left => self.go(self.previous(at)),
            Action::Right => self.go(self.next(at)),
            Action::WordLeft => self.go(self.word_left(at)),
            Action::WordRight => self.go(self.word_right(at)),
            Action::LineStart => self.go(self.line_start(at)),
            Action::LineEnd => self.go(self.line_end(at)),
            Action::DeleteBack => self.delete(self.previous(at)..at),
            Action::DeleteForward => self.delete(at..self.next(at)),
            Action::DeleteWordBack => self.kill(self.word_left(at)..at),
            Action::DeleteWordForward => self.kill(at..self.word_right(at)),
            Action::DeleteToStart => match self.line_start(at) {
                start if start == at => self.kill(self.previous(at)..at),
                start => self.kill(start..at),
            },
            Action::DeleteToEnd => match self.line_end(at) {
                end if end == at => self.kill(at..self.next(at)),
                end => self.kill(at..end),
            },
            Action::Yank => self.yank(),
            Action::Undo => {
                self.undo();
            }
            Action::Redo => {
                self.redo();
            }
            _ => return false,
        }
        true
    }

    /// Clears the text and its undo history. Deleted text can still be yanked.
    pub fn reset(&mut self) {
        *self = Self {
            killed: std::mem::take(&mut self.killed),
            ..Self::default()
        };
    }

    /// Goes back one change; whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(edit) = self.done.pop() else {
            return false;
        };
        let end = edit.at + edit.inserted.len();
        self.put(edit.at..end, &edit.removed);
        self.go(edit.before);
        self.undone.push(edit);
        true
    }

    /// Redoes an undone edit. Returns whether there was one.
    pub fn redo(&mut self) -> bool {
        let Some(edit) = self.undone.pop() else {
            return false;
        };
        let end = edit.at + edit.removed.len();
        self.put(edit.at..end, &edit.inserted);
        self.go(edit.after);
        self.done.push(edit);
        true
    }

    fn put(&mut self, range: Range<usize>, with: &str) {
        if self.text.get(range.clone()).is_some() {
            self.text.replace_range(range, with);
        }
    }

    /// The only way that the text changes, but for undo and redo.
    fn change(&mut self, range: Range<usize>, with: &str, kind: Last) {
        let Some(removed) = self.text.get(range.clone()).map(str::to_owned) else {
            return;
        };
        if removed == with {
            return self.go(range.end);
        }
        let (before, joins) = (self.caret, self.last == kind && kind == Last::Typed);
        self.text.replace_range(range.clone(), with);
        self.go(range.start + with.len());
        self.last = kind;
        self.undone.clear();
        let after = self.caret;
        if let Some(edit) = self.done.last_mut().filter(|_| joins && removed.is_empty())
            && edit.at + edit.inserted.len() == range.start
            && (!edit.inserted.ends_with(char::is_whitespace)
                || with.starts_with(char::is_whitespace))
        {
            edit.inserted.push_str(with);
            edit.after = after;
            return;
        }
        if self.done.len() >= UNDO_MAX {
            self.done.remove(0);
        }
        self.done.push(Edit {
            at: range.start,
            removed,
            inserted: with.to_owned(),
            before,
            after,
        });
    }
}

#[cfg(test)]
mod tests;
