//! Permission rules: which are in force, their verdict on a call, and whether they are as intended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::interaction::Scope;
use crate::Pid;
use crate::record::Verdict;
use crate::state::ApprovalMode;
use crate::words::words;

words! {
    /// List of a rule.
    #[schemars(rename = "RuleList")]
    List {
        Deny = "deny",
        Ask = "ask",
        Allow = "allow",
    }
}

/// Parameters of `rules.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RulesListParams")]
pub struct ListParams {
    /// Session: pid, id or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Without a session: those of a new session in this directory, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Number of rules to skip: `next` of the previous page.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub from: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Answer of `rules.list`: a page of the rules in force, those that deny first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RulesListOutput")]
pub struct ListOutput {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Pid>,
    /// The workspace's root.
    pub root: String,
    pub approval_mode: ApprovalMode,
    pub rules: Vec<InForce>,
    /// Invalid rules and problems of the files; on the first page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Start of the next page; absent: this is the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RuleInForce")]
pub struct InForce {
    pub list: List,
    pub rule: String,
    /// `user`, `project`, `persisted` (allowed always), `run` or `session`.
    pub layer: String,
    /// Origin of the rule: a file, or a session.
    pub origin: String,
    /// Why the rule may not have the intended effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

words! {
    /// Source of a revocable allow rule.
    #[schemars(rename = "RulePlace")]
    Place {
        /// Allowed for a session.
        Session = "session",
        /// Always allowed in this workspace.
        Persisted = "persisted",
        /// Your config.
        User = "user",
    }
}

/// Parameters of `rules.revoke`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RulesRevokeParams")]
pub struct RevokeParams {
    /// Rule, as `rules.list` shows it.
    pub rule: String,
    /// Also of this session, and of its workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Without a session: the workspace of this directory, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Source of the rule, if several have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// Answer of `rules.revoke`: the places it was removed from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RulesRevokeOutput")]
pub struct RevokeOutput {
    pub place: Place,
    pub origin: String,
}

/// Parameters of `rules.check`: some cases of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RulesCheckParams")]
pub struct CheckParams {
    pub cases: Vec<Value>,
}

/// Answer of `rules.check`, in the order of the cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RulesCheckOutput")]
pub struct CheckOutput {
    pub results: Vec<Checked>,
}

/// What a case came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RuleChecked")]
pub struct Checked {
    pub id: String,
    /// `allow`, `ask`, `deny`; `error` for an invalid case.
    pub verdict: String,
    /// Rule or other reason of the verdict; for `error`: the problem.
    pub rule: String,
    /// Whether the case accepts the verdict.
    pub ok: bool,
    /// An ordinary call that must be allowed.
    pub honest: bool,
    /// A call that must not be allowed.
    pub hostile: bool,
}

/// Parameters of `permission.explain`: a command, or a call of any tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Without a session: as in a new session in this directory, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Arguments of the tool.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// Judge under this approval mode [default: the current one].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_mode: Option<ApprovalMode>,
}

/// Answer of `permission.explain`: the verdict and its reasons. Nothing was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainOutput {
    pub tool: String,
    pub verdict: Verdict,
    /// Rule or other reason of the verdict.
    pub rule: String,
    /// Layer of that rule.
    pub layer: String,
    /// Kind of the reason: `rule`, `fallback`, `always_asked`, `not_understood`, `mode`.
    pub basis: String,
    pub approval_mode: ApprovalMode,
    /// Whether the call changes nothing.
    pub read_only: bool,
    /// Why a command line is not understood as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Commands or paths of the call, in order; at most 512.
    pub parts: Vec<ExplainedPart>,
    /// Scopes of an approval.
    pub scopes: Vec<Scope>,
}

/// Verdict about one command or path of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedPart {
    pub text: String,
    /// Position in the command line, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// How it is run, from the outside in: `subshell`, `launched by env`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// Why its commands are not known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    pub verdict: Verdict,
    pub rule: String,
    pub layer: String,
}
