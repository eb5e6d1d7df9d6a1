//! Answers as real servers send them: whole, cut at every byte, and broken at every byte.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use contract::provider::{ErrorKind, Part};
use futures::stream::{self, StreamExt};
use proptest::prelude::*;
use proto::item::ToolCall;

use super::*;
use crate::failure::EntryInfo;
use crate::failure::ErrorContext;
use crate::options::Timeouts;
use crate::read;

/// The collected answer, independent of chunking.
#[derive(Clone, Debug, Default, PartialEq)]
struct CollectedAnswer {
    reasoning: String,
    text: String,
    calls: Vec<ToolCall>,
    thoughts: Vec<proto::item::Thought>,
    usage: Option<Reported>,
    done: Option<Finish>,
    error: Option<ProviderError>,
}

fn collector(model: &str) -> Collector {
    let entry = EntryInfo {
        answer_max: crate::options::ANSWER_MAX,
        name: "acme".to_owned(),
        models: Vec::new(),
        key_env: None,
        header_values: Vec::new(),
    };
    Collector::new(Gathered::new(
        ErrorContext {
            entry: Arc::new(entry),
            key: None,
        },
        model.to_owned(),
        0,
    ))
}

/// Plays an answer in these chunks, followed by a connection reset if `reset`.
fn play(pieces: &[&[u8]], reset: bool) -> CollectedAnswer {
    play_of("big", pieces, reset)
}

/// The same of a model with this name.
fn play_of(model: &str, pieces: &[&[u8]], reset: bool) -> CollectedAnswer {
    let mut chunks: Vec<Result<Bytes, String>> = pieces
        .iter()
        .map(|piece| Ok(Bytes::copy_from_slice(piece)))
        .collect();
    if reset {
        chunks.push(Err("connection reset".to_owned()));
    }
    let collector = collector(model);
    let site = collector.gathered.site.clone();
    let parts = read::from_body(
        stream::iter(chunks).boxed(),
        Timeouts::default(),
        site,
        collector,
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    came(runtime.expect("a runtime").block_on(parts.collect()))
}

fn came(parts: Vec<Result<Part, ProviderError>>) -> CollectedAnswer {
    let mut came = CollectedAnswer::default();
    let mut shown = std::collections::BTreeMap::<String, String>::new();
    for part in parts {
        assert!(
            came.done.is_none() && came.error.is_none(),
            "a part after the end"
        );
        match part {
            Ok(Part::Text(text)) => came.text.push_str(&text),
            Ok(Part::Reasoning(text)) => came.reasoning.push_str(&text),
            Ok(Part::CallDelta { id, arguments, .. }) => {
                shown.entry(id).or_default().push_str(&arguments)
            }
            Ok(Part::Thought(thought)) => came.thoughts.push(thought),
            Ok(Part::Call(call)) => came.calls.push(call),
            Ok(Part::Usage(usage)) => came.usage = Some(usage),
            Ok(Part::Done(finish)) => came.done = Some(finish),
            Ok(Part::Waiting { .. } | Part::Sent | Part::Restarted) => panic!("no wire says so"),
            Err(error) => came.error = Some(error),
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
            "deltas equal the final answer"
        );
    }
    came
}

fn whole(text: &str) -> CollectedAnswer {
    play(&[text.as_bytes()], false)
}

fn sse(events: &[&str]) -> String {
    events.iter().fold(String::new(), |mut all, event| {
        let _ = write!(all, "data: {event}\n\n");
        all
    })
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: proto::CallId::from(id),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        cut: false,
        found: false,
    }
}

fn usage(prompt: u64, cached: u64, output: u64, reasoning: u64) -> Option<Reported> {
    Some(Reported {
        prompt_tokens: prompt,
        cached_tokens: cached,
        cache_write_tokens: 0,
        output_tokens: output,
        reasoning_tokens: reasoning,
    })
}

/// OpenAI: interleaved calls, usage in a separate event.
fn openai() -> (String, CollectedAnswer) {
    let text = sse(&[
        r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x"}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"Let me loök"},"finish_reason":null}],"usage":null}"#,
        r#"{"choices":[{"index":0,"delta":{"content":" 😀.\n "},"finish_reason":null}],"usage":null}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"bash","arguments":"{\"command\""}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\": "}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":":\"ls é\\n\"}"}},{"index":0,"function":{"arguments":"\"a.txt\" }"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}],"usage":null}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":5}}}"#,
        "[DONE]",
    ]);
    let calls = vec![
        call("call_a", "read", "{\"path\": \"a.txt\" }"),
        call("call_b", "bash", "{\"command\":\"ls é\\n\"}"),
    ];
    let text_of = "Let me loök 😀.\n ".to_owned();
    (
        text,
        CollectedAnswer {
            text: text_of,
            calls,
            usage: usage(100, 64, 20, 5),
            done: Some(Finish::ToolCalls),
            ..CollectedAnswer::default()
        },
    )
}

