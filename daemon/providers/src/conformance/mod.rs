//! One test suite for all kinds. The same scenario, in each vendor's streaming format, yields the
//! same neutral answer: whole, with other line ends, and cut at every byte.
//!
//! The streams are beside this file, one file per kind, as the vendors send them. `recorded` has real ones.

use std::collections::BTreeMap;

use contract::provider::{ErrorKind, Reported};
use proto::item::{Finish, ToolCall};

use crate::playback::{CollectedAnswer, play};

mod documents;
mod recorded;

/// The kinds with their streams.
const KINDS: &[(&str, &str)] = &[
    ("openai", include_str!("openai.txt")),
    ("openai-responses", include_str!("openai-responses.txt")),
    ("anthropic", include_str!("anthropic.txt")),
    ("command", include_str!("command.txt")),
];

/// The scenarios of a file, by name.
fn scenes(file: &'static str) -> BTreeMap<&'static str, &'static str> {
    let scenes = file.split("=== ").filter(|scene| !scene.is_empty());
    scenes
        .map(|scene| scene.split_once('\n').expect("a name on a line"))
        .collect()
}

fn call(id: &str, name: &str, arguments: &str, cut: bool) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        cut,
        found: false,
    }
}

fn usage(prompt: u64, cached: u64, output: u64) -> Option<Reported> {
    Some(Reported {
        prompt_tokens: prompt,
        cached_tokens: cached,
        output_tokens: output,
        ..Reported::default()
    })
}

