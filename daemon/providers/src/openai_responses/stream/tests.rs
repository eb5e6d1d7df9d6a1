//! Behaviour of this vendor only. `conformance` tests the common part.

use contract::provider::ErrorKind;

use crate::playback::{CollectedAnswer, play};

use super::*;

fn said(events: &[&str]) -> CollectedAnswer {
    let stream: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    play(KIND, &[stream.as_bytes()])
}

const WORDS: &str =
    r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"ab"}"#;
const LAST: &str = r#"{"type":"response.completed","response":{"status":"completed"}}"#;

#[test]
fn reasoning_is_sent_back_unchanged_in_its_position() {
    let reasoning = r#"{"id": "rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"A."},{"type":"summary_text","text":"B."}],"encrypted_content":"gAAA=="}"#;
    let done = |index: usize, item: &str| {
        format!(r#"{{"type":"response.output_item.done","output_index":{index},"item":{item}}}"#)
    };
    let call = |id: &str| {
        format!(
            r#"{{"id":"fc_{id}","type":"function_call","call_id":"{id}","name":"x","arguments":"{{}}"}}"#
        )
    };
    let message = r#"{"id":"m","type":"message","content":[{"type":"output_text","text":"hé"}]}"#;
    let stored = r#"{"id":"rs_9","type":"reasoning","summary":[]}"#;
    let came = said(&[
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"A."}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"B"}"#,
        &done(0, reasoning),
        &done(1, message),
        &done(2, reasoning.replace("rs_1", "rs_2").as_str()),
        &done(3, &call("a")),
        &done(4, stored),
        &done(5, reasoning.replace("rs_1", "rs_3").as_str()),
        &done(6, &call("b")),
        LAST,
    ]);
    let thoughts: Vec<_> = came
        .thoughts
        .iter()
        .map(|thought| (thought.data.clone(), thought.text_at, thought.calls_at))
        .collect();
    assert_eq!(
        thoughts,
        [
            (reasoning.to_owned(), 0, 0),
            (reasoning.replace("rs_1", "rs_2"), 3, 0),
            (reasoning.replace("rs_1", "rs_3"), 3, 1),
        ],
        "byte for byte; one in the vendor's store is useless"
    );
    assert!(came.reasoning.starts_with("A.\n\nB."), "{}", came.reasoning);
    assert_eq!(came.text, "hé");
    let calls: Vec<_> = came.calls.iter().map(|call| call.id.0.as_str()).collect();
    assert_eq!(calls, ["a", "b"]);
}

#[test]
fn usage_has_what_was_cached_and_reasoned() {
    let came = said(&[
        WORDS,
        r#"{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":40,"cache_write_tokens":3},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":7}}}}"#,
    ]);
    let expected = Reported {
        prompt_tokens: 50,
        cached_tokens: 40,
        cache_write_tokens: 3,
        output_tokens: 9,
        reasoning_tokens: 7,
    };
    assert_eq!(came.usage, Some(expected));
}

#[test]
fn cached_and_written_tokens_are_parts_of_the_prompt_and_zeros_are_no_usage() {
    let usage = |usage: &str| {
        let event = format!(
            r#"{{"type":"response.completed","response":{{"status":"completed","usage":{usage}}}}}"#
        );
        said(&[WORDS, &event]).usage
    };
    let of = |cached, written| {
        let reported = usage(&format!(
            r#"{{"input_tokens":1000,"input_tokens_details":{{"cached_tokens":{cached},"cache_write_tokens":{written}}},"output_tokens":20}}"#
        ));
        let reported = reported.expect("a usage");
        (reported.cached_tokens, reported.cache_write_tokens)
    };
    assert_eq!(of(11_500, 0), (1000, 0));
    assert_eq!(of(900, 900), (900, 100));
    for zeros in ["{}", r#"{"input_tokens":0,"output_tokens":0}"#] {
        assert_eq!(usage(zeros), None, "{zeros}");
    }
}

