//! Records of a goal: it starts, its limits change, the model reports, it continues with another turn, it ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::words::words;
use crate::{CallId, GoalId, PromptId, RequestId};

/// `goal.started`: from here on the session continues by itself until the goal ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalStarted {
    pub goal: GoalId,
    pub text: String,
    /// Number of turns after which it ends; 0: no limit.
    pub max_turns: u64,
    /// The commands that must succeed before it counts as complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<GoalCheck>,
    /// Where the run keeps its state, if the goal is long research.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub research: Option<GoalResearch>,
    /// Name of the client that started it.
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// `goal.changed`: a user changes the limits of a goal. A change of the budget is also in the `session.set` before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalChanged {
    pub goal: GoalId,
    /// Number of turns after which it ends, 0: no limit; absent: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// The limits of its session that change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The goal as it goes on, if it had ended at a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<GoalResumed>,
    /// Name of the client that changed it.
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// A goal that had ended at a limit and is in progress again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalResumed {
    pub text: String,
    /// Number of turns that it has had.
    pub turns: u64,
    /// Number of turns after which it ends from now on; 0: no limit.
    pub max_turns: u64,
}

/// A run of long research.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalResearch {
    /// The directory with its state, below the session's directory.
    pub dir: String,
    /// An earlier run goes on in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resumed: bool,
}

/// The commands that check a goal, and the call that runs them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalCheck {
    pub commands: Vec<String>,
    /// The tool that runs them.
    pub tool: String,
    /// Its arguments, as JSON text.
    pub arguments: String,
}

words! {
    /// What the model reports about a goal.
    ReportStatus {
        /// Work is left to do.
        Continue = "continue",
        /// The goal is reached.
        Complete = "complete",
        /// Something is in the way.
        Blocked = "blocked",
    }
}

/// The model's report about a goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalReport {
    pub status: ReportStatus,
    /// What was done, or what is in the way.
    pub summary: String,
    /// What shows that the goal is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// `goal.reported`: the model's report, as the daemon took it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalReported {
    pub call: CallId,
    #[serde(flatten)]
    pub report: GoalReport,
    /// What a refused claim of completion lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The check commands decide: the same call runs them, and is its result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checking: bool,
}

words! {
    /// Why a goal continues with another turn.
    ContinueReason {
        /// It has just started.
        Started = "started",
        /// The model reported that work is left.
        Reported = "reported",
        /// The turn ended without a report.
        NoReport = "no_report",
        /// The model claimed completion, and something is missing.
        Refused = "refused",
        /// The model reported that it is blocked.
        Blocked = "blocked",
        /// Several turns made no progress.
        NoProgress = "no_progress",
        /// The turn reached its step limit.
        StepLimit = "step_limit",
        /// The daemon was restarted.
        Restarted = "restarted",
        /// A user raised the limit that had ended it.
        LimitRaised = "limit_raised",
        /// The turn failed, and the session's restart policy lets it go on.
        Failed = "failed",
    }
}

/// `goal.continued`: another turn starts, with this prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalContinued {
    pub prompt_id: PromptId,
    /// Number of the turn within the goal, from 1.
    pub number: u64,
    pub why: ContinueReason,
    /// What that is about, such as the reason of a block or what is missing; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Text of the prompt.
    pub text: String,
}

words! {
    /// How a goal ended.
    GoalOutcome {
        /// It is reached: the model reported so, and the daemon's checks hold.
        Complete = "complete",
        /// The model is blocked, or makes no progress.
        Blocked = "blocked",
        /// A user stopped it.
        Stopped = "stopped",
        /// A budget is used up.
        OutOfBudget = "out_of_budget",
        /// Its number of turns is used up.
        OutOfTurns = "out_of_turns",
        /// A turn failed.
        Failed = "failed",
    }
}

/// `goal.ended`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalEnded {
    pub goal: GoalId,
    pub outcome: GoalOutcome,
    /// Why, in words; of a complete goal the model's summary.
    pub reason: String,
    /// Number of its turns.
    pub turns: u64,
    /// Name of the client that stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
