//! What the person writes: text with a caret, its history, the menus of commands and files, what was pasted.

/// The composer.
#[derive(Debug, Default)]
pub struct Composer {
    text: String,
}

/// What was written, ready to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// With pasted texts in their places.
    pub text: String,
}

impl Composer {
    /// An empty one; `vim`: with vim's keys.
    #[must_use]
    pub fn new(vim: bool) -> Self {
        let _ = vim;
        Self::default()
    }

    /// Whether nothing is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes what is written, and remembers it in the history.
    pub fn take(&mut self) -> Draft {
        Draft {
            text: std::mem::take(&mut self.text),
        }
    }

    /// What is written, with pasted texts in their places.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.clone()
    }

    /// Puts text in place of what is written, the caret at its end.
    pub fn set(&mut self, text: &str) {
        text.clone_into(&mut self.text);
    }

    /// A prompt that was said before, here or elsewhere, for the history: the newest.
    pub fn remember(&mut self, text: &str) {
        let _ = text;
    }

    /// Switches vim's keys on or off.
    pub fn set_vim(&mut self, on: bool) {
        let _ = on;
    }
}
