//! The meaning of a hook's exit, and the combined result of several hooks: the first block stops
//! the rest.

use proto::hook::{HookEvent, HookFinished, HookOutcome};

/// How a hook's process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookExit {
    Exited {
        code: i32,
    },
    Signal {
        signal: i32,
    },
    TimedOut,
    /// It could not be started, with the reason.
    NotStarted(String),
}

/// Maximum bytes kept of a reason.
pub const REASON_MAX: usize = 4_000;

/// The outcome of a hook's exit for an event, with the reason if there is one. `stderr` is the
/// hook's standard error. `block_reason` comes from its standard output in Claude Code's format.
#[must_use]
pub fn outcome(
    event: HookEvent,
    end: &HookExit,
    stderr: &str,
    block_reason: Option<String>,
) -> (HookOutcome, Option<String>) {
    let words = |otherwise: String| Some(non_blank(stderr).unwrap_or(otherwise));
    match end {
        HookExit::Exited { code: 0 } => match block_reason.filter(|_| event.is_gating()) {
            Some(why) => (HookOutcome::Block, non_blank(&why).or_else(no_reason)),
            None => (HookOutcome::Pass, None),
        },
        HookExit::Exited { code: 2 } if event.is_gating() => {
            (HookOutcome::Block, non_blank(stderr).or_else(no_reason))
        }
        HookExit::Exited { code } => (HookOutcome::Warn, words(format!("it exited with {code}"))),
        HookExit::Signal { signal } => (
            HookOutcome::Warn,
            words(format!("it was killed by signal {signal}")),
        ),
        HookExit::TimedOut => (HookOutcome::Timeout, non_blank(stderr)),
        HookExit::NotStarted(why) => (HookOutcome::Error, Some(why.clone())),
    }
}

fn no_reason() -> Option<String> {
    Some("it gave no reason".to_owned())
}

/// A text, unless it is blank. Truncated.
fn non_blank(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() <= REASON_MAX {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let end = text.floor_char_boundary(REASON_MAX);
    Some(format!("{} …", text.get(..end).unwrap_or_default()))
}

/// The combined result of an event's hooks so far.
#[derive(Clone, Debug, Default)]
pub struct HookChain {
    /// In the order in which they ran.
    pub finished: Vec<HookFinished>,
}

impl HookChain {
    /// Adds the next result. Returns whether the following hooks run.
    pub fn take(&mut self, finished: HookFinished) -> bool {
        self.finished.push(finished);
        self.blocked().is_none()
    }

    /// The hook that blocked.
    #[must_use]
    pub fn blocked(&self) -> Option<&HookFinished> {
        self.finished.iter().find(|finished| finished.blocks())
    }

    /// Why the action was blocked, as a text for the user and the model.
    #[must_use]
    pub fn why_blocked(&self) -> Option<String> {
        self.blocked().map(|finished| {
            let (hook, event) = (&finished.hook, finished.event.as_str());
            let seconds = in_seconds(finished.duration_ms);
            let why = match (finished.outcome, &finished.reason) {
                (HookOutcome::Timeout, None) => format!("it did not finish within {seconds} s"),
                (HookOutcome::Timeout, Some(said)) => {
                    format!("it did not finish within {seconds} s, and printed: {said}")
                }
                (_, Some(reason)) => reason.clone(),
                (_, None) => "it gave no reason".to_owned(),
            };
            format!("The {event} hook `{hook}` blocked it: {why}")
        })
    }
}

/// Parses standard output in Claude Code's format: a block with its reason.
#[must_use]
pub fn block_reason(stdout: &str) -> Option<String> {
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

/// Formats seconds: `5`, or `0.3`.
fn in_seconds(ms: u64) -> String {
    match ms % 1000 / 100 {
        0 => (ms / 1000).to_string(),
        tenths => format!("{}.{tenths}", ms / 1000),
    }
}

#[cfg(test)]
mod tests;
