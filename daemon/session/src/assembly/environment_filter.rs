//! Which variables of a client's environment commands do not get.

use std::collections::{BTreeMap, BTreeSet};

/// Decides which variables commands do not get: one rule for every session, whatever its log says.
#[derive(Clone, Copy)]
pub struct EnvironmentFilter<'a> {
    /// The variables of the providers' keys.
    pub keys: &'a [String],
    /// What passes although it looks like a secret.
    pub pass: &'a [String],
}

impl EnvironmentFilter<'_> {
    /// Whether commands do not get this variable. Pass an empty value if it is not known.
    pub fn withholds(&self, name: &str, value: &str) -> bool {
        proto::held_back(name, value, self.keys, self.pass)
    }

    /// The variables that commands get, and the names of the others.
    pub fn split(
        &self,
        values: &BTreeMap<String, String>,
    ) -> (BTreeMap<String, String>, BTreeSet<String>) {
        let (held, kept): (BTreeMap<_, _>, BTreeMap<_, _>) = values
            .clone()
            .into_iter()
            .partition(|(name, value)| self.withholds(name, value));
        (kept, held.into_keys().collect())
    }
}
