//! The exact bytes of requests.

use contract::ToolChoice;
use contract::codec::{Fragment, FragmentRole};

use proto::item::{CallStatus, Finish, Thought, ToolCall, ToolMessage, UserMessage, Voice};
use proto::{CallId, ItemId};

use super::*;
use crate::fake;

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

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId::from(id),
        name: "read".to_owned(),
        arguments: arguments.to_owned(),
        cut: false,
        found: false,
    }
}

fn thought(kind: &str, data: &str, text_at: u64, calls_at: u64) -> Thought {
    Thought {
        kind: kind.to_owned(),
        data: data.to_owned(),
        text_at,
        calls_at,
    }
}

fn assistant(text: &str, calls: &[ToolCall], thoughts: &[Thought]) -> Item {
    Item::Assistant(AssistantMessage {
        item: ItemId::from("m1.2"),
        text: text.to_owned(),
        reasoning: "for people".to_owned(),
        calls: calls.to_vec(),
        thoughts: thoughts.to_vec(),
        finish: Finish::Stop,
    })
}

fn tool(call: &str, text: &str, status: CallStatus) -> Item {
    Item::Tool(ToolMessage {
        item: ItemId::from("m1.3"),
        call: CallId::from(call),
        tool: "read".to_owned(),
        status,
        text: text.to_owned(),
        images: Vec::new(),
    })
}

