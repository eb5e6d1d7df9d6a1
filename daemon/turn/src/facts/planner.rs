//! The planner, as a fold: which turn it plans, the plan that is still to be handed over, and what it is told of before.

use proto::record::{PlannerFinished, PlannerStarted, PlanningOutcome};

use super::Facts;

/// The planning of the open turn, as recorded in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Planning {
    /// There is none, or the model has the plan.
    #[default]
    None,
    /// The planner works with this model.
    Running { model: String },
    /// The plan is there; the model gets it with the next message.
    Due { plan: String },
}

/// What the planner of the next turn depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannerHistory {
    /// How many times a rewind changed the conversation. A new planner begins after each: the one before knows prompts
    /// that are hidden.
    pub round: u64,
    /// The last answer of the newest turn of this conversation; empty: there is none.
    pub last_answer: String,
}

impl Facts {
    pub(super) fn apply_planner_started(&mut self, started: &PlannerStarted) {
        if let Some(open) = &mut self.open {
            let model = started.model.clone();
            open.planning = Planning::Running { model };
        }
    }

    pub(super) fn apply_planner_finished(&mut self, finished: &PlannerFinished) {
        let number = finished.turn;
        let Some(open) = self.open.as_mut().filter(|open| open.number == number) else {
            return;
        };
        open.planning = match finished.outcome {
            PlanningOutcome::Planned => Planning::Due {
                plan: finished.plan.clone(),
            },
            PlanningOutcome::Failed | PlanningOutcome::Stopped => Planning::None,
        };
    }

    /// Whether the planner works on the open turn.
    #[must_use]
    pub fn is_planning(&self) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| matches!(open.planning, Planning::Running { .. }))
    }

    /// A rewind has changed the conversation.
    pub(super) fn begin_planner_round(&mut self) {
        self.planner.round += 1;
        self.planner.last_answer.clear();
    }
}
