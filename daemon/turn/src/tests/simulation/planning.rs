//! The planner of the simulation.

use contract::PlanRequest;
use proto::record::{PlannerFinished, PlanningOutcome};
use proto::{Body, Pid};

use super::Simulation;
use crate::Input;

impl Simulation {
    pub(super) fn planner_begins(&mut self, request: PlanRequest) {
        assert!(self.outside.planning.is_none(), "one planner at a time");
        let open = self.check.open.as_ref().expect("a turn is planned");
        assert_eq!(open.number, request.turn, "it is the open turn");
        assert!(!request.task.is_empty(), "the planner gets the prompt");
        self.outside.planning = Some(request);
    }

    /// The planner has a plan, or fails.
    pub(super) fn planner_ends(&mut self) {
        let request = self.outside.planning.take().expect("the planner works");
        let planned = self.peace || !self.planning.once_in(3);
        let finished = PlannerFinished {
            turn: request.turn,
            outcome: match planned {
                true => PlanningOutcome::Planned,
                false => PlanningOutcome::Failed,
            },
            session: None,
            pid: Some(Pid(99)),
            plan: if planned { "1. Look." } else { "" }.into(),
            why: (!planned).then(|| "it is down".into()),
            duration_ms: 1,
        };
        // One that is late is ignored.
        let late = PlannerFinished {
            turn: request.turn + 1,
            ..finished.clone()
        };
        let effects = self.machine.step(Input::Planned(Box::new(late)), self.now);
        assert_eq!(effects, [], "another turn's plan changes nothing");
        self.step(Input::Planned(Box::new(finished)));
        let last = self.log.iter().rev().find_map(|record| match &record.body {
            Body::PlannerFinished(finished) => Some(finished.turn),
            _ => None,
        });
        assert_eq!(last, Some(request.turn), "the end of the planner is logged");
    }
}