#[test]
fn failures_have_their_forms() {
    for (event, kind, words) in [
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"oops"}}}"#,
            ErrorKind::Transient,
            "oops",
        ),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}}"#,
            ErrorKind::Transient,
            "slow",
        ),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"insufficient_quota","message":"empty"}}}"#,
            ErrorKind::OutOfCredit,
            "empty",
        ),
        (
            r#"{"type":"error","code":"context_length_exceeded","message":"long","param":"input","sequence_number":2}"#,
            ErrorKind::ContextLength,
            "long",
        ),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","code":null,"message":"bad"}}"#,
            ErrorKind::Permanent,
            "bad",
        ),
        (
            r#"{"error":{"type":"server_error","message":"from a gateway"}}"#,
            ErrorKind::Transient,
            "from a gateway",
        ),
    ] {
        let came = said(&[WORDS, event]);
        assert_eq!(
            (came.text.as_str(), came.error),
            ("ab", Some(kind)),
            "{event}"
        );
        assert_eq!(
            came.message,
            format!("`acme` answered with an error: {words}")
        );
    }
    let cancelled = r#"{"type":"response.cancelled","response":{"status":"cancelled"}}"#;
    assert_eq!(said(&[WORDS, cancelled]).error, Some(ErrorKind::Transient));
}

#[test]
fn responses_with_missing_fields_are_understood() {
    let item = r#"{"type":"response.output_item.added","item":{"id":"fc_1","type":"function_call","call_id":"a","name":"x","arguments":""}}"#;
    let more =
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{\"q\":1}"}"#;
    let done = r#"{"type":"response.function_call_arguments.done","item_id":"fc_1","arguments":"{\"q\":1}"}"#;
    for events in [
        vec![item, more, done, LAST],
        vec![item, done, LAST],
        vec![item, more, LAST],
    ] {
        let came = said(&events);
        assert_eq!(came.calls.len(), 1);
        assert_eq!(came.calls[0].arguments, r#"{"q":1}"#);
    }
    let all_at_once = r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"ab"},{"type":"refusal","refusal":"no"}]}]}}"#;
    assert_eq!(said(&[all_at_once]).text, "abno");
    assert_eq!(
        said(&[WORDS, all_at_once.replace("abno", "ab").as_str()]).text,
        "ab"
    );
}

#[test]
fn wrong_item_numbers_neither_repeat_text_nor_join_calls() {
    let came = said(&[
        r#"{"type":"response.output_text.delta","output_index":1,"content_index":1,"delta":"ab"}"#,
        r#"{"type":"response.output_text.done","output_index":1,"content_index":1,"text":"ab"}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"ab"}]}}"#,
        LAST,
    ]);
    assert_eq!(came.text, "ab");
    let call = |event: &str, id: &str, arguments: &str| {
        format!(
            r#"{{"type":"response.output_item.{event}","output_index":0,"item":{{"id":"fc_{id}","type":"function_call","call_id":"{id}","name":"x","arguments":"{arguments}"}}}}"#
        )
    };
    let more = r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}"#;
    let came = said(&[
        &call("added", "a", ""),
        more,
        &call("done", "a", "{}"),
        &call("added", "b", ""),
        more,
        &call("done", "b", "{}"),
        LAST,
    ]);
    let calls: Vec<_> = came
        .calls
        .iter()
        .map(|call| (&*call.id.0, &*call.arguments))
        .collect();
    assert_eq!(calls, [("a", "{}"), ("b", "{}")]);
}

