//! Answers of people to plans of the model.

use proto::params::{Empty, plan};
use proto::{ErrorName, Failure};
use turn::Input;
use turn::facts::content_of_plan;
use turn::input::PlanAnswer;

use crate::actor::Actor;
use crate::actor::inbox::Reply;
use crate::actor::replies::{answered_first, nothing_waits, refuse};

impl Actor {
    pub(crate) fn answer_plan(
        &mut self,
        params: plan::AnswerParams,
        by: String,
        reply: Reply<Empty>,
    ) {
        let content = content_of_plan(&params.plan_id, params.decision);
        let Some(reply) = self.unless_repeated(params.request_id, &content, reply) else {
            return;
        };
        if let Some(refusal) = self.refusal().or_else(|| self.plan_refusal(&params)) {
            return refuse(reply, refusal);
        }
        let seq = self.machine.facts().seq.next();
        self.step(Input::Plan(Box::new(PlanAnswer {
            plan_id: params.plan_id,
            decision: Some(params.decision),
            note: params.note.filter(|note| !note.trim().is_empty()),
            by,
            unattended: false,
            request_id: params.request_id,
        })));
        self.reply_when(seq, reply, Empty {});
    }

    fn plan_refusal(&self, params: &plan::AnswerParams) -> Option<Failure> {
        let facts = self.machine.facts();
        let Some(open) = facts.plans.get(&params.plan_id) else {
            let mut planned = facts.planned.iter();
            let first = planned.find(|(resolved, _)| resolved.plan_id == params.plan_id);
            return Some(match first {
                Some((resolved, at)) => {
                    let value = serde_json::to_value(resolved.decision).unwrap_or_default();
                    answered_first(&resolved.by, *at, Some((words(resolved.decision), value)))
                }
                None => nothing_waits("plan", &params.plan_id.0),
            });
        };
        (open.shown_hash != params.shown_hash).then(|| {
            Failure::new(
                ErrorName::Stale,
                "What was shown is not the plan that waits.",
                "Look at it again, and answer what you see.",
            )
        })
    }
}

fn words(decision: Option<plan::Decision>) -> &'static str {
    match decision {
        Some(plan::Decision::Approve) => "approved",
        Some(plan::Decision::Reject) => "sent back",
        None => "not answered in time",
    }
}
