//! While you were away: what happened since the last person left, in a few lines. Pure.

use proto::live::{Away, Snapshot};
use proto::outcome::{OutcomeKind, UsageTotals};
use proto::params::session::SessionSummary;
use proto::state::{State, WaitingFor};

use crate::messages::Thing;
use crate::messages::talk::Msg;
use crate::output;

/// Files that are named; of more there is only the number.
const FILES: usize = 5;

/// Two to five lines; none if nothing happened.
pub fn lines(snapshot: &Snapshot) -> Vec<String> {
    let Some(away) = &snapshot.away else {
        return Vec::new();
    };
    let mut lines = vec![say!(Msg::WhileAway, output::ago(away.since), turns(away))];
    lines.extend(files(&away.files));
    lines.extend(took(away));
    lines.push(waits(&snapshot.session, snapshot.queue.len()));
    lines
}

fn turns(away: &Away) -> String {
    let ended = away.outcome.map(ended);
    match (away.turns, ended) {
        (0, _) => say!(Msg::NoTurnEnded).to_owned(),
        (1, Some(ended)) => say!(Msg::OneTurnWhich, ended),
        (1, None) => say!(Msg::OneTurn).to_owned(),
        (count, Some(ended)) => say!(Msg::TurnsLast, count, ended),
        (count, None) => say!(Msg::Turns, count),
    }
}

fn ended(outcome: OutcomeKind) -> &'static str {
    match outcome {
        OutcomeKind::Completed => say!(Msg::WasCompleted),
        OutcomeKind::Failed => say!(Msg::HasFailed),
        OutcomeKind::Interrupted => say!(Msg::WasInterrupted),
        OutcomeKind::Killed => say!(Msg::WasKilled),
        OutcomeKind::BudgetExceeded => say!(Msg::ReachedBudget),
        OutcomeKind::MaxSteps => say!(Msg::ReachedSteps),
        OutcomeKind::ContextFull => say!(Msg::FilledContext),
        OutcomeKind::Blocked => say!(Msg::WasBlocked),
    }
}

fn files(files: &[String]) -> Option<String> {
    let named = files.iter().take(FILES).map(String::as_str);
    let named = named.collect::<Vec<_>>().join(", ");
    match files.len() {
        0 => None,
        1 => Some(say!(Msg::ChangedOne, named)),
        count if count <= FILES => Some(say!(Msg::ChangedFiles, count, named)),
        count => Some(say!(Msg::ChangedMore, count, named, count - FILES)),
    }
}

/// Commands, tokens, money.
fn took(away: &Away) -> Option<String> {
    let usage = &away.usage;
    let mut parts = Vec::new();
    match away.commands {
        0 => {}
        1 => parts.push(say!(Msg::RanOne).to_owned()),
        count => parts.push(say!(Msg::RanMany, count)),
    }
    if usage.requests > 0 {
        parts.push(say!(
            Msg::Took,
            output::short(usage.prompt_tokens.saturating_add(usage.output_tokens)),
            output::counted(usage.requests, Thing::Request),
            cost(usage)
        ));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The money, as far as it is known.
fn cost(usage: &UsageTotals) -> String {
    let dollars = |micros: u64| format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100);
    match (usage.cost_micros, usage.unknown_cost_calls) {
        (0, 0) => String::new(),
        (0, _) => say!(Msg::PriceUnknown).to_owned(),
        (micros, 0) => format!(" ({})", dollars(micros)),
        (micros, unknown) => say!(
            Msg::CostAndUnknown,
            dollars(micros),
            output::counted(unknown, Thing::Request)
        ),
    }
}

/// What goes on, or waits for a person, now.
fn waits(session: &SessionSummary, queued: usize) -> String {
    let open = session.pending_interactions;
    let now = match (session.state, session.waiting_for) {
        _ if open == 1 => say!(Msg::OneQuestion).to_owned(),
        _ if open > 1 => say!(Msg::Questions, open),
        (State::Running, _) => say!(Msg::NowRunning).to_owned(),
        (State::Waiting, Some(WaitingFor::Retry)) => say!(Msg::NowRetry).to_owned(),
        (State::Waiting, Some(WaitingFor::Restart)) => say!(Msg::NowRestart).to_owned(),
        (State::Waiting, Some(WaitingFor::Credentials)) => say!(Msg::NowKey).to_owned(),
        (State::Waiting, Some(WaitingFor::Interaction(_)) | None) => say!(Msg::NowWaits).to_owned(),
        (State::Paused, _) => say!(Msg::NowPaused).to_owned(),
        (State::Exited, _) => say!(Msg::NowExited).to_owned(),
        (State::Idle, _) => say!(Msg::NowIdle).to_owned(),
    };
    let queue = match queued {
        0 => String::new(),
        1 => say!(Msg::OneQueued).to_owned(),
        count => say!(Msg::ManyQueued, count),
    };
    let children = match session.children {
        0 => String::new(),
        1 => say!(Msg::OneChild).to_owned(),
        count => say!(Msg::ManyChildren, count),
    };
    say!(Msg::Now, now, queue, children)
}

#[cfg(test)]
mod tests;
