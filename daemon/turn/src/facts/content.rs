//! The content of requests as comparable strings: a repeated `request_id` with different content is refused.

use proto::PromptId;
use proto::budget::Budget;
use proto::params::history::What;
use proto::record::{AddedLimits, SessionSet};
use proto::reset::{CacheReset, Pinned};

/// A prompt as a comparable string.
#[must_use]
pub fn content_of_prompt(text: &str, steer: bool) -> String {
    format!("prompt {steer} {text}")
}

/// A continuation after a limit as a comparable string.
#[must_use]
pub fn content_of_resume(added: AddedLimits) -> String {
    format!("resume {:?} {:?}", added.steps, added.ms)
}

/// The start of a goal as a comparable string.
#[must_use]
pub fn content_of_goal(text: &str) -> String {
    format!("goal {text}")
}

/// A change of a goal's limits as a comparable string.
#[must_use]
pub fn content_of_goal_change(max_turns: Option<u64>, budget: Option<Budget>) -> String {
    format!("goal change {max_turns:?} {budget:?}")
}

/// The stop of a goal as a comparable string.
#[must_use]
pub fn content_of_goal_stop() -> String {
    "goal stop".to_owned()
}

/// A user's command in a form that repeats can be compared by.
#[must_use]
pub fn content_of_shell(line: &str) -> String {
    format!("shell {line}")
}

/// An edit of a prompt as a comparable string. `steer` comes from the record. If the request leaves it out, its repeats
/// match either value.
#[must_use]
pub fn content_of_edit(prompt: PromptId, text: &str, steer: bool) -> String {
    format!("edit {prompt} {steer} {text}")
}

/// A move of a prompt in the queue as a comparable string.
#[must_use]
pub fn content_of_move(prompt: PromptId, position: u64) -> String {
    format!("move {prompt} {position}")
}

/// A change of settings as a comparable string.
#[must_use]
pub fn content_of_set(set: &SessionSet) -> String {
    let bare = SessionSet {
        by: None,
        request_id: None,
        ..set.clone()
    };
    serde_json::to_string(&bare).unwrap_or_default()
}

/// A requested cache reset as a comparable string.
#[must_use]
pub fn content_of_reset(reset: &CacheReset) -> String {
    match reset.reason == RELOAD {
        true => RELOAD.into(),
        false => content_of_compaction(reset.undoes.is_some()),
    }
}

/// The reason of a reset that reloads the instruction files, also used as its comparable string.
pub const RELOAD: &str = "reload";

/// A compaction, or undoing one, as a comparable string.
#[must_use]
pub fn content_of_compaction(undo: bool) -> String {
    match undo {
        true => "compact undo".into(),
        false => "compact".into(),
    }
}

/// A pin as a comparable string.
#[must_use]
pub fn content_of_pin(pinned: &Pinned) -> String {
    format!("pin {} {}", pinned.item, pinned.pinned)
}

/// A rewind as a comparable string. `None`: undo the newest rewind.
#[must_use]
pub fn content_of_rewind(to_turn: Option<u64>, what: What) -> String {
    match to_turn {
        Some(turn) => format!("rewind to {turn} {what:?}"),
        None => "rewind undo".into(),
    }
}
