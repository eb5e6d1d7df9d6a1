//! Goals: decides after each turn whether the session continues by itself, and why, or how its goal ends.
//!
//! The decision is a pure function of the facts, [`next_after_turn`]. The first matching row decides:
//!
//! | the turn | next |
//! |---|---|
//! | was the goal's last, and then a user raised the limit | continues: the limit was raised |
//! | completion was claimed and holds | ends, complete |
//! | was cut off by the end of the daemon, and was the last of the allowed turns | ends, out of turns |
//! | was cut off by the end of the daemon | continues: the daemon was restarted |
//! | was interrupted, killed or out of time (asked in a headless session only: elsewhere the goal is paused) | ends, stopped |
//! | was out of budget | ends, out of budget |
//! | failed, or the context is full, and the session was restarted (`supervision`) | continues: the last turn failed |
//! | failed, or the context is full | ends, failed |
//! | was blocked (a denied approval, a loop, a hook) | ends, blocked |
//! | reported the same block as two turns before it | ends, blocked |
//! | made no progress, after the reminder about that | ends, blocked |
//! | was the last of the allowed turns | ends, out of turns |
//! | is the eighth in a row without progress | continues, with that reminder |
//! | claimed completion, and something is missing | continues, with what is missing |
//! | reported a block | continues: look for another way |
//! | reached its step limit | continues |
//! | made no report | continues, with a reminder |
//! | reported that work is left | continues |
//!
//! `steps` makes records of it, `facts::goal` folds them, `words` has the texts for the model.

use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::record::{ContinueReason, GoalOutcome, GoalReport, ReportStatus};

use crate::facts::Goal;

mod block_reason;
pub(crate) mod change;
mod steps;
pub(crate) mod words;

pub(crate) use block_reason::normalise;

/// A goal ends if the model reports the same block this many times.
const SAME_BLOCK: u32 = 3;

/// After this many turns in a row without progress the model is reminded once.
const STALLED: u64 = 8;

/// What happens to a goal after a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GoalStep {
    Continue {
        why: ContinueReason,
        detail: String,
    },
    End {
        outcome: GoalOutcome,
        reason: String,
    },
}

/// Decides what happens to a goal. `ended`: the newest turn under it; `None`: it has had none. See the table above.
pub(crate) fn next_after_turn(goal: &Goal, ended: Option<&TurnEnded>) -> GoalStep {
    let Some(ended) = ended else {
        return go_on(ContinueReason::Started, "");
    };
    if goal.resumed {
        return go_on(ContinueReason::LimitRaised, "");
    }
    let turn = &goal.turn;
    let report = turn.report.as_ref();
    if let Some(report) = report.filter(|_| turn.accepted) {
        return end(GoalOutcome::Complete, &report.summary);
    }
    if let Some(step) = next_after_unfinished(goal, ended) {
        return step;
    }
    if let Some(step) = end_without_progress(goal, report) {
        return step;
    }
    if goal.stalled >= STALLED {
        return go_on(
            ContinueReason::NoProgress,
            &words::no_progress(goal.stalled),
        );
    }
    match report.map(|report| report.status) {
        _ if !turn.missing.is_empty() => go_on(ContinueReason::Refused, &turn.missing.join("; ")),
        Some(ReportStatus::Blocked) => {
            let reason = report.map_or("", |report| &report.summary);
            go_on(ContinueReason::Blocked, reason)
        }
        _ if ended.outcome == OutcomeKind::MaxSteps => go_on(ContinueReason::StepLimit, ""),
        None => go_on(ContinueReason::NoReport, ""),
        Some(ReportStatus::Continue | ReportStatus::Complete) => {
            let next = report.and_then(|report| report.next.as_deref());
            go_on(ContinueReason::Reported, next.unwrap_or_default())
        }
    }
}

/// The rows for a turn that something else than the model ended; `None`: the model ended it, or its step limit did.
fn next_after_unfinished(goal: &Goal, ended: &TurnEnded) -> Option<GoalStep> {
    let error = ended.error.as_ref();
    let failure = || error.map_or(words::TURN_FAILED, |error| &error.message);
    let out_of_turns = goal.is_out_of_turns(goal.max_turns);
    let restarted = goal.turn.restarted;
    Some(match (ended.outcome, ended.reason) {
        (OutcomeKind::Interrupted, Some(Reason::Shutdown)) if out_of_turns => {
            end(GoalOutcome::OutOfTurns, &words::out_of_turns(goal.turns))
        }
        (OutcomeKind::Interrupted, Some(Reason::Shutdown)) => go_on(ContinueReason::Restarted, ""),
        (OutcomeKind::Interrupted, Some(Reason::Timeout)) => {
            end(GoalOutcome::Stopped, words::OUT_OF_TIME)
        }
        (OutcomeKind::Interrupted | OutcomeKind::Killed, _) => {
            end(GoalOutcome::Stopped, words::INTERRUPTED)
        }
        (OutcomeKind::BudgetExceeded, _) => end(GoalOutcome::OutOfBudget, words::OUT_OF_BUDGET),
        (OutcomeKind::Failed | OutcomeKind::ContextFull, _) if restarted && out_of_turns => {
            end(GoalOutcome::OutOfTurns, &words::out_of_turns(goal.turns))
        }
        (OutcomeKind::Failed | OutcomeKind::ContextFull, _) if restarted => {
            go_on(ContinueReason::Failed, failure())
        }
        (OutcomeKind::Failed, _) => end(GoalOutcome::Failed, failure()),
        (OutcomeKind::ContextFull, _) => end(GoalOutcome::Failed, words::CONTEXT_FULL),
        (OutcomeKind::Blocked, Some(Reason::Denied)) => end(GoalOutcome::Blocked, words::DENIED),
        (OutcomeKind::Blocked, _) => end(GoalOutcome::Blocked, words::TURN_BLOCKED),
        (OutcomeKind::Completed | OutcomeKind::MaxSteps, _) => return None,
    })
}

/// The rows that end a goal that does not advance, or has had its turns.
fn end_without_progress(goal: &Goal, report: Option<&GoalReport>) -> Option<GoalStep> {
    let blocked = report.filter(|report| report.status == ReportStatus::Blocked);
    if let Some(report) = blocked
        && goal.times_blocked(&report.summary) >= SAME_BLOCK
    {
        return Some(end(GoalOutcome::Blocked, &report.summary));
    }
    if goal.stall_reminded && goal.stalled > 0 {
        let reason = words::no_progress(goal.stalled);
        return Some(end(GoalOutcome::Blocked, &reason));
    }
    let is_last = goal.is_out_of_turns(goal.max_turns);
    is_last.then(|| end(GoalOutcome::OutOfTurns, &words::out_of_turns(goal.turns)))
}

fn go_on(why: ContinueReason, detail: &str) -> GoalStep {
    GoalStep::Continue {
        why,
        detail: detail.to_owned(),
    }
}

fn end(outcome: GoalOutcome, reason: &str) -> GoalStep {
    GoalStep::End {
        outcome,
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests;
