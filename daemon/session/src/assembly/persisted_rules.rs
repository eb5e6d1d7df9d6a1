//! Rules that users always allow: kept for a workspace, beyond any session. The assembly decides where.

use std::sync::Arc;

use proto::record::Rules;
use proto::{ErrorName, Failure};

/// The rules of one workspace. Shared by all its sessions: a rule that one adds counts at once in all.
pub trait PersistedRules: Send + Sync {
    /// The rules in force, with a number that changes whenever they do. Never waits for a disk.
    fn in_force(&self) -> (u64, Arc<Rules>);

    /// Allows what this rule matches, from now on. On disk when it returns; one that is there already is no error.
    /// Blocks.
    ///
    /// # Errors
    /// It cannot be written; then nothing is changed.
    fn keep(&self, rule: &str) -> Result<(), Failure>;

    /// Problems of the kept rules.
    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    /// The file that contains them, for people.
    fn origin(&self) -> String;
}

/// In an assembly that keeps nothing.
pub(crate) struct Nothing;

impl PersistedRules for Nothing {
    fn in_force(&self) -> (u64, Arc<Rules>) {
        (0, Arc::default())
    }

    fn keep(&self, _rule: &str) -> Result<(), Failure> {
        Err(Failure::new(
            ErrorName::NotAllowed,
            "Rules cannot be saved beyond the session here.",
            "Allow it for the session instead.",
        ))
    }

    fn origin(&self) -> String {
        String::new()
    }
}
