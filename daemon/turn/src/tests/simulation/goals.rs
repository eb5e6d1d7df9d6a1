//! Goals that start, stop and are reported about.

use contract::CallAction;
use proto::GoalId;
use proto::budget::Budget;
use proto::record::{GoalChanged, GoalCheck, GoalReport, GoalStarted, ReportStatus};

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
        if self.chance.once_in(2) && self.change_goal() {
            return;
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

    /// Changes the limits of the goal, if that is possible.
    fn change_goal(&mut self) -> bool {
        let max_turns = self.chance.below(5) as u64;
        let max_turns = self.chance.once_in(2).then_some(max_turns);
        let tokens = 1 + self.chance.below(100_000) as u64;
        let budget = max_turns.is_none().then(|| Budget {
            tokens: Some(tokens),
            ..Budget::default()
        });
        let facts = self.machine.facts();
        let Ok(resumed) = facts.check_goal_change(max_turns, budget) else {
            return false;
        };
        self.step(Input::ChangeGoal(Box::new(GoalChanged {
            goal: GoalId::default(),
            max_turns,
            budget,
            resumed,
            by: "ann".into(),
            request_id: None,
        })));
        true
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
