//! Answers as vendors gave them: read as another reader reads them, and the same wherever they are cut.
//!
//! A file begins with the kind, the source (repository, commit, path, licence), what was changed, and what an independent
//! reader makes of the stream that follows, byte for byte.

use proto::item::ToolCall;
use serde_json::Value;

use super::{CollectedAnswer, play};

macro_rules! recording {
    ($name:literal) => {
        ($name, include_str!(concat!("recorded/", $name, ".txt")))
    };
}

const RECORDINGS: &[(&str, &str)] = &[
    recording!("a05-redacted-thinking"),
    recording!("a20-sdk-incomplete-json"),
    recording!("a25-prompt-caching-usage"),
    recording!("a30-sdk-compaction"),
    recording!("c04-openai-chain-unknown-tools"),
    recording!("c09-openai-logprobs"),
    recording!("c14-deepseek-text"),
    recording!("c24-mistral-tool"),
    recording!("c29-openrouter-error-in-stream"),
    recording!("c34-vllm-crusoe"),
    recording!("c44-snowflake-thinking"),
    recording!("c45-xai-text"),
    recording!("c47-azure-grok-cached-above-prompt"),
    recording!("c49-alibaba-tool"),
    recording!("r28-openai-logprobs"),
    recording!("x01-gemini-thought-signature"),
    recording!("x05-anthropic-overloaded-in-stream"),
    recording!("x07-openrouter-cache-write"),
];

/// A recording, taken apart.
struct Recording {
    name: &'static str,
    kind: &'static str,
    expected: Value,
    stream: &'static str,
}

fn recordings() -> impl Iterator<Item = Recording> {
    RECORDINGS.iter().map(|(name, file)| {
        let (head, stream) = file.split_once("\n\n").expect("a head");
        let member = |key: &str| {
            let mut lines = head.lines();
            let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            found.unwrap_or_else(|| panic!("{name} has no `{key}`"))
        };
        assert!(!member("source").is_empty() && !member("changed").is_empty());
        Recording {
            name,
            kind: member("wire"),
            expected: serde_json::from_str(member("expected")).expect("JSON"),
            stream,
        }
    })
}

/// Without white space: the parts of reasoning are joined with some.
fn dense(text: &str) -> String {
    text.split_whitespace().collect()
}

fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn calls(calls: &[ToolCall]) -> Vec<(String, String, Value)> {
    let each = calls.iter();
    each.map(|call| {
        (
            call.id.0.clone(),
            call.name.clone(),
            arguments(&call.arguments),
        )
    })
    .collect()
}

fn assert_read(recording: &Recording, came: &CollectedAnswer) {
    let (name, expected) = (recording.name, &recording.expected);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    assert_eq!(
        came.error.is_some(),
        expected["error"] == true,
        "{name}: {came:?}"
    );
    if came.error.is_some() {
        return;
    }
    assert_eq!(came.text, text(&expected["text"]), "{name}");
    assert_eq!(
        dense(&came.reasoning),
        dense(&text(&expected["reasoning"])),
        "{name}"
    );
    let wanted = expected["calls"].as_array().into_iter().flatten();
    let wanted: Vec<_> = wanted
        .map(|call| (text(&call[0]), text(&call[1]), arguments(&text(&call[2]))))
        .collect();
    assert_eq!(calls(&came.calls), wanted, "{name}");
    let tokens = |at: usize| expected["tokens"][at].as_u64().unwrap_or_default();
    let usage = came.usage.unwrap_or_default();
    assert_eq!(
        (
            usage.prompt_tokens,
            usage.cached_tokens,
            usage.output_tokens
        ),
        // One vendor says more of its cache than there was.
        (tokens(0), tokens(1).min(tokens(0)), tokens(2)),
        "{name}"
    );
}

#[test]
fn recorded_answers_are_read_as_another_reader_reads_them() {
    for recording in recordings() {
        let came = play(recording.kind, &[recording.stream.as_bytes()]);
        assert_read(&recording, &came);
    }
}

fn assert_same_when_cut(recording: &Recording) {
    let bytes = recording.stream.as_bytes();
    let whole = play(recording.kind, &[bytes]);
    for at in 1..bytes.len() {
        let (one, two) = bytes.split_at(at);
        let came = play(recording.kind, &[one, two]);
        assert_eq!(came, whole, "{} cut at {at}", recording.name);
    }
}

/// In two tests, since each takes seconds.
const LONG: usize = 5_000;

#[test]
fn short_recorded_answers_are_the_same_cut_at_any_byte() {
    recordings()
        .filter(|recording| recording.stream.len() < LONG)
        .for_each(|recording| assert_same_when_cut(&recording));
}

#[test]
fn long_recorded_answers_are_the_same_cut_at_any_byte() {
    recordings()
        .filter(|recording| recording.stream.len() >= LONG)
        .for_each(|recording| assert_same_when_cut(&recording));
}
