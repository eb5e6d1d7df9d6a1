//! Plans of the model, as a fold: proposed, answered; and what the session may do now.

use contract::Stance;
use proto::Record;
use proto::params::plan::{Decision, Plan};
use proto::record::PlanResolved;
use proto::state::Mode;

use super::content::content_of_plan;
use super::open::{Answerer, Stage};
use super::{Facts, asked};
use crate::words;

impl Facts {
    /// What the session may do now, whatever rules say.
    #[must_use]
    pub fn stance(&self) -> Stance {
        Stance {
            mode: self.settings.mode,
            read_only: self.settings.read_only,
            window: self.open.as_ref().is_some_and(|open| open.window),
        }
    }

    pub(super) fn apply_proposed(&mut self, plan: &Plan) {
        self.questions += 1;
        self.plans.insert(plan.plan_id.clone(), plan.clone());
        if let Some(open) = &mut self.open {
            open.ask(&plan.call, Stage::Proposed(plan.plan_id.clone()));
        }
    }

    pub(super) fn apply_plan_resolved(&mut self, resolved: &PlanResolved, record: &Record) {
        if !resolved.unattended {
            self.clear_circles();
        }
        // What was never proposed (in an edited log) says nothing, and allows nothing.
        if let Some(plan) = self.plans.remove(&resolved.plan_id) {
            self.take_answer(&plan, resolved);
        }
        self.remember(
            resolved.request_id,
            record,
            resolved.decision.map_or_else(String::new, |decision| {
                content_of_plan(&resolved.plan_id, decision)
            }),
            None,
        );
        self.planned.push_back((resolved.clone(), record.at));
        if self.planned.len() > asked::RESOLVED_KEPT {
            self.planned.pop_front();
        }
    }

    fn take_answer(&mut self, plan: &Plan, resolved: &PlanResolved) {
        let by = match (resolved.decision, resolved.unattended) {
            (Some(Decision::Approve), _) => Answerer::Person,
            (Some(Decision::Reject), _) | (None, true) => Answerer::No,
            (None, false) => Answerer::Daemon,
        };
        if by == Answerer::Person {
            self.settings.mode = Mode::Normal;
            // The call's result says it.
            self.told.mode = Mode::Normal;
        }
        if resolved.unattended {
            let subject = contract::first_line(&plan.plan);
            self.nobody_there(&plan.call, &subject, words::PLAN_UNATTENDED);
        }
        let Some(open) = &mut self.open else { return };
        open.window |= by == Answerer::Person;
        if resolved.unattended {
            open.unapproved = Some(plan.plan.clone());
        }
        let words = words::plan_answered(resolved);
        open.stage(&plan.call, Stage::Answered { by, words });
    }
}
