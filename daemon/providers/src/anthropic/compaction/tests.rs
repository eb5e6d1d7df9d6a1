//! Requests for a compaction, the block that comes of one, and the beta that both need.

use contract::codec::{COMPACTION, Fragment, FragmentRole};
use contract::provider::Reported;
use contract::{Prefix, ToolChoice};
use proto::item::Finish;

use super::*;
use crate::fake;
use crate::playback::play;

/// A streamed answer of `claude-opus-5-5`, by the documentation of compaction on demand (2026-09): the block comes whole,
/// and its usage beside that of the answer.
const ANSWER: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":0,"output_tokens":0}}}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"content":"Summary: a \"recipe\"\napp, 世界.","signature":"EuYB","type":"compaction","tool_changes":[]}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"compaction"},"usage":{"input_tokens":0,"output_tokens":0,"iterations":[{"type":"compaction","input_tokens":144,"cache_read_input_tokens":1000,"cache_creation_input_tokens":20,"output_tokens":276}]}}

event: message_stop
data: {"type":"message_stop"}

"#;

fn codec(on: bool) -> Messages {
    let mut options = fake::options("anthropic", "https://a.test");
    options.server_compaction = on;
    Messages::new(&options).expect("a good entry")
}

fn request(
    codec: &Messages,
    fragments: &[Fragment<'_>],
    demand: Option<&str>,
) -> Option<contract::RequestBuffer> {
    let prefix = Prefix {
        model: "big".to_owned(),
        system: String::new(),
        tools: r#"{"name":"ls"}"#.to_owned(),
        extra: r#""max_tokens":9"#.to_owned(),
    };
    codec.request(
        &Asked {
            prefix: &prefix,
            fragments,
            tool_choice: ToolChoice::Auto,
            cache_key: "",
        },
        demand,
    )
}

const SAID: Fragment<'static> = Fragment {
    role: FragmentRole::User,
    bytes: br#"{"type":"text","text":"compaction"}"#,
};

#[test]
fn a_request_is_an_ordinary_one_with_one_more_member() {
    let codec = codec(true);
    let plain = r#"{"model":"big","stream":true,"max_tokens":9,"tools":[{"name":"ls","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"compaction","cache_control":{"type":"ephemeral"}}]}],"tool_choice":{"type":"auto"}"#;
    let body = request(&codec, &[SAID], None).expect("a request");
    assert_eq!(
        String::from_utf8_lossy(&body),
        format!(r#"{plain},"compaction":{{"type":"summarize"}}}}"#)
    );
    assert_eq!(beta(&body), Some(BETA));
    let body = request(&codec, &[SAID], Some("keep \"a\"")).expect("a request");
    assert_eq!(
        String::from_utf8_lossy(&body),
        format!(r#"{plain},"compaction":{{"type":"summarize","instructions":"keep \"a\""}}}}"#)
    );
    // Longer than the vendor takes.
    let long = "a".repeat(DEMAND_MAX + 1);
    assert_eq!(request(&codec, &[SAID], Some(&long)), None);
}

#[test]
fn kept_thinking_is_left_out_but_for_models_that_demand_it() {
    let binds = |extra: &str, effort: Option<&str>| {
        let mut options = fake::options("anthropic", "https://a.test");
        options.extra = extra.to_owned();
        options.effort = effort.map(str::to_owned);
        let codec = Messages::new(&options).expect("a good entry");
        codec.binds_reasoning()
    };
    assert!(binds("", Some("high")) && binds("", None));
    let budget = r#""thinking":{"type":"enabled","budget_tokens":2048}"#;
    assert!(!binds(budget, None));
}

#[test]
fn an_entry_without_the_setting_asks_for_none_and_needs_no_beta() {
    assert_eq!(request(&codec(false), &[SAID], None), None);
    let words = br#"{"messages":[{"role":"user","content":[{"type":"text","text":"\"compaction\":{\"type\":\"summarize\"}"}]}]}"#;
    assert_eq!(beta(words), None);
}

#[test]
fn a_block_comes_whole_and_goes_back_with_all_its_members() {
    let whole = play("anthropic", &[ANSWER.as_bytes()]);
    assert_eq!((whole.done, whole.text.as_str()), (Some(Finish::Stop), ""));
    assert_eq!(
        whole.usage,
        Some(Reported {
            prompt_tokens: 1164,
            cached_tokens: 1000,
            cache_write_tokens: 20,
            output_tokens: 276,
            reasoning_tokens: 0,
        })
    );
    for at in 0..ANSWER.len() {
        let (head, tail) = ANSWER.as_bytes().split_at(at);
        assert_eq!(play("anthropic", &[head, tail]), whole, "cut at {at}");
    }
    let [made] = &whole.thoughts[..] else {
        panic!("one thought: {whole:?}");
    };
    assert_eq!(made.kind, COMPACTION);
    // A session that has a block sends it back with or without the setting.
    for on in [true, false] {
        let codec = codec(on);
        let block = codec.fragment(&made.data).expect("a block");
        let members = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!(members(&block), members(&made.data));
        assert!(codec.is_compaction(block.as_bytes()));
        assert_eq!(
            codec.text(&made.data).as_deref(),
            Some("Summary: a \"recipe\"\napp, 世界.")
        );
        let fragments = [
            Fragment {
                role: FragmentRole::User,
                bytes: block.as_bytes(),
            },
            SAID,
        ];
        let prefix = codec.prefix("big", "", &[]);
        let body = codec.assemble(&Asked {
            prefix: &prefix,
            fragments: &fragments,
            tool_choice: ToolChoice::Auto,
            cache_key: "",
        });
        assert_eq!(beta(&body), Some(BETA));
    }
}

/// An ordinary request may lead to one, if the entry's own members ask for that. It is not sent back, and the counts stay
/// those of the answer: the context is measured by them. Shortened from `packages/anthropic/src/__fixtures__/
/// anthropic-compaction.1.chunks.txt` of vercel/ai at ed857f50f112 (Apache-2.0).
#[test]
fn a_compaction_within_an_ordinary_answer_leaves_its_counts_alone() {
    let answer = r#"data: {"type":"message_start","message":{"usage":{"input_tokens":612,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"Summary of it."}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Go on."}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":612,"output_tokens":2819,"iterations":[{"input_tokens":60385,"output_tokens":522,"type":"compaction"},{"input_tokens":612,"output_tokens":2819,"type":"message"}]}}

data: {"type":"message_stop"}

"#;
    let whole = play("anthropic", &[answer.as_bytes()]);
    assert_eq!(whole.text, "Go on.");
    let counts = whole
        .usage
        .map(|usage| (usage.prompt_tokens, usage.output_tokens));
    assert_eq!(counts, Some((612, 2819)));
    let data = &whole.thoughts[0].data;
    assert_eq!(codec(true).text(data).as_deref(), Some("Summary of it."));
}

#[test]
fn an_answer_without_a_summary_has_no_compaction() {
    let none = ANSWER.replace(
        r#""content":"Summary: a \"recipe\"\napp, 世界.""#,
        r#""content":null"#,
    );
    assert_ne!(none, ANSWER);
    let answer = play("anthropic", &[none.as_bytes()]);
    assert!(answer.thoughts.is_empty(), "{answer:?}");
    // It was billed all the same.
    let billed = answer.usage.map(|usage| usage.output_tokens);
    assert_eq!(billed, Some(276));
    for data in [
        "",
        "{}",
        r#"{"type":"compaction"}"#,
        r#"{"type":"compaction","content":" "}"#,
        r#"{"type":"text","content":"a"}"#,
    ] {
        assert_eq!(codec(true).fragment(data), None, "{data}");
    }
}
