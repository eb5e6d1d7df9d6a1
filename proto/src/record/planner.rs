//! Records of the planner: the session that plans the work of a turn before the model of this session does it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{Pid, SessionId};

/// `planner.started`: the planner works on the prompt of the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannerStarted {
    /// Model that plans, as the options of the session name it.
    pub model: String,
}

words! {
    /// How the planning of a turn ended.
    PlanningOutcome {
        /// There is a plan; the model of the session gets it.
        Planned = "planned",
        /// There is none; the model of the session works without one.
        Failed = "failed",
        /// The turn was stopped before there was one.
        Stopped = "stopped",
    }
}

/// `planner.finished`: the planning of the turn has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannerFinished {
    /// Number of the turn.
    pub turn: u64,
    pub outcome: PlanningOutcome,
    /// The planner's session; absent: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<Pid>,
    /// The plan, as the model of the session gets it. Empty: there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plan: String,
    /// Why there is no plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    pub duration_ms: u64,
}