/// DeepSeek: keep-alive comments, reasoning, usage beside the finish reason.
fn deepseek() -> (String, CollectedAnswer) {
    let mut text = String::from(": keep-alive\n\n: keep-alive\n\n");
    text += &sse(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"hm, "},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"\"so\""},"finish_reason":null}]}"#,
    ]);
    text += ": keep-alive\n\n";
    text += &sse(&[
        r#"{"choices":[{"index":0,"delta":{"content":"你好","reasoning_content":null},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"","reasoning_content":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":8,"total_tokens":17,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":5}}"#,
        "[DONE]",
    ]);
    let came = CollectedAnswer {
        reasoning: "hm, \"so\"".to_owned(),
        text: "你好".to_owned(),
        usage: usage(9, 4, 8, 0),
        ..CollectedAnswer::default()
    };
    (
        text,
        CollectedAnswer {
            done: Some(Finish::Stop),
            ..came
        },
    )
}

/// llama.cpp: ids and names repeated in every fragment, nulls everywhere, carriage returns, no
/// `[DONE]`.
fn llama() -> (String, CollectedAnswer) {
    let piece = |arguments: &str| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"role":null,"content":null,"function_call":{{"name":"read","arguments":""}},"tool_calls":[{{"index":0,"id":"c1","type":"function","function":{{"name":"read","arguments":"{arguments}"}}}}]}},"finish_reason":null}}]}}"#
        )
    };
    let text = sse(&[
        &piece(""),
        &piece("{\\\"path\\\":"),
        &piece("\\\"a\\\"}"),
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#,
    ]);
    let calls = vec![call("c1", "read", r#"{"path":"a"}"#)];
    let came = CollectedAnswer {
        calls,
        usage: usage(3, 0, 2, 0),
        done: Some(Finish::ToolCalls),
        ..CollectedAnswer::default()
    };
    (text.replace('\n', "\r\n"), came)
}

/// Mistral and others: parts as content, usage in every event, arguments as an object, `stop`
/// beside calls.
fn others() -> (String, CollectedAnswer) {
    let text = sse(&[
        r#"{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}"#,
        r#"{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"ok"}]},"finish_reason":""}],"usage":{"prompt_tokens":5.0,"completion_tokens":"2","prompt_tokens_details":null}}"#,
        r#"{"choices":[{"index":1,"delta":{"content":"not asked for"}},{"index":0,"delta":{"tool_calls":[{"function":{"name":"read","arguments":{"path": "a"}}}]}}],"usage":{"prompt_tokens":5,"completion_tokens":3}}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":4,"cached_tokens":2}}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}"#,
        "[DONE]",
    ]);
    let calls = vec![call("call_1_1", "read", r#"{"path": "a"}"#)];
    let came = CollectedAnswer {
        reasoning: "hm".to_owned(),
        text: "ok".to_owned(),
        calls,
        usage: usage(5, 2, 4, 0),
        ..CollectedAnswer::default()
    };
    (
        text,
        CollectedAnswer {
            done: Some(Finish::ToolCalls),
            ..came
        },
    )
}

fn all() -> Vec<(String, CollectedAnswer)> {
    vec![openai(), deepseek(), llama(), others()]
}

#[test]
fn every_response_shape_yields_its_answer() {
    for (text, expected) in all() {
        assert_eq!(whole(&text), expected);
    }
}

#[test]
fn an_answer_cut_into_two_chunks_anywhere_is_the_same() {
    for (text, expected) in all() {
        for cut in 1..text.len() {
            let (one, two) = text.as_bytes().split_at(cut);
            assert_eq!(play(&[one, two], false), expected, "cut at {cut}");
        }
    }
}

#[test]
fn an_answer_that_breaks_anywhere_is_whole_or_an_error() {
    for (text, expected) in all() {
        let mut whole = 0;
        for cut in 0..text.len() {
            for reset in [false, true] {
                let came = play(&[&text.as_bytes()[..cut]], reset);
                match &came.error {
                    Some(error) => {
                        assert_eq!(error.kind, ErrorKind::Transient);
                        assert_eq!(came.calls, [], "half an answer gives no call: cut at {cut}");
                        assert!(
                            expected.text.starts_with(&came.text)
                                && expected.reasoning.starts_with(&came.reasoning)
                        );
                    }
                    None => {
                        whole += 1;
                        // After the finish reason only usage can be lost.
                        assert_eq!(
                            CollectedAnswer {
                                usage: None,
                                ..came
                            },
                            CollectedAnswer {
                                usage: None,
                                ..expected.clone()
                            },
                            "cut at {cut}"
                        );
                    }
                }
            }
        }
        assert!(whole > 0 && whole < 2 * text.len());
    }
}

proptest! {
    #[test]
    fn any_chunks_give_the_same_answer(which in 0_usize..4, cuts in proptest::collection::vec(0_usize..3000, 0..40)) {
        let (text, expected) = all().swap_remove(which);
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(play(&pieces, false), expected);
    }

    #[test]
    fn nothing_a_server_sends_is_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\":,a-z0-9 \n]{0,200}") {
        play(&[&bytes], false);
        play(&[format!("data: {text}\n\n").as_bytes()], false);
        play(&[text.as_bytes()], true);
    }
}

const SAYS: &str = r#"{"choices":[{"index":0,"delta":{"content":"ab"}}]}"#;
const STOPS: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

#[test]
fn done_without_a_reason_is_a_stop_if_there_was_content() {
    let came = whole(&sse(&[SAYS, "[DONE]", "behind the end"]));
    assert_eq!((came.text.as_str(), came.done), ("ab", Some(Finish::Stop)));
    let calls = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"y","arguments":"{\"q"}}]}}]}"#;
    let came = whole(&sse(&[calls, "[DONE]"]));
    assert_eq!(came.done, Some(Finish::ToolCalls));
    assert_eq!(
        came.calls.iter().map(|call| call.cut).collect::<Vec<_>>(),
        [false, true]
    );
    for text in [
        sse(&["[DONE]"]),
        String::new(),
        sse(&[r#"{"choices":[]}"#, "[DONE]"]),
        ": keep-alive\n\n".to_owned(),
    ] {
        let error = whole(&text).error.expect("nothing was said");
        assert_eq!(error.kind, ErrorKind::Transient, "{text}");
    }
}

#[test]
fn an_answer_cut_by_the_limit_never_yields_an_incomplete_call() {
    let calls = |last: &str, reason: &str| {
        let delta = format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"x","arguments":"{{}}"}}}},{{"index":1,"id":"b","function":{{"name":"y","arguments":{last}}}}}]}}}}]}}"#
        );
        let came = whole(&sse(&[
            &delta,
            &format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#),
            "[DONE]",
        ]));
        (
            came.done,
            came.calls.iter().map(|call| call.cut).collect::<Vec<_>>(),
        )
    };
    for last in [r#""{\"path\":\"a""#, r#""{}""#, r#""""#] {
        assert_eq!(
            calls(last, "length"),
            (Some(Finish::Length), vec![false, true]),
            "{last}"
        );
        assert_eq!(
            calls(last, "content_filter"),
            (Some(Finish::ContentFilter), vec![false, true]),
            "{last}"
        );
        assert_eq!(
            calls(last, "tool_calls"),
            (Some(Finish::ToolCalls), vec![false, false]),
            "{last}"
        );
    }
    let came = whole(&sse(&[
        SAYS,
        r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#,
    ]));
    assert_eq!(
        (came.text.as_str(), came.done),
        ("ab", Some(Finish::Length))
    );
}