/// The expected answer of every kind. The tests of each kind cover the data that only some vendors
/// send, such as thoughts and cache writes.
fn expected() -> Vec<(&'static str, CollectedAnswer)> {
    let words = |text: &str, usage| CollectedAnswer {
        text: text.to_owned(),
        usage,
        done: Some(Finish::Stop),
        ..CollectedAnswer::default()
    };
    let calls = |text: &str, calls: Vec<ToolCall>, usage, finish| CollectedAnswer {
        text: text.to_owned(),
        calls,
        usage,
        done: Some(finish),
        ..CollectedAnswer::default()
    };
    let broken = |text: &str, kind| CollectedAnswer {
        text: text.to_owned(),
        error: Some(kind),
        ..CollectedAnswer::default()
    };
    let both = vec![
        call("call_a", "read", r#"{"path": "a.txt"}"#, false),
        call("call_b", "bash", r#"{"command":"ls é\n"}"#, false),
    ];
    let half = vec![
        call("call_a", "read", r#"{"path": "a.txt"}"#, false),
        call("call_b", "bash", r#"{"command":"rm -r"#, true),
    ];
    let one = vec![call("call_a", "read", r#"{"path": "a.txt" }"#, false)];
    let bad = vec![call("call_a", "read", r#"{"path": "#, false)];
    vec![
        ("text", words("Hello, world.", usage(100, 64, 5))),
        (
            "thinks",
            CollectedAnswer {
                reasoning: "Let me see.".to_owned(),
                ..words("It is 4.", usage(20, 0, 9))
            },
        ),
        (
            "one-call",
            calls("", one, usage(10, 0, 3), Finish::ToolCalls),
        ),
        (
            "two-calls",
            calls("Both.", both, usage(10, 0, 3), Finish::ToolCalls),
        ),
        ("empty-deltas", words("ab", usage(1, 0, 1))),
        ("usage-every-time", words("ab", usage(7, 4, 2))),
        ("no-usage", words("ab", None)),
        ("cut", broken("Half an", ErrorKind::Transient)),
        ("cut-in-a-call", broken("", ErrorKind::Transient)),
        (
            "length",
            calls("Long", half, usage(5, 0, 8), Finish::Length),
        ),
        (
            "filter",
            calls("I", Vec::new(), usage(5, 0, 1), Finish::ContentFilter),
        ),
        (
            "bad-json",
            calls("", bad, usage(5, 0, 1), Finish::ToolCalls),
        ),
        (
            "unicode",
            words("Grüße, 世界 😀\n\t\"\\ end", usage(1, 0, 1)),
        ),
        ("overloaded", broken("Hm", ErrorKind::Transient)),
        ("wrong-key", broken("", ErrorKind::Credentials)),
        ("wrong-request", broken("", ErrorKind::Permanent)),
        ("too-long", broken("", ErrorKind::ContextLength)),
        ("news", words("ok", usage(1, 0, 1))),
    ]
}

/// The common part: without data that only some vendors send, and without usage of broken answers,
/// which some send early.
fn common(came: &CollectedAnswer) -> CollectedAnswer {
    let mut came = came.clone();
    came.thoughts.clear();
    came.message.clear();
    if let Some(usage) = &mut came.usage {
        usage.cache_write_tokens = 0;
    }
    if came.error.is_some() {
        came.usage = None;
    }
    came
}

/// Runs every scenario of every kind.
fn each(check: impl Fn(&str, &str, &'static str, CollectedAnswer)) {
    for (kind, file) in KINDS {
        let mut streams = scenes(file);
        for (name, expected) in expected() {
            let stream = streams.remove(name).unwrap_or_default();
            check(kind, name, stream, expected);
        }
        assert!(streams.is_empty(), "unexpected scenarios: {streams:?}");
    }
}

#[test]
fn every_provider_kind_yields_the_same_answer() {
    each(|kind, name, stream, expected| {
        let came = play(kind, &[stream.as_bytes()]);
        assert_eq!(common(&came), expected, "{kind}: {name}");
        if expected.error.is_some() {
            assert!(came.message.starts_with("`acme` "), "{}", came.message);
        }
    });
}

#[test]
fn line_ends_and_comments_change_nothing() {
    each(|kind, name, stream, expected| {
        let returns = stream.replace('\n', "\r\n");
        assert_eq!(
            common(&play(kind, &[returns.as_bytes()])),
            expected,
            "{kind}: {name} with carriage returns"
        );
        if kind != "command" {
            let comments = stream.replace("\n\n", "\n\n: keep-alive\n\n");
            assert_eq!(
                common(&play(kind, &[comments.as_bytes()])),
                expected,
                "{kind}: {name} with comments"
            );
        }
    });
}

#[test]
fn leading_spaces_of_an_answer_are_ignored_in_the_same_chunk_too() {
    each(|kind, name, stream, _| {
        if kind != "command" {
            let whole = play(kind, &[stream.as_bytes()]);
            let with_spaces = format!(" \n {stream}");
            let pieces = [b" \n ", stream.as_bytes()];
            assert_eq!(play(kind, &pieces), whole, "{kind}: {name}");
            assert_eq!(
                play(kind, &[with_spaces.as_bytes()]),
                whole,
                "{kind}: {name}"
            );
        }
    });
}

#[test]
fn a_stream_cut_into_two_chunks_anywhere_is_the_same() {
    each(|kind, name, stream, _| {
        let whole = play(kind, &[stream.as_bytes()]);
        for at in 1..stream.len() {
            let (one, two) = stream.as_bytes().split_at(at);
            assert_eq!(play(kind, &[one, two]), whole, "{kind}: {name} cut at {at}");
        }
    });
}

#[test]
fn a_stream_that_ends_anywhere_is_whole_or_an_error() {
    each(|kind, name, stream, expected| {
        for at in 0..stream.len() {
            let came = common(&play(kind, &[&stream.as_bytes()[..at]]));
            let place = || format!("{kind}: {name} ends at {at}");
            match came.error {
                Some(error) => {
                    assert!(
                        error == ErrorKind::Transient
                            || expected.error == Some(error)
                            // An incomplete line of a program is not an event, and the program
                            // exited normally.
                            || (kind == "command" && error == ErrorKind::Permanent),
                        "{}: {error:?}",
                        place()
                    );
                    assert_eq!(came.calls, [], "half an answer gives no call: {}", place());
                    assert!(expected.text.starts_with(&came.text), "{}", place());
                    assert!(
                        expected.reasoning.starts_with(&came.reasoning),
                        "{}",
                        place()
                    );
                }
                None => {
                    let without = |came: &CollectedAnswer| CollectedAnswer {
                        usage: None,
                        ..came.clone()
                    };
                    // After the end only usage can be lost.
                    assert_eq!(without(&came), without(&expected), "{}", place());
                }
            }
        }
    });
}
