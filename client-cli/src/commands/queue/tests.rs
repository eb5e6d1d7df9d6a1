//! Which prompt is meant.

use super::*;

fn queue() -> Vec<QueuedPrompt> {
    ["aaaa0000", "aaaa1111", "12340000"]
        .map(|start| QueuedPrompt {
            untyped: Vec::new(),
            on_ask: None,
            prompt_id: format!("{start}-0000-7000-8000-000000000000")
                .parse()
                .unwrap(),
            text: start.to_owned(),
            steer: false,
            by: "x".to_owned(),
        })
        .into()
}

#[test]
fn a_prompt_is_named_by_place_or_by_the_start_of_its_id() {
    let queue = queue();
    for (named, text) in [
        ("1", "aaaa0000"),
        ("3", "12340000"),
        ("aaaa1", "aaaa1111"),
        ("AAAA0", "aaaa0000"),
        ("1234", "12340000"),
        ("aaaa1111-0000-7000-8000-000000000000", "aaaa1111"),
    ] {
        assert_eq!(pick(&queue, named).unwrap().text, text, "{named}");
    }
}

#[test]
fn unknown_or_ambiguous_queued_prompt_is_refused_with_a_hint() {
    let queue = queue();
    for (named, words) in [
        ("0", "no queued prompt"),
        ("4", "3 are queued"),
        ("aaaa", "several"),
        ("aaa", "no queued prompt"),
        ("9999", "no queued prompt"),
        ("", "no queued prompt"),
    ] {
        let error = pick(&queue, named).unwrap_err();
        assert!(error.to_string().contains(words), "{named}: {error}");
        assert!(!error.hint().is_empty());
    }
    assert_eq!(
        pick(&[], "1").unwrap_err().to_string(),
        "no prompts are queued"
    );
}