#[test]
fn finish_reasons_map_to_our_stop_reasons() {
    for (reason, expected) in [
        ("stop", Some(Finish::Stop)),
        ("end_turn", Some(Finish::Stop)),
        ("tool_calls", Some(Finish::Stop)),
        ("max_tokens", Some(Finish::Length)),
        ("MAX_TOKENS", Some(Finish::Length)),
        ("sensitive", Some(Finish::ContentFilter)),
        ("SAFETY", Some(Finish::ContentFilter)),
        ("content_filter: RECITATION", Some(Finish::ContentFilter)),
        ("refusal", Some(Finish::ContentFilter)),
        ("PROHIBITED_CONTENT", Some(Finish::ContentFilter)),
        ("insufficient_system_resource", None),
        ("error", None),
        ("abort", None),
    ] {
        let came = whole(&sse(&[
            SAYS,
            &format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#),
        ]));
        assert_eq!(came.done, expected, "{reason}");
        assert_eq!(
            came.error.map(|error| error.kind),
            expected.is_none().then_some(ErrorKind::Transient),
            "{reason}"
        );
    }
}

#[test]
fn an_answer_that_was_filtered_before_its_first_word_is_a_refusal() {
    let filtered = r#"{"choices":[{"delta":{"role":"assistant"},"finish_reason":"content_filter: PROHIBITED_CONTENT","index":0}],"usage":{"prompt_tokens":10,"total_tokens":10,"completion_tokens":0}}"#;
    let came = whole(&sse(&[filtered, "[DONE]"]));
    assert_eq!((&*came.text, came.done), ("", Some(Finish::ContentFilter)));
}

