//! The keys of one session, in memory only.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use contract::Secret;

/// Keys by variable name, as clients brought them.
#[derive(Debug, Default)]
pub struct Keys(Mutex<BTreeMap<String, Secret>>);

impl Keys {
    /// Takes in what a client sends. An empty text is no key.
    pub fn put(&self, credentials: BTreeMap<String, String>) {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.extend(
            credentials
                .into_iter()
                .filter(|(_, key)| !key.trim().is_empty())
                .map(|(name, key)| (name, Secret::new(key))),
        );
    }

    /// Takes in what a client offers to every session: only what is missing, so that nobody's key is replaced.
    pub fn fill(&self, credentials: BTreeMap<String, String>) {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, key) in credentials
            .into_iter()
            .filter(|(_, key)| !key.trim().is_empty())
        {
            keys.entry(name).or_insert_with(|| Secret::new(key));
        }
    }

    /// The key that this variable held.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<Secret> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(variable)
            .cloned()
    }
}
