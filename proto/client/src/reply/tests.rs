//! Scenes for typed answers.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn ask(multi_select: bool) -> Question {
    serde_json::from_value(json!({
        "question": "Which store?", "header": "Store", "multi_select": multi_select,
        "options": [{"label": "SQLite"}, {"label": "Postgres"}, {"label": "3 files"}],
    }))
    .unwrap()
}

/// The answer as `labels | other`, or why it is none.
fn said(multi_select: bool, words: &str) -> String {
    match read(&ask(multi_select), ReplyRules::default(), words) {
        Ok(reply) => format!(
            "{} | {}",
            reply.labels.join("+"),
            reply.other.unwrap_or_default()
        ),
        Err(why) => format!("no: {why}"),
    }
}

#[test]
fn numbers_are_options_and_everything_else_is_words() {
    for (words, expected) in [
        ("2", "Postgres | "),
        (" 1 ", "SQLite | "),
        ("postgres", "Postgres | "),
        ("2: with replication", "Postgres | with replication"),
        ("2:", "Postgres | "),
        ("3 files", "3 files | "),
        ("3 of them", " | 3 of them"),
        ("neither: ask ann", " | neither: ask ann"),
        ("1,2", "no: only one of them can be chosen"),
        (
            "4",
            "no: there is no option 4: give 1 to 3, or your own words",
        ),
        (
            "0",
            "no: there is no option 0: give 1 to 3, or your own words",
        ),
    ] {
        assert_eq!(said(false, words), expected, "{words}");
    }
    assert_eq!(said(true, "1, 3"), "SQLite+3 files | ");
    assert_eq!(said(true, "3 1 3"), "3 files+SQLite | ");
    assert!(said(true, " ").starts_with("no: "));
}

#[test]
fn questions_that_are_asked_together_are_answered_one_after_another() {
    let questions = [ask(false), ask(true)];
    let rules = |_| ReplyRules::default();
    let mut replies = Replies::default();
    let place = |replies: &Replies| replies.next(&questions).map(|(_, at, all)| (at, all));
    assert_eq!(place(&replies), Some((1, 2)));
    assert_eq!(replies.take(&questions, rules, "1"), Ok(None));
    assert!(replies.take(&questions, rules, "9").is_err());
    assert_eq!(place(&replies), Some((2, 2)));
    let all = replies.take(&questions, rules, "1,2").unwrap().unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all[1].labels, ["SQLite", "Postgres"]);
    assert_eq!(place(&replies), Some((1, 2)));
}

#[test]
fn a_question_that_takes_only_its_options_refuses_words() {
    let rules = ReplyRules {
        only_options: true,
        ..ReplyRules::default()
    };
    let labels = |words: &str| read(&ask(false), rules, words).map(|reply| reply.labels.join("+"));
    assert_eq!(labels("2").as_deref(), Ok("Postgres"));
    assert_eq!(labels("sqlite").as_deref(), Ok("SQLite"));
    for words in ["perhaps", "2: later", "9", "", "-"] {
        assert!(labels(words).is_err(), "{words}");
    }
}

proptest! {
    /// Whatever is typed: it is refused, or says something, with labels that exist.
    #[test]
    fn accepted_reply_has_an_existing_label_or_text(words in ".{0,40}", multi_select: bool) {
        if let Ok(reply) = read(&ask(multi_select), ReplyRules::default(), &words) {
            prop_assert!(!reply.labels.is_empty() || reply.other.as_ref().is_some_and(|other| !other.is_empty()));
            prop_assert!(reply.labels.iter().all(|label| ask(multi_select).options.iter().any(|option| option.label == *label)));
            prop_assert!(multi_select || reply.labels.len() <= 1);
        }
    }
}

#[test]
fn a_dash_leaves_out_what_is_optional_and_is_an_answer_elsewhere() {
    let questions = [ask(false), ask(false)];
    let optional = |index| ReplyRules {
        optional: index == 1,
        ..ReplyRules::default()
    };
    let mut replies = Replies::default();
    assert_eq!(replies.take(&questions, optional, "-"), Ok(None));
    let all = replies.take(&questions, optional, " - ");
    let all = all.unwrap().unwrap();
    assert_eq!(all[0].other.as_deref(), Some("-"));
    assert_eq!(all[1], Reply::default());
}

#[test]
fn where_there_are_no_options_a_number_is_the_answer_itself() {
    let question = Question {
        options: Vec::new(),
        ..ask(false)
    };
    for words in ["7", "1,3", "2: two"] {
        let reply = read(&question, ReplyRules::default(), words).unwrap();
        assert_eq!(
            (reply.labels, reply.other.as_deref()),
            (vec![], Some(words))
        );
    }
}
