//! Small things in words: states, outcomes, answers.

use std::time::Duration;

use proto::hook::{HookFinished, HookOutcome};
use proto::item::CallStatus;
use proto::outcome::{OutcomeKind, Reason};
use proto::params::approval::Decision;
use proto::params::compact::CompactOutput;
use proto::record::{ApprovalResolved, ChildExited, ReasoningExtracted, SessionSet, SessionState};
use proto::reset::{CacheReset, Compaction, Pinned};
use proto::state::{Mode, State, WaitingFor};
use serde_json::Value;

/// What a live `status` says that a person should see.
pub(super) fn status(status: &Value) -> Option<String> {
    if let Some(behind) = status["behind"].as_u64() {
        return Some(format!(
            "this client is behind by {behind} events, and catches up"
        ));
    }
    if let (Some(is_in), Some(of)) = (status["samples_in"].as_u64(), status["samples"].as_u64()) {
        return Some(format!("{is_in} of {of} samples are in"));
    }
    status["read_only"]
        .as_str()
        .map(|reason| format!("the session can only be read: {reason}"))
}

/// What a state says that is not shown otherwise.
pub(super) fn state_words(state: &SessionState) -> Option<String> {
    match (state.state, state.waiting_for) {
        (State::Waiting, Some(WaitingFor::Retry)) => Some(match state.retry_in_ms {
            Some(ms) => format!("waits {:.1} s: {}", Seconds(ms).get(), state.cause),
            None => format!("waits: {}", state.cause),
        }),
        (State::Waiting, Some(WaitingFor::Credentials)) => {
            Some(format!("waits for a key: {}", state.cause))
        }
        // The question itself is shown.
        (
            State::Waiting,
            Some(WaitingFor::Approval | WaitingFor::Question | WaitingFor::Plan) | None,
        ) => None,
        (State::Idle | State::Running | State::Paused | State::Exited, _) => None,
    }
}

/// What a change of settings says that a person should see: that the session is paused or goes on, and what it may do.
pub(super) fn set_words(set: &SessionSet) -> Option<String> {
    let by = set
        .by
        .as_ref()
        .map_or_else(String::new, |by| format!(" by {by}"));
    if let Some(rule) = &set.revoked {
        return Some(format!("`{rule}` is allowed no longer{by}"));
    }
    let paused = set.paused.map(|paused| match paused {
        true => format!("paused{by}: nothing new starts until it is resumed"),
        false => format!("resumed{by}"),
    });
    let mode = set.options.mode.map(|mode| match mode {
        Mode::Plan => {
            format!("plan mode{by}: what changes anything is refused until a plan is approved")
        }
        Mode::Normal => format!("plan mode ended{by}"),
    });
    let read_only = set.options.read_only.map(|only| match only {
        true => format!("only reads from now on{by}: what changes anything is refused"),
        false => format!("changes are possible again{by}"),
    });
    let lines: Vec<String> = [paused, mode, read_only].into_iter().flatten().collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What a cache reset was for: `rewind`, `switch to p/m`, `compaction, about 80000 to 30000 tokens, …`.
#[must_use]
pub fn reset_words(reset: &CacheReset) -> String {
    if let Some(wire) = &reset.wire {
        let effort = wire.effort.as_ref();
        let effort = effort.map_or_else(String::new, |effort| format!(", effort {effort}"));
        return format!(
            "{} to {}/{}{effort}",
            reset.reason, wire.provider, wire.model
        );
    }
    let Some(done) = &reset.compaction else {
        return reset.reason.clone();
    };
    format!("{}, {}", reset.reason, compaction_words(done))
}

/// What a compaction came to, or would, or what was taken back.
#[must_use]
pub fn compacted_words(preview: bool, undo: bool, done: &CompactOutput) -> String {
    if let Some(why) = &done.why {
        return format!("nothing is done: {why}");
    }
    let Some(of) = &done.compaction else {
        return "it was done before".to_owned();
    };
    let what = match (preview, undo) {
        (true, _) => "it would come to",
        (_, true) => "taken back",
        _ => "compacted",
    };
    let undone;
    let of = match undo {
        // It goes the other way.
        true => {
            undone = Compaction {
                tokens_before: of.tokens_after,
                tokens_after: of.tokens_before,
                ..of.clone()
            };
            &undone
        }
        false => of,
    };
    let list = match of.mechanical && !undo {
        true => {
            "; the model wrote no digest, so a mere list stands in the place of what was folded"
        }
        false => "",
    };
    let price = done.forecasts.as_ref();
    let price = price.map_or_else(String::new, |price| format!("; {}", price.words()));
    format!("{what}: {}{list}{price}", compaction_words(of))
}

/// Its numbers.
fn compaction_words(done: &Compaction) -> String {
    let mut parts = vec![format!(
        "about {} to {} tokens",
        done.tokens_before, done.tokens_after
    )];
    for (count, what) in [
        (done.folded, "messages folded"),
        (done.shortened, "results shortened"),
        (done.kept, "kept word for word"),
    ] {
        if count > 0 {
            let what = match count {
                1 => what
                    .replacen("messages", "message", 1)
                    .replacen("results", "result", 1),
                _ => what.to_owned(),
            };
            parts.push(format!("{count} {what}"));
        }
    }
    parts.join(", ")
}

/// That a message stays word for word in every compaction, or no longer.
#[must_use]
pub fn pin_words(pinned: &Pinned) -> String {
    let stays = match pinned.pinned {
        true => "stays word for word",
        false => "is pinned no longer",
    };
    format!("{} {stays} ({})", pinned.item, pinned.by)
}

/// How a command in the background ended: `exit 0`, `signal 15 (kill_shell)`, …
#[must_use]
pub fn exit_words(child: &ChildExited) -> String {
    let how = match (child.code, child.signal) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "how is not known".to_owned(),
    };
    match &child.cause {
        Some(cause) => format!("{how} ({cause})"),
        None => how,
    }
}

