//! Interactions: approvals and questions that wait for the user, and the answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elicitation::{Elicitation, ElicitationDecision};
use crate::item::{Display, ToolKind};
use crate::record::{Quarantined, ReviewVerdict};
use crate::words::words;
use crate::{CallId, InteractionId, Pid, RequestId, Stamp};

/// Something that waits for the user (`interaction.opened`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interaction {
    pub interaction_id: InteractionId,
    pub session: Pid,
    /// The call that waits for the answer.
    pub call: CallId,
    /// SHA-256 of the shown content. An answer must have it.
    pub shown_hash: String,
    pub opened_at: Stamp,
    pub request: InteractionRequest,
}

/// What the user is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "few wait at a time")]
pub enum InteractionRequest {
    /// May a call run?
    Approval(Approval),
    /// Questions of the model (the tool `ask`): 1 to 4, answered together.
    Questions { questions: Vec<Question> },
    /// A plan of the model in Markdown.
    Plan { plan: String },
    /// A question of an MCP server, while a call of one of its tools runs.
    Elicitation(Elicitation),
}

impl InteractionRequest {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> InteractionKind {
        match self {
            Self::Approval(_) => InteractionKind::Approval,
            Self::Questions { .. } => InteractionKind::Questions,
            Self::Plan { .. } => InteractionKind::Plan,
            Self::Elicitation(_) => InteractionKind::Elicitation,
        }
    }
}

words! {
    /// Kind of an interaction. If several are open, the session reports the first of these.
    InteractionKind {
        /// Approval of a tool call.
        Approval = "approval",
        /// Answers to questions of the model.
        Questions = "questions",
        /// Approval of a plan.
        Plan = "plan",
        /// Answer to a question of an MCP server.
        Elicitation = "elicitation",
    }
}

/// A call that runs only if the user allows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    pub tool: String,
    #[serde(default, skip_serializing_if = "ToolKind::is_other")]
    pub kind: ToolKind,
    /// Subject of the call: the whole command, or the path.
    pub subject: String,
    /// Preview: the diff, or the command with its parts.
    pub preview: Display,
    /// Reason for the question: a rule, or another reason.
    pub rule: String,
    /// Why the sandbox stopped the call, if it did; an approval then lets this call run once more, unsandboxed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escape: Option<String>,
    /// What the command made under protected names: an approval then puts it back, and runs nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<Quarantined>,
    /// If the call runs outside the sandbox: the programs that its command names, those that the session may change
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<NamedProgram>,
    /// If the call runs outside the sandbox: directories of `PATH` that the session may change. Its programs are not
    /// looked for there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The same was allowed just now, and is asked again: the session may change a program that it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// What the reviewer of risky calls said of it, if one looked at it and the user decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ApprovalReview>,
    /// Scopes of an answer, narrowest first.
    pub scopes: Vec<Scope>,
    /// Whether an answer may change the command (`subject`). Never for a run outside the sandbox,
    /// nor for what is put back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub editable: bool,
    /// If the call runs outside the sandbox and makes a work tree: the directory that the session may write in from then
    /// on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adds_dir: Option<String>,
    /// How many further calls of the same answer may need an approval: `deny_rest` answers for them too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub following: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The review of a call that the user decides about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalReview {
    pub verdict: ReviewVerdict,
    /// In the reviewer's words; of a failed review why it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A program that a command runs outside the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedProgram {
    /// As the command names it.
    pub name: String,
    /// The file, by its absolute path. Absent: the command decides it while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether the session may change that file, or what leads to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
}

/// How far a yes reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// Rule that this scope adds, for instance `Bash(cargo test:*)`.
    pub rule: String,
    /// In words.
    pub words: String,
    /// Whether it can be allowed always; not for calls that are never the same twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
}

impl Scope {
    /// Which of the offered scopes an answer leaves: the one that it names, else the first that fits. `None`: it leaves
    /// nothing, or names one that was not offered.
    #[must_use]
    pub fn chosen<'a>(
        offered: &'a [Self],
        decision: ApprovalDecision,
        named: Option<&Self>,
    ) -> Option<&'a Self> {
        let fits = |scope: &&Self| match decision {
            ApprovalDecision::AllowSession => true,
            ApprovalDecision::AllowAlways => scope.always,
            ApprovalDecision::AllowOnce | ApprovalDecision::Deny | ApprovalDecision::DenyRest => {
                false
            }
        };
        let named = |scope: &&Self| named.is_none_or(|named| named.rule == scope.rule);
        offered.iter().filter(fits).find(named)
    }
}