#[test]
fn an_answer_without_streaming_yields_the_same_parts() {
    let document = r#"{"id":"r","object":"response","status":"completed","error":null,"output":[
        {"id":"rs","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}],"encrypted_content":"AB"},
        {"type":"message","content":[{"type":"output_text","text":"ok"}]},
        {"type":"function_call","call_id":"a","name":"x","arguments":"{ }"}],
        "usage":{"input_tokens":3,"output_tokens":2}}"#;
    let came = play(KIND, &[document.as_bytes()]);
    assert_eq!((came.reasoning.as_str(), came.text.as_str()), ("hm", "ok"));
    assert_eq!(came.calls[0].arguments, "{ }");
    assert_eq!(
        (came.thoughts.len(), came.done),
        (1, Some(Finish::ToolCalls))
    );
    let refused = r#"{"error":{"message":"none","code":"model_not_found"}}"#;
    assert_eq!(
        play(KIND, &[refused.as_bytes()]).error,
        Some(ErrorKind::Permanent)
    );
    let cut = document.replace("\"completed\"", "\"incomplete\"");
    assert_eq!(play(KIND, &[cut.as_bytes()]).done, Some(Finish::Length));
}

#[test]
fn garbage_is_an_error_and_does_not_panic() {
    let came = said(&[WORDS, "{\"type\":\"respon", LAST]);
    assert_eq!(
        (came.text.as_str(), came.error),
        ("ab", Some(ErrorKind::Transient))
    );
    for event in [
        r#"{"type":7,"output_index":"x","delta":[]}"#,
        r#"{"type":"response.output_item.done","output_index":99999999999,"item":7}"#,
        r#"{"type":"response.output_text.done","text":"é"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":3,"delta":"{"}"#,
        r#"{"type":"response.created","response":null}"#,
    ] {
        said(&[WORDS, event, LAST]);
    }
}

#[test]
fn phases_of_messages_and_open_reasoning_are_kept_in_their_positions() {
    let done = |index: usize, item: &str| {
        format!(r#"{{"type":"response.output_item.done","output_index":{index},"item":{item}}}"#)
    };
    let message = |phase: &str, text: &str| {
        format!(
            r#"{{"id":"m","type":"message","phase":"{phase}","content":[{{"type":"output_text","text":"{text}"}}]}}"#
        )
    };
    let reasoning = r#"{"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}"#;
    let came = said(&[
        &done(0, reasoning),
        WORDS
            .replace("\"output_index\":0", "\"output_index\":1")
            .as_str(),
        &done(1, &message("commentary", "ab")),
        &done(2, &message("final_answer", "cd")),
        LAST,
    ]);
    let thoughts: Vec<_> = came
        .thoughts
        .iter()
        .map(|thought| (&*thought.kind, &*thought.data, thought.text_at))
        .collect();
    assert_eq!(
        thoughts,
        [
            ("openai-responses.open", reasoning, 0),
            ("openai-responses.phase", r#"{"phase":"commentary"}"#, 0),
            ("openai-responses.phase", r#"{"phase":"final_answer"}"#, 2),
        ]
    );
    assert_eq!(
        (came.text.as_str(), came.reasoning.as_str()),
        ("abcd", "Hm.")
    );
}

#[test]
fn item_that_ends_under_another_number_is_not_taken_twice() {
    let ends = |shift: u64| {
        let numbered = |event: &str, number: u64| event.replace("NUMBER", &number.to_string());
        let came = said(&[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","content":[]}}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"item_id":"msg_1","content_index":0,"delta":"ab"}"#,
            r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"a","name":"x","arguments":""}}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_1","delta":"{}"}"#,
            &numbered(
                r#"{"type":"response.output_text.done","output_index":NUMBER,"item_id":"msg_1","content_index":0,"text":"abc"}"#,
                shift,
            ),
            &numbered(
                r#"{"type":"response.output_item.done","output_index":NUMBER,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"abc"}]}}"#,
                shift,
            ),
            &numbered(
                r#"{"type":"response.function_call_arguments.done","output_index":NUMBER,"item_id":"fc_1","arguments":"{}"}"#,
                shift + 1,
            ),
            &numbered(
                r#"{"type":"response.output_item.done","output_index":NUMBER,"item":{"id":"fc_1","type":"function_call","call_id":"a","name":"x","arguments":"{}"}}"#,
                shift + 1,
            ),
            LAST,
        ]);
        let mut calls = came.calls.iter();
        let calls: Vec<_> = calls
            .by_ref()
            .map(|call| (call.id.0.clone(), call.arguments.clone()))
            .collect();
        (came.text, calls)
    };
    for shift in 0..4 {
        let call = ("a".to_owned(), "{}".to_owned());
        assert_eq!(ends(shift), ("abc".to_owned(), vec![call]), "{shift}");
    }
}

#[test]
fn items_of_one_id_under_numbers_of_their_own_are_all_taken() {
    let event = |kind: &str, index: usize, text: &str| {
        format!(
            r#"{{"type":"response.output_item.{kind}","output_index":{index},"item":{{"id":"m","type":"message","content":[{{"type":"output_text","text":"{text}"}}]}}}}"#
        )
    };
    let unannounced = [event("done", 0, "long text"), event("done", 1, "short")];
    let one_by_one = [
        event("added", 0, ""),
        event("done", 0, "long text"),
        event("added", 1, ""),
        event("done", 1, "short"),
    ];
    let at_once = [
        event("added", 0, ""),
        event("added", 1, ""),
        event("done", 0, "long text"),
        event("done", 1, "short"),
    ];
    for events in [&unannounced[..], &one_by_one, &at_once] {
        let mut events: Vec<&str> = events.iter().map(String::as_str).collect();
        events.push(LAST);
        assert_eq!(said(&events).text, "long textshort", "{events:?}");
    }
}

#[test]
fn ids_that_change_with_each_event_are_no_items_of_their_own() {
    let mut collector = Collector::new(Gathered::new(crate::playback::site(), "big".to_owned(), 0));
    let mut batch = PartBatch::default();
    for at in 0..1000 {
        let event = format!(
            r#"{{"type":"response.output_text.delta","output_index":0,"item_id":"{at}","content_index":0,"delta":"a"}}"#
        );
        collector.take(&event, &mut batch).expect("a delta");
    }
    let end = r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"z","type":"message","content":[{"type":"output_text","text":"TEXT"}]}}"#;
    let end = end.replace("TEXT", &"a".repeat(1000));
    collector.take(&end, &mut batch).expect("an end");
    assert_eq!(collector.gathered.text, 1000);
    assert_eq!((collector.begun.len(), collector.items.len()), (0, 0));
}

