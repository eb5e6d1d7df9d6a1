//! Behaviour of this vendor only. `conformance` tests the common part.

use contract::provider::ErrorKind;
use proto::item::ToolCall;

use crate::playback::{CollectedAnswer, play};

use super::*;

fn said(events: &[&str]) -> CollectedAnswer {
    let stream: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    play(KIND, &[stream.as_bytes()])
}

const STARTS: &str = r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":40,"cache_creation_input_tokens":7,"output_tokens":1}}}"#;
const WORDS: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ab"}}"#;
const LAST: &str = r#"{"type":"message_stop"}"#;

fn stop(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":9}}}}"#
    )
}

#[test]
fn finish_reasons_map_to_our_stop_reasons() {
    for (reason, expected) in [
        ("end_turn", Finish::Stop),
        ("stop_sequence", Finish::Stop),
        ("tool_use", Finish::Stop),
        ("max_tokens", Finish::Length),
        ("model_context_window_exceeded", Finish::Length),
        ("pause_turn", Finish::Paused),
        ("refusal", Finish::ContentFilter),
        ("something_new", Finish::Stop),
    ] {
        let came = said(&[STARTS, WORDS, &stop(reason), LAST]);
        assert_eq!(
            (came.text.as_str(), came.done),
            ("ab", Some(expected)),
            "{reason}"
        );
    }
    assert_eq!(
        said(&[STARTS, WORDS, LAST]).done,
        Some(Finish::Stop),
        "no reason, an end"
    );
    assert_eq!(
        said(&[STARTS, LAST]).error,
        Some(ErrorKind::Transient),
        "nothing was said"
    );
}

#[test]
fn prompt_tokens_include_cached_tokens() {
    let came = said(&[STARTS, WORDS, &stop("end_turn"), LAST]);
    let expected = Reported {
        prompt_tokens: 50,
        cached_tokens: 40,
        cache_write_tokens: 7,
        output_tokens: 9,
        reasoning_tokens: 0,
    };
    assert_eq!(came.usage, Some(expected));
    let broken = said(&[STARTS, WORDS]);
    assert!(broken.error.is_some());
    assert_eq!(
        broken.usage.map(|usage| usage.prompt_tokens),
        Some(50),
        "a broken answer is billed all the same"
    );
}

#[test]
fn thinking_is_sent_back_with_its_signature_in_its_position() {
    let came = said(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"o\u006ee \"é\"\n"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"AB/+=="}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"hé"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type": "redacted_thinking", "data": "EroHCk=="}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t","name":"x","input":{}}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"thinking","thinking":"two"}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"signature_delta","signature":"CD"}}"#,
        r#"{"type":"content_block_stop","index":4}"#,
        r#"{"type":"content_block_start","index":5,"content_block":{"type":"thinking","thinking":"","signature":"EF"}}"#,
        r#"{"type":"content_block_stop","index":5}"#,
        &stop("tool_use"),
        LAST,
    ]);
    let thoughts: Vec<_> = came
        .thoughts
        .iter()
        .map(|thought| (thought.data.as_str(), thought.text_at, thought.calls_at))
        .collect();
    assert_eq!(
        thoughts,
        [
            (
                r#"{"type":"thinking","thinking":"one \"é\"\n","signature":"AB/+=="}"#,
                0,
                0
            ),
            (r#"{"type": "redacted_thinking", "data": "EroHCk=="}"#, 3, 0),
            (
                r#"{"type":"thinking","thinking":"two","signature":"CD"}"#,
                3,
                1
            ),
            (
                r#"{"type":"thinking","thinking":"","signature":"EF"}"#,
                3,
                1
            ),
        ]
    );
    assert_eq!(came.reasoning, "one \"é\"\n\n\ntwo");
    let call = ToolCall {
        id: "t".into(),
        name: "x".to_owned(),
        arguments: "{}".to_owned(),
        cut: false,
        found: false,
    };
    assert_eq!(came.calls, [call], "a call without parameters");
}

