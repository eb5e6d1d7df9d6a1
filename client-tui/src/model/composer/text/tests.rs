use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::Text;

fn boundary(text: &Text) -> bool {
    let mut places = text.as_str().grapheme_indices(true).map(|(at, _)| at);
    text.caret() == text.as_str().len() || places.any(|at| at == text.caret())
}

fn step(text: &mut Text, what: u8, with: &str) {
    let at = text.caret();
    match what {
        0 => text.typed(with),
        1 => text.insert(with),
        2 => text.delete(text.previous(at)..at),
        3 => text.delete(at..text.next(at)),
        4 => text.kill(text.word_left(at)..at),
        5 => text.kill(at..text.word_right(at)),
        6 => text.kill(text.line_start(at)..at),
        7 => text.yank(),
        8 => text.go(text.previous(at)),
        9 => text.go(text.next(at)),
        10 => text.go(text.word_left(at)),
        11 => text.go(text.word_right(at)),
        12 => text.go(text.line_start(at)),
        13 => {
            text.undo();
        }
        14 => {
            text.redo();
        }
        _ => text.go(usize::from(what)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_caret_stays_between_clusters_and_all_can_be_undone(
        start in "[a é\n]{0,6}",
        steps in prop::collection::vec((0u8..20, "([a-c ,]|é|e\u{301}|\u{301}|中|👩\u{200d}👧|\u{200d}|🇩|\u{fe0f}|\n){1,2}"), 0..60),
    ) {
        let mut text = Text::default();
        text.insert(&start);
        text.done.clear();
        for (what, with) in &steps {
            step(&mut text, *what, with);
            prop_assert!(boundary(&text), "{what} {with:?}: {text:?}");
        }
        text.undone.clear();
        let end = text.as_str().to_owned();
        while text.undo() {
            prop_assert!(boundary(&text));
        }
        prop_assert_eq!(text.as_str(), start.as_str());
        while text.redo() {
            prop_assert!(boundary(&text));
        }
        prop_assert_eq!(text.as_str(), end.as_str());
    }
}

#[test]
fn a_word_that_was_typed_is_undone_as_one() {
    let mut text = Text::default();
    for letter in "one two".chars() {
        text.typed(&letter.to_string());
    }
    text.undo();
    assert_eq!(text.as_str(), "one ");
    text.redo();
    assert_eq!((text.as_str(), text.caret()), ("one two", 7));
}

#[test]
fn consecutive_deletions_are_yanked_together() {
    let mut text = Text::default();
    text.insert("one two three");
    for _ in 0..2 {
        let at = text.caret();
        text.kill(text.word_left(at)..at);
    }
    assert_eq!(text.as_str(), "one ");
    text.yank();
    assert_eq!(text.as_str(), "one two three");
}
