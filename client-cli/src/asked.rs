//! What a person is asked: whether a call may run, what the model wants to know, whether its plan is good. The one place
//! for `run`, `attach` and `inbox`, which differ only in what is typed.

use client::{CallError, Client};
use proto::live::Sync;
use proto::methods::{ApprovalAnswer, PlanAnswer, QuestionAnswer};
use proto::params::approval::{self, Approval, Decision};
use proto::params::plan::{self, Plan};
use proto::params::question::{self, Reply};
use proto::{ApprovalId, Body, PlanId, QuestionId, RequestId};

use crate::pieces::{Piece, approval_pieces, plan_pieces, question_pieces};
use crate::reply::Replies;

/// Something that a person is asked.
#[derive(Clone)]
pub enum Asked {
    Approval(Approval),
    /// With what was answered of it here.
    Question(Replies),
    Plan(Plan),
}

/// Which of them. Each kind has numbers of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Id {
    Approval(ApprovalId),
    Question(QuestionId),
    Plan(PlanId),
}

impl Id {
    /// What a record closes.
    pub fn closed_by(body: &Body) -> Option<Self> {
        match body {
            Body::ApprovalResolved(resolved) => Some(Self::Approval(resolved.approval_id.clone())),
            Body::QuestionAnswered(answered) => Some(Self::Question(answered.question_id.clone())),
            Body::PlanResolved(resolved) => Some(Self::Plan(resolved.plan_id.clone())),
            _ => None,
        }
    }

    /// As a person writes it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Approval(id) => &id.0,
            Self::Question(id) => &id.0,
            Self::Plan(id) => &id.0,
        }
    }
}

impl Asked {
    /// What a record asks.
    pub fn by_record(body: &Body) -> Option<Self> {
        match body {
            Body::ApprovalRequested(approval) => Some(Self::Approval(approval.clone())),
            Body::QuestionAsked(question) => Some(Self::Question(Replies::new(question.clone()))),
            Body::PlanProposed(plan) => Some(Self::Plan(plan.clone())),
            _ => None,
        }
    }

    /// What is open where a replay ends.
    pub fn by_sync(sync: &Sync) -> Vec<Self> {
        let approvals = sync.pending.iter().cloned().map(Self::Approval);
        let questions = sync.questions.iter().cloned().map(Replies::new);
        let plans = sync.plans.iter().cloned().map(Self::Plan);
        approvals
            .chain(questions.map(Self::Question))
            .chain(plans)
            .collect()
    }

    pub fn id(&self) -> Id {
        match self {
            Self::Approval(approval) => Id::Approval(approval.approval_id.clone()),
            Self::Question(replies) => Id::Question(replies.question.question_id.clone()),
            Self::Plan(plan) => Id::Plan(plan.plan_id.clone()),
        }
    }

    /// All that a person must see to answer.
    pub fn pieces(&self) -> Vec<Piece> {
        match self {
            Self::Approval(approval) => approval_pieces(approval),
            Self::Question(replies) => question_pieces(&replies.question),
            Self::Plan(plan) => plan_pieces(&plan.plan_id.0, &plan.plan),
        }
    }

    /// The answer to a call or a plan. `None`: this is no answer to it; a plan is approved once.
    pub fn decided(&self, decision: Decision, note: Option<String>) -> Option<Answer> {
        let request_id = Some(RequestId::new());
        match self {
            Self::Approval(approval) => Some(Answer::Approval(approval::AnswerParams {
                approval_id: approval.approval_id.clone(),
                shown_hash: approval.shown_hash.clone(),
                decision,
                scope: None,
                note,
                request_id,
            })),
            Self::Plan(plan) => {
                let decision = match decision {
                    Decision::AllowOnce => plan::Decision::Approve,
                    Decision::Deny => plan::Decision::Reject,
                    Decision::AllowSession | Decision::AllowAlways => return None,
                };
                Some(Answer::Plan(plan::AnswerParams {
                    plan_id: plan.plan_id.clone(),
                    shown_hash: plan.shown_hash.clone(),
                    decision,
                    note,
                    request_id,
                }))
            }
            Self::Question(_) => None,
        }
    }
}

/// What is sent.
#[derive(Clone)]
pub enum Answer {
    Approval(approval::AnswerParams),
    Question(question::AnswerParams),
    Plan(plan::AnswerParams),
}

impl Answer {
    /// The replies to questions of the model.
    pub fn replies(question_id: QuestionId, replies: Vec<Reply>) -> Self {
        Self::Question(question::AnswerParams {
            question_id,
            replies,
            request_id: Some(RequestId::new()),
        })
    }

    /// Sends it.
    ///
    /// # Errors
    /// The daemon refuses, or is gone.
    pub async fn send(&self, client: &Client) -> Result<(), CallError> {
        match self {
            Self::Approval(params) => client.call::<ApprovalAnswer>(params).await.map(drop),
            Self::Question(params) => client.call::<QuestionAnswer>(params).await.map(drop),
            Self::Plan(params) => client.call::<PlanAnswer>(params).await.map(drop),
        }
    }
}
