//! One suite for all kinds: the same scene, in the shape in which each vendor streams it, comes to the same neutral
//! answer; whole, with other line ends, and cut at every byte.
//!
//! The streams stand beside this file, one file a kind, in the shapes that the vendors send.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use contract::provider::{ErrorKind, Part, ProviderError, Reported};
use futures::stream::{self, BoxStream, StreamExt};
use proto::item::{Finish, Thought, ToolCall};

use crate::failure::{Entry, Site};
use crate::fake::{self, Programs};
use crate::options::Timeouts;
use crate::read;

mod documents;

/// The kinds with their streams.
const KINDS: &[(&str, &str)] = &[
    ("openai", include_str!("openai.txt")),
    ("openai-responses", include_str!("openai-responses.txt")),
    ("anthropic", include_str!("anthropic.txt")),
    ("command", include_str!("command.txt")),
];

/// What an answer came to, whatever the pieces were.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Came {
    pub reasoning: String,
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub usage: Option<Reported>,
    pub done: Option<Finish>,
    pub error: Option<ErrorKind>,
    pub message: String,
    pub thoughts: Vec<Thought>,
}

/// Puts parts together, and checks what holds for every stream of parts.
pub(crate) fn came(parts: Vec<Result<Part, ProviderError>>) -> Came {
    let mut came = Came::default();
    let mut shown = BTreeMap::<String, String>::new();
    for part in parts {
        assert!(
            came.done.is_none() && came.error.is_none(),
            "a part behind the end"
        );
        match part {
            Ok(Part::Text(text)) => came.text.push_str(&text),
            Ok(Part::Reasoning(text)) => came.reasoning.push_str(&text),
            Ok(Part::Thought(thought)) => came.thoughts.push(thought),
            Ok(Part::CallDelta { id, arguments, .. }) => {
                shown.entry(id).or_default().push_str(&arguments);
            }
            Ok(Part::Call(call)) => came.calls.push(call),
            Ok(Part::Usage(usage)) => came.usage = Some(usage),
            Ok(Part::Done(finish)) => came.done = Some(finish),
            Ok(Part::Waiting { .. } | Part::Sent) => panic!("no wire says so"),
            Err(error) => (came.error, came.message) = (Some(error.kind), error.message),
        }
    }
    assert!(
        came.done.is_some() != came.error.is_some(),
        "one end: {came:?}"
    );
    for call in &came.calls {
        assert_eq!(
            shown.get(&call.id.0),
            Some(&call.arguments),
            "what was shown is what came"
        );
    }
    for thought in &came.thoughts {
        let data = serde_json::from_str::<serde_json::Value>(&thought.data);
        assert!(data.is_ok_and(|data| data.is_object()), "{thought:?}");
        assert!(!thought.data.contains('\n'));
    }
    came
}

fn site() -> Site {
    let entry = Entry {
        name: "acme".to_owned(),
        models: Vec::new(),
        key_env: None,
        header_values: Vec::new(),
    };
    Site {
        entry: Arc::new(entry),
        key: None,
    }
}

thread_local! {
    static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
}

/// What comes of a stream of this kind in these pieces, behind which the connection ends in good order.
pub(crate) fn play(kind: &str, pieces: &[&[u8]]) -> Came {
    let owned: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
    // One for all plays of a test: there are a hundred thousand.
    RUNTIME.with(|runtime| came(runtime.block_on(async { parts(kind, owned).collect().await })))
}

fn parts(kind: &str, pieces: Vec<Vec<u8>>) -> BoxStream<'static, Result<Part, ProviderError>> {
    if kind == "command" {
        let mut options = fake::options(kind, "");
        options.api_key_env = None;
        let (means, _) = Programs::saying(pieces, 0);
        let (_, provider) = crate::open(options, &means).expect("a good entry");
        return provider.stream(fake::request());
    }
    let chunks = pieces.into_iter().map(|piece| Ok(Bytes::from(piece)));
    let body = stream::iter(chunks.collect::<Vec<_>>()).boxed();
    let (site, timeouts, model) = (site(), Timeouts::default(), "big".to_owned());
    match kind {
        "openai" => {
            let collect = crate::openai_chat::collector(site.clone(), model, 0);
            read::from_body(body, timeouts, site, collect)
        }
        "openai-responses" => {
            let collect = crate::openai_responses::collector(site.clone(), model, 0);
            read::from_body(body, timeouts, site, collect)
        }
        "anthropic" => {
            let collect = crate::anthropic::collector(site.clone(), model, 0);
            read::from_body(body, timeouts, site, collect)
        }
        other => panic!("no kind {other}"),
    }
}

/// The scenes of a file, by name.
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

/// What every kind comes to. What only some vendors tell (thoughts, what was written into the cache) stands in the
/// tests of their kinds.
fn expected() -> Vec<(&'static str, Came)> {
    let words = |text: &str, usage| Came {
        text: text.to_owned(),
        usage,
        done: Some(Finish::Stop),
        ..Came::default()
    };
    let calls = |text: &str, calls: Vec<ToolCall>, usage, finish| Came {
        text: text.to_owned(),
        calls,
        usage,
        done: Some(finish),
        ..Came::default()
    };
    let broken = |text: &str, kind| Came {
        text: text.to_owned(),
        error: Some(kind),
        ..Came::default()
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
            Came {
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

/// What is common: without what only some tell, and without usage of what broke (some tell it early).
fn common(came: &Came) -> Came {
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

/// Every scene of every kind.
fn each(check: impl Fn(&str, &str, &'static str, Came)) {
    for (kind, file) in KINDS {
        let mut streams = scenes(file);
        for (name, expected) in expected() {
            let stream = streams.remove(name).unwrap_or_default();
            check(kind, name, stream, expected);
        }
        assert!(
            streams.is_empty(),
            "scenes that nobody expects: {streams:?}"
        );
    }
}

#[test]
fn every_kind_comes_to_the_same_answer() {
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
                            // Half a line of a program is no event, and it ended in good order.
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
                    let without = |came: &Came| Came {
                        usage: None,
                        ..came.clone()
                    };
                    // Behind the end only usage can be lost.
                    assert_eq!(without(&came), without(&expected), "{}", place());
                }
            }
        }
    });
}
