//! Open questions about tool calls, and their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::item::{Display, ToolKind};
use crate::{ApprovalId, CallId, Pid, RequestId, Stamp};

/// A question to a person: may this call run? (`approval.requested`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    pub approval_id: ApprovalId,
    pub session: Pid,
    pub call: CallId,
    pub tool: String,
    #[serde(default, skip_serializing_if = "ToolKind::is_other")]
    pub kind: ToolKind,
    /// What it wants to work on: the whole command, or the path.
    pub subject: String,
    /// What would happen: the diff, the command with its parts.
    pub preview: Display,
    /// Why it is asked: the rule, or what took its place.
    pub rule: String,
    /// Why the sandbox stopped the call, where it did: a yes then lets this one call run once more, outside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escape: Option<String>,
    /// What an answer may cover, narrowest first.
    pub scopes: Vec<Scope>,
    /// SHA-256 over what is shown (tool, subject, arguments, preview). An answer must carry it.
    pub shown_hash: String,
    pub asked_at: Stamp,
}

/// How far a yes reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// The rule that it leaves, for instance `Bash(cargo test:*)`.
    pub rule: String,
    /// The same in words.
    pub words: String,
    /// Whether it may be allowed always: calls that are never the same twice may not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
}

impl Scope {
    /// Which of the offered scopes an answer leaves: the one that it names, else the first that fits. `None`: it leaves
    /// nothing, or names one that was not offered.
    #[must_use]
    pub fn chosen<'a>(
        offered: &'a [Self],
        decision: Decision,
        named: Option<&Self>,
    ) -> Option<&'a Self> {
        let fits = |scope: &&Self| match decision {
            Decision::AllowSession => true,
            Decision::AllowAlways => scope.always,
            Decision::AllowOnce | Decision::Deny => false,
        };
        let named = |scope: &&Self| named.is_none_or(|named| named.rule == scope.rule);
        offered.iter().filter(fits).find(named)
    }
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    AllowOnce,
    AllowSession,
    /// From now on, in every session of this workspace.
    AllowAlways,
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
    /// With `allow_session` and `allow_always`: one of the scopes that were offered; absent: the first, or the first that
    /// may be allowed always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// With `deny`: words to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
