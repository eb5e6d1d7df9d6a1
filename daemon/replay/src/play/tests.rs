//! Playing scripts.

use contract::codec::{Asked, Fragment, FragmentRole, ToolChoice};
use contract::{Codec, Prefix};
use proptest::prelude::*;
use proto::ItemId;
use proto::item::{AssistantMessage, CallStatus, ToolMessage, UserMessage, Voice};

use super::*;
use crate::codec::ReplayCodec;

fn user(text: &str) -> Item {
    Item::User(UserMessage {
        item: ItemId::from("m1.1"),
        prompt_id: None,
        text: text.to_owned(),
        context: None,
        voice: Voice::Prompt,
        from: None,
        attached: Vec::new(),
        reported: Vec::new(),
    })
}

fn assistant() -> Item {
    Item::Assistant(AssistantMessage {
        item: ItemId::from("m1.2"),
        text: String::new(),
        reasoning: String::new(),
        calls: Vec::new(),
        thoughts: Vec::new(),
        finish: Finish::Stop,
    })
}

fn tool(text: &str) -> Item {
    Item::Tool(ToolMessage {
        item: ItemId::from("m1.3"),
        call: CallId::from("c"),
        tool: "read".to_owned(),
        status: CallStatus::Ok,
        text: text.to_owned(),
        images: Vec::new(),
    })
}

fn body(items: &[Item]) -> contract::RequestBuffer {
    let prefix = Prefix {
        model: "m".to_owned(),
        system: "\"be brief\"".to_owned(),
        tools: String::new(),
        extra: String::new(),
    };
    let rendered: Vec<_> = items
        .iter()
        .map(|item| {
            (
                FragmentRole::of(item),
                ReplayCodec.render(item).expect("rendered"),
            )
        })
        .collect();
    let fragments: Vec<_> = rendered
        .iter()
        .map(|(role, bytes)| Fragment {
            role: *role,
            bytes: bytes.as_bytes(),
        })
        .collect();
    let asked = Asked {
        prefix: &prefix,
        fragments: &fragments,
        tool_choice: ToolChoice::Auto,
        cache_key: "k",
    };
    ReplayCodec.assemble(&asked)
}

fn request(items: &[Item], attempt: u32) -> Request {
    let answered = items
        .iter()
        .filter(|item| matches!(item, Item::Assistant(_)))
        .count() as u64;
    Request {
        body: body(items),
        model: "m".to_owned(),
        key: None,
        attempt,
        answered,
        ground: contract::RequestEnvironment::default(),
        permit: std::sync::Arc::new(contract::Unbounded),
    }
}

type Played = Vec<Result<Part, ProviderError>>;

async fn play(script: &str, request: Request) -> Played {
    let (_, provider) = crate::open(Cassette::parse(script).expect("parses"));
    provider.stream(request).collect().await
}

fn text(played: &Played) -> String {
    let text = |part: &Result<Part, _>| match part {
        Ok(Part::Text(text)) => Some(text.clone()),
        _ => None,
    };
    played.iter().filter_map(text).collect()
}

fn fault(played: &Played) -> Option<&ProviderError> {
    played.last().and_then(|last| last.as_ref().err())
}

