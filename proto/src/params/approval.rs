//! Open questions about tool calls, and their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::item::Display;
use crate::{ApprovalId, CallId, Pid, RequestId, Stamp};

/// A question to a person: may this call run? (`approval.requested`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    pub approval_id: ApprovalId,
    pub session: Pid,
    pub call: CallId,
    pub tool: String,
    /// What it wants to work on: the whole command, or the path.
    pub subject: String,
    /// What would happen: the diff, the command with its parts.
    pub preview: Display,
    /// Why it is asked: the rule, or what took its place.
    pub rule: String,
    /// What an answer may cover, narrowest first.
    pub scopes: Vec<Scope>,
    /// SHA-256 over what is shown (tool, subject, arguments, preview). An answer must carry it.
    pub shown_hash: String,
    pub asked_at: Stamp,
}

/// How far a yes reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// The rule that it leaves in the session, for instance `Bash(cargo test:*)`.
    pub rule: String,
    /// The same in words.
    pub words: String,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    AllowOnce,
    AllowSession,
    Deny,
}

/// Parameters of `approval.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ApprovalListParams")]
pub struct ListParams {
    /// One session only; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Answer of `approval.list`: oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ApprovalListOutput")]
pub struct ListOutput {
    pub approvals: Vec<Approval>,
}

/// Parameters of `approval.answer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerParams {
    pub approval_id: ApprovalId,
    /// The hash of what was shown.
    pub shown_hash: String,
    pub decision: Decision,
    /// With `allow_session`: one of the scopes that were offered; absent: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// With `deny`: words to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
