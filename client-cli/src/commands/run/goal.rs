//! A run of a goal: its turns follow each other, and it is over when the goal is.

use proto::Body;
use proto::outcome::TurnLimit;
use proto::record::{GoalEnded, GoalOutcome};
use proto::state::State;

use super::code;
use super::report::Report;
use crate::exit;

/// How far the run is.
#[derive(Debug, Default)]
pub(super) struct GoalRun {
    /// The turn that runs.
    turn: Option<u64>,
    /// A turn has started since the goal was given.
    has_started: bool,
    /// The exit code of the newest turn.
    last: u8,
    /// The time limit ended that turn.
    out_of_time: bool,
    /// A restart waits: the session is not done with the newest turn.
    restarts: bool,
    /// The goal has ended while its turn runs or a restart waits, with this outcome.
    over: Option<GoalOutcome>,
}

/// What a record means for the run.
pub(super) enum GoalEvent {
    /// The run is over, with this code.
    Over(u8),
    Taken,
    Other,
}

impl GoalRun {
    /// Takes a record that came after the goal's start.
    pub(super) fn take(
        &mut self,
        body: &Body,
        turn: Option<u64>,
        report: &mut Report,
    ) -> GoalEvent {
        match body {
            Body::TurnStarted(_) => {
                self.turn = turn;
                self.has_started = true;
                self.restarts = false;
            }
            // That turn had begun before the goal.
            Body::TurnEnded(_) if !self.has_started => {}
            Body::TurnEnded(ended) => {
                self.turn = None;
                self.last = code(ended.exit_code());
                self.out_of_time = ended.limit() == Some(TurnLimit::Time);
                report.ended(ended.clone());
                if let Some(outcome) = self.over {
                    return GoalEvent::Over(self.code(outcome));
                }
            }
            Body::GoalEnded(ended) => return self.ended(ended, report),
            Body::SessionRestarted(_) => {
                self.restarts = true;
                report.restarted();
            }
            // Its turn ran out of time, and the goal has not ended: it is paused until a user adds time.
            Body::SessionState(state)
                if state.state == State::Idle && self.turn.is_none() && self.out_of_time =>
            {
                return GoalEvent::Over(self.last);
            }
            // The goal ended in the place of a restart, and its session stays.
            Body::SessionState(_) if self.turn.is_none() && self.over.is_some() => {
                let code = self.over.map(|outcome| self.code(outcome));
                return code.map_or(GoalEvent::Other, GoalEvent::Over);
            }
            Body::SessionExited(exited) => {
                report.exited(exited);
                return GoalEvent::Over(code(exited.exit_code));
            }
            _ => return GoalEvent::Other,
        }
        GoalEvent::Taken
    }

    /// Whether no turn has started since the goal was given. A turn that runs began before it.
    pub(super) fn waits(&self) -> bool {
        !self.has_started && self.over.is_none()
    }

    fn ended(&mut self, ended: &GoalEnded, report: &mut Report) -> GoalEvent {
        report.goal(ended);
        // After a restart that was taken back the session's exit says what ended it.
        if self.turn.is_some() || self.restarts {
            self.over = Some(ended.outcome);
            return GoalEvent::Taken;
        }
        GoalEvent::Over(self.code(ended.outcome))
    }

    /// The exit code of a goal that ended so (contract, chapter 80).
    fn code(&self, outcome: GoalOutcome) -> u8 {
        match (outcome, self.last) {
            (GoalOutcome::Complete, _) => 0,
            (GoalOutcome::Blocked, _) => 3,
            (GoalOutcome::OutOfBudget | GoalOutcome::OutOfTurns, _) => 2,
            (GoalOutcome::Failed, 0) => 1,
            (GoalOutcome::Stopped, 0) => exit::INTERRUPTED,
            // How the turn ended says how it failed, or what stopped it.
            (GoalOutcome::Failed | GoalOutcome::Stopped, last) => last,
        }
    }
}
