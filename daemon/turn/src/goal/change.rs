//! A change of a goal's limits while it runs, or after one of them has ended it.
//!
//! | the goal | the change | then |
//! |---|---|---|
//! | in progress, no turn runs | leaves no turn | ends, out of turns |
//! | in progress | any other | goes on; after each turn the new limits decide |
//! | ended with the newest turn, out of turns | leaves a turn | goes on |
//! | ended with the newest turn, out of budget | leaves something of each limit of the session | goes on |
//! | ended otherwise, or a turn has started since | any | refused |

use proto::budget::{Budget, Dimension};
use proto::params::goal::GoalLimit;
use proto::record::{GoalChanged, GoalOutcome, GoalResumed, Level, SessionSet};
use proto::{Body, SessionOptions};

use crate::facts::{Facts, Goal};
use crate::machine::{Phase, Step};

use super::words;

/// Why the limits of a goal cannot be changed so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalChangeRefusal {
    /// There is no goal, and there was none.
    NoGoal,
    /// The goal has ended, and not at a limit.
    Ended,
    /// It has ended at a limit, and the session has done something else since.
    Superseded,
    /// It has ended after so many turns, and may have no more.
    OutOfTurns { turns: u64 },
    /// This limit of the session leaves nothing.
    OutOfBudget { dimension: Dimension },
}

impl Facts {
    /// The goal as a change of these limits resumes it, if it has ended at one.
    ///
    /// # Errors
    /// There is no goal that could be changed so.
    pub fn check_goal_change(
        &self,
        max_turns: Option<u64>,
        budget: Option<Budget>,
    ) -> Result<Option<GoalResumed>, GoalChangeRefusal> {
        if self.goal.is_some() {
            return Ok(None);
        }
        let last = self.last_goal.as_ref();
        let last = last.ok_or(GoalChangeRefusal::NoGoal)?;
        let outcome = last.ended.outcome;
        let at_limit = matches!(outcome, GoalOutcome::OutOfTurns | GoalOutcome::OutOfBudget);
        let goal = last.goal.as_ref().filter(|_| at_limit);
        let goal = goal.ok_or(GoalChangeRefusal::Ended)?;
        if !last.newest {
            return Err(GoalChangeRefusal::Superseded);
        }
        let max_turns = max_turns.unwrap_or(goal.max_turns);
        if goal.is_out_of_turns(max_turns) {
            return Err(GoalChangeRefusal::OutOfTurns { turns: goal.turns });
        }
        let limits = self.options.budget.unwrap_or_default();
        match self.spent_limit(&limits.changed_by(&budget.unwrap_or_default())) {
            Some(dimension) => Err(GoalChangeRefusal::OutOfBudget { dimension }),
            None => Ok(Some(GoalResumed {
                text: goal.text.clone(),
                turns: goal.turns,
                max_turns,
            })),
        }
    }

    /// The limit at which a goal ends or has ended so; `None`: at none, or at one that is not the goal's to change, as a
    /// budget of the day.
    pub(crate) fn goal_limit(&self, outcome: GoalOutcome) -> Option<GoalLimit> {
        let limits = self.options.budget.unwrap_or_default();
        match outcome {
            GoalOutcome::OutOfTurns => Some(GoalLimit::Turns),
            GoalOutcome::OutOfBudget => self.spent_limit(&limits).map(GoalLimit::from),
            GoalOutcome::Complete
            | GoalOutcome::Blocked
            | GoalOutcome::Stopped
            | GoalOutcome::Failed => None,
        }
    }

    /// The first of these limits of the session that leaves nothing.
    fn spent_limit(&self, limits: &Budget) -> Option<Dimension> {
        let used = self.used();
        let is_spent = |dimension: &Dimension| {
            let limit = limits.limit(*dimension);
            limit.is_some_and(|limit| used.of(*dimension) >= limit)
        };
        Dimension::ALL.into_iter().find(is_spent)
    }
}

impl Goal {
    /// Whether it has had all the turns that this limit allows.
    pub(crate) fn is_out_of_turns(&self, max_turns: u64) -> bool {
        max_turns > 0 && self.turns >= max_turns
    }
}

impl Step<'_> {
    /// Changes the limits of the goal. `changed.resumed`: as [`Facts::check_goal_change`] said.
    pub(crate) fn change_goal(&mut self, phase: Phase, changed: GoalChanged) -> Phase {
        if let Some(budget) = changed.budget {
            let options = SessionOptions {
                budget: Some(budget),
                ..SessionOptions::default()
            };
            self.append(Body::SessionSet(SessionSet {
                options,
                by: Some(changed.by.clone()),
                ..SessionSet::default()
            }));
        }
        let resumed = changed.resumed.is_some();
        self.append(Body::GoalChanged(changed));
        match phase {
            Phase::Idle if resumed => {
                self.hold.rests = false;
                self.continue_idle(None)
            }
            Phase::Idle => self.end_goal_without_turns(),
            Phase::Asking(_)
            | Phase::Compacting(_)
            | Phase::Planning
            | Phase::Calls(_)
            | Phase::Held
            | Phase::Rewinding { .. }
            | Phase::Stopping { .. }
            | Phase::Ending { .. } => phase,
        }
    }

    /// Notifies users that a limit ends the goal, and of how it goes on.
    pub(super) fn report_goal_limit(&mut self, outcome: GoalOutcome) {
        let Some(pid) = self.facts.created.as_ref().map(|created| created.pid) else {
            return;
        };
        let words = match self.facts.goal_limit(outcome) {
            Some(limit) => words::at_limit(pid, limit.option()),
            None if outcome == GoalOutcome::OutOfBudget => {
                let goal = self.facts.goal.as_ref();
                words::at_day_budget(pid, goal.map_or(0, |goal| goal.max_turns))
            }
            None => return,
        };
        self.notice(Level::Warning, words);
    }

    /// Ends the goal if it may have no other turn. No turn is open.
    fn end_goal_without_turns(&mut self) -> Phase {
        let goal = self.facts.goal.as_ref();
        let Some(turns) = goal
            .filter(|goal| goal.is_out_of_turns(goal.max_turns))
            .map(|goal| goal.turns)
        else {
            return Phase::Idle;
        };
        let reason = words::out_of_turns(turns);
        self.report_goal_limit(GoalOutcome::OutOfTurns);
        self.end_goal(GoalOutcome::OutOfTurns, &reason, None, None);
        self.continue_idle(None)
    }
}
