//! Earlier prompts, and navigation through them.

use std::collections::VecDeque;

/// Entries at most.
pub const MAX: usize = 100;

/// A prompt reported by the session is searched among this many of the newest: it may be our own.
const RECENT: usize = 16;

/// Earlier prompts, newest last. They contain chips, as in the buffer.
#[derive(Debug, Default)]
pub struct History {
    entries: VecDeque<String>,
    /// The position in the history, and the draft from before the navigation.
    at: Option<(usize, Draft)>,
    earlier: EarlierSessions,
}

/// What is known of the prompts of earlier sessions.
#[derive(Debug, Default)]
enum EarlierSessions {
    #[default]
    Unread,
    /// They are asked for. Whether the key that did so found no older entry, over which text.
    Asked {
        sought_over: Option<String>,
    },
    Read,
}

/// A text and its caret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    pub text: String,
    pub caret: usize,
}

impl History {
    /// Ends the way through it.
    pub fn leave(&mut self) {
        self.at = None;
    }

    /// Ends the navigation. The draft comes back if the shown entry is unchanged; if it was edited, the draft becomes
    /// the newest entry.
    pub fn end(&mut self, shown: &str) -> Option<Draft> {
        let (at, draft) = self.at.take()?;
        if self.entries.get(at).is_some_and(|entry| entry == shown) {
            return Some(draft);
        }
        self.push(&draft.text);
        None
    }

    /// Adds the newest, unless it is what the newest was.
    pub fn push(&mut self, text: &str) {
        if text.trim().is_empty() || self.entries.back().is_some_and(|newest| newest == text) {
            return;
        }
        self.entries.push_back(text.to_owned());
        if self.entries.len() > MAX {
            self.entries.pop_front();
            if let Some((at, _)) = &mut self.at {
                *at = at.saturating_sub(1);
            }
        }
    }

    /// Whether one of the newest says the same. `expand`: pastes in their places.
    #[must_use]
    pub fn said(&self, text: &str, expand: impl Fn(&str) -> String) -> bool {
        let mut recent = self.entries.iter().rev().take(RECENT);
        recent.any(|entry| entry == text || expand(entry) == text)
    }

    /// The entry before; the draft is kept from the first step on.
    pub fn older(&mut self, draft: impl FnOnce() -> Draft) -> Option<&str> {
        let last = self.entries.len().checked_sub(1)?;
        let at = match &mut self.at {
            Some((at, _)) => {
                *at = at.checked_sub(1)?;
                *at
            }
            None => {
                self.at = Some((last, draft()));
                last
            }
        };
        self.entries.get(at).map(String::as_str)
    }

    /// The next newer entry, in the end the draft.
    pub fn newer(&mut self) -> Option<Draft> {
        let (at, _) = self.at.as_mut()?;
        *at += 1;
        match self.entries.get(*at) {
            Some(entry) => Some(Draft {
                caret: entry.len(),
                text: entry.clone(),
            }),
            None => self.at.take().map(|(_, draft)| draft),
        }
    }

    /// Whether the prompts of earlier sessions are to be asked for, as a key looks for an older entry for the first time.
    /// `sought_over`: the text on the screen, if there was none.
    pub fn asks(&mut self, sought_over: Option<&str>) -> bool {
        let is_unread = matches!(self.earlier, EarlierSessions::Unread);
        if is_unread {
            let sought_over = sought_over.map(str::to_owned);
            self.earlier = EarlierSessions::Asked { sought_over };
        }
        is_unread
    }

    /// The prompts of earlier sessions could not be read.
    pub fn not_read(&mut self) {
        self.earlier = EarlierSessions::Unread;
    }

    /// Puts the prompts of earlier sessions, oldest first, before all others. Returns whether a key looked for one of them
    /// over this text.
    pub fn put_earlier(&mut self, prompts: Vec<String>, shown: &str) -> bool {
        let before = std::mem::replace(&mut self.earlier, EarlierSessions::Read);
        for prompt in prompts.into_iter().rev() {
            if self.entries.len() >= MAX {
                break;
            }
            if !prompt.trim().is_empty() && !self.entries.contains(&prompt) {
                self.entries.push_front(prompt);
                if let Some((at, _)) = &mut self.at {
                    *at += 1;
                }
            }
        }
        matches!(before, EarlierSessions::Asked { sought_over: Some(text) } if text == shown)
    }

    /// Every text that it holds.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let draft = self.at.iter().map(|(_, draft)| draft.text.as_str());
        self.entries.iter().map(String::as_str).chain(draft)
    }
}
