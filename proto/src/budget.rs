//! Budgets: what a session, a project or a day may use of money, tokens, steps and time, and its usage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outcome::UsageTotals;
use crate::words::words;

/// Limits. In each member 0 means none; absent means none too, and in a change that it stays as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Tokens of prompts (cached or not) and answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Requests to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Milliseconds of running turns, without pauses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

/// One of the things that a budget bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    Money,
    Tokens,
    Steps,
    Time,
}

impl Dimension {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Money, Self::Tokens, Self::Steps, Self::Time];
}

impl Budget {
    /// The limit of this; `None`: there is none.
    #[must_use]
    pub fn limit(&self, dimension: Dimension) -> Option<u64> {
        let limit = match dimension {
            Dimension::Money => self.cost_micros,
            Dimension::Tokens => self.tokens,
            Dimension::Steps => self.steps,
            Dimension::Time => self.ms,
        };
        limit.filter(|limit| *limit > 0)
    }

    /// Whether nothing is bounded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        Dimension::ALL
            .iter()
            .all(|dimension| self.limit(*dimension).is_none())
    }

    /// These limits, with those that the change names in their places.
    #[must_use]
    pub fn changed_by(&self, change: &Self) -> Self {
        Self {
            cost_micros: change.cost_micros.or(self.cost_micros),
            tokens: change.tokens.or(self.tokens),
            steps: change.steps.or(self.steps),
            ms: change.ms.or(self.ms),
        }
    }

    /// Without limits of 0.
    #[must_use]
    pub fn without_zeros(&self) -> Self {
        Self {
            cost_micros: self.limit(Dimension::Money),
            tokens: self.limit(Dimension::Tokens),
            steps: self.limit(Dimension::Steps),
            ms: self.limit(Dimension::Time),
        }
    }
}

/// Usage so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Cost in millionths of a US dollar, of the requests with a known price.
    pub cost_micros: u64,
    pub tokens: u64,
    pub steps: u64,
    /// Milliseconds of running turns; only for a session.
    pub ms: u64,
    /// Requests without a known price; they count in no sum and toward no limit.
    #[serde(default)]
    pub unpriced: u64,
}

impl From<&UsageTotals> for Spent {
    /// Without time, which requests do not have.
    fn from(usage: &UsageTotals) -> Self {
        Self {
            cost_micros: usage.cost_micros,
            tokens: usage.prompt_tokens.saturating_add(usage.output_tokens),
            steps: usage.requests,
            ms: 0,
            unpriced: usage.unknown_cost_calls,
        }
    }
}

impl Spent {
    /// How much of this.
    #[must_use]
    pub fn of(&self, dimension: Dimension) -> u64 {
        match dimension {
            Dimension::Money => self.cost_micros,
            Dimension::Tokens => self.tokens,
            Dimension::Steps => self.steps,
            Dimension::Time => self.ms,
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, more: &Self) -> Self {
        Self {
            cost_micros: self.cost_micros.saturating_add(more.cost_micros),
            tokens: self.tokens.saturating_add(more.tokens),
            steps: self.steps.saturating_add(more.steps),
            ms: self.ms.saturating_add(more.ms),
            unpriced: self.unpriced.saturating_add(more.unpriced),
        }
    }

    /// What is left of it without what was used `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            cost_micros: self.cost_micros.saturating_sub(before.cost_micros),
            tokens: self.tokens.saturating_sub(before.tokens),
            steps: self.steps.saturating_sub(before.steps),
            ms: self.ms.saturating_sub(before.ms),
            unpriced: self.unpriced.saturating_sub(before.unpriced),
        }
    }
}

words! {
    /// Scope of a budget.
    BudgetNodeKind {
        /// All sessions of the home, since midnight of the daemon's clock.
        Day = "day",
        /// All sessions of a workspace root, since the same midnight.
        Project = "project",
        /// One session, in total.
        Session = "session",
    }
}

/// A node of the budget tree, as people look at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetNode {
    pub kind: BudgetNodeKind,
    /// The day (`2026-08-01`), the project's root, or the session's pid.
    pub name: String,
    /// Absent members: no limit.
    pub limit: Budget,
    pub spent: Spent,
    /// Remainder of each limit.
    pub rest: Budget,
}
