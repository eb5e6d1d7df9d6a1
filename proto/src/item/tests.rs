//! What older and newer logs have of a message.

use super::*;

#[test]
fn messages_of_before_thoughts_are_read_and_written_as_they_were() {
    let old = r#"{"item":"m1.2","text":"ok","reasoning":"hm","calls":[],"finish":"stop"}"#;
    let message: AssistantMessage = serde_json::from_str(old).expect("an old message");
    assert_eq!(message.thoughts, []);
    let now = serde_json::to_string(&message).expect("JSON");
    assert!(!now.contains("thoughts"), "{now}");
    let usage = r#"{"item":"m1.2","step":1,"attempt":1,"prompt_tokens":5,"cached_tokens":4,"output_tokens":3,
        "reasoning_tokens":2,"reported":true,"request_bytes":1,"first_token_ms":1,"duration_ms":1}"#;
    let usage: crate::record::Usage = serde_json::from_str(usage).expect("an old usage");
    assert_eq!(usage.cache_write_tokens, 0);
    let now = serde_json::to_string(&usage).expect("JSON");
    assert!(!now.contains("cache_write"), "{now}");
}

#[test]
fn a_thought_is_kept_byte_for_byte() {
    let thought = Thought {
        kind: "anthropic".to_owned(),
        data: r#"{"type": "thinking","signature":"a/+=\u00e9"}"#.to_owned(),
        text_at: 3,
        calls_at: 1,
    };
    let text = serde_json::to_string(&thought).expect("JSON");
    assert_eq!(
        serde_json::from_str::<Thought>(&text).expect("a thought"),
        thought
    );
    let placeless = r#"{"kind":"k","data":"{}"}"#;
    let placeless: Thought = serde_json::from_str(placeless).expect("a thought");
    assert_eq!((placeless.text_at, placeless.calls_at), (0, 0));
}

#[test]
fn what_a_call_works_on_is_read_from_its_arguments() {
    for (arguments, subject) in [
        (r#"{"path":"a.rs","old_string":"x"}"#, "a.rs"),
        (r#"{"pattern":"x","path":"src"}"#, "src"),
        (r#"{"command":"ls","path":3}"#, "ls"),
        (r#"{"path":3,"n":1}"#, r#"{"path":3,"n":1}"#),
        (r#"[1] "#, "[1]"),
        (r#"{"path":"a"#, r#"{"path":"a"#),
    ] {
        let call = ToolCall {
            id: CallId("c".to_owned()),
            name: "t".to_owned(),
            arguments: arguments.to_owned(),
            cut: false,
            found: false,
        };
        assert_eq!(call.subject(), subject, "{arguments}");
    }
}

#[test]
fn only_calls_of_mcp_tools_show_their_arguments_as_a_line() {
    let call = |name: &str, arguments: String| ToolCall {
        id: "c1".into(),
        name: name.to_owned(),
        arguments,
        cut: false,
        found: false,
    };
    let line = |name, arguments: &str| call(name, arguments.to_owned()).server_arguments();
    assert_eq!(
        line("mcp__a__sum", r#"{"a":1}"#).as_deref(),
        Some(r#"{"a":1}"#)
    );
    assert_eq!(line("mcp__a__now", " {} "), None);
    assert_eq!(line("remember", r#"{"content":"private"}"#), None);
    let through = r#"{"tool":"mcp__a__sum","arguments":{"a":1}}"#;
    assert_eq!(line("call", through).as_deref(), Some(r#"{"a":1}"#));
    let named = r#"{"args":{"a":1},"name":"mcp__a__sum"}"#;
    assert_eq!(line("call", named).as_deref(), Some(r#"{"a":1}"#));
    for none in [
        r#"{"tool":"mcp__a__now","arguments":{}}"#,
        r#"{"tool":"mcp__a__now"}"#,
        r#"{"tool":"remember","arguments":{"content":"mcp__a__now"}}"#,
        r#"{"content":"mcp__a__now","scope":"user","tags":{"a":1}}"#,
        r#"{"tool":"mcp__a__now","arguments":"#,
    ] {
        assert_eq!(line("call", none), None, "{none}");
    }
    let long = line("mcp__a__echo", &"ü".repeat(500)).expect("a line");
    assert_eq!(long.chars().count(), 121);
    assert!(long.ends_with('…'), "{long}");
}
