//! The exact bytes of requests.

use contract::ToolChoice;
use contract::codec::{Fragment, FragmentRole};
use proptest::prelude::*;
use proto::item::{CallStatus, Finish, ToolCall, ToolMessage, UserMessage, Voice};
use proto::{CallId, ItemId};

use super::*;
use crate::fake;

fn chat(extra: &str, sends_reasoning: bool) -> Chat {
    let options = ProviderOptions {
        api_key_env: None,
        extra: extra.to_owned(),
        sends_reasoning,
        ..fake::options("openai", "http://127.0.0.1")
    };
    Chat::new(&options).expect("a good entry")
}

#[test]
fn effort_is_sent_and_an_unsupported_value_is_refused() {
    let open = |change: fn(&mut ProviderOptions)| {
        let mut options = fake::options("openai", "http://127.0.0.1");
        change(&mut options);
        Chat::new(&options).map(|chat| chat.prefix("m", "", &[]).extra)
    };
    let extra = open(|options| {
        options.effort = Some("high".to_owned());
        options.extra = "\"top_p\":1".to_owned();
    });
    assert_eq!(
        extra.as_deref(),
        Ok(r#""reasoning_effort":"high","top_p":1"#)
    );
    for wrong in [
        open(|options| options.max_output_tokens = 9),
        open(|options| options.command = vec!["x".to_owned()]),
        open(|options| {
            options.effort = Some("high".to_owned());
            options.efforts = vec!["low".to_owned()];
        }),
    ] {
        assert!(wrong.is_err());
    }
}

/// The codec for an endpoint that demands reasoning.
fn chat_at(base: &str) -> Chat {
    let options = ProviderOptions {
        sends_reasoning: true,
        ..fake::options("openai", base)
    };
    Chat::new(&options).expect("a good entry")
}

#[test]
fn missing_reasoning_is_a_blank_for_moonshot_alone() {
    let answer = assistant("", "", &[("c1", "read", "{}")]);
    let thought = assistant("", "Hm.", &[("c1", "read", "{}")]);
    let moonshot = chat_at("https://api.moonshot.ai/v1");
    let rendered = moonshot.render(&answer).expect("a message");
    assert!(
        rendered.contains(r#""reasoning_content":" ""#),
        "{rendered}"
    );
    let rendered = moonshot.render(&thought).expect("a message");
    assert!(
        rendered.contains(r#""reasoning_content":"Hm.""#),
        "{rendered}"
    );
    assert_eq!(moonshot.temperature(50), None);
    let deepseek = chat_at("https://api.deepseek.com");
    let rendered = deepseek.render(&answer).expect("a message");
    assert!(rendered.contains(r#""reasoning_content":"""#), "{rendered}");
    assert_eq!(
        deepseek.temperature(50).as_deref(),
        Some(r#""temperature":0.50"#)
    );
}

#[test]
fn call_ids_of_other_vendors_are_made_over_for_mistral() {
    let mistral = chat_at("https://api.mistral.ai/v1");
    let answer = assistant("", "", &[("c1", "read", "{}"), ("D681PevKs", "read", "{}")]);
    let rendered = mistral.render(&answer).expect("a message");
    let result = mistral.render(&tool("one")).expect("a message");
    let made = ids::nine("c1");
    assert!(
        rendered.contains(&format!(r#""id":"{made}""#)),
        "{rendered}"
    );
    assert!(rendered.contains(r#""id":"D681PevKs""#), "{rendered}");
    assert!(
        result.contains(&format!(r#""tool_call_id":"{made}""#)),
        "{result}"
    );
    assert!(
        chat("", false)
            .render(&answer)
            .is_some_and(|text| text.contains(r#""id":"c1""#))
    );
}

fn user(text: &str, context: Option<&str>, voice: Voice) -> Item {
    let context = context.map(str::to_owned);
    Item::User(UserMessage {
        item: ItemId::from("m1.1"),
        prompt_id: None,
        text: text.to_owned(),
        context,
        voice,
        from: None,
        attached: Vec::new(),
        reported: Vec::new(),
    })
}

fn of_session(text: &str, from: u64) -> Item {
    match user(text, None, Voice::Session) {
        Item::User(message) => Item::User(UserMessage {
            from: Some(proto::Pid(from)),
            ..message
        }),
        other => other,
    }
}

fn assistant(text: &str, reasoning: &str, calls: &[(&str, &str, &str)]) -> Item {
    let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
        id: CallId::from(*id),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
        cut: false,
        found: false,
    };
    Item::Assistant(AssistantMessage {
        item: ItemId::from("m1.2"),
        text: text.to_owned(),
        reasoning: reasoning.to_owned(),
        calls: calls.iter().map(call).collect(),
        thoughts: Vec::new(),
        finish: Finish::Stop,
    })
}

fn tool(text: &str) -> Item {
    let (item, call) = (ItemId::from("m1.3"), CallId::from("c1"));
    Item::Tool(ToolMessage {
        item,
        call,
        tool: "read".to_owned(),
        status: CallStatus::Ok,
        text: text.to_owned(),
        images: Vec::new(),
    })
}

fn rendered(item: &Item) -> String {
    chat("", false)
        .render(item)
        .expect("this kind renders everything")
}

fn body(chat: &Chat, prefix: &Prefix, items: &[Item], tool_choice: ToolChoice) -> String {
    let rendered: Vec<_> = items
        .iter()
        .filter_map(|item| Some((FragmentRole::of(item), chat.render(item)?)))
        .collect();
    let fragments: Vec<_> = rendered
        .iter()
        .map(|(role, bytes)| Fragment {
            role: *role,
            bytes: bytes.as_bytes(),
        })
        .collect();
    let asked = Asked {
        prefix,
        fragments: &fragments,
        tool_choice,
        cache_key: "root",
    };
    String::from_utf8(chat.assemble(&asked).to_vec()).expect("UTF-8")
}

fn tools() -> Vec<ToolDeclaration> {
    let spec = |name: &str, schema: Value| ToolDeclaration {
        name: name.into(),
        description: "Does \"it\".".into(),
        schema: schema.into(),
    };
    let schema = json!({"type": "object", "required": ["z", "a"], "properties": {"z": {"type": "string"}, "a": {"type": "integer"}}});
    vec![spec("write", json!({})), spec("read", schema)]
}

#[test]
fn messages_are_rendered_to_these_bytes() {
    for (item, expected) in [
        (
            user("hi \"you\"\n", None, Voice::Prompt),
            r#"{"role":"user","content":"hi \"you\"\n"}"#,
        ),
        (
            user("hi", Some("cwd: /w"), Voice::Prompt),
            r#"{"role":"user","content":"<context>\ncwd: /w\n</context>\n\nhi"}"#,
        ),
        (
            user("stop that", None, Voice::Steer),
            r#"{"role":"user","content":"[The user says this while you work. Take it into account and go on.]\n\nstop that"}"#,
        ),
        (
            of_session("It is done.", 7),
            r#"{"role":"user","content":"[Message from session 7, not from the user.]\n\nIt is done."}"#,
        ),
        (
            user("sum up", None, Voice::Daemon),
            r#"{"role":"user","content":"[From the program that runs you, not from the user.]\n\nsum up"}"#,
        ),
        (
            assistant(" done \n", "why", &[]),
            r#"{"role":"assistant","content":" done \n"}"#,
        ),
        (
            assistant(
                "",
                "",
                &[
                    ("c1", "read", "{\"path\": \"a\\n\" }"),
                    ("c2", "bash", "{\"cmd"),
                ],
            ),
            r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\\n\" }"}},{"id":"c2","type":"function","function":{"name":"bash","arguments":"{\"cmd"}}]}"#,
        ),
        (
            tool("a\tb"),
            r#"{"role":"tool","tool_call_id":"c1","content":"a\tb"}"#,
        ),
    ] {
        assert_eq!(rendered(&item), expected);
    }
}

#[test]
fn an_empty_answer_is_not_sent_back() {
    assert_eq!(chat("", false).render(&assistant("", "why", &[])), None);
    let thinking = chat("", true);
    assert_eq!(thinking.render(&assistant("", "", &[])), None);
    let thought = r#"{"role":"assistant","content":"","reasoning_content":"why"}"#;
    assert_eq!(
        thinking.render(&assistant("", "why", &[])).as_deref(),
        Some(thought)
    );
}

#[test]
fn reasoning_is_sent_back_exactly_if_required() {
    let thinking = chat("", true);
    let call: &[_] = &[("c1", "read", "{}")];
    for (item, expected) in [
        (
            assistant("a", "why", &[]),
            r#"{"role":"assistant","content":"a","reasoning_content":"why"}"#,
        ),
        (
            assistant("a", "", &[]),
            r#"{"role":"assistant","content":"a","reasoning_content":""}"#,
        ),
        (
            assistant("", "w", call),
            r#"{"role":"assistant","content":"","reasoning_content":"w","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]}"#,
        ),
    ] {
        assert_eq!(thinking.render(&item).as_deref(), Some(expected));
    }
}

#[test]
fn a_request_is_these_bytes() {
    let chat = chat(r#""temperature": 0.0, "reasoning": {"z":1,"a":2}"#, false);
    let prefix = chat.prefix("big \"one\"", "Be brief.", &tools());
    let items = [user("go", None, Voice::Prompt), assistant("ok", "", &[])];
    let expected = concat!(
        r#"{"model":"big \"one\"","stream":true,"stream_options":{"include_usage":true},"#,
        r#""reasoning":{"a":2,"z":1},"temperature":0.0,"#,
        r#""tools":[{"type":"function","function":{"name":"read","description":"Does \"it\".","parameters":"#,
        r#"{"properties":{"a":{"type":"integer"},"z":{"type":"string"}},"required":["z","a"],"type":"object"}}},"#,
        r#"{"type":"function","function":{"name":"write","description":"Does \"it\".","parameters":{}}}],"#,
        r#""messages":[{"role":"system","content":"Be brief."},"#,
        r#"{"role":"user","content":"go"},{"role":"assistant","content":"ok"}],"tool_choice":"auto"}"#,
    );
    assert_eq!(body(&chat, &prefix, &items, ToolChoice::Auto), expected);
    let none = body(&chat, &prefix, &items, ToolChoice::None);
    assert_eq!(
        none,
        expected.replace(r#""tool_choice":"auto""#, r#""tool_choice":"none""#),
        "the tools stay"
    );
}

#[test]
fn a_request_without_system_prompt_and_tools_omits_their_members() {
    let chat = chat("", false);
    let prefix = chat.prefix("m", "", &[]);
    let expected = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"go"}]}"#;
    assert_eq!(
        body(
            &chat,
            &prefix,
            &[user("go", None, Voice::Prompt)],
            ToolChoice::None
        ),
        expected
    );
}

fn any_item() -> impl Strategy<Value = Item> {
    let text = || any::<String>();
    prop_oneof![
        (
            text(),
            proptest::option::of(text()),
            prop_oneof![
                Just(Voice::Prompt),
                Just(Voice::Steer),
                Just(Voice::Session),
                Just(Voice::Daemon)
            ]
        )
            .prop_map(|(text, context, voice)| user(&text, context.as_deref(), voice)),
        (
            text(),
            text(),
            proptest::collection::vec((text(), text(), text()), 0..3)
        )
            .prop_map(|(text, reasoning, calls)| {
                let calls: Vec<_> = calls
                    .iter()
                    .map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str()))
                    .collect();
                assistant(&text, &reasoning, &calls)
            }),
        text().prop_map(|text| tool(&text)),
    ]
}

fn with_images(call: &str, images: usize) -> Item {
    Item::Tool(ToolMessage {
        item: ItemId::from("m1.3"),
        call: CallId::from(call),
        tool: "shoot".to_owned(),
        status: CallStatus::Ok,
        text: "},{\"role\":\"user\",\"content\":[".to_owned(),
        images: vec![fake::image(); images],
    })
}

fn seeing() -> Chat {
    Chat {
        vision: Some(true),
        ..chat("", false)
    }
}

#[test]
fn images_of_a_round_are_one_user_message_after_its_results() {
    let calls = [
        ("c1", "shoot", "{}"),
        ("c2", "read", "{}"),
        ("c3", "shoot", "{}"),
    ];
    let items = [
        user("Look.", None, Voice::Prompt),
        assistant("", "", &calls),
        with_images("c1", 2),
        tool("plain"),
        with_images("c3", 1),
        user("And?", None, Voice::Steer),
    ];
    let prefix = seeing().prefix("m", "", &[]);
    let messages = |chat: &Chat| -> Vec<Value> {
        let body = body(chat, &prefix, &items, ToolChoice::None);
        let request: Value = serde_json::from_str(&body).expect("JSON");
        request["messages"].as_array().expect("messages").clone()
    };
    let roles = |messages: &[Value]| -> Vec<String> {
        let roles = messages.iter().map(|message| message["role"].to_string());
        roles
            .map(|role| role.trim_matches('"').to_owned())
            .collect()
    };
    let sent = messages(&seeing());
    assert_eq!(
        roles(&sent),
        ["user", "assistant", "tool", "tool", "tool", "user", "user"]
    );
    assert_eq!(sent[2]["content"], "},{\"role\":\"user\",\"content\":[");
    let parts = sent[5]["content"].as_array().expect("parts");
    let kinds: Vec<_> = parts.iter().map(|part| part["type"].as_str()).collect();
    assert_eq!(
        kinds,
        ["text", "image_url", "image_url", "text", "image_url"].map(Some)
    );
    let which = "[From the program that runs you, not from the user: images of the result of `shoot`, call c3.]";
    assert_eq!(parts[3]["text"], which);
    let url = parts[4]["image_url"]["url"].as_str().expect("a URL");
    assert!(url.starts_with("data:image/png;base64,/blob/0123"), "{url}");
    let strict = Chat {
        strict_roles: true,
        ..seeing()
    };
    assert_eq!(
        roles(&messages(&strict)),
        [
            "user",
            "assistant",
            "tool",
            "tool",
            "tool",
            "assistant",
            "user",
            "assistant",
            "user"
        ]
    );
    let blind = messages(&chat("", false));
    assert_eq!(
        roles(&blind),
        ["user", "assistant", "tool", "tool", "tool", "user"]
    );
    let text = blind[2]["content"].as_str().expect("a text");
    assert!(text.contains("[The image is not shown to you: "), "{text}");
}

proptest! {
    /// I1 with images: once a round is over, its bytes stay.
    #[test]
    fn rounds_with_images_extend_the_bytes(rounds in proptest::collection::vec(proptest::collection::vec(0_usize..3, 1..4), 1..4)) {
        let prefix = seeing().prefix("m", "Be brief.", &tools());
        let mut items = vec![user("Look.", None, Voice::Prompt)];
        let mut before = body(&seeing(), &prefix, &items, ToolChoice::Auto);
        for (round, images) in rounds.iter().enumerate() {
            let ids: Vec<String> = (0..images.len()).map(|call| format!("c{round}-{call}")).collect();
            let calls: Vec<_> = ids.iter().map(|id| (id.as_str(), "shoot", "{}")).collect();
            items.push(assistant("", "", &calls));
            items.extend(ids.iter().zip(images).map(|(id, images)| with_images(id, *images)));
            let now = body(&seeing(), &prefix, &items, ToolChoice::Auto);
            let tail = "],\"tool_choice\":\"auto\"}";
            prop_assert!(now.starts_with(before.strip_suffix(tail).expect("an end")));
            let request: Value = serde_json::from_str(&now).expect("JSON");
            let last = request["messages"].as_array().and_then(|messages| messages.last()).expect("a message");
            let expected = if images.iter().sum::<usize>() > 0 { "user" } else { "tool" };
            prop_assert_eq!(last["role"].as_str(), Some(expected));
            before = now;
        }
    }
}

proptest! {
    /// I1: the message bytes of a request are a prefix of the next one's.
    #[test]
    fn a_longer_conversation_extends_the_bytes(items in proptest::collection::vec(any_item(), 1..6), sends in any::<bool>()) {
        let chat = chat("\"seed\":1", sends);
        let prefix = chat.prefix("m", "Be brief.", &tools());
        let long = body(&chat, &prefix, &items, ToolChoice::Auto);
        let short = body(&chat, &prefix, &items[..items.len() - 1], ToolChoice::Auto);
        let tail = "],\"tool_choice\":\"auto\"}";
        let stem = &short[..short.len() - tail.len()];
        prop_assert!(long.starts_with(stem));
        prop_assert!(long.ends_with(tail));
        prop_assert!(!long.contains('\n'));
    }

    /// For servers with strict roles: no text is lost or moved, no two user messages follow each other, and none follows a
    /// tool result.
    #[test]
    fn strict_roles_keep_every_text_in_its_order(items in proptest::collection::vec(any_item(), 1..8)) {
        let plain = chat("", false);
        let strict = Chat { strict_roles: true, ..chat("", false) };
        let prefix = plain.prefix("m", "Be brief.", &[]);
        let messages = |chat: &Chat| -> Vec<Value> {
            let request: Value = serde_json::from_str(&body(chat, &prefix, &items, ToolChoice::None)).expect("JSON");
            request["messages"].as_array().expect("messages").clone()
        };
        let understood = json!({"role": "assistant", "content": "Understood."});
        let mut expected: Vec<Value> = Vec::new();
        for message in messages(&plain) {
            let is_user = message["role"] == "user";
            match expected.last_mut() {
                Some(last) if is_user && last["role"] == "user" => {
                    let text = |of: &Value| of["content"].as_str().expect("a text").to_owned();
                    last["content"] = json!(format!("{}\n\n{}", text(last), text(&message)));
                }
                Some(last) if is_user && last["role"] == "tool" => expected.extend([understood.clone(), message]),
                _ => expected.push(message),
            }
        }
        prop_assert_eq!(messages(&strict), expected);
    }

    /// A vendor receives exactly the model's own text.
    #[test]
    fn rendering_loses_nothing(item in any_item()) {
        let Some(rendered) = chat("", true).render(&item) else {
            let silent = matches!(&item, Item::Assistant(message) if message.text.is_empty() && message.reasoning.is_empty() && message.calls.is_empty());
            prop_assert!(silent);
            return Ok(());
        };
        let value: Value = serde_json::from_str(&rendered).expect("JSON");
        match &item {
            Item::User(message) => prop_assert!(value["content"].as_str().is_some_and(|text| text.ends_with(&message.text))),
            Item::Tool(message) => prop_assert_eq!(value["content"].as_str(), Some(message.text.as_str())),
            Item::Assistant(message) => {
                prop_assert_eq!(value["content"].as_str().unwrap_or_default(), message.text.as_str());
                prop_assert_eq!(value["reasoning_content"].as_str(), Some(message.reasoning.as_str()));
                let arguments = |index: usize| value["tool_calls"][index]["function"]["arguments"].as_str();
                for (index, call) in message.calls.iter().enumerate() {
                    prop_assert_eq!(arguments(index), Some(call.arguments.as_str()));
                }
            }
        }
    }
}