/// How a text begins: enough to know a prompt by.
pub(super) fn first_words(text: &str) -> String {
    /// Characters.
    const MOST: usize = 40;
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", line.split_at(at).0),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

/// Milliseconds, to be shown as seconds.
struct Seconds(u64);

impl Seconds {
    fn get(&self) -> f64 {
        Duration::from_millis(self.0).as_secs_f64()
    }
}

pub(super) fn status_words(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Ok => "done",
        CallStatus::Failed => "failed",
        CallStatus::Denied => "denied",
        CallStatus::Interrupted => "interrupted",
        CallStatus::Unknown => "the daemon stopped while it ran; what it did is not known",
        CallStatus::Refused => "not run",
    }
}

/// An outcome in words: `completed`, `interrupted (timeout)`, …
#[must_use]
pub fn outcome_words(outcome: OutcomeKind, reason: Option<Reason>) -> String {
    let outcome = match outcome {
        OutcomeKind::Completed => "completed",
        OutcomeKind::Failed => "failed",
        OutcomeKind::Interrupted => "interrupted",
        OutcomeKind::Killed => "killed",
        OutcomeKind::BudgetExceeded => "budget exceeded",
        OutcomeKind::MaxSteps => "step limit reached",
        OutcomeKind::ContextFull => "context full",
        OutcomeKind::Blocked => "blocked",
    };
    match reason {
        None => outcome.to_owned(),
        Some(Reason::User) => format!("{outcome} (by a person)"),
        Some(Reason::Timeout) => format!("{outcome} (time limit)"),
        Some(Reason::Shutdown) => format!("{outcome} (the daemon stopped)"),
        Some(Reason::Term) => format!("{outcome} (TERM)"),
        Some(Reason::Denied) => format!("{outcome} (nobody was there to allow it)"),
    }
}

/// Who answered what.
#[must_use]
pub fn resolved_words(resolved: &ApprovalResolved) -> String {
    let decision = match resolved.decision {
        Decision::AllowOnce => "allowed once",
        Decision::AllowSession => "allowed for the session",
        Decision::AllowAlways => "allowed always",
        Decision::Deny => "denied",
    };
    let note = resolved
        .note
        .as_deref()
        .map_or_else(String::new, |note| format!(": {note}"));
    format!(
        "[{}] {decision} by {}{note}",
        resolved.approval_id, resolved.by
    )
}

/// What a person should see of a hook that ran; nothing where it passed. A call that was blocked says so itself.
#[must_use]
pub fn hook_words(finished: &HookFinished) -> Option<String> {
    if finished.blocks() && finished.call.is_some() {
        return None;
    }
    let did = match finished.outcome {
        HookOutcome::Pass => return None,
        HookOutcome::Block => "blocked",
        HookOutcome::Warn => "warned",
        HookOutcome::Timeout => "took too long",
        HookOutcome::Error => "could not run",
    };
    let (event, hook) = (finished.event.as_str(), &finished.hook);
    let why = finished.reason.as_ref();
    let why = why.map_or_else(String::new, |reason| format!(": {reason}"));
    Some(format!("the {event} hook `{hook}` {did}{why}"))
}

/// What was extracted from a model's reasoning, a line an entry.
#[must_use]
pub fn extraction_words(found: &ReasoningExtracted) -> String {
    let lists = found.lists();
    if lists.is_empty() {
        return "the reasoning holds nothing to be listed".to_owned();
    }
    let mut text = "from the reasoning".to_owned();
    for (name, entries) in lists {
        text.push_str(&format!("\n{name}"));
        text.extend(entries.iter().map(|entry| format!("\n  - {entry}")));
    }
    text
}
