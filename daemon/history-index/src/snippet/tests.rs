use proptest::prelude::*;

use super::*;
use crate::query::{parse, words_of};

fn found(text: &str, query: &str) -> Snippet {
    let terms = parse(query).unwrap();
    let mut stemmer = Stemmer::new(words_of(&terms));
    snippet(text, &terms, &mut stemmer)
}

/// The snippet with marks as brackets.
fn marked(text: &str, query: &str) -> String {
    let found = found(text, query);
    let mut line = String::new();
    for (at, letter) in (0..).zip(found.text.chars()) {
        if found.marks.iter().any(|(first, _)| *first == at) {
            line.push('[');
        }
        line.push(letter);
        if found.marks.iter().any(|(_, end)| *end == at + 1) {
            line.push(']');
        }
    }
    line
}

#[test]
fn words_that_were_found_are_marked() {
    assert_eq!(
        marked("The Tests\n\trun, testing twice.", "test run"),
        "The [Tests] [run], [testing] twice."
    );
    assert_eq!(
        marked(
            "It copies, stopped, and copied running jobs.",
            "copy stop run"
        ),
        "It [copies], [stopped], and [copied] [running] jobs."
    );
    // Other words, whatever their ends look like.
    assert_eq!(marked("station and states", "stat"), "station and states");
    assert_eq!(marked("一个数据库连接", "数据库"), "一个[数据库]连接");
    assert_eq!(marked("数据库", "库"), "数据[库]");
    assert_eq!(marked("数据库", "据"), "数[据]库");
    assert_eq!(
        marked("see foo_bar and foo", "foo_bar"),
        "see [foo_bar] and foo"
    );
    assert_eq!(marked("nothing here", "absent"), "nothing here");
}

#[test]
fn the_place_with_most_terms_is_shown() {
    let text = format!(
        "alpha {} alpha beta {}",
        "filler ".repeat(80),
        "tail ".repeat(80)
    );
    let line = marked(&text, "beta alpha");
    assert!(line.contains("[alpha] [beta]"), "{line}");
    assert!(line.starts_with('…') && line.ends_with('…'), "{line}");
}

proptest! {
    #[test]
    fn a_snippet_is_one_short_line_without_control_characters(text in "(\\PC|[\\x00-\\x20]|\u{202e}|alpha|数据){0,300}", query in "alpha|数据|数|[a-z]{1,3}") {
        let found = found(&text, &query);
        prop_assert!(!found.text.contains(|letter: char| letter.is_control() || is_invisible(letter)));
        let length = found.text.chars().count() as u64;
        prop_assert!(length <= LENGTH as u64);
        let mut last = 0;
        for (first, end) in found.marks {
            prop_assert!(first >= last && first < end && end <= length);
            last = end;
        }
    }
}
