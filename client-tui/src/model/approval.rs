//! A question about a call, or about a plan, while it is open on the screen, and which questions are not to come up by themselves.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use proto::params::interaction::{
    AnswerParams, Approval, ApprovalDecision, Interaction, InteractionAnswer, InteractionRequest,
    PlanDecision, Scope,
};
use proto::record::InteractionResolved;
use proto::{InteractionId, RequestId};
use ratatui::text::Line;

use super::Dialog;
use super::line::Input;
use crate::render::Made;

/// The question and what was chosen so far.
#[derive(Debug)]
pub struct ApprovalDialog {
    /// An approval, or a plan: answered with the same keys.
    pub interaction: Interaction,
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
    pub fn new(interaction: Interaction, now: Instant) -> Self {
        Self {
            interaction,
            since: now,
            drawn: false,
            scroll: 0,
            scope: 0,
            part: Part::Answer,
            body: Rows::default(),
        }
    }

    /// The call, where it is an approval.
    #[must_use]
    pub fn approval(&self) -> Option<&Approval> {
        match &self.interaction.request {
            InteractionRequest::Approval(approval) => Some(approval),
            InteractionRequest::Questions { .. } | InteractionRequest::Plan { .. } => None,
        }
    }

    /// How far a yes may reach.
    #[must_use]
    pub fn scopes(&self) -> &[Scope] {
        self.approval().map_or(&[], |approval| &approval.scopes)
    }

    /// What a decision is as an answer.
    #[must_use]
    pub fn answer(&self, decision: ApprovalDecision, note: Option<String>) -> InteractionAnswer {
        let scope = match decision {
            ApprovalDecision::AllowSession => self.chosen().cloned(),
            ApprovalDecision::AllowAlways => self.lasting().cloned(),
            ApprovalDecision::AllowOnce | ApprovalDecision::Deny => None,
        };
        match (&self.interaction.request, decision) {
            (InteractionRequest::Plan { .. }, ApprovalDecision::Deny) => InteractionAnswer::Plan {
                decision: PlanDecision::Reject,
                note,
            },
            (InteractionRequest::Plan { .. }, _) => InteractionAnswer::Plan {
                decision: PlanDecision::Approve,
                note,
            },
            (InteractionRequest::Approval(_) | InteractionRequest::Questions { .. }, decision) => {
                InteractionAnswer::Approval {
                    decision,
                    scope,
                    note,
                }
            }
        }
    }

    /// What a yes for the session takes; `None`: there is no such yes.
    #[must_use]
    pub fn chosen(&self) -> Option<&Scope> {
        self.scopes().get(self.scope)
    }

    /// What a yes for always takes: the chosen scope, or the first that may be kept. `None`: there is no such yes.
    #[must_use]
    pub fn lasting(&self) -> Option<&Scope> {
        let chosen = self.chosen().filter(|scope| scope.always);
        chosen.or_else(|| self.scopes().iter().find(|scope| scope.always))
    }
}

/// An interaction as it was shown: with other content it is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub id: InteractionId,
    pub shown_hash: String,
}

impl From<&Interaction> for Asked {
    fn from(interaction: &Interaction) -> Self {
        Self {
            id: interaction.interaction_id.clone(),
            shown_hash: interaction.shown_hash.clone(),
        }
    }
}

/// What is sent to answer an interaction.
#[must_use]
pub fn params(asked: &Asked, answer: InteractionAnswer) -> AnswerParams {
    AnswerParams {
        interaction_id: asked.id.clone(),
        shown_hash: asked.shown_hash.clone(),
        answer,
        request_id: Some(RequestId::new()),
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
    pub answered: Option<InteractionResolved>,
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
