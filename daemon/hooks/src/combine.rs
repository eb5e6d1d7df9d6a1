//! What the end of a hook means, and what many of them come to: the first that blocks stops the rest.

use proto::hook::{HookEvent, HookFinished, HookOutcome};

/// How a hook's process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Exited {
        code: i32,
    },
    Signal {
        signal: i32,
    },
    TimedOut,
    /// Why it could not be started.
    NotStarted(String),
}

/// The longest reason that is kept, in bytes.
pub const REASON_MAX: usize = 4_000;

/// What an end means on an event, and the words for it where there are any. `stderr` is what the hook said there;
/// `said_no`: what it said on standard output in the way of Claude Code, where it is written for that.
#[must_use]
pub fn outcome(
    event: HookEvent,
    end: &End,
    stderr: &str,
    said_no: Option<String>,
) -> (HookOutcome, Option<String>) {
    let words = |otherwise: String| Some(spoken(stderr).unwrap_or(otherwise));
    match end {
        End::Exited { code: 0 } => match said_no.filter(|_| event.is_gating()) {
            Some(why) => (HookOutcome::Block, spoken(&why).or_else(no_reason)),
            None => (HookOutcome::Pass, None),
        },
        End::Exited { code: 2 } if event.is_gating() => {
            (HookOutcome::Block, spoken(stderr).or_else(no_reason))
        }
        End::Exited { code } => (HookOutcome::Warn, words(format!("it exited with {code}"))),
        End::Signal { signal } => (
            HookOutcome::Warn,
            words(format!("it was ended by signal {signal}")),
        ),
        End::TimedOut => (HookOutcome::Timeout, spoken(stderr)),
        End::NotStarted(why) => (HookOutcome::Error, Some(why.clone())),
    }
}

fn no_reason() -> Option<String> {
    Some("it gave no reason".to_owned())
}

/// A text that says something, bounded.
fn spoken(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() <= REASON_MAX {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let end = text.floor_char_boundary(REASON_MAX);
    Some(format!("{} …", text.get(..end).unwrap_or_default()))
}

/// What the hooks of one event have come to so far.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// In the order in which they ran.
    pub finished: Vec<HookFinished>,
}

impl Chain {
    /// Takes the next end. Whether the hooks behind it run.
    pub fn take(&mut self, finished: HookFinished) -> bool {
        self.finished.push(finished);
        self.blocked().is_none()
    }

    /// The hook that stopped it.
    #[must_use]
    pub fn blocked(&self) -> Option<&HookFinished> {
        self.finished.iter().find(|finished| finished.blocks())
    }

    /// Why it does not happen, in words for a person and for the model.
    #[must_use]
    pub fn why_blocked(&self) -> Option<String> {
        self.blocked().map(|finished| {
            let (hook, event) = (&finished.hook, finished.event.as_str());
            let seconds = in_seconds(finished.duration_ms);
            let why = match (finished.outcome, &finished.reason) {
                (HookOutcome::Timeout, None) => format!("it did not end in {seconds} s"),
                (HookOutcome::Timeout, Some(said)) => {
                    format!("it did not end in {seconds} s, and said: {said}")
                }
                (_, Some(reason)) => reason.clone(),
                (_, None) => "it gave no reason".to_owned(),
            };
            format!("The {event} hook `{hook}` blocked it: {why}")
        })
    }
}

/// What a hook says on its standard output that is written for Claude Code: a no, with its reason.
#[must_use]
pub fn said_no(stdout: &str) -> Option<String> {
    let said: serde_json::Value = serde_json::from_str(stdout.trim()).ok()?;
    let text = |value: Option<&serde_json::Value>| {
        let text = value.and_then(serde_json::Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let specific = said.get("hookSpecificOutput");
    let specific = |name: &str| specific.and_then(|output| output.get(name));
    if text(specific("permissionDecision")) == "deny" {
        return Some(text(specific("permissionDecisionReason")));
    }
    if text(said.get("decision")) == "block" {
        return Some(text(said.get("reason")));
    }
    if said.get("continue") == Some(&serde_json::Value::Bool(false)) {
        return Some(text(said.get("stopReason")));
    }
    None
}

/// `5`, or `0.3`.
fn in_seconds(ms: u64) -> String {
    match ms % 1000 / 100 {
        0 => (ms / 1000).to_string(),
        tenths => format!("{}.{tenths}", ms / 1000),
    }
}

#[cfg(test)]
mod tests;
