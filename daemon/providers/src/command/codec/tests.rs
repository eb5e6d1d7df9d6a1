//! The exact bytes of requests.

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

fn codec(change: impl FnOnce(&mut ProviderOptions)) -> Result<Lines, OpenError> {
    let mut options = fake::options("command", "");
    change(&mut options);
    Lines::new(&options)
}

#[test]
fn a_request_is_one_line_with_the_whole_conversation() {
    let plain = codec(|options| {
        options.effort = Some("low".to_owned());
        options.max_output_tokens = 9;
        options.extra = "\"profile\":\"work\"".to_owned();
    })
    .expect("a good entry");
    let thoughts = [
        thought("command", "{\"signed\":1}", 0, 0),
        thought("anthropic", "{}", 0, 0),
    ];
    let items = [
        user("go"),
        assistant(
            "I look.",
            &[call("a", r#"{"path": "x" }"#), call("b", "{")],
            &thoughts,
        ),
        tool("a", "1\n2", CallStatus::Ok),
        tool("b", "no", CallStatus::Refused),
    ];
    let schema = r#""parameters":{"properties":{"a":{"type":"integer"},"b":{"type":"string"}},"type":"object"}"#;
    let expected = [
        r#"{"version":1,"model":"big","effort":"low","max_output_tokens":9,"profile":"work","tools":["#,
        &format!(r#"{{"name":"read","description":"Does \"it\".",{schema}}},"#),
        &format!(r#"{{"name":"write","description":"Does \"it\".",{schema}}}]"#),
        r#","system":"Be brief.","cache_key":"root-1","messages":["#,
        r#"{"role":"user","content":"go"}"#,
        r#",{"role":"assistant","content":"I look.","tool_calls":[{"id":"a","name":"read","arguments":"{\"path\": \"x\" }"},"#,
        r#"{"id":"b","name":"read","arguments":"{"}],"thoughts":[{"signed":1}]}"#,
        r#",{"role":"tool","tool_call_id":"a","name":"read","status":"ok","content":"1\n2"}"#,
        r#",{"role":"tool","tool_call_id":"b","name":"read","status":"refused","content":"no"}"#,
        "],\"tool_choice\":\"none\"}\n",
    ];
    assert_eq!(
        body(&plain, "Be brief.", &items, ToolChoice::None),
        expected.concat()
    );
    assert_eq!(plain.render(&assistant("", &[], &thoughts)), None);
}

#[test]
fn reasoning_is_sent_back_if_configured() {
    let with = codec(|options| options.sends_reasoning = true).expect("a good entry");
    let rendered = with.render(&assistant("ab", &[], &[])).expect("a text");
    assert_eq!(
        rendered,
        r#"{"role":"assistant","content":"ab","reasoning":"for people"}"#
    );
}
