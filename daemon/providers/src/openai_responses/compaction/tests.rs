//! Requests for a compaction, and the item that comes of one.

use contract::codec::COMPACTION;
use contract::provider::Reported;
use contract::{Prefix, ToolChoice};
use proto::item::Finish;

use super::*;
use crate::fake;
use crate::playback::play;

/// A streamed answer by the types of the vendor's SDK (openai 3.57.0): an event on the way, and the item at its end.
const ANSWER: &str = r#"event: response.created
data: {"type":"response.created","response":{"id":"resp_1","status":"in_progress"}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"id":"cmp_1","type":"compaction","encrypted_content":""}}

event: response.compaction.compacting
data: {"type":"response.compaction.compacting","item_id":"cmp_1","output_index":0,"sequence_number":2}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"id":"cmp_1","encrypted_content":"gAAA/+==","created_by":"x","type":"compaction"}}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[{"id":"cmp_1","type":"compaction","encrypted_content":"gAAA/+=="}],"usage":{"input_tokens":900,"input_tokens_details":{"cached_tokens":640,"cache_write_tokens":0},"output_tokens":70,"output_tokens_details":{"reasoning_tokens":20}}}}

"#;

fn codec(on: bool) -> Responses {
    let mut options = fake::options("openai-responses", "https://a.test/v1");
    options.server_compaction = on;
    Responses::new(&options).expect("a good entry")
}

fn request(codec: &Responses, demand: Option<&str>) -> Option<String> {
    let prefix = Prefix {
        model: "big".to_owned(),
        system: String::new(),
        tools: String::new(),
        extra: String::new(),
    };
    let fragments = [Fragment {
        role: FragmentRole::User,
        bytes: br#"{"type":"message"}"#,
    }];
    let body = codec.request(
        &Asked {
            prefix: &prefix,
            fragments: &fragments,
            tool_choice: ToolChoice::Auto,
            cache_key: "s1",
        },
        demand,
    );
    body.map(|body| String::from_utf8(body.to_vec()).expect("text"))
}

#[test]
fn a_request_is_an_ordinary_one_with_one_more_item() {
    assert_eq!(
        request(&codec(true), None).expect("a request"),
        r#"{"model":"big","stream":true,"store":false,"prompt_cache_key":"s1","input":[{"type":"message"},{"type":"compaction_trigger"}]}"#
    );
    // The vendor takes no prompt for it, and the entry has to turn it on.
    assert_eq!(request(&codec(true), Some("keep a")), None);
    assert_eq!(request(&codec(false), None), None);
}

#[test]
fn an_item_comes_whole_and_goes_back_as_the_vendor_takes_it() {
    let whole = play("openai-responses", &[ANSWER.as_bytes()]);
    assert_eq!((whole.done, whole.text.as_str()), (Some(Finish::Stop), ""));
    assert_eq!(
        whole.usage,
        Some(Reported {
            prompt_tokens: 900,
            cached_tokens: 640,
            cache_write_tokens: 0,
            output_tokens: 70,
            reasoning_tokens: 20,
        })
    );
    for at in 0..ANSWER.len() {
        let (head, tail) = ANSWER.as_bytes().split_at(at);
        assert_eq!(
            play("openai-responses", &[head, tail]),
            whole,
            "cut at {at}"
        );
    }
    let [made] = &whole.thoughts[..] else {
        panic!("one thought: {whole:?}");
    };
    assert_eq!(made.kind, COMPACTION);
    let codec = codec(false);
    let item = codec.fragment(&made.data).expect("an item");
    assert_eq!(
        item,
        r#"{"type":"compaction","id":"cmp_1","encrypted_content":"gAAA/+=="}"#
    );
    assert!(codec.is_compaction(item.as_bytes()));
    assert!(!codec.is_compaction(TRIGGER.as_bytes()));
    assert_eq!(codec.text(&made.data), None);
}

#[test]
fn an_item_without_content_is_no_compaction() {
    for data in [
        "",
        "{}",
        r#"{"type":"compaction","id":"a"}"#,
        r#"{"type":"compaction","encrypted_content":""}"#,
        r#"{"type":"reasoning","encrypted_content":"a"}"#,
    ] {
        assert_eq!(codec(true).fragment(data), None, "{data}");
    }
}
