//! Budgets that sessions share.

use proto::budget::Budget;

/// Limits on what all sessions together may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedBudgets {
    /// In a day, all sessions of the home.
    pub day: Budget,
    /// In a day, all sessions of one workspace root.
    pub project: Budget,
}
