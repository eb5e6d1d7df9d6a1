//! What the commands of a session see of the environment of the client that made it.
//!
//! Values outside the allow-list stand nowhere but here, in memory: after a restart they are lost, and a client may
//! bring them again. A provider's key is never among them.

use std::collections::{BTreeMap, BTreeSet};

use proto::record::SessionCreated;

/// The environment of one session's commands. Has no `Debug`: values are not for logs.
pub struct Environment {
    /// As the log has it.
    logged: BTreeMap<String, String>,
    /// In memory only.
    hidden: BTreeMap<String, String>,
    /// Names whose values were lost.
    lost: BTreeSet<String>,
}

impl Environment {
    /// `values`: all that are known, less keys. `secret`: the variables of the providers' keys.
    pub fn new(
        created: &SessionCreated,
        values: BTreeMap<String, String>,
        secret: &[String],
    ) -> Self {
        let hidden: BTreeMap<_, _> = values
            .into_iter()
            .filter(|(name, _)| !created.env.contains_key(name) && !secret.contains(name))
            .collect();
        let lost = created.env_names.iter().filter(|name| {
            !hidden.contains_key(*name)
                && !created.env.contains_key(*name)
                && !secret.contains(name)
        });
        Self {
            lost: lost.cloned().collect(),
            logged: created.env.clone(),
            hidden,
        }
    }

    /// Takes in values that were lost; others are ignored. Whether anything came.
    pub fn fill(&mut self, values: BTreeMap<String, String>) -> bool {
        let before = self.lost.len();
        for (name, value) in values {
            if self.lost.remove(&name) {
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

    /// Names of variables whose values stand nowhere but here.
    pub fn hidden(&self) -> Vec<String> {
        self.hidden.keys().cloned().collect()
    }

    /// Values that stand nowhere but here, for a later life of the session in the same daemon.
    pub fn hidden_values(&self) -> &BTreeMap<String, String> {
        &self.hidden
    }

    /// Names of variables whose values are lost.
    pub fn lost(&self) -> Vec<String> {
        self.lost.iter().cloned().collect()
    }
}