#[tokio::test(start_paused = true)]
async fn the_position_is_the_number_of_answers() {
    let script = "{\"text\":\"one\"}\n{\"text\":\"two\"}";
    let mut items = vec![user("go")];
    for expected in ["one", "two", OVER, OVER] {
        let played = play(script, request(&items, 1)).await;
        assert_eq!(text(&played), expected);
        assert_eq!(played.last(), Some(&Ok(Part::Done(Finish::Stop))));
        items.extend([assistant(), user("next")]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_streams_and_comes_out_whole() {
    let script = r#"{"text":"ok","tool_calls":[{"name":"read","arguments":{"path":"a"}}],"chunk_bytes":8,"delay_ms":10,"usage":{"prompt":5,"cached":2,"output":1}}"#;
    let started = tokio::time::Instant::now();
    let mut request = request(&[user("go")], 1);
    request.answered = 0;
    let played = play(script, request).await;
    assert_eq!(
        started.elapsed().as_millis(),
        30,
        "one pause before each of three pieces"
    );
    let id = CallId::from("call_1_1");
    let delta = |arguments: &str| {
        Ok(Part::CallDelta {
            index: 0,
            id: id.0.clone(),
            name: "read".to_owned(),
            arguments: arguments.to_owned(),
        })
    };
    let call = ToolCall {
        id: id.clone(),
        name: "read".to_owned(),
        arguments: r#"{"path":"a"}"#.to_owned(),
        cut: false,
        found: false,
    };
    let usage = Reported {
        prompt_tokens: 5,
        cached_tokens: 2,
        output_tokens: 1,
        reasoning_tokens: 0,
        cache_write_tokens: 0,
    };
    let expected: Played = vec![
        Ok(Part::Text("ok".to_owned())),
        delta(r#"{"path":"#),
        delta(r#""a"}"#),
        Ok(Part::Call(call)),
        Ok(Part::Usage(usage)),
        Ok(Part::Done(Finish::ToolCalls)),
    ];
    assert_eq!(played, expected);
}

#[tokio::test(start_paused = true)]
async fn a_fault_happens_only_on_the_first_try() {
    let script = r#"{"text":"abcd","chunk_bytes":1,"fault":"FAULT"}"#;
    for (name, partial, kind, status, seconds) in [
        ("http:429:3", "", ErrorKind::Transient, Some(429), Some(3)),
        ("http:500", "", ErrorKind::Transient, Some(500), None),
        ("http:401", "", ErrorKind::Credentials, Some(401), None),
        ("http:413", "", ErrorKind::ContextLength, Some(413), None),
        ("http:400", "", ErrorKind::Permanent, Some(400), None),
        ("cut", "ab", ErrorKind::Transient, None, None),
        ("stall", "ab", ErrorKind::Transient, None, None),
        ("garbage", "ab", ErrorKind::Transient, None, None),
    ] {
        let script = script.replace("FAULT", name);
        let played = play(&script, request(&[user("go")], 1)).await;
        assert_eq!(text(&played), partial, "{name}");
        let error = fault(&played).expect(name);
        assert_eq!((error.kind, error.status), (kind, status), "{name}");
        assert_eq!(
            error.retry_after,
            seconds.map(Duration::from_secs),
            "{name}"
        );
        let again = play(&script, request(&[user("go")], 2)).await;
        assert_eq!(
            (text(&again).as_str(), fault(&again)),
            ("abcd", None),
            "{name}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_stall_is_silent_and_then_fails() {
    let cassette =
        Cassette::parse(r#"{"text":"ab","chunk_bytes":1,"fault":"stall"}"#).expect("parses");
    let (_, provider) = crate::open(cassette.stalls_for(Duration::from_secs(9)));
    let started = tokio::time::Instant::now();
    let played: Played = provider.stream(request(&[user("go")], 1)).collect().await;
    assert_eq!(started.elapsed().as_secs(), 9);
    assert!(
        fault(&played).is_some_and(|error| error.message.contains("9s")),
        "{played:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn fault_lines_are_failed_attempts_of_the_next_answer() {
    let script = "{\"fault\":\"http:503\"}\n{\"fault\":\"http:429:1\"}\n{\"text\":\"at last\"}";
    for (attempt, status) in [(1, Some(503)), (2, Some(429)), (3, None)] {
        let played = play(script, request(&[user("go")], attempt)).await;
        assert_eq!(fault(&played).and_then(|error| error.status), status);
        assert_eq!(text(&played), if status.is_some() { "" } else { "at last" });
    }
}

#[tokio::test(start_paused = true)]
async fn a_condition_looks_at_what_came_since_the_last_answer() {
    let script = concat!(
        "{\"text\":\"never\",\"when\":{\"contains\":\"zebra\"}}\n{\"text\":\"first\"}\n",
        "{\"text\":\"failed\",\"when\":{\"contains\":\"exit code 1\"}}\n{\"text\":\"done\"}"
    );
    let mut items = vec![user("go")];
    assert_eq!(text(&play(script, request(&items, 1)).await), "first");
    items.extend([assistant(), tool("exit code 0")]);
    assert_eq!(
        text(&play(script, request(&items, 1)).await),
        "done",
        "the zebra line is not used again"
    );
    items[2] = tool("exit code 1");
    assert_eq!(text(&play(script, request(&items, 1)).await), "failed");
    items.extend([assistant(), tool("zebra, exit code 1")]);
    assert_eq!(text(&play(script, request(&items, 1)).await), "done");
    items.extend([assistant(), user("more")]);
    assert_eq!(text(&play(script, request(&items, 1)).await), OVER);
}

#[tokio::test(start_paused = true)]
async fn a_truncated_answer_is_ignored() {
    let script = concat!(
        "{\"text\":\"umbrella\",\"when\":{\"contains\":\"rain\"}}\n",
        "{\"text\":\"hat\"}"
    );
    let mut cut = assistant();
    if let Item::Assistant(said) = &mut cut {
        said.finish = Finish::Interrupted;
    }
    // As after a restart during the first answer.
    let mut asked = request(&[user("rain"), cut, user("go on")], 1);
    asked.answered = 0;
    assert_eq!(text(&play(script, asked).await), "umbrella");
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_cannot_be_read_is_an_error() {
    let mut request = request(&[user("go")], 1);
    request.body = b"{".to_vec().into();
    let played = play("{\"text\":\"a\",\"when\":{\"contains\":\"b\"}}", request).await;
    assert_eq!(
        fault(&played).map(|error| error.kind),
        Some(ErrorKind::Permanent)
    );
}

proptest! {
    #[test]
    fn pieces_join_to_the_text(text in "\\PC{0,40}", bytes in 0_usize..9) {
        let pieces = cut(&text, bytes);
        prop_assert_eq!(pieces.concat(), text);
        let fits = |piece: &String| piece.len() <= bytes || piece.chars().count() == 1;
        prop_assert!(bytes == 0 || pieces.iter().all(fits));
    }

    #[test]
    fn a_longer_conversation_extends_the_shorter_ones_bytes(texts in proptest::collection::vec("\\PC{0,20}", 1..6)) {
        let items: Vec<_> = texts.iter().map(|text| user(text)).collect();
        let long = body(&items);
        let short = body(&items[..items.len() - 1]);
        let tail = br#"],"tool_choice":"auto"}"#;
        let stem = short.strip_suffix(tail.as_slice()).expect("ends in the tail");
        prop_assert!(long.starts_with(stem));
        prop_assert!(!long.contains(&b'\n'));
    }
}
