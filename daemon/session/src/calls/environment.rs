//! What the commands of a session see of the environment of the client that made it.
//!
//! Values outside the allow-list are kept here only, in memory: after a restart they are lost, and a client may
//! bring them again. A provider's key is never among them.

use std::collections::{BTreeMap, BTreeSet};

use proto::record::SessionCreated;

use crate::assembly::environment_filter::EnvironmentFilter;

/// The environment of one session's commands. Has no `Debug`: values are not for logs.
pub struct Environment {
    /// As the log has it.
    logged: BTreeMap<String, String>,
    /// In memory only.
    hidden: BTreeMap<String, String>,
    /// Names whose values were lost.
    lost: BTreeSet<String>,
    /// Names that no command sees.
    held_back: BTreeSet<String>,
    /// What passes although it looks like a secret.
    pass: Vec<String>,
}

impl Environment {
    /// `values`: all that are known, less keys.
    pub fn new(
        created: &SessionCreated,
        values: BTreeMap<String, String>,
        filter: EnvironmentFilter<'_>,
    ) -> Self {
        // What may be held back changes with the config: a session lives longer than that.
        let (logged, mut held_back) = filter.split(&created.env);
        held_back.extend(created.env_held.iter().cloned());
        let hidden: BTreeMap<_, _> = values
            .into_iter()
            .filter(|(name, value)| {
                !created.env.contains_key(name) && !filter.withholds(name, value)
            })
            .collect();
        let lost = created.env_names.iter().filter(|name| {
            !hidden.contains_key(*name)
                && !created.env.contains_key(*name)
                && !filter.withholds(name, "")
        });
        Self {
            lost: lost.cloned().collect(),
            logged,
            hidden,
            held_back,
            pass: filter.pass.to_vec(),
        }
    }

    /// Takes in values that were lost; others are ignored, as is what carries a password and was not named to pass.
    /// Whether anything came.
    pub fn fill(&mut self, values: BTreeMap<String, String>) -> bool {
        let before = self.lost.len();
        for (name, value) in values {
            if !self.lost.remove(&name) {
                continue;
            }
            // Of these only the names were known.
            if proto::held_back(&name, &value, &[], &self.pass) {
                self.held_back.insert(name);
            } else {
                self.hidden.insert(name, value);
            }
        }
        self.lost.len() < before
    }

    /// Everything that commands see, by name.
    pub fn whole(&self) -> Vec<(String, String)> {
        let mut whole = self.logged.clone();
        whole.extend(self.hidden.clone());
        whole.into_iter().collect()
    }

    /// Variables with values that may be shown: the log has them.
    pub fn shown(&self) -> &BTreeMap<String, String> {
        &self.logged
    }

    /// Names of variables whose values are kept here only.
    pub fn hidden(&self) -> Vec<String> {
        self.hidden.keys().cloned().collect()
    }

    /// Values that are kept here only, for a later life of the session in the same daemon.
    pub fn hidden_values(&self) -> &BTreeMap<String, String> {
        &self.hidden
    }

    /// Names of variables that commands do not get.
    pub fn held_back(&self) -> Vec<String> {
        self.held_back.iter().cloned().collect()
    }

    /// Names of variables whose values are lost.
    pub fn lost(&self) -> Vec<String> {
        self.lost.iter().cloned().collect()
    }
}