#[test]
fn unsigned_thinking_is_not_sent_back() {
    let begun = r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm"}}"#;
    let ended = r#"{"type":"content_block_stop","index":0}"#;
    let came = said(&[begun, ended, &stop("max_tokens"), LAST]);
    assert_eq!((came.reasoning.as_str(), came.thoughts), ("hm", Vec::new()));
    // Some gateways sign nothing, and still require it back.
    let came = said(&[begun, ended, &stop("end_turn"), LAST]);
    let data: Vec<_> = came
        .thoughts
        .iter()
        .map(|thought| thought.data.as_str())
        .collect();
    assert_eq!(data, [r#"{"type":"thinking","thinking":"hm"}"#]);
}

#[test]
fn an_error_inside_the_stream_discards_its_content() {
    let event = |kind: &str| {
        let error = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"words"}}}}"#);
        said(&[STARTS, WORDS, &stop("end_turn"), &error])
    };
    for (kind, expected) in [
        ("overloaded_error", ErrorKind::Transient),
        ("rate_limit_error", ErrorKind::Transient),
        ("api_error", ErrorKind::Transient),
        ("timeout_error", ErrorKind::Transient),
        ("authentication_error", ErrorKind::Credentials),
        ("permission_error", ErrorKind::Permanent),
        ("billing_error", ErrorKind::OutOfCredit),
        ("invalid_request_error", ErrorKind::Permanent),
    ] {
        let came = event(kind);
        assert_eq!(came.error, Some(expected), "{kind}");
        assert_eq!(came.message, "`acme` answered with an error: words");
    }
}

#[test]
fn an_answer_without_streaming_yields_the_same_parts() {
    let document = r#"{"id":"m","type":"message","role":"assistant","content":[
        {"type":"thinking","thinking":"hm","signature":"AB"},{"type":"text","text":"ok"},
        {"type":"tool_use","id":"t","name":"x","input":{"a": 1}},{"type":"tool_use","id":"u","name":"y","input":{}}],
        "stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}"#;
    let came = play(KIND, &[document.as_bytes()]);
    assert_eq!((came.reasoning.as_str(), came.text.as_str()), ("hm", "ok"));
    let calls: Vec<_> = came
        .calls
        .iter()
        .map(|call| call.arguments.as_str())
        .collect();
    assert_eq!(calls, [r#"{"a": 1}"#, "{}"]);
    assert_eq!(
        (came.thoughts.len(), came.done),
        (1, Some(Finish::ToolCalls))
    );
    assert_eq!(came.usage.map(|usage| usage.prompt_tokens), Some(3));
    let refused = r#"{"type":"error","error":{"type":"not_found_error","message":"model"}}"#;
    assert_eq!(
        play(KIND, &[refused.as_bytes()]).error,
        Some(ErrorKind::Permanent)
    );
    for cut in [10, document.len() / 2, document.len() - 1] {
        let came = play(KIND, &[&document.as_bytes()[..cut]]);
        assert_eq!(came.error, Some(ErrorKind::Transient));
    }
}

/// The start of a message with this id and this many input tokens.
fn start(id: &str, input: u64) -> String {
    format!(
        r#"{{"type":"message_start","message":{{"id":"{id}","usage":{{"input_tokens":{input},"output_tokens":1}}}}}}"#
    )
}

fn usage(input: u64, output: u64) -> Reported {
    Reported {
        prompt_tokens: input,
        output_tokens: output,
        ..Reported::default()
    }
}

#[test]
fn the_later_of_two_messages_is_the_answer_wherever_the_stream_is_cut() {
    let thinks = |index: u64| {
        [
            format!(
                r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"thinking","thinking":"hm","signature":"AB"}}}}"#
            ),
            format!(r#"{{"type":"content_block_stop","index":{index}}}"#),
        ]
    };
    let called = |index: u64, name: &str| {
        format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"t","name":"{name}","input":{{}}}}}}"#
        )
    };
    let first = [
        vec![start("msg_1", 3)],
        thinks(0).to_vec(),
        vec![WORDS.to_owned(), called(1, "rm")],
    ];
    let second = [
        vec![start("msg_2", 5)],
        thinks(0).to_vec(),
        vec![WORDS.replace("ab", "second"), called(1, "ls")],
        vec![r#"{"type":"content_block_stop","index":1}"#.to_owned()],
        vec![stop("tool_use"), LAST.to_owned()],
    ];
    let events: Vec<String> = first.into_iter().chain(second).flatten().collect();
    let stream: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    let whole = play(KIND, &[stream.as_bytes()]);
    assert_eq!(
        (whole.text.as_str(), whole.reasoning.as_str()),
        ("second", "hm")
    );
    assert_eq!(whole.done, Some(Finish::ToolCalls));
    let calls: Vec<_> = whole.calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(calls, ["ls"]);
    assert_eq!(whole.thoughts.len(), 1);
    assert_eq!(
        (whole.thoughts[0].text_at, whole.thoughts[0].calls_at),
        (0, 0)
    );
    assert_eq!(whole.usage, Some(usage(5, 9)));
    assert_eq!(
        (whole.restarts, &whole.replaced[..]),
        (1, &[usage(3, 1)][..])
    );
    for cut in 1..stream.len() {
        let (one, other) = stream.as_bytes().split_at(cut);
        assert_eq!(play(KIND, &[one, other]), whole, "cut at {cut}");
    }
}

