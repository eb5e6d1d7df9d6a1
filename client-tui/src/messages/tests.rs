use client::messages::Message;

use super::{app, composer, dialog, edge, found, lists, pager, status, text};
use crate::keymap::{Action, BINDINGS, Context};
use crate::slash::COMMANDS;

/// The places of values, in order of their numbers.
fn places(words: &str) -> Vec<String> {
    let mut found: Vec<String> = (0..10)
        .map(|n| format!("{{{n}}}"))
        .filter(|place| words.contains(place.as_str()))
        .collect();
    found.sort();
    found
}

fn complete<M: Message + std::fmt::Debug>(all: &[M]) {
    assert!(!all.is_empty());
    for message in all {
        let (english, chinese) = (message.english(), message.chinese());
        assert!(!english.is_empty() && !chinese.is_empty(), "{message:?}");
        assert_eq!(places(english), places(chinese), "{message:?}");
    }
}

#[test]
fn every_message_has_both_languages_with_the_same_values() {
    complete(app::Msg::ALL);
    complete(composer::Msg::ALL);
    complete(dialog::Msg::ALL);
    complete(edge::Msg::ALL);
    complete(Context::ALL);
    complete(Action::ALL);
    complete(&BINDINGS.iter().map(|row| row.about()).collect::<Vec<_>>());
    complete(&COMMANDS.iter().map(|row| row.about).collect::<Vec<_>>());
    complete(found::Msg::ALL);
    complete(lists::Msg::ALL);
    complete(pager::Msg::ALL);
    complete(status::Msg::ALL);
    complete(text::Msg::ALL);
}
