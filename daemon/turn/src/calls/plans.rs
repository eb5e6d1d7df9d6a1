//! Plans of the model: proposed to a person, answered once. A call that proposes one never runs.

use contract::Outcome;
use proto::item::ToolCall;
use proto::params::plan::Plan;
use proto::record::PlanResolved;
use proto::state::{Mode, State};
use proto::{Body, CallId, PlanId};

use crate::input::PlanAnswer;
use crate::machine::{Calls, Phase, Step};
use crate::words;

impl Step<'_> {
    /// Puts a plan to a person, where it is one of plan mode. `attended`: somebody is there, or may come.
    pub(super) fn propose(
        &mut self,
        calls: &mut Calls,
        call: &ToolCall,
        plan: String,
        shown_hash: String,
        attended: bool,
    ) {
        if self.facts.settings.mode != Mode::Plan {
            return self.close(calls, call, Outcome::refused(words::NO_PLAN_MODE), 0);
        }
        let (session, id) = self.next_question();
        let plan_id = PlanId(id);
        self.append(Body::PlanProposed(Plan {
            plan_id: plan_id.clone(),
            session,
            call: call.id.clone(),
            plan,
            shown_hash,
            asked_at: self.now.wall,
        }));
        if attended {
            let cause = format!("plan {plan_id}");
            self.state(State::Waiting, self.facts.waits_for_person(), &cause, None);
        } else {
            self.leave_plan(plan_id, call.id.clone(), true);
            self.close_what_cannot_run(calls);
        }
    }

    /// Nobody answers a plan: it is settled with no decision, in the daemon's name.
    pub(super) fn leave_plan(&mut self, plan_id: PlanId, call: CallId, unattended: bool) {
        self.append(Body::PlanResolved(PlanResolved {
            plan_id,
            call,
            decision: None,
            note: None,
            by: "reasonix".into(),
            unattended,
            request_id: None,
        }));
    }

    /// A person said yes or no to a plan, or nobody was there.
    pub(crate) fn plan_answered(&mut self, phase: Phase, answer: PlanAnswer) -> Phase {
        let Phase::Calls(mut calls) = phase else {
            return phase;
        };
        let Some(plan) = self.facts.plans.get(&answer.plan_id).cloned() else {
            return Phase::Calls(calls);
        };
        let by = answer.by.clone();
        self.append(Body::PlanResolved(PlanResolved {
            plan_id: answer.plan_id,
            call: plan.call,
            decision: answer.decision,
            note: answer.note,
            by: answer.by,
            unattended: answer.unattended,
            request_id: answer.request_id,
        }));
        self.answered_by(&by);
        self.close_what_cannot_run(&mut calls);
        self.proceed(calls)
    }
}
