//! Interactions: what waits for the user, and the user's answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::item::{Display, ToolKind};
use crate::words::words;
use crate::{CallId, InteractionId, Pid, RequestId, Stamp};

/// Something that waits for the user (`interaction.opened`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interaction {
    pub interaction_id: InteractionId,
    pub session: Pid,
    /// The call that waits for the answer.
    pub call: CallId,
    /// SHA-256 over what is shown. An answer must carry it.
    pub shown_hash: String,
    pub opened_at: Stamp,
    pub request: InteractionRequest,
}

/// What the user is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InteractionRequest {
    /// May a call run?
    Approval(Approval),
    /// Questions of the model (the tool `ask`): 1 to 4, answered together.
    Questions { questions: Vec<Question> },
    /// A plan of the model in Markdown.
    Plan { plan: String },
}

impl InteractionRequest {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> InteractionKind {
        match self {
            Self::Approval(_) => InteractionKind::Approval,
            Self::Questions { .. } => InteractionKind::Questions,
            Self::Plan { .. } => InteractionKind::Plan,
        }
    }
}

words! {
    /// A kind of interaction. If several are open, a session reports the first of these that is open.
    InteractionKind {
        /// The user's yes or no to a tool call.
        Approval = "approval",
        /// The user's answers to questions of the model.
        Questions = "questions",
        /// The user's yes or no to a plan of the model.
        Plan = "plan",
    }
}

/// A call that runs only if the user allows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
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
        decision: ApprovalDecision,
        named: Option<&Self>,
    ) -> Option<&'a Self> {
        let fits = |scope: &&Self| match decision {
            ApprovalDecision::AllowSession => true,
            ApprovalDecision::AllowAlways => scope.always,
            ApprovalDecision::AllowOnce | ApprovalDecision::Deny => false,
        };
        let named = |scope: &&Self| named.is_none_or(|named| named.rule == scope.rule);
        offered.iter().filter(fits).find(named)
    }
}

/// One question. Words of the user's own ("Other") are always a possible answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub question: String,
    /// What it is about, in a word or two.
    pub header: String,
    /// 2 to 4.
    pub options: Vec<Choice>,
    /// Whether several options may be chosen.
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

/// What the user says to an interaction. Its kind is that of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InteractionAnswer {
    Approval {
        decision: ApprovalDecision,
        /// With `allow_session` and `allow_always`: one of the scopes that were offered; absent: the first, or the first
        /// that may be allowed always. In a record: the rule that the answer leaves, with `allow_session` for the rest of
        /// the session, with `allow_always` in the file of what is kept for the workspace, on disk before the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<Scope>,
        /// With `deny`: words to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
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
}

impl InteractionAnswer {
    /// The decision: the word of the wire, and what it is called. Replies to questions are none.
    #[must_use]
    pub fn decision(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Approval { decision, .. } => Some((decision.as_str(), decision.called())),
            Self::Plan { decision, .. } => Some((decision.as_str(), decision.called())),
            Self::Questions { .. } => None,
        }
    }
}

words! {
    /// What the user says to an approval.
    ApprovalDecision {
        AllowOnce = "allow_once",
        AllowSession = "allow_session",
        /// From now on, in every session of this workspace.
        AllowAlways = "allow_always",
        Deny = "deny",
    }
}

impl ApprovalDecision {
    /// What was decided.
    #[must_use]
    pub fn called(self) -> &'static str {
        match self {
            Self::AllowOnce => "allowed once",
            Self::AllowSession => "allowed for the session",
            Self::AllowAlways => "always allowed",
            Self::Deny => "denied",
        }
    }
}

words! {
    /// What the user says to a plan.
    PlanDecision {
        /// Plan mode ends, and until the turn does its calls run unasked, but for those that are denied or always asked.
        Approve = "approve",
        /// The model goes on planning.
        Reject = "reject",
    }
}

impl PlanDecision {
    /// What was decided.
    #[must_use]
    pub fn called(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Reject => "sent back",
        }
    }
}

/// What the user says to one question: options, words of their own, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// Labels of the options that were chosen.
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
    /// The hash of what was shown.
    pub shown_hash: String,
    pub answer: InteractionAnswer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
