//! What the daemon says to the model in its own name. Wording is part of the conversation's bytes.

use proto::record::{ApprovalResolved, PolicyDecided, Unattended};

pub const REASONING_ONLY: &str =
    "Your last answer held no text and no tool call. Answer now, in words or with tool calls.";
pub const SUM_UP: &str = "The step limit of this turn is reached; no more tools can be called. Say briefly what was done, what is left and what to do next.";
pub const GO_ON: &str = "The daemon was stopped in the middle of your answer above. Go on from exactly where it breaks off, without repeating what it says.";
pub const INTERRUPTED: &str = "Not run: the user interrupted the turn.";
pub const STOPPED: &str = "Not run: the turn was stopped.";
pub const NO_MORE_STEPS: &str = "Not run: the step limit of this turn is reached.";
pub const CUT_CALL: &str = "Not run: your answer was cut off by the output limit inside this call. Make a smaller call: write large files in several parts with `append`.";
pub const DENIED_BEFORE: &str = "Denied: the same call was denied before in this turn. Do something else, or explain what you need.";
pub const UNKNOWN_EFFECTS: &str = "The daemon stopped while this call ran. Whether and how far it took effect is unknown: look before you repeat it.";
pub const LOST_READ: &str = "Not finished: the daemon stopped while this call ran. It changed nothing; repeat it if you still need it.";
pub const NOT_STARTED: &str = "Not run: the daemon stopped before this call was started.";

/// To people, and a mark for the next recovery: the answer that follows was cut off by the daemon's end, and the turn
/// goes on from it. Without it a cut answer is the last thing before a turn's end.
pub const GOES_ON_FROM_KEPT: &str = "The daemon was restarted in the middle of an answer; what had been shown of it is kept, and the turn goes on from there.";
pub const GOES_ON: &str = "The daemon was restarted; the turn goes on where it was.";
pub const STILL_PAUSED: &str = "The daemon was restarted; the session is still paused.";
pub const WAS_ENDED: &str =
    "The daemon stopped in the middle of this turn; the turn was ended. Prompt again to go on.";
pub const LOG_WAS_BROKEN: &str =
    "The log had calls without a result where none can be; they were given one.";
/// Why a command in the background ended that a recovery finds in the log.
pub const CHILD_LOST: &str = "the daemon stopped";

/// As `WAS_ENDED`, with the prompts that wait behind the turn.
pub fn was_ended(behind: usize) -> String {
    match behind {
        0 => WAS_ENDED.to_owned(),
        1 => format!("{WAS_ENDED} One prompt waits, and goes first."),
        many => format!("{WAS_ENDED} {many} prompts wait, and go first."),
    }
}

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