fn tools() -> [ToolDeclaration; 2] {
    let schema = json!({"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}});
    ["write", "read"].map(|name| ToolDeclaration {
        name: name.into(),
        description: "Does \"it\".".into(),
        schema: schema.clone().into(),
    })
}

fn body(codec: &dyn Codec, system: &str, items: &[Item], tool_choice: ToolChoice) -> String {
    let prefix = codec.prefix("big", system, &tools());
    let rendered: Vec<_> = items
        .iter()
        .filter_map(|item| Some((FragmentRole::of(item), codec.render(item)?)))
        .collect();
    let fragments: Vec<_> = rendered
        .iter()
        .map(|(role, bytes)| Fragment {
            role: *role,
            bytes: bytes.as_bytes(),
        })
        .collect();
    let body = codec.assemble(&Asked {
        prefix: &prefix,
        fragments: &fragments,
        tool_choice,
        cache_key: "root-1",
    });
    String::from_utf8(body.to_vec()).expect("UTF-8")
}

fn codec(change: impl FnOnce(&mut ProviderOptions)) -> Result<Responses, OpenError> {
    let mut options = fake::options("openai-responses", "https://a.test");
    change(&mut options);
    Responses::new(&options)
}

fn plain() -> Responses {
    codec(|_| {}).expect("a good entry")
}

#[test]
fn a_request_asks_the_vendor_to_store_nothing() {
    let thoughts = [thought(
        "openai-responses",
        r#"{"type":"reasoning","encrypted_content":"x"}"#,
        0,
        0,
    )];
    let items = [
        user("go"),
        assistant("I look.", &[call("a", r#"{"path": "x" }"#)], &thoughts),
        tool("a", "1\n2", CallStatus::Failed),
        user("and hurry"),
    ];
    let schema = r#""parameters":{"properties":{"a":{"type":"integer"},"b":{"type":"string"}},"type":"object"},"strict":false"#;
    let expected = [
        r#"{"model":"big","stream":true,"store":false,"include":["reasoning.encrypted_content"],"tools":["#,
        &format!(r#"{{"type":"function","name":"read","description":"Does \"it\".",{schema}}},"#),
        &format!(r#"{{"type":"function","name":"write","description":"Does \"it\".",{schema}}}]"#),
        r#","instructions":"Be brief.","prompt_cache_key":"root-1","input":["#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#,
        r#",{"type":"reasoning","encrypted_content":"x"}"#,
        r#",{"type":"message","id":"msg_m1-2_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]}"#,
        r#",{"type":"function_call","call_id":"a","name":"read","arguments":"{\"path\": \"x\" }"}"#,
        r#",{"type":"function_call_output","call_id":"a","output":"1\n2"}"#,
        r#",{"type":"message","role":"user","content":[{"type":"input_text","text":"and hurry"}]}"#,
        r#"],"tool_choice":"auto"}"#,
    ];
    assert_eq!(
        body(&plain(), "Be brief.", &items, ToolChoice::Auto),
        expected.concat()
    );
    let before = body(&plain(), "Be brief.", &items[..3], ToolChoice::None);
    let (before, end) = before.split_at(before.len() - "],\"tool_choice\":\"none\"}".len());
    assert_eq!(end, "],\"tool_choice\":\"none\"}");
    assert!(expected.concat().starts_with(before), "I1");
}

#[test]
fn reasoning_is_sent_back_only_with_its_result() {
    let own = |at| thought("openai-responses", &format!("{{\"n\":{at}}}"), at, 0);
    let rendered = plain()
        .render(&assistant("ab", &[], &[own(0), own(2)]))
        .expect("a text");
    assert!(
        rendered.starts_with("{\"n\":0},{\"type\":\"message\""),
        "{rendered}"
    );
    assert!(!rendered.contains("{\"n\":2}"), "nothing follows it");
    assert_eq!(plain().render(&assistant("", &[], &[own(0)])), None);
    let others = assistant("ab", &[], &[thought("anthropic", "{\"n\":1}", 0, 0)]);
    assert!(!plain().render(&others).expect("a text").contains("\"n\""));
}

#[test]
fn texts_of_an_answer_go_back_with_their_phases() {
    let phase = |phase: &str, at| {
        thought(
            "openai-responses.phase",
            &format!("{{\"phase\":\"{phase}\"}}"),
            at,
            0,
        )
    };
    let thoughts = [phase("commentary", 0), phase("final_answer", 2)];
    let rendered = plain().render(&assistant("abcd", &[], &thoughts));
    let rendered: Vec<Value> =
        serde_json::from_str(&format!("[{}]", rendered.expect("two texts"))).expect("JSON");
    let members = |message: &Value| {
        let text = message["content"][0]["text"].clone();
        (text, message["phase"].clone())
    };
    assert_eq!(
        rendered.iter().map(members).collect::<Vec<_>>(),
        [
            (json!("ab"), json!("commentary")),
            (json!("cd"), json!("final_answer"))
        ]
    );
    assert_ne!(rendered[0]["id"], rendered[1]["id"]);
}

#[test]
fn open_reasoning_goes_back_where_the_entry_says_so() {
    let item = r#"{"type":"reasoning","content":[]}"#;
    let message = assistant("ab", &[], &[thought("openai-responses.open", item, 0, 0)]);
    let sends = codec(|options| options.sends_reasoning = true).expect("a good entry");
    let rendered = |codec: &Responses| codec.render(&message).expect("a text");
    assert!(rendered(&sends).starts_with(item));
    assert!(!rendered(&plain()).contains("reasoning"));
}

#[test]
fn effort_length_and_include_are_sent_if_configured() {
    let extra = |change: fn(&mut ProviderOptions)| {
        codec(change).map(|codec| codec.prefix("m", "", &[]).extra)
    };
    assert_eq!(
        extra(|options| {
            options.effort = Some("low".to_owned());
            options.max_output_tokens = 9;
        })
        .as_deref(),
        Ok(
            r#""include":["reasoning.encrypted_content"],"max_output_tokens":9,"reasoning":{"effort":"low","summary":"auto"}"#
        )
    );
    assert_eq!(
        extra(|options| options.extra = "\"include\":[]".to_owned()).as_deref(),
        Ok("\"include\":[]")
    );
    assert!(extra(|options| options.extra = "\"store\":true".to_owned()).is_err());
}

#[test]
fn images_are_parts_of_their_output() {
    let options = ProviderOptions {
        vision: Some(true),
        ..fake::options("openai-responses", "https://a.test")
    };
    let Item::Tool(message) = tool("c1", "Look.", CallStatus::Ok) else {
        unreachable!("it is a result")
    };
    let message = ToolMessage {
        images: vec![fake::image()],
        ..message
    };
    let place = contract::image::placeholder(&fake::image());
    let sees = Responses::new(&options).expect("a good entry");
    assert_eq!(
        sees.render(&Item::Tool(message.clone())),
        Some(format!(
            r#"{{"type":"function_call_output","call_id":"c1","output":[{{"type":"input_text","text":"Look."}},{{"type":"input_image","image_url":"data:image/png;base64,{place}"}}]}}"#
        ))
    );
    let rendered = plain().render(&Item::Tool(message)).expect("a result");
    let value: Value = serde_json::from_str(&rendered).expect("JSON");
    let text = value["output"].as_str().expect("a text");
    assert!(text.starts_with("Look.\n[The image is not shown to you: it is not known"));
}
