//! Goals that start, stop and are reported about.

use contract::CallAction;
use proto::GoalId;
use proto::record::{GoalCheck, GoalReport, GoalStarted, ReportStatus};

use super::Simulation;
use crate::Input;

impl Simulation {
    pub(super) fn goal(&mut self) {
        if self.chance.once_in(3) {
            return self.step(Input::StopGoal {
                by: "ann".into(),
                request_id: None,
                partial: None,
            });
        }
        let check = self.chance.once_in(2).then(|| GoalCheck {
            commands: vec!["make test".into()],
            tool: "write".into(),
            arguments: "{}".into(),
        });
        let max_turns = 1 + self.chance.below(4) as u64;
        self.step(Input::StartGoal(Box::new(GoalStarted {
            goal: GoalId::new(),
            text: "it works".into(),
            max_turns,
            check,
            research: None,
            by: "ann".into(),
            request_id: None,
        })));
    }

    pub(super) fn report(&mut self) -> CallAction {
        CallAction::ReportGoal(GoalReport {
            status: self.chance.one_of(&ReportStatus::ALL),
            summary: self.chance.one_of(&["no key", "No  key!", "done"]).into(),
            evidence: self.chance.once_in(2).then(|| "seen".into()),
            next: None,
        })
    }
}
