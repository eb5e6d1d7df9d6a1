//! What the daemon says to the model in its own name. Wording is part of the conversation's bytes.

use proto::record::{ApprovalResolved, PolicyDecided, Unattended};

pub const REASONING_ONLY: &str =
    "Your last answer held no text and no tool call. Answer now, in words or with tool calls.";
pub const SUM_UP: &str = "The step limit of this turn is reached; no more tools can be called. Say briefly what was done, what is left and what to do next.";
pub const INTERRUPTED: &str = "Not run: the user interrupted the turn.";
pub const STOPPED: &str = "Not run: the turn was stopped.";
pub const NO_MORE_STEPS: &str = "Not run: the step limit of this turn is reached.";
pub const CUT_CALL: &str = "Not run: your answer was cut off by the output limit inside this call. Make a smaller call: write large files in several parts with `append`.";
pub const DENIED_BEFORE: &str = "Denied: the same call was denied before in this turn. Do something else, or explain what you need.";
pub const UNKNOWN_EFFECTS: &str = "The daemon stopped while this call ran. Whether and how far it took effect is unknown: look before you repeat it.";
pub const LOST_READ: &str = "Not finished: the daemon stopped while this call ran. It changed nothing; repeat it if you still need it.";
pub const NOT_STARTED: &str = "Not run: the daemon stopped before this call was started.";

/// A person said no, or the daemon had to: then it says why, and what would allow it.
pub fn denied_by_answer(resolved: &ApprovalResolved) -> String {
    match &resolved.note {
        Some(note) if resolved.unattended => note.clone(),
        note => denied_by_person(&resolved.by, note.as_deref()),
    }
}

fn denied_by_person(by: &str, note: Option<&str>) -> String {
    match note {
        Some(note) if !note.trim().is_empty() => format!("Denied by the user ({by}): {note}"),
        _ => format!("Denied by the user ({by}). Do something else, or explain why it is needed."),
    }
}

/// A rule said no, or nobody was there to say yes.
pub fn denied_by_policy(decided: &PolicyDecided) -> String {
    match (decided.unattended, &decided.why) {
        (Some(Unattended::Denied), Some(why)) => why.clone(),
        _ => denied_by_rule(&decided.rule, &decided.layer),
    }
}

fn denied_by_rule(rule: &str, layer: &str) -> String {
    format!("Denied by the rule `{rule}` ({layer}). It will be denied again; find another way.")
}
