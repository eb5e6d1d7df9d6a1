//! A question about a call, or about a plan, while it is open on the screen, and which questions are not to come up by themselves.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use proto::item::{Display, ToolKind};
use proto::params::approval::{Approval, Scope};
use proto::params::plan::Plan;
use proto::params::question::Question;
use proto::record::{ApprovalResolved, PlanResolved, QuestionAnswered};
use proto::{ApprovalId, Body, PlanId, QuestionId, Stamp};
use ratatui::text::Line;

use super::Dialog;
use super::line::Input;
use crate::render::Made;

/// The question and what was chosen so far.
#[derive(Debug)]
pub struct ApprovalDialog {
    /// Of a plan: what of it there is of an approval; it has no scopes.
    pub approval: Approval,
    /// What a yes lets run is not a call, but this plan.
    pub plan: Option<Plan>,
    /// When it came to the screen, or a key was pressed last that was not for it: keys soon after it do not count.
    pub since: Instant,
    /// It was drawn: the moment is that of the screen, before it that of its coming.
    pub drawn: bool,
    /// Rows of what would happen that are above what is shown.
    pub scroll: usize,
    /// Which of the scopes a yes that reaches further takes.
    pub scope: usize,
    pub part: Part,
    /// What would happen, in rows: drawing and scrolling both need them.
    pub body: Rows,
}

/// Rows as they were made last, and how: those of a long diff take longer than a key may.
#[derive(Debug, Default)]
pub struct Rows(RefCell<Option<(Made, Rc<Vec<Line<'static>>>)>>);

impl Rows {
    /// The rows, made where they are not there as they would be made now.
    pub fn rows(
        &self,
        made: Made,
        make: impl FnOnce() -> Vec<Line<'static>>,
    ) -> Rc<Vec<Line<'static>>> {
        let before = self.0.borrow().clone();
        if let Some((_, rows)) = before.filter(|(before, _)| *before == made) {
            return rows;
        }
        let rows = Rc::new(make());
        *self.0.borrow_mut() = Some((made, rows.clone()));
        rows
    }
}

/// What the keys are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// The answer.
    #[default]
    Answer,
    /// The list of scopes, with the marked one.
    Scopes(usize),
    /// The note that goes with a no.
    Note(Input),
}

impl ApprovalDialog {
    /// The question as it is asked.
    #[must_use]
    pub fn new(approval: Approval, now: Instant) -> Self {
        Self {
            approval,
            plan: None,
            since: now,
            drawn: false,
            scroll: 0,
            scope: 0,
            part: Part::Answer,
            body: Rows::default(),
        }
    }

    /// A plan as it is put: answered with the same keys, and guarded as every approval is.
    #[must_use]
    pub fn of_plan(plan: Plan, now: Instant) -> Self {
        let approval = Approval {
            approval_id: ApprovalId(plan.plan_id.0.clone()),
            session: plan.session,
            call: plan.call.clone(),
            tool: String::new(),
            kind: ToolKind::Plan,
            subject: String::new(),
            preview: Display::Line {
                text: String::new(),
            },
            rule: String::new(),
            escape: None,
            scopes: Vec::new(),
            shown_hash: plan.shown_hash.clone(),
            asked_at: plan.asked_at,
        };
        Self {
            plan: Some(plan),
            ..Self::new(approval, now)
        }
    }

    /// What is asked.
    #[must_use]
    pub fn asked(&self) -> Asked {
        match &self.plan {
            Some(plan) => Asked::plan(plan),
            None => Asked::approval(&self.approval),
        }
    }

    /// What a yes for the session takes; `None`: there is no such yes.
    #[must_use]
    pub fn chosen(&self) -> Option<&Scope> {
        self.approval.scopes.get(self.scope)
    }

    /// What a yes for always takes: the chosen scope, or the first that may be kept. `None`: there is no such yes.
    #[must_use]
    pub fn lasting(&self) -> Option<&Scope> {
        let chosen = self.chosen().filter(|scope| scope.always);
        chosen.or_else(|| self.approval.scopes.iter().find(|scope| scope.always))
    }
}

/// A question as it was shown: with other content it is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    Approval { id: ApprovalId, shown_hash: String },
    Question(QuestionId),
    Plan { id: PlanId, shown_hash: String },
}

impl Asked {
    /// About a call.
    #[must_use]
    pub fn approval(approval: &Approval) -> Self {
        Self::Approval {
            id: approval.approval_id.clone(),
            shown_hash: approval.shown_hash.clone(),
        }
    }

    /// About a plan.
    #[must_use]
    pub fn plan(plan: &Plan) -> Self {
        Self::Plan {
            id: plan.plan_id.clone(),
            shown_hash: plan.shown_hash.clone(),
        }
    }

    /// Of the model.
    #[must_use]
    pub fn question(question: &Question) -> Self {
        Self::Question(question.question_id.clone())
    }
}

/// What a session asks a person, oldest first.
#[derive(Debug, Default)]
pub struct Open {
    /// About calls.
    pub approvals: Vec<Approval>,
    /// Of the model.
    pub questions: Vec<Question>,
    pub plans: Vec<Plan>,
}

impl Open {
    /// Takes a record; what it answers.
    pub fn fold(&mut self, body: &Body) -> Option<Answered> {
        match body {
            Body::ApprovalRequested(approval) => self.approvals.push(approval.clone()),
            Body::QuestionAsked(question) => self.questions.push(question.clone()),
            Body::PlanProposed(plan) => self.plans.push(plan.clone()),
            Body::ApprovalResolved(resolved) => {
                let id = &resolved.approval_id;
                self.approvals.retain(|open| open.approval_id != *id);
                return Some(Answered::Approval(resolved.clone()));
            }
            Body::QuestionAnswered(answered) => {
                let id = &answered.question_id;
                self.questions.retain(|open| open.question_id != *id);
                return Some(Answered::Question(answered.clone()));
            }
            Body::PlanResolved(resolved) => {
                self.plans.retain(|open| open.plan_id != resolved.plan_id);
                return Some(Answered::Plan(resolved.clone()));
            }
            _ => {}
        }
        None
    }

    /// All of it, oldest first.
    #[must_use]
    pub fn all(&self) -> Vec<(Stamp, Asked)> {
        let approvals = self.approvals.iter();
        let approvals = approvals.map(|open| (open.asked_at, Asked::approval(open)));
        let questions = self.questions.iter();
        let questions = questions.map(|open| (open.asked_at, Asked::question(open)));
        let plans = self.plans.iter();
        let plans = plans.map(|open| (open.asked_at, Asked::plan(open)));
        let mut all: Vec<_> = approvals.chain(questions).chain(plans).collect();
        all.sort_by_key(|(at, _)| *at);
        all
    }
}

/// What became here of the questions of a session.
#[derive(Debug, Default)]
pub struct Asking {
    /// They come up again only when they are asked for.
    pub aside: Vec<Asked>,
    /// What was chosen and written of them so far.
    pub kept: Vec<(Asked, Dialog)>,
    /// Answered from here; the daemon has not told of it yet.
    pub sent: Vec<Asked>,
    /// What was answered last, and by whom, until it has been told.
    pub answered: Option<Answered>,
}

/// An answer that the session tells of.
#[derive(Debug)]
pub enum Answered {
    Approval(ApprovalResolved),
    Question(QuestionAnswered),
    Plan(PlanResolved),
}

impl Asking {
    /// Whether it may come up by itself.
    #[must_use]
    pub fn comes_up(&self, asked: &Asked) -> bool {
        !self.aside.contains(asked) && !self.sent.contains(asked)
    }
}

#[cfg(test)]
pub mod scene;
