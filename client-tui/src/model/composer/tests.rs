use proptest::prelude::*;

use super::*;

#[test]
fn taking_the_text_clears_it_and_adds_it_to_the_history() {
    let mut composer = Composer::new(false);
    assert!(composer.is_empty());
    composer.set("one\r\ntwo\u{1b}[0m");
    assert_eq!(composer.take(), "one\ntwo");
    assert!(composer.is_empty());
    assert!(!composer.buffer.undo(), "sending clears the undo history");
    assert!(composer.older() && !composer.older());
    assert_eq!(composer.text(), "one\ntwo");
    assert!(composer.newer() && !composer.newer());
    assert!(composer.is_empty());
}

#[test]
fn clearing_and_replacing_can_be_undone() {
    let mut composer = Composer::new(false);
    composer.set("one");
    composer.set("");
    assert!(composer.is_empty());
    composer.buffer.undo();
    assert_eq!(composer.text(), "one");
}

#[test]
fn every_session_keeps_its_draft_with_its_caret_and_its_pastes() {
    let mut composer = Composer::new(false);
    let (one, two) = (Some(SessionId::new()), Some(SessionId::new()));
    let long = "line\n".repeat(20);
    composer.buffer.insert("look: ");
    composer.paste(&long, Language::English);
    composer.buffer.go(2);
    composer.store_draft(one);
    assert!(composer.is_empty() && !composer.buffer.undo());
    composer.restore_draft(two);
    assert!(composer.is_empty());
    composer.set("of two");
    // Sending another text keeps the pastes of the first.
    assert_eq!(composer.take(), "of two");
    composer.restore_draft(one);
    assert_eq!(composer.text(), format!("look: {long}"));
    assert_eq!(composer.buffer.caret(), 2);
    composer.store_draft(one);
    composer.set("typed while it loads");
    composer.restore_draft(one);
    assert_eq!(composer.text(), format!("look: {long}typed while it loads"));
    assert_eq!(composer.buffer.after(), "");
}

#[test]
fn a_draft_covered_by_the_history_is_stored_and_restored_whole() {
    let mut composer = Composer::new(false);
    let (one, two) = (Some(SessionId::new()), Some(SessionId::new()));
    composer.set("said");
    composer.take();
    composer.set("draft");
    composer.buffer.go(2);
    assert!(composer.older());
    composer.store_draft(one);
    assert!(composer.is_empty());
    // Where the way through the history is open when it comes.
    assert!(composer.older());
    composer.store_draft(two);
    composer.restore_draft(one);
    assert_eq!(
        (composer.text().as_str(), composer.buffer.caret()),
        ("draft", 2)
    );
    assert!(!composer.newer(), "the way through the history has ended");
    composer.store_draft(one);
    composer.restore_draft(two);
    assert!(composer.is_empty(), "nothing was written there");
    // Editing a prompt from the history makes it the draft.
    assert!(composer.older());
    composer.buffer.insert(" more");
    composer.store_draft(two);
    composer.restore_draft(two);
    assert_eq!(composer.text(), "said more");
    // While one loads, the way through the history may begin.
    composer.store_draft(one);
    assert!(composer.older());
    composer.restore_draft(one);
    assert!(!composer.newer());
    assert_eq!(composer.text(), "said more");
}

#[test]
fn prompts_that_come_back_from_the_session_are_not_said_twice() {
    let mut composer = Composer::new(false);
    for text in ["one", "two"] {
        composer.set(text);
        composer.take();
    }
    for text in ["one", "two", " ", "three"] {
        composer.remember(&Prompt::typed(text), Language::English);
    }
    let mut seen = Vec::new();
    while composer.older() {
        seen.push(composer.text());
    }
    assert_eq!(seen, ["three", "two", "one"]);
}

#[test]
fn pastes_are_kept_as_long_as_something_holds_them() {
    let mut composer = Composer::new(false);
    composer.paste(&"x\n".repeat(20), Language::Chinese);
    assert_eq!(
        composer.chips.shown(composer.buffer.as_str()),
        "[粘贴 20 行 #1]"
    );
    composer.take();
    for n in 0..history::MAX {
        composer.set(&n.to_string());
        composer.take();
    }
    while composer.older() {}
    assert_eq!(composer.text(), "0");
    let mut chips = (0..=u32::from(char::MAX)).filter_map(char::from_u32);
    assert!(!chips.any(|it| composer.chips.get(it).is_some()));
}

proptest! {
    #[test]
    fn rows_hold_all_of_a_text_once(
        text in "([a-c ]|中|e\u{301}|👩\u{200d}👧|\t|\n){0,40}",
        width in 1usize..12,
    ) {
        let chips = chips::Chips::default();
        let laid = rows::Rows::new(&text, &chips, width);
        // Each place of the text is in one row, and a row's place leads back to it.
        let mut before = (0, 0);
        for (at, _) in unicode_segmentation::UnicodeSegmentation::grapheme_indices(text.as_str(), true) {
            let place = laid.place(at);
            prop_assert!(at == 0 || place > before || place.0 == before.0, "{at}: {place:?} {before:?}");
            prop_assert_eq!(laid.offset(place.0, place.1), at);
            before = place;
        }
        prop_assert_eq!(laid.place(text.len()).0, laid.count() - 1);
    }
}