#[test]
fn a_later_message_counts_behind_a_stop_reason_but_not_behind_the_end() {
    let other = WORDS.replace("ab", "other");
    let came = said(&[
        STARTS,
        WORDS,
        &stop("end_turn"),
        STARTS,
        &other,
        &stop("end_turn"),
        LAST,
    ]);
    assert_eq!(
        (came.text.as_str(), came.done, came.restarts),
        ("other", Some(Finish::Stop), 1)
    );
    let came = said(&[STARTS, WORDS, &stop("end_turn"), LAST, STARTS, &other, LAST]);
    assert_eq!((came.text.as_str(), came.restarts), ("ab", 0));
    // The later one breaks off: there is no answer, and the first is none either.
    let came = said(&[STARTS, WORDS, &stop("end_turn"), STARTS, &other]);
    assert_eq!((came.done, came.error), (None, Some(ErrorKind::Transient)));
    let came = said(&[STARTS, WORDS, STARTS, LAST]);
    assert_eq!((came.done, came.error), (None, Some(ErrorKind::Transient)));
}

#[test]
fn unknown_usage_of_a_later_message_is_not_that_of_the_first() {
    let bare = r#"{"type":"message_start","message":{"id":"msg_2"}}"#;
    let ends = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    let came = said(&[&start("msg_1", 3), WORDS, bare, WORDS, ends, LAST]);
    assert_eq!((came.usage, came.replaced), (None, vec![usage(3, 1)]));
    let came = said(&[bare, WORDS, &start("msg_1", 3), WORDS, ends, LAST]);
    assert_eq!((came.usage, came.replaced), (Some(usage(3, 1)), vec![]));
}

#[test]
fn a_start_that_is_sent_twice_begins_one_message() {
    let one = start("msg_1", 3);
    let came = said(&[&one, WORDS, &one, WORDS, &stop("end_turn"), LAST]);
    assert_eq!(
        (came.text.as_str(), came.done, came.restarts),
        ("abab", Some(Finish::Stop), 0)
    );
    // Nothing was said in the first.
    let came = said(&[STARTS, STARTS, WORDS, &stop("end_turn"), LAST]);
    assert_eq!(
        (came.text.as_str(), came.done, came.restarts),
        ("ab", Some(Finish::Stop), 0)
    );
}

#[test]
fn garbage_is_an_error_and_does_not_panic() {
    let came = said(&[STARTS, WORDS, "{\"type\":\"content_", &stop("end_turn")]);
    assert_eq!(
        (came.text.as_str(), came.error),
        ("ab", Some(ErrorKind::Transient))
    );
    for event in [
        r#"{"type":7,"index":"x","delta":[],"usage":{"input_tokens":-1}}"#,
        r#"{"type":"content_block_start","index":99999999999,"content_block":7}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
        r#"{"type":"content_block_stop"}"#,
        r#"{"type":"message_start","message":null}"#,
    ] {
        said(&[event, WORDS, &stop("end_turn"), LAST]);
    }
}

#[test]
fn answer_that_comes_whole_with_its_start_is_taken_once() {
    let start = r#"{"type":"message_start","message":{"id":"m","stop_reason":"tool_use","content":[{"type":"code_execution_tool_result","tool_use_id":"a","content":{"type":"code_execution_result","stdout":"x"}},{"type":"text","text":"ab"},{"type":"tool_use","id":"b","name":"read_file","input":{"path":"c"}}],"usage":{"input_tokens":3,"output_tokens":1}}}"#;
    for events in [&[start, LAST][..], &[start, start, LAST]] {
        let came = said(events);
        assert_eq!((&*came.text, came.done), ("ab", Some(Finish::ToolCalls)));
        let mut calls = came.calls.iter();
        let call = calls.next().expect("a call");
        assert_eq!(
            (&*call.name, &*call.arguments),
            ("read_file", r#"{"path":"c"}"#)
        );
        assert!(calls.next().is_none());
    }
}
