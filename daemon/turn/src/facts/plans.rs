//! Plans of the model, as a fold: proposed, answered; and what the session may do now.

use contract::EffectivePermissions;
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
    pub fn effective_permissions(&self) -> EffectivePermissions {
        EffectivePermissions {
            mode: self.options.mode.unwrap_or_default(),
            read_only: self.options.read_only.unwrap_or_default(),
            plan_approved: self.open.as_ref().is_some_and(|open| open.plan_approved),
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
            self.options.mode = Some(Mode::Normal);
            // The call's result says it.
            self.told.mode = Mode::Normal;
        }
        if resolved.unattended {
            let subject = contract::first_line(&plan.plan);
            self.nobody_there(&plan.call, &subject, words::PLAN_UNATTENDED);
        }
        let Some(open) = &mut self.open else { return };
        open.plan_approved |= by == Answerer::Person;
        if resolved.unattended {
            open.unapproved = Some(plan.plan.clone());
        }
        let words = words::plan_answered(resolved);
        open.stage(&plan.call, Stage::Answered { by, words });
    }
}
