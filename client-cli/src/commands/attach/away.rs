//! While you were away: what happened since the last person left, in a few lines. Pure.

use proto::live::{Away, Snapshot};
use proto::outcome::{OutcomeKind, UsageTotals};
use proto::params::session::SessionSummary;
use proto::state::{State, WaitingFor};

use crate::output;

/// Files that are named; of more there is only the number.
const FILES: usize = 5;

/// Two to five lines; none where nothing happened.
pub fn lines(snapshot: &Snapshot) -> Vec<String> {
    let Some(away) = &snapshot.away else {
        return Vec::new();
    };
    let mut lines = vec![format!(
        "while you were away ({}): {}",
        output::ago(away.since),
        turns(away)
    )];
    lines.extend(files(&away.files));
    lines.extend(took(away));
    lines.push(waits(&snapshot.session, snapshot.queue.len()));
    lines
}

fn turns(away: &Away) -> String {
    let ended = away.outcome.map(ended);
    match (away.turns, ended) {
        (0, _) => "no turn ended".to_owned(),
        (1, Some(ended)) => format!("one turn, which {ended}"),
        (1, None) => "one turn".to_owned(),
        (count, Some(ended)) => format!("{count} turns; the last one {ended}"),
        (count, None) => format!("{count} turns"),
    }
}

fn ended(outcome: OutcomeKind) -> &'static str {
    match outcome {
        OutcomeKind::Completed => "was completed",
        OutcomeKind::Failed => "failed",
        OutcomeKind::Interrupted => "was interrupted",
        OutcomeKind::Killed => "was killed",
        OutcomeKind::BudgetExceeded => "reached its budget",
        OutcomeKind::MaxSteps => "reached its step limit",
        OutcomeKind::ContextFull => "filled the context",
        OutcomeKind::Blocked => "was blocked: no client was attached to approve a call",
    }
}

fn files(files: &[String]) -> Option<String> {
    let named = files.iter().take(FILES).map(String::as_str);
    let named = named.collect::<Vec<_>>().join(", ");
    match files.len() {
        0 => None,
        1 => Some(format!("changed {named}")),
        count if count <= FILES => Some(format!("changed {count} files: {named}")),
        count => Some(format!(
            "changed {count} files: {named} and {} more",
            count - FILES
        )),
    }
}

/// Commands, tokens, money.
fn took(away: &Away) -> Option<String> {
    let usage = &away.usage;
    let mut parts = Vec::new();
    match away.commands {
        0 => {}
        1 => parts.push("ran one command".to_owned()),
        count => parts.push(format!("ran {count} commands")),
    }
    if usage.requests > 0 {
        parts.push(format!(
            "took {} tokens in {} requests{}",
            output::short(usage.prompt_tokens.saturating_add(usage.output_tokens)),
            usage.requests,
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
        (0, _) => " (the price is not known)".to_owned(),
        (micros, 0) => format!(" ({})", dollars(micros)),
        (micros, unknown) => format!(
            " ({} and what {unknown} requests of unknown price cost)",
            dollars(micros)
        ),
    }
}

/// What goes on, or waits for a person, now.
fn waits(session: &SessionSummary, queued: usize) -> String {
    let open = session.pending_interactions;
    let now = match (session.state, session.waiting_for) {
        _ if open == 1 => "one question needs your answer".to_owned(),
        _ if open > 1 => format!("{open} questions need your answer"),
        (State::Running, _) => "working".to_owned(),
        (State::Waiting, Some(WaitingFor::Retry)) => "waiting to retry the request".to_owned(),
        (State::Waiting, Some(WaitingFor::Credentials)) => {
            "waiting for the provider's key".to_owned()
        }
        (State::Waiting, Some(WaitingFor::Interaction(_)) | None) => "waiting".to_owned(),
        (State::Paused, _) => "paused; continue with `/resume`".to_owned(),
        (State::Exited, _) => "exited; send a prompt to continue".to_owned(),
        (State::Idle, _) => "waiting for a prompt".to_owned(),
    };
    let queue = match queued {
        0 => String::new(),
        1 => ", one prompt is queued".to_owned(),
        count => format!(", {count} prompts are queued"),
    };
    let children = match session.children {
        0 => String::new(),
        1 => ", one command runs in the background".to_owned(),
        count => format!(", {count} commands run in the background"),
    };
    format!("now: {now}{queue}{children}")
}

#[cfg(test)]
mod tests;
