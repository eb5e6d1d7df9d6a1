//! What was asked, in forms that repeats can be compared by: a `request_id` that comes again with other content is
//! refused.

use proto::PromptId;
use proto::params::history::What;
use proto::record::SessionSet;
use proto::reset::{CacheReset, Pinned};

/// A prompt in a form that repeats can be compared by.
#[must_use]
pub fn content_of_prompt(text: &str, steer: bool) -> String {
    format!("prompt {steer} {text}")
}

/// A user's command in a form that repeats can be compared by.
#[must_use]
pub fn content_of_shell(line: &str) -> String {
    format!("shell {line}")
}

/// New words of a prompt in a form that repeats can be compared by. `steer` is what the record says: where the request
/// left it open, a repeat is the same under either.
#[must_use]
pub fn content_of_edit(prompt: PromptId, text: &str, steer: bool) -> String {
    format!("edit {prompt} {steer} {text}")
}

/// A new place of a prompt in a form that repeats can be compared by.
#[must_use]
pub fn content_of_move(prompt: PromptId, position: u64) -> String {
    format!("move {prompt} {position}")
}

/// A change of settings in a form that repeats can be compared by.
#[must_use]
pub fn content_of_set(set: &SessionSet) -> String {
    let bare = SessionSet {
        by: None,
        request_id: None,
        ..set.clone()
    };
    serde_json::to_string(&bare).unwrap_or_default()
}

/// A cache reset that somebody asked for in a form that repeats can be compared by.
#[must_use]
pub fn content_of_reset(reset: &CacheReset) -> String {
    match reset.reason == RELOAD {
        true => RELOAD.into(),
        false => content_of_compaction(reset.undoes.is_some()),
    }
}

/// Reason of a reset that reads the instruction files again, and the form that repeats of it can be compared by.
pub const RELOAD: &str = "reload";

/// A compaction, or the undoing of one, in a form that repeats can be compared by.
#[must_use]
pub fn content_of_compaction(undo: bool) -> String {
    match undo {
        true => "compact undo".into(),
        false => "compact".into(),
    }
}

/// A pin in a form that repeats can be compared by.
#[must_use]
pub fn content_of_pin(pinned: &Pinned) -> String {
    format!("pin {} {}", pinned.item, pinned.pinned)
}

/// A rewind in a form that repeats can be compared by. `None`: the newest one is taken back.
#[must_use]
pub fn content_of_rewind(to_turn: Option<u64>, what: What) -> String {
    match to_turn {
        Some(turn) => format!("rewind to {turn} {what:?}"),
        None => "rewind undo".into(),
    }
}
