//! Rewinds in words, and what became of files.

use proto::params::history::{TurnCause, TurnCheckpoint, What as Back};
use proto::record::{RewoundFile, RewoundResult, SessionRewound};

use super::goal::goal_turn;
use super::{message_of, who};
use crate::messages::Language;
use crate::messages::transcript::Msg;
use crate::transcript::Tone;

/// Files that are named; of more there is only the number.
const FILES: usize = 5;

/// Who went back where, and what that hides.
#[must_use]
pub fn rewound(language: Language, rewound: &SessionRewound) -> String {
    let turn = match rewound.to_turn {
        0 => language.say(Msg::TheBeginning).to_owned(),
        turn => language.fill(Msg::Turn, &[&turn.to_string()]),
    };
    let message = match (rewound.undoes.is_some(), rewound.what) {
        (true, Back::Conversation | Back::Both) => Msg::UndoneTalk,
        (true, Back::Code) => Msg::UndoneCode,
        (false, Back::Conversation) if rewound.to_turn == 0 => Msg::Cleared,
        (false, Back::Conversation) => Msg::RewoundTalk,
        (false, Back::Both) => Msg::RewoundAll,
        (false, Back::Code) => Msg::RewoundCode,
    };
    language.fill(message, &[&who(language, &rewound.by), &turn])
}

/// How a turn that can be gone back to began: its prompt, or else what started it.
#[must_use]
pub fn beginning(language: Language, turn: &TurnCheckpoint) -> String {
    match &turn.cause {
        Some(TurnCause::Goal {
            number,
            why,
            detail,
        }) if turn.prompt.is_empty() => goal_turn(language, *number, *why, detail),
        Some(TurnCause::Message { from, text }) if turn.prompt.is_empty() => {
            format!("{}: {text}", message_of(language, *from))
        }
        Some(_) | None => turn.prompt.clone(),
    }
}

/// What became of files, a line a kind of end; those that were so already are not listed.
#[must_use]
pub fn files(language: Language, files: &[RewoundFile]) -> Vec<(Tone, String)> {
    let kind = |file: &RewoundFile| match file.result {
        RewoundResult::Restored if file.was_removed() => Some(Msg::Removed),
        RewoundResult::Restored => Some(Msg::Restored),
        RewoundResult::ChangedSince => Some(Msg::ChangedSince),
        RewoundResult::Same | RewoundResult::Failed { .. } => None,
    };
    let mut lines = Vec::new();
    for (tone, message) in [
        (Tone::Info, Msg::Restored),
        (Tone::Info, Msg::Removed),
        (Tone::Warning, Msg::ChangedSince),
    ] {
        let of = files.iter().filter(|file| kind(file) == Some(message));
        let paths: Vec<&str> = of.map(|file| file.path.as_str()).collect();
        if !paths.is_empty() {
            lines.push((tone, language.fill(message, &[&named(language, &paths)])));
        }
    }
    for file in files {
        if let RewoundResult::Failed { why } = &file.result {
            let words = language.fill(Msg::NotRestored, &[&file.path, why]);
            lines.push((Tone::Warning, words));
        }
    }
    lines
}

pub(super) fn named(language: Language, paths: &[&str]) -> String {
    let shown: Vec<&str> = paths.iter().take(FILES).copied().collect();
    let names = shown.join(", ");
    match paths.len().saturating_sub(FILES) {
        0 => names,
        more => language.fill(Msg::AndMore, &[&names, &more.to_string()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_without_a_prompt_is_named_by_what_started_it() {
        let words = |prompt: &str, cause: serde_json::Value| {
            let turn = serde_json::json!({"turn": 4, "at": "2026-01-01T00:00:00.000Z",
                "prompt": prompt, "cause": cause, "files": []});
            beginning(Language::English, &serde_json::from_value(turn).unwrap())
        };
        let goal = serde_json::json!({"type": "goal", "number": 4, "why": "reported"});
        assert_eq!(words("", goal), "goal, turn 4: work is left");
        let message = serde_json::json!({"type": "message", "from": 47, "text": "All is found."});
        assert_eq!(words("", message), "message of session 47: All is found.");
        assert_eq!(words("Do it.", serde_json::Value::Null), "Do it.");
    }

    #[test]
    fn a_cleared_conversation_is_not_called_a_rewind() {
        let words = |to_turn: u64, what: &str| {
            let record = serde_json::json!({"to_turn": to_turn, "what": what, "by": "ann"});
            rewound(Language::English, &serde_json::from_value(record).unwrap())
        };
        assert_eq!(
            words(0, "conversation"),
            "ann hid the whole conversation; files stay unchanged"
        );
        assert_eq!(
            words(1, "conversation"),
            "ann rewound to turn 1: later turns are hidden; files stay unchanged"
        );
        assert_eq!(
            words(0, "both"),
            "ann rewound to the start: later turns are hidden"
        );
    }
}