/// One question. Words of the user's own ("Other") are always a possible answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub question: String,
    /// Title, in a word or two.
    pub header: String,
    /// 2 to 4.
    pub options: Vec<Choice>,
    /// Whether several options can be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multi_select: bool,
}

/// One option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    pub label: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// The user's decision on an approval request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InteractionAnswer {
    Approval {
        decision: ApprovalDecision,
        /// With `allow_session` and `allow_always`: one of the offered scopes; absent: the first that fits. In a
        /// record: the rule that the answer adds, with `allow_session` for the session, with `allow_always` in the
        /// rules file of the workspace, on disk before the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<Scope>,
        /// With `deny` and `deny_rest`: words to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// With `allow_once`, if the request is `editable`: the command to run instead of the shown one. It is judged
        /// again: a deny rule refuses it, and what would ask about it takes this answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited_command: Option<String>,
    },
    Questions {
        /// One for each question, in their order.
        replies: Vec<Reply>,
    },
    Plan {
        decision: PlanDecision,
        /// Words to the model, with either decision.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    Elicitation {
        decision: ElicitationDecision,
        /// With `accept`: one for each field, in their order; an empty one leaves out a value that is not required.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        replies: Vec<Reply>,
    },
}

impl InteractionAnswer {
    /// The decision: its wire word and its name. Replies to questions have none.
    #[must_use]
    pub fn decision(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Approval {
                decision,
                edited_command: Some(_),
                ..
            } => Some((decision.as_str(), "allowed with a changed command")),
            Self::Approval { decision, .. } => Some((decision.as_str(), decision.called())),
            Self::Plan { decision, .. } => Some((decision.as_str(), decision.called())),
            Self::Elicitation { decision, .. } => Some((decision.as_str(), decision.called())),
            Self::Questions { .. } => None,
        }
    }
}

words! {
    /// The user's decision on an approval request.
    ApprovalDecision {
        AllowOnce = "allow_once",
        AllowSession = "allow_session",
        /// From now on, in every session of this workspace.
        AllowAlways = "allow_always",
        Deny = "deny",
        /// This call, and every other one of the same answer that would be asked about.
        DenyRest = "deny_rest",
    }
}

impl ApprovalDecision {
    /// Whether the call does not run.
    #[must_use]
    pub fn denies(self) -> bool {
        match self {
            Self::Deny | Self::DenyRest => true,
            Self::AllowOnce | Self::AllowSession | Self::AllowAlways => false,
        }
    }

    /// The decision in words.
    #[must_use]
    pub fn called(self) -> &'static str {
        match self {
            Self::AllowOnce => "allowed once",
            Self::AllowSession => "allowed for the session",
            Self::AllowAlways => "always allowed",
            Self::Deny => "denied",
            Self::DenyRest => "denied, with all calls of its answer that need approval",
        }
    }
}

words! {
    /// The user's decision on a plan.
    PlanDecision {
        /// Leave plan mode. Calls of this turn run without asking, except those that are denied or always asked about.
        Approve = "approve",
        /// Leave plan mode. The approval mode and the rules decide which calls are asked about.
        ApproveKeepAsking = "approve_keep_asking",
        /// Stay in plan mode.
        Reject = "reject",
    }
}

impl PlanDecision {
    /// Whether this decision approves the plan.
    #[must_use]
    pub fn approves(self) -> bool {
        match self {
            Self::Approve | Self::ApproveKeepAsking => true,
            Self::Reject => false,
        }
    }

    /// The decision in words.
    #[must_use]
    pub fn called(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::ApproveKeepAsking => "approved, keep asking",
            Self::Reject => "sent back",
        }
    }
}

/// What the user says to one question: options, words of their own, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// Labels of the chosen options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

/// Parameters of `interaction.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "InteractionListParams")]
pub struct ListParams {
    /// One session only; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Answer of `interaction.list`: oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "InteractionListOutput")]
pub struct ListOutput {
    pub interactions: Vec<Interaction>,
}

/// Parameters of `interaction.answer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "InteractionAnswerParams")]
pub struct AnswerParams {
    pub interaction_id: InteractionId,
    /// Hash of the shown content.
    pub shown_hash: String,
    pub answer: InteractionAnswer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