/// As Perplexity, Foundry Local (microsoft/foundry-local issue 144) and MiniMax send it.
#[test]
fn a_message_beside_deltas_repeats_them() {
    let chunk = |delta: &str, message: &str| {
        format!(
            r#"{{"choices":[{{"index":0,"message":{{"role":"assistant","content":"{message}","tool_calls":[]}},"delta":{{"role":"assistant","content":"{delta}","tool_calls":[]}},"finish_reason":null}}]}}"#
        )
    };
    let last = r#"{"choices":[{"finish_reason":"stop","index":0,"message":{"content":"<think>Hm</think>\n\nHi!","role":"assistant"}}],"object":"chat.completion"}"#;
    for (chunks, text) in [
        (
            [chunk("The ", "The "), chunk("end.", "The end.")],
            "The end.",
        ),
        ([chunk("Yes", "Yes"), chunk(", so.", ", so.")], "Yes, so."),
        ([chunk("", "Yes"), chunk("", ", so.")], "Yes, so."),
    ] {
        let came = whole(&sse(&[&chunks[0], &chunks[1], STOPS]));
        assert_eq!(came.text, text);
    }
    let thinks = r#"{"choices":[{"index":0,"delta":{"content":"<think>Hm</think>\n\nHi!"}}]}"#;
    let came = whole(&sse(&[thinks, last, "[DONE]"]));
    assert_eq!((&*came.reasoning, &*came.text), ("Hm", "Hi!"));
    let calls = r#""tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]"#;
    let both = format!(
        r#"{{"choices":[{{"delta":{{{calls}}},"message":{{{calls}}},"finish_reason":"tool_calls"}}]}}"#
    );
    assert_eq!(whole(&sse(&[&both])).calls, [call("a", "x", "{}")]);
}

#[test]
fn an_error_inside_the_stream_ends_it_with_the_vendors_words() {
    for (event, kind) in [
        (
            r#"{"error":{"message":"overloaded","type":"overloaded_error"}}"#,
            ErrorKind::Transient,
        ),
        (
            r#"{"error":{"message":"maximum context length is 8","code":"context_length_exceeded"}}"#,
            ErrorKind::ContextLength,
        ),
        (
            r#"{"error":{"message":"Failed to call a function","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=","status_code":400}}"#,
            ErrorKind::InvalidCall,
        ),
        (
            r#"{"choices":[{"delta":{},"finish_reason":"function_call_filter: MALFORMED_FUNCTION_CALL"}]}"#,
            ErrorKind::InvalidCall,
        ),
        (
            r#"{"choices":[{"delta":{},"finish_reason":"function_call_filter: UNEXPECTED_TOOL_CALL"}]}"#,
            ErrorKind::InvalidCall,
        ),
        (
            r#"{"object":"error","message":"no","code":400}"#,
            ErrorKind::Permanent,
        ),
        (
            r#"{"choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"upstream"}}"#,
            ErrorKind::Transient,
        ),
    ] {
        for after in [SAYS, STOPS] {
            let came = whole(&sse(&[after, event, "[DONE]"]));
            let error = came.error.expect(event);
            assert_eq!(error.kind, kind, "{event}");
        }
    }
    let news = whole(&sse(&[
        r#"{"error":null,"choices":[]}"#,
        r#"{"type":"ping"}"#,
        SAYS,
        STOPS,
    ]));
    assert_eq!(news.done, Some(Finish::Stop), "empty errors are ignored");
}

/// MiniMax, in a stream and in place of one.
#[test]
fn an_error_in_a_member_of_its_own_is_one_unless_its_code_is_zero() {
    let answer = |code: u32, words: &str| {
        format!(
            r#"{{"id":"04a","choices":null,"object":"chat.completion.chunk","usage":null,"base_resp":{{"status_code":{code},"status_msg":"{words}"}}}}"#
        )
    };
    for (code, words, kind) in [
        (1004, "login fail", ErrorKind::Credentials),
        (1008, "insufficient balance", ErrorKind::OutOfCredit),
        (1002, "rate limit", ErrorKind::Transient),
        (1000, "unknown error", ErrorKind::Transient),
        (2013, "invalid params", ErrorKind::Permanent),
        (
            2013,
            "invalid params, context window exceeds limit",
            ErrorKind::ContextLength,
        ),
    ] {
        let answer = answer(code, words);
        for text in [sse(&[SAYS, &answer, "[DONE]"]), answer] {
            let error = whole(&text).error.expect("an error");
            assert_eq!(error.kind, kind, "{text}");
            assert!(error.message.ends_with(words), "{}", error.message);
        }
    }
    let good = whole(&sse(&[SAYS, STOPS, &answer(0, ""), "[DONE]"]));
    assert_eq!(good.done, Some(Finish::Stop));
}

