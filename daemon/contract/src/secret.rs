//! A text that never shows itself.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A key or token. Has neither `Display` nor `Serialize`; its `Debug` prints `***`.
///
/// As long as one is held anywhere, [`crate::scrub`] knows its text and blots it out of what leaves the process.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

/// The texts of all secrets that are held now, each once.
static HELD: Mutex<Vec<Weak<str>>> = Mutex::new(Vec::new());

impl Secret {
    /// Takes a text as secret from here on.
    #[must_use]
    pub fn new(text: String) -> Self {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|other| other.strong_count() > 0);
        let same = held
            .iter()
            .filter_map(Weak::upgrade)
            .find(|other| **other == *text);
        let text = same.unwrap_or_else(|| {
            let text: Arc<str> = text.into();
            held.push(Arc::downgrade(&text));
            text
        });
        Self(text)
    }

    /// The text itself: only for the header or field that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// All that are held now.
    pub(crate) fn held() -> Vec<Self> {
        let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.iter().filter_map(Weak::upgrade).map(Self).collect()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}
