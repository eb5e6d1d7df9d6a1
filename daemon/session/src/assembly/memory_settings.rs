//! What the settings say of memory.

/// `[memory]` of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySettings {
    /// Whether sessions have the facts of earlier ones: their lines in the prefix, and the tools for them.
    pub enabled: bool,
    /// Whether facts that fit a message come with it.
    pub recall: bool,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            enabled: true,
            recall: false,
        }
    }
}