#[test]
fn error_of_a_broken_answer_quotes_the_vendor() {
    for (end, words) in [
        // llama.cpp before 2025, a gateway that forgets that it streams, another, and OpenRouter.
        (
            "error: {\"code\":500,\"message\":\"Failed to decode\",\"type\":\"server_error\"}\n\n",
            "answered 500: Failed to decode",
        ),
        (
            "{\"error\":{\"message\":\"CUDA error\",\"type\":\"api_error\",\"code\":null}}\n",
            "answered with an error: CUDA error",
        ),
        (
            "event: error\ndata: Upstream model crashed (GPU lost)\n\n",
            "sent data that is not an event: Upstream model crashed (GPU lost)",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\",\"error\":{\"code\":502,\"message\":\"Upstream error: disconnected\"}}]}\n\n",
            "answered 502: Upstream error: disconnected",
        ),
        ("data: {\"choi\n\n", "sent data that is not an event"),
    ] {
        let error = whole(&format!("{}{end}", sse(&[SAYS]))).error.expect(end);
        assert_eq!(error.kind, ErrorKind::Transient, "{end}");
        assert_eq!(error.message, format!("`acme` {words}"));
    }
}

#[test]
fn garbage_breaks_an_answer_unless_it_is_over() {
    let bad = r#"{"id":"x","choices":[{"delta":{"content":"oo"#;
    let came = whole(&sse(&[SAYS, bad, STOPS]));
    assert_eq!(
        (came.text.as_str(), came.error.map(|error| error.kind)),
        ("ab", Some(ErrorKind::Transient))
    );
    assert_eq!(whole(&sse(&[SAYS, STOPS, bad])).done, Some(Finish::Stop));
}

#[test]
fn an_answer_without_streaming_is_accepted() {
    let text = r#"

        {"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi","reasoning":"hm","reasoning_content":"hm",
        "tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":""}},{"type":"function","function":{"name":"x","arguments":"{}"}}]},
        "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let came = whole(text);
    let calls = vec![call("a", "x", ""), call("call_1_2", "x", "{}")];
    let expected = CollectedAnswer {
        reasoning: "hm".to_owned(),
        text: "hi".to_owned(),
        calls,
        usage: usage(3, 0, 2, 0),
        done: Some(Finish::ToolCalls),
        error: None,
        thoughts: Vec::new(),
    };
    assert_eq!(came, expected);
    for cut in [10, text.len() / 2, text.len() - 1] {
        assert_eq!(
            whole(&text[..cut]).error.map(|error| error.kind),
            Some(ErrorKind::Transient)
        );
    }
    let error = whole(r#"{"error":{"message":"no such model","code":404}}"#)
        .error
        .expect("an error");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::Permanent, "`acme` answered 404: no such model")
    );
}

/// Copilot's answers of Claude.
#[test]
fn text_and_calls_as_two_choices_are_one_answer() {
    let came = whole(
        r#"{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"I will read."}},{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}}]}"#,
    );
    assert_eq!(
        (&*came.text, came.calls),
        ("I will read.", vec![call("a", "read", "{}")])
    );
}

#[test]
fn usage_of_a_broken_answer_is_reported() {
    let said = r#"{"choices":[{"delta":{"content":"ab"}}],"usage":{"prompt_tokens":7,"completion_tokens":1}}"#;
    let came = play(&[sse(&[said]).as_bytes()], true);
    assert_eq!(
        (came.usage, came.error.is_some()),
        (usage(7, 0, 1, 0), true)
    );
}

#[test]
fn an_endless_response_is_refused() {
    let piece = format!(
        r#"{{"choices":[{{"delta":{{"content":"{}"}}}}]}}"#,
        "x".repeat(4 << 20)
    );
    let text = sse(&[piece.as_str(); 9]);
    let error = whole(&text).error.expect("too long");
    assert_eq!(error.kind, ErrorKind::Permanent);
}

