//! Plans of the model that wait for a person (the tool `exit_plan_mode`), and their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallId, Pid, PlanId, RequestId, Stamp};

/// A call of `exit_plan_mode` that waits for a person. (`plan.proposed`)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    pub plan_id: PlanId,
    pub session: Pid,
    pub call: CallId,
    /// What the model wants to do, in Markdown.
    pub plan: String,
    /// SHA-256 over what is shown. An answer must carry it.
    pub shown_hash: String,
    pub asked_at: Stamp,
}

/// What a person says to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PlanDecision")]
pub enum Decision {
    /// Plan mode ends, and until the turn does its calls run unasked, but for those that are denied or always asked.
    Approve,
    /// The model goes on planning.
    Reject,
}

/// Parameters of `plan.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PlanListParams")]
pub struct ListParams {
    /// One session only; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Answer of `plan.list`: oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PlanListOutput")]
pub struct ListOutput {
    pub plans: Vec<Plan>,
}

/// Parameters of `plan.answer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PlanAnswerParams")]
pub struct AnswerParams {
    pub plan_id: PlanId,
    /// The hash of what was shown.
    pub shown_hash: String,
    pub decision: Decision,
    /// Words to the model, with either answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
