//! Permission rules: which are in force, what they say of a call, and whether they say what they should.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::interaction::Scope;
use crate::Pid;
use crate::record::Verdict;
use crate::state::ApprovalMode;
use crate::words::words;

words! {
    /// In which list a rule stands.
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
    /// Those of this session: pid, id or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Without a session: those of a new session in this directory, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Rules that are passed over: where an earlier page ended.
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
    /// What is not understood, and what is wrong with the files; on the first page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Where the next page begins; absent: this is the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RuleInForce")]
pub struct InForce {
    pub list: List,
    pub rule: String,
    /// `user`, `project`, `kept` (allowed always), `run` or `session`.
    pub layer: String,
    /// Where it stands: a file, or which session.
    pub origin: String,
    /// Why it has not the effect that its author may think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

words! {
    /// Where a rule that allows can be taken back.
    #[schemars(rename = "RulePlace")]
    Place {
        /// Allowed in a session.
        Session = "session",
        /// Allowed always, in this workspace.
        Kept = "kept",
        /// The user's own config.
        User = "user",
    }
}

/// Parameters of `rules.revoke`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RulesRevokeParams")]
pub struct RevokeParams {
    /// The rule as `rules.list` has it.
    pub rule: String,
    /// Also of this session, and of its workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Without a session: the workspace of this directory, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Where it stands, if it stands in several places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// Answer of `rules.revoke`: where it was.
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
    /// `allow`, `ask`, `deny`; `error` where the case is none.
    pub verdict: String,
    /// The rule that decided, or what took its place; of an error, what is wrong with the case.
    pub rule: String,
    /// Whether the verdict is one that the case accepts.
    pub ok: bool,
    /// It is a call of daily work, that must be allowed.
    pub honest: bool,
    /// It is a call that must not be allowed.
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
    /// As if this approval mode were in force [default: the one that is, or would be].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_mode: Option<ApprovalMode>,
}

/// Answer of `permission.explain`: what would become of the call. Nothing was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainOutput {
    pub tool: String,
    pub verdict: Verdict,
    /// The rule that decides, or what takes its place.
    pub rule: String,
    /// Where that rule stands.
    pub layer: String,
    /// What kind of reason it is: `rule`, `fallback`, `always_asked`, `not_understood`,
    /// `mode` (what the session may do now).
    pub basis: String,
    pub approval_mode: ApprovalMode,
    /// Whether the call changes nothing.
    pub read_only: bool,
    /// Why a command line is not understood as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// The commands or paths of the call, in the order in which they stand; at most 512.
    pub parts: Vec<ExplainedPart>,
    /// What a yes to it could cover.
    pub scopes: Vec<Scope>,
}

/// One command or path of a call, judged by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedPart {
    pub text: String,
    /// Where in the command line it stands, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// How it is reached, from the line inwards: `subshell`, `launched by env`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// Why what it runs is not known before it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    pub verdict: Verdict,
    pub rule: String,
    pub layer: String,
}
