//! Parameters and answers of `goal.*`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::{Budget, Dimension, Spent};
use crate::record::{ContinueReason, GoalContinued, GoalEnded, GoalReport};
use crate::words::words;
use crate::{GoalId, RequestId, Seq, Stamp};

/// Parameters of `goal.start`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GoalStartParams")]
pub struct StartParams {
    pub session: String,
    /// The goal, in words for the model.
    pub text: String,
    /// Number of turns after which it ends, 0: no limit; absent: the setting `goal.max_turns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// Commands that must succeed before it counts as complete, beside those of the setting `goal.check`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<String>,
    /// Whether it is long research, which keeps its state in a directory of the project; absent: its text decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub research: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `goal.start`: the goal is on disk, and the session works on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GoalStartOutput")]
pub struct StartOutput {
    pub goal: GoalId,
    /// Record of its start.
    pub seq: Seq,
    /// The directory with the state of its run, below the session's directory, if it is long research.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub research: Option<String>,
}

/// Parameters of `goal.change`. At least one limit is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GoalChangeParams")]
pub struct ChangeParams {
    pub session: String,
    /// Number of turns after which it ends, 0: no limit. If it has had so many, it ends after the running turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// Limits of its session, for the session's whole life. Those that are absent stay; 0 removes a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `goal.change`: the change is on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GoalChangeOutput")]
pub struct ChangeOutput {
    pub goal: GoalId,
    /// Number of its newest turn, from 1.
    pub turn: u64,
    /// 0: no limit.
    pub max_turns: u64,
    /// Limits of its session.
    pub budget: Budget,
    /// What the change led to.
    pub effect: ChangeEffect,
}

words! {
    /// What a change of a goal's limits led to.
    ChangeEffect {
        /// The goal goes on as before.
        Changed = "changed",
        /// It had ended at a limit, and is in progress again.
        Resumed = "resumed",
        /// It ends after the running turn, which is its last.
        LastTurn = "last_turn",
        /// It has ended: no turn was running.
        Ended = "ended",
    }
}

/// Parameters of `goal.stop`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GoalStopParams")]
pub struct StopParams {
    pub session: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `goal.stop`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GoalStopOutput")]
pub struct StopOutput {
    /// Whether a goal was in progress.
    pub stopped: bool,
}

/// A goal in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoalProgress {
    pub goal: GoalId,
    pub text: String,
    pub by: String,
    pub started_at: Stamp,
    /// Number of its newest turn, from 1; 0: none has started.
    pub turn: u64,
    /// 0: no limit.
    pub max_turns: u64,
    /// Limits of its session.
    #[serde(default)]
    pub budget: Budget,
    /// Commands that must succeed before it counts as complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<String>,
    /// The directory with the state of its run, below the session's directory, if it is long research.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub research: Option<String>,
    /// The newest turn that it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continued: Option<GoalContinued>,
    /// The model's newest report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<GoalReport>,
    /// Turns in a row without progress.
    pub stalled: u64,
    /// The newest check of a claim that it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<GoalChecked>,
    /// Usage since its start, with that of sub-agents that have ended.
    #[serde(default)]
    pub spent: Spent,
}

/// A check of a claim that a goal is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalChecked {
    pub at: Stamp,
    /// Everything held.
    pub passed: bool,
    /// What a refused claim lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// A goal in progress, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalLine {
    /// Its first line, at most 120 characters.
    pub text: String,
    /// Number of its newest turn, from 1; 0: none has started.
    pub turn: u64,
    /// 0: no limit.
    pub max_turns: u64,
    /// Why that turn started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<ContinueReason>,
    /// What that is about; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Number of commands that must succeed before it counts as complete.
    #[serde(default)]
    pub checks: u64,
    /// The newest check of a claim that it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<GoalChecked>,
    /// Usage since its start, with that of sub-agents that have ended.
    #[serde(default)]
    pub spent: Spent,
}

words! {
    /// A limit that a change of a goal can raise.
    GoalLimit {
        Turns = "turns",
        /// The others are of its session: dollars.
        Usd = "usd",
        Tokens = "tokens",
        /// Requests to the model.
        Steps = "steps",
        /// Minutes of running turns.
        Minutes = "minutes",
    }
}

impl GoalLimit {
    /// The option of the command line that raises it.
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Self::Turns => "--max-turns",
            Self::Usd => "--budget-usd",
            Self::Tokens => "--budget-tokens",
            Self::Steps => "--budget-steps",
            Self::Minutes => "--budget-minutes",
        }
    }
}

impl From<Dimension> for GoalLimit {
    fn from(dimension: Dimension) -> Self {
        match dimension {
            Dimension::Money => Self::Usd,
            Dimension::Tokens => Self::Tokens,
            Dimension::Steps => Self::Steps,
            Dimension::Time => Self::Minutes,
        }
    }
}

/// Answer of `goal.status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GoalStatusOutput")]
pub struct StatusOutput {
    /// The goal in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalProgress>,
    /// How the newest goal ended; absent while one is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<GoalEnded>,
    /// The limit at which the newest goal ended; absent: it ended otherwise, or at a budget of the day or the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<GoalLimit>,
    /// Text of the goal that ended.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ended_text: String,
}
