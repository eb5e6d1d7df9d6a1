//! Plans of the model, answered by `/approve` and `/deny`.

use proto::RequestId;
use proto::hello::Role;
use proto::methods::PlanAnswer;
use proto::params::plan::{AnswerParams, Decision, Plan};

use super::Attached;
use crate::exit::Error;
use crate::output;
use crate::pieces::plan_pieces;

impl Attached {
    /// The open plans as they are now; those that the replay did not show are shown. True: there was one.
    pub(super) fn open_plans(&mut self, open: &[Plan]) -> Result<bool, Error> {
        let known = std::mem::replace(&mut self.plans, open.to_vec());
        let mut new = false;
        for plan in open {
            if known.iter().all(|known| known.plan_id != plan.plan_id) {
                new = true;
                for piece in plan_pieces(&plan.plan_id.0, &plan.plan) {
                    output::part(&self.painter.paint(&piece))?;
                }
                self.how_to_approve()?;
            }
        }
        Ok(new)
    }

    /// How a plan is answered, for who may.
    pub(super) fn how_to_approve(&mut self) -> Result<(), Error> {
        if self.role < Role::Approve {
            return Ok(());
        }
        self.note("`/approve` has it carried out; `/deny` and words of your own have the model go on planning")
    }

    /// The plan of this id; without an id: the oldest, where no call waits for an answer.
    pub(super) fn plan_meant(&self, id: Option<&str>) -> Option<Plan> {
        match id {
            Some(id) => self.plans.iter().find(|open| open.plan_id.0 == id).cloned(),
            None if self.pending.is_empty() => self.plans.first().cloned(),
            None => None,
        }
    }

    pub(super) async fn answer_plan(
        &mut self,
        plan: Plan,
        decision: Decision,
        note: Option<String>,
    ) -> Result<(), Error> {
        let params = AnswerParams {
            plan_id: plan.plan_id,
            shown_hash: plan.shown_hash,
            decision,
            note,
            request_id: Some(RequestId::new()),
        };
        self.client.call::<PlanAnswer>(&params).await?;
        Ok(())
    }
}