#[test]
fn items_without_a_number_or_an_id_are_all_taken() {
    let came = said(&[
        r#"{"type":"response.output_text.delta","delta":"Hi there."}"#,
        r#"{"type":"response.output_item.done","item":{"id":"m1","type":"message","content":[{"type":"output_text","text":"Hi there."}]}}"#,
        r#"{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"One."}]}}"#,
        r#"{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"And two more."}]}}"#,
        r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"path\":\".\"}"}}"#,
        r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c2","name":"read","arguments":"{\"path\":\"a.txt\"}"}}"#,
        LAST,
    ]);
    assert_eq!(came.text, "Hi there.One.And two more.");
    let calls = came.calls.iter();
    let calls: Vec<_> = calls.map(|call| (&*call.id.0, &*call.arguments)).collect();
    assert_eq!(
        calls,
        [("c1", r#"{"path":"."}"#), ("c2", r#"{"path":"a.txt"}"#)]
    );
}

#[test]
fn call_that_ends_as_something_else_is_the_servers_own() {
    let came = said(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"x","type":"function_call","call_id":"c","name":"search_web","arguments":"{}","status":"completed"}}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"search_results","results":[]}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"m","type":"message","content":[]}}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"item_id":"m","content_index":0,"delta":"The site."}"#,
        LAST,
    ]);
    assert_eq!((&*came.text, came.calls.len()), ("The site.", 0));
    // All items of some servers have the same number.
    let came = said(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"x","type":"function_call","call_id":"c","name":"ls","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":0,"item_id":"x","arguments":"{}"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"x","type":"function_call","call_id":"c","name":"ls","arguments":"{}"}}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"m","type":"message","content":[{"type":"output_text","text":"And this."}]}}"#,
        LAST,
    ]);
    assert_eq!((&*came.text, came.calls.len()), ("And this.", 1));
}