#[test]
fn deltas_of_one_chunk_are_one_part() {
    let events: Vec<&str> = std::iter::repeat_n(SAYS, 1000).chain([STOPS]).collect();
    let text = sse(&events);
    let collector = collector("big");
    let body = stream::iter([Ok(Bytes::from(text))]).boxed();
    let parts = read::from_body(
        body,
        Timeouts::default(),
        collector.gathered.site.clone(),
        collector,
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let parts: Vec<_> = runtime.block_on(parts.collect());
    assert_eq!(
        parts,
        [
            Ok(Part::Text("ab".repeat(1000))),
            Ok(Part::Done(Finish::Stop))
        ]
    );
}

/// A body whose chunks arrive after pauses, and which then stays open.
fn slow(pieces: Vec<(u64, &'static str)>) -> read::TestBody {
    stream::iter(pieces)
        .then(|(seconds, piece)| async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok(Bytes::from_static(piece.as_bytes()))
        })
        .chain(stream::pending())
        .boxed()
}

async fn timed(pieces: Vec<(u64, &'static str)>) -> (CollectedAnswer, u64) {
    let started = tokio::time::Instant::now();
    let collector = collector("big");
    let parts = read::from_body(
        slow(pieces),
        Timeouts::default(),
        collector.gathered.site.clone(),
        collector,
    );
    (came(parts.collect().await), started.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn silence_is_a_failure_in_time() {
    let says = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let stops = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let (came, seconds) = timed(vec![]).await;
    assert_eq!(
        (came.error.map(|error| error.message), seconds),
        (Some("`acme` sent nothing for 120s".to_owned()), 120)
    );
    let (came, seconds) = timed(vec![(119, says), (119, says)]).await;
    let words = "`acme` was silent in the middle of its answer for 120s".to_owned();
    assert_eq!(
        (
            came.text.as_str(),
            came.error.map(|error| error.message),
            seconds
        ),
        ("aa", Some(words), 358)
    );
    let keep_alive: Vec<_> = std::iter::repeat_n((100, ": keep-alive\n\n"), 50).collect();
    let (came, seconds) = timed(keep_alive).await;
    let words = "`acme` sent nothing but keep-alives for 900s".to_owned();
    assert_eq!(
        (came.error.map(|error| error.message), seconds),
        (Some(words), 900)
    );
    let (came, seconds) = timed(vec![(1, says), (1, stops)]).await;
    assert_eq!(
        (came.text.as_str(), came.done, seconds),
        ("a", Some(Finish::Stop), 12),
        "whole, though never closed"
    );
}

/// From pydantic-ai's cassette `test_snowflake_thinking_streaming` (MIT), shortened.
const SNOWFLAKE: &[&str] = &[
    r#"{"choices":[{"delta":{"content":"","reasoning_details":[{"format":"anthropic-claude-v1","id":"reasoning-text-1","index":0,"text":"15","type":"reasoning.text"}],"role":"assistant"},"index":0}]}"#,
    r#"{"choices":[{"delta":{"content":"","reasoning_details":[{"format":"anthropic-claude-v1","id":"reasoning-text-1","index":0,"text":" * 27","type":"reasoning.text"}]},"index":0}]}"#,
    r#"{"choices":[{"delta":{"content":"405"},"index":0}]}"#,
    "[DONE]",
];

#[test]
fn reasoning_that_is_only_in_details_is_shown_and_kept() {
    let came = whole(&sse(SNOWFLAKE));
    assert_eq!((&*came.reasoning, &*came.text), ("15 * 27", "405"));
    let kept: Vec<_> = came.thoughts.iter().map(|thought| &*thought.data).collect();
    assert_eq!(
        kept,
        [
            r#"{"reasoning_details":[{"format":"anthropic-claude-v1","id":"reasoning-text-1","index":0,"text":"15 * 27","type":"reasoning.text"}]}"#
        ]
    );
    // Where both are sent, the text is shown once.
    let both = [
        r#"{"choices":[{"delta":{"reasoning":"So.","reasoning_details":[{"type":"reasoning.text","text":"So."}]}}]}"#,
        r#"{"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}"#,
    ];
    assert_eq!(whole(&sse(&both)).reasoning, "So.");
}

#[test]
fn reasoning_is_shown_under_whatever_name_it_comes() {
    for delta in [
        r#"{"content":null,"reasoning_text":"So."}"#,
        r#"{"content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"So.","signature":""}]}]}"#,
    ] {
        let thinks = format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#);
        let came = whole(&sse(&[&thinks, SAYS, STOPS]));
        assert_eq!((&*came.reasoning, &*came.text), ("So.", "ab"), "{delta}");
    }
}

/// After public captures of Google's endpoint.
#[test]
fn signature_of_a_call_is_kept_with_its_call() {
    let events = [
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{}","name":"a"},"id":"f1","index":0,"type":"function"}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"extra_content":{"google":{"thought_signature":"El4="}},"function":{"arguments":"{}","name":"b"},"id":"f2","index":0,"type":"function"}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
    ];
    let came = whole(&sse(&events));
    let kept: Vec<_> = came
        .thoughts
        .iter()
        .map(|thought| (&*thought.data, thought.calls_at))
        .collect();
    assert_eq!(
        kept,
        [(
            r#"{"extra_content":{"google":{"thought_signature":"El4="}}}"#,
            1
        )]
    );
    assert_eq!(came.calls.len(), 2);
}

/// The usage that a stream reports.
fn reported(usage: &str) -> Reported {
    let usage = format!(r#"{{"choices":[],"usage":{usage}}}"#);
    let events = [
        r#"{"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}"#,
        &usage,
    ];
    whole(&sse(&events)).usage.expect("usage")
}

/// From vercel/ai's fixture `xai-text.chunks.txt` (Apache-2.0).
#[test]
fn reasoning_is_part_of_the_output_whatever_the_vendor_calls_completion() {
    let xai = reported(
        r#"{"prompt_tokens":12,"completion_tokens":1,"total_tokens":303,"completion_tokens_details":{"reasoning_tokens":290}}"#,
    );
    assert_eq!((xai.output_tokens, xai.reasoning_tokens), (291, 290));
    let others = reported(
        r#"{"prompt_tokens":12,"completion_tokens":291,"total_tokens":303,"completion_tokens_details":{"reasoning_tokens":290}}"#,
    );
    assert_eq!(others, xai);
    let unknown = reported(
        r#"{"prompt_tokens":12,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":290}}"#,
    );
    assert_eq!(unknown.output_tokens, 1);
}

/// From ruby_llm's cassette of Grok on Azure (MIT): 161 cached of 7.
#[test]
fn cached_and_written_tokens_are_parts_of_the_prompt() {
    let azure = reported(
        r#"{"prompt_tokens":7,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":161}}"#,
    );
    assert_eq!((azure.prompt_tokens, azure.cached_tokens), (7, 7));
    let openrouter = reported(
        r#"{"prompt_tokens":3300,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":80,"cache_write_tokens":3211}}"#,
    );
    assert_eq!(
        (openrouter.cached_tokens, openrouter.cache_write_tokens),
        (80, 3211)
    );
    for litellm in [
        r#"{"prompt_tokens":3300,"completion_tokens":5,"cache_read_input_tokens":80,"cache_creation_input_tokens":3211}"#,
        r#"{"prompt_tokens":3300,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":80,"cache_creation_tokens":3211}}"#,
    ] {
        assert_eq!(reported(litellm), openrouter, "{litellm}");
    }
}

#[test]
fn usage_of_zeros_is_none_and_that_of_the_other_api_is_read() {
    let chunk = |usage: &str| {
        let event = format!(
            r#"{{"choices":[{{"delta":{{"content":"Hi."}},"finish_reason":"stop"}}],"usage":{usage}}}"#
        );
        whole(&sse(&[&event, "[DONE]"])).usage
    };
    for zeros in [
        "{}",
        r#"{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}"#,
    ] {
        assert_eq!(chunk(zeros), None, "{zeros}");
    }
    let other = chunk(r#"{"input_tokens":11000,"output_tokens":5}"#).expect("a usage");
    assert_eq!((other.prompt_tokens, other.output_tokens), (11_000, 5));
}

#[test]
fn raw_thoughts_in_the_text_are_shown_as_reasoning() {
    let events = [
        r#"{"choices":[{"delta":{"content":"<thi"}}]}"#,
        r#"{"choices":[{"delta":{"content":"nk>\nSo.</th"}}]}"#,
        r#"{"choices":[{"delta":{"content":"ink>\n\nYes."},"finish_reason":"stop"}]}"#,
    ];
    let came = whole(&sse(&events));
    assert_eq!((&*came.reasoning, &*came.text), ("\nSo.", "Yes."));
    // All that there is may be held back when the stream ends.
    for text in ["<", " "] {
        let event = format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
        assert_eq!(whole(&sse(&[&event, "[DONE]"])).text, text);
    }
}

#[test]
fn answer_that_is_cut_off_before_its_first_word_means_that_the_context_is_full() {
    let cut = |usage: &str| {
        let event = format!(
            r#"{{"choices":[{{"delta":{{"content":""}},"finish_reason":"length"}}],"usage":{usage}}}"#
        );
        whole(&sse(&[&event, "[DONE]"]))
    };
    let full = cut(r#"{"prompt_tokens":4096,"completion_tokens":0}"#);
    assert_eq!(
        full.error.map(|error| error.kind),
        Some(ErrorKind::ContextLength)
    );
    // One token fitted.
    let event = r#"{"choices":[{"delta":{"content":"I"},"finish_reason":"length"}],"usage":{"prompt_tokens":4095,"completion_tokens":1}}"#;
    let one = whole(&sse(&[event, "[DONE]"]));
    assert_eq!(
        one.error.map(|error| error.kind),
        Some(ErrorKind::ContextLength)
    );
    // Hidden reasoning has used the limit: compaction would not help.
    let hidden = cut(r#"{"prompt_tokens":40,"completion_tokens":1000}"#);
    assert_eq!(hidden.done, Some(Finish::Length));
}

#[test]
fn reasoning_that_the_prompt_has_opened_is_taken_out_for_models_that_do_so() {
    let answer = sse(&[
        r#"{"choices":[{"delta":{"content":"So it"}}]}"#,
        r#"{"choices":[{"delta":{"content":" is.</thi"}}]}"#,
        r#"{"choices":[{"delta":{"content":"nk>\n\nYes."},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    let qwq = play_of("Qwen/QwQ-32B", &[answer.as_bytes()], false);
    assert_eq!((&*qwq.reasoning, &*qwq.text), ("So it is.", "Yes."));
    let other = play_of("big", &[answer.as_bytes()], false);
    assert_eq!(
        (&*other.reasoning, &*other.text),
        ("", "So it is.</think>\n\nYes.")
    );
    // Here the server has a parser for it, and this answer had none.
    let parsed = sse(&[
        r#"{"choices":[{"delta":{"content":"Yes.","reasoning_content":null},"finish_reason":"stop"}]}"#,
    ]);
    let parsed = play_of("qwq-32b", &[parsed.as_bytes()], false);
    assert_eq!((&*parsed.reasoning, &*parsed.text), ("", "Yes."));
    // Cut off while it thought.
    let cut = sse(&[
        r#"{"choices":[{"delta":{"content":"So it"},"finish_reason":"length"}]}"#,
        "[DONE]",
    ]);
    let cut = play_of("qwq-32b", &[cut.as_bytes()], false);
    assert_eq!((&*cut.reasoning, &*cut.text), ("So it", ""));
}

/// Google's total has the thoughts, and nothing else does.
#[test]
fn reasoning_that_only_the_total_has_is_output() {
    let usage = |model: &str, usage: &str| {
        let event = format!(
            r#"{{"choices":[{{"delta":{{"content":"Hi."}},"finish_reason":"stop"}}],"usage":{usage}}}"#
        );
        let came = play_of(model, &[sse(&[&event]).as_bytes()], false);
        let usage = came.usage.expect("usage");
        (
            usage.prompt_tokens,
            usage.output_tokens,
            usage.reasoning_tokens,
        )
    };
    let thinks = r#"{"prompt_tokens":12,"completion_tokens":9,"total_tokens":121}"#;
    assert_eq!(usage("google/gemini-3-pro", thinks), (12, 109, 100));
    // Of others nobody knows what the rest of the total is.
    assert_eq!(usage("big", thinks), (12, 9, 0));
    let plain = r#"{"prompt_tokens":12,"completion_tokens":9,"total_tokens":21}"#;
    assert_eq!(usage("gemini-3-pro", plain), (12, 9, 0));
    let without = r#"{"prompt_tokens":12,"completion_tokens":9}"#;
    assert_eq!(usage("gemini-3-pro", without), (12, 9, 0));
}

#[test]
fn calls_of_a_list_without_numbers_are_continued_by_their_places() {
    let came = whole(&sse(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"ls","arguments":""}},{"id":"b","function":{"name":"read","arguments":""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"x\""}},{"function":{"arguments":"{\"y\""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":":1}"}},{"function":{"arguments":":2}"}}]},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
    ]));
    let calls = came.calls.iter();
    let calls: Vec<_> = calls
        .map(|call| (&*call.id.0, &*call.name, &*call.arguments))
        .collect();
    assert_eq!(
        calls,
        [("a", "ls", r#"{"x":1}"#), ("b", "read", r#"{"y":2}"#)]
    );
}

#[test]
fn failure_that_groq_names_beside_an_answer_fails_it() {
    let failed = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","error":"over_capacity"}}"#;
    let came = whole(&sse(&[SAYS, failed, "[DONE]"]));
    assert_eq!(
        (came.done, came.error.map(|error| error.kind)),
        (None, Some(ErrorKind::Transient))
    );
}

#[test]
fn counts_under_the_names_of_single_vendors_are_reported() {
    let usage = |usage: &str| {
        let last = format!(r#"{{"choices":[],"usage":{usage}}}"#);
        whole(&sse(&[SAYS, &last, "[DONE]"])).usage.expect("usage")
    };
    let alibaba = usage(
        r#"{"prompt_tokens":3600,"completion_tokens":9,"total_tokens":3609,"prompt_tokens_details":{"cache_creation_input_tokens":3550}}"#,
    );
    assert_eq!(alibaba.cache_write_tokens, 3550);
    let sglang = usage(
        r#"{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30,"reasoning_tokens":17}"#,
    );
    assert_eq!((sglang.reasoning_tokens, sglang.output_tokens), (17, 20));
}
