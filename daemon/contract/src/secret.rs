//! A text that never shows itself.

/// A key or token. Has neither `Display` nor `Serialize`; its `Debug` prints `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a text as secret from here on.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself: only for the header or field that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}
