//! The exact bytes of requests.

use contract::codec::{Fragment, FragmentRole};
use proptest::prelude::*;
use proto::item::{Finish, Thought, UserMessage, Voice};
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

fn codec(change: impl FnOnce(&mut ProviderOptions)) -> Result<Messages, OpenError> {
    let mut options = fake::options("anthropic", "https://a.test");
    change(&mut options);
    Messages::new(&options)
}

fn plain() -> Messages {
    codec(|_| {}).expect("a good entry")
}

const MARKED: &str = r#","cache_control":{"type":"ephemeral"}"#;

#[test]
fn a_whole_request_has_its_cache_marks_at_the_ends_of_the_stable_parts() {
    let thoughts = [thought(
        "anthropic",
        r#"{"type":"thinking","thinking":"hm","signature":"s"}"#,
        0,
        0,
    )];
    let items = [
        user("go"),
        assistant(
            "I look.",
            &[call("a", r#"{"path": "x" }"#), call("b", "{}")],
            &thoughts,
        ),
        tool("a", "1", CallStatus::Ok),
        tool("b", "2", CallStatus::Failed),
        user("and hurry"),
    ];
    let schema = r#""input_schema":{"properties":{"a":{"type":"integer"},"b":{"type":"string"}},"type":"object"}"#;
    let expected = [
        r#"{"model":"big","stream":true,"max_tokens":32000,"tools":["#,
        &format!(r#"{{"name":"read","description":"Does \"it\".",{schema}}},"#),
        &format!(r#"{{"name":"write","description":"Does \"it\".",{schema}{MARKED}}}]"#),
        &format!(r#","system":[{{"type":"text","text":"Be brief."{MARKED}}}]"#),
        &format!(
            r#","messages":[{{"role":"user","content":[{{"type":"text","text":"go"{MARKED}}}]}}"#
        ),
        r#",{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look."}"#,
        r#",{"type":"tool_use","id":"a","name":"read","input":{"path": "x" }},{"type":"tool_use","id":"b","name":"read","input":{}}]}"#,
        r#",{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}"#,
        r#",{"type":"tool_result","tool_use_id":"b","is_error":true,"content":"2"}"#,
        &format!(
            r#",{{"type":"text","text":"and hurry"{MARKED}}}]}}],"tool_choice":{{"type":"auto"}}}}"#
        ),
    ];
    assert_eq!(
        body(&plain(), "Be brief.", &items, ToolChoice::Auto),
        expected.concat()
    );
    let without = body(&plain(), "", &items, ToolChoice::None);
    assert!(
        without.ends_with(r#","tool_choice":{"type":"none"}}"#),
        "{without}"
    );
    assert!(!without.contains("\"system\""));
}

#[test]
fn cache_marks_move_while_earlier_messages_stay_the_same() {
    let mut items = vec![user("go")];
    let mut before = String::new();
    for turn in 0..6 {
        let now = body(&plain(), "Be brief.", &items, ToolChoice::Auto);
        assert!(
            now.matches(MARKED).count() <= 4,
            "the vendor takes four marks"
        );
        let messages = |body: &str| {
            let bare = body.replace(MARKED, "");
            let (_, messages) = bare.split_once("\"messages\":[").expect("messages");
            let (messages, _) = messages.rsplit_once("],\"tool_choice\"").expect("an end");
            messages.to_owned()
        };
        if !before.is_empty() {
            assert!(
                messages(&now).starts_with(&messages(&before)),
                "I1 in turn {turn}"
            );
        }
        before = now;
        items.push(assistant("ok", &[call(&format!("c{turn}"), "{}")], &[]));
        items.push(tool(&format!("c{turn}"), "done", CallStatus::Ok));
    }
}

#[test]
fn unsupported_parameters_are_not_sent() {
    let render = |item: &Item| plain().render(item);
    assert_eq!(
        render(&assistant("", &[], &[thought("anthropic", "{}", 0, 0)])),
        None
    );
    assert_eq!(render(&assistant(" \n", &[], &[])), None, "a blank text");
    assert_eq!(
        render(&assistant(
            "\n",
            &[call("functions.read:0", "{\"a\":\n1}")],
            &[]
        ))
        .as_deref(),
        Some(&*format!(
            r#"{{"type":"tool_use","id":"{}","name":"read","input":{{"a":1}}}}"#,
            ids::fit("functions.read:0", 64)
        ))
    );
    for bad in ["", "{\"path\": ", "[1]", "\"x\"", "{\"a\":\"\\ud800\"}"] {
        let rendered = render(&assistant("", &[call("a", bad)], &[])).expect("a call");
        let value: Value = serde_json::from_str(&rendered).expect("JSON");
        assert_eq!(value["input"]["INVALID_JSON"], bad);
    }
}

#[test]
fn reasoning_is_sent_back_in_its_position_except_from_other_providers() {
    let message = assistant(
        "onetwo",
        &[call("a", "{}"), call("b", "{}")],
        &[
            thought("anthropic", "{\"n\":1}", 0, 0),
            thought("openai-responses", "{\"other\":1}", 0, 0),
            thought("anthropic", "{\"n\":\n2}", 3, 0),
            thought("anthropic", "{\"n\":3}", 6, 1),
        ],
    );
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let used =
        |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"read","input":{{}}}}"#);
    let expected = [
        "{\"n\":1}".to_owned(),
        text("one"),
        "{\"n\":2}".to_owned(),
        text("two"),
        used("a"),
        "{\"n\":3}".to_owned(),
        used("b"),
    ];
    assert_eq!(plain().render(&message), Some(expected.join(",")));
}

#[test]
fn models_before_adaptive_thinking_get_a_budget() {
    let extra = |model: &str, effort: &str, most: u64| {
        let options = ProviderOptions {
            model: model.to_owned(),
            effort: Some(effort.to_owned()),
            max_output_tokens: most,
            ..fake::options("anthropic", "https://a.test")
        };
        let codec = Messages::new(&options).expect("a good entry");
        codec.prefix(model, "", &[]).extra
    };
    let budget =
        |tokens: u64| format!(r#""thinking":{{"type":"enabled","budget_tokens":{tokens}}}"#);
    for old in [
        "claude-haiku-4-5",
        "claude-haiku-4-5-20251001",
        "claude-sonnet-4-20250514",
        "claude-3-7-sonnet-20250219",
        "anthropic/claude-opus-4.5",
    ] {
        assert_eq!(
            extra(old, "high", 64_000),
            format!(r#""max_tokens":64000,{}"#, budget(16_384))
        );
    }
    assert!(extra("claude-haiku-4-5", "low", 0).ends_with(&budget(2_048)));
    assert!(extra("claude-haiku-4-5", "high", 8_000).ends_with(&budget(4_000)));
    // No room for the smallest budget.
    assert_eq!(
        extra("claude-haiku-4-5", "high", 1_500),
        r#""max_tokens":1500"#
    );
    assert_eq!(
        extra("claude-haiku-4-5", "none", 0),
        r#""max_tokens":32000"#
    );
    for new in [
        "claude-opus-4-6",
        "claude-sonnet-5",
        "claude-haiku-5-5",
        "other-1",
    ] {
        assert!(extra(new, "high", 0).contains("adaptive"), "{new}");
    }
}

#[test]
fn effort_and_length_are_sent_if_configured() {
    let extra = |change: fn(&mut ProviderOptions)| {
        codec(change).map(|codec| codec.prefix("m", "", &[]).extra)
    };
    assert_eq!(
        extra(|options| {
            options.effort = Some("high".to_owned());
            options.efforts = vec!["low".to_owned(), "high".to_owned()];
            options.max_output_tokens = 8000;
            options.extra = "\"top_k\":1".to_owned();
        })
        .as_deref(),
        Ok(
            r#""max_tokens":8000,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"},"top_k":1"#
        )
    );
    let refused =
        |change: fn(&mut ProviderOptions)| extra(change).expect_err("a wrong entry").to_string();
    assert_eq!(
        refused(|options| {
            options.effort = Some("hihg".to_owned());
            options.efforts = vec!["low".to_owned(), "high".to_owned()];
        }),
        "provider `acme`: effort: its models do not support `hihg`; they support low, high"
    );
    assert!(
        refused(|options| {
            options.effort = Some("high".to_owned());
            options.extra = "\"thinking\":{}".to_owned();
        })
        .contains("`thinking` and `effort`")
    );
    assert!(
        refused(|options| options.extra = "\"max_tokens\":1".to_owned()).contains("`max_tokens`")
    );
    assert!(refused(|options| options.command = vec!["x".to_owned()]).contains("command"));
}

proptest! {
    /// For any content, the request parses and contains no raw line end.
    #[test]
    fn any_item_is_json(text in "\\PC{0,20}|[\\n\\t\"\\\\]{0,5}", arguments in "\\PC{0,20}|\\{\"a\":[0-9 \\n]{1,4}\\}", at in 0_u64..30) {
        for item in [user(&text), tool("a", &text, CallStatus::Denied), assistant(&text, &[call("a", &arguments)], &[thought("anthropic", "{}", at, at)])] {
            let Some(rendered) = plain().render(&item) else { continue };
            prop_assert!(!rendered.contains(['\n', '\r']));
            prop_assert!(serde_json::from_str::<Vec<Value>>(&format!("[{rendered}]")).is_ok(), "{}", rendered);
        }
    }
}

fn with_images(status: CallStatus) -> Item {
    let Item::Tool(message) = tool("c1", "Look.", status) else {
        unreachable!("it is a result")
    };
    Item::Tool(ToolMessage {
        images: vec![fake::image()],
        ..message
    })
}

#[test]
fn images_are_blocks_of_their_result_and_no_error_has_any() {
    let sees = codec(|options| options.vision = Some(true)).expect("a good entry");
    let place = placeholder(&fake::image());
    let image = format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{place}"}}}}"#
    );
    assert_eq!(
        sees.render(&with_images(CallStatus::Ok)),
        Some(format!(
            r#"{{"type":"tool_result","tool_use_id":"c1","content":[{{"type":"text","text":"Look."}},{image}]}}"#
        ))
    );
    assert_eq!(
        sees.render(&with_images(CallStatus::Failed)),
        Some(format!(
            r#"{{"type":"tool_result","tool_use_id":"c1","content":[{{"type":"text","text":"[The call failed.]\nLook."}},{image}]}}"#
        ))
    );
    assert!(sees.sends_images());
    for vision in [Some(false), None] {
        let blind = codec(|options| options.vision = vision).expect("a good entry");
        let rendered = blind.render(&with_images(CallStatus::Failed));
        let value: Value = serde_json::from_str(&rendered.expect("a result")).expect("JSON");
        let text = value["content"].as_str().expect("a text");
        assert!(text.starts_with("Look.\n[The image is not shown to you: "));
        assert_eq!(value["is_error"], true);
        assert!(!blind.sends_images());
    }
}
