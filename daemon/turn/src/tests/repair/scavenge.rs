//! Calls in text or reasoning that the answer does not declare.

use proptest::prelude::*;
use proto::CallId;
use proto::item::ToolCall;

use crate::repair::scavenge::{SCANNED_MAX, TAKEN_MAX, scavenge};

fn is_tool(name: &str) -> bool {
    matches!(name, "read_file" | "bash")
}

/// The calls found in reasoning and text, each as `tool arguments`.
fn found(reasoning: &str, text: &str, declared: &[ToolCall]) -> Vec<String> {
    scavenge(reasoning, text, declared, is_tool)
        .into_iter()
        .map(|call| format!("{} {}", call.tool, call.arguments))
        .collect()
}

fn declared(name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId::from("c1"),
        name: name.into(),
        arguments: arguments.into(),
        cut: false,
        found: false,
    }
}

#[test]
fn json_of_three_shapes_is_a_call() {
    for text in [
        r#"{"name": "bash", "arguments": {"command": "ls"}}"#,
        r#"I run {"type":"function","function":{"name":"bash","arguments":{"command":"ls"}}} now."#,
        r#"```json
{"tool_name": "bash", "tool_args": {"command": "ls"}}
```"#,
        r#"{"name": "bash", "arguments": "{\"command\":\"ls\"}"}"#,
        r#"[{"name": "bash", "arguments": {"command": "ls"}}]"#,
        r#"An open { and a "quote, then {"name":"bash","arguments":{"command":"ls"}}"#,
    ] {
        assert_eq!(found("", text, &[]), [r#"bash {"command":"ls"}"#], "{text}");
        let thought = [r#"bash {"command":"ls"}"#];
        assert_eq!(found(text, "", &[]), thought, "{text}");
        assert_eq!(found(text, text, &[]).len(), 1, "in both: once");
        assert!(!found(text, text, &[])[0].ends_with('?'), "it was said");
    }
    let braces = "fn f() { ".repeat(40);
    let last = format!(r#"{braces} {{"name":"bash","arguments":{{}}}}"#);
    assert_eq!(found("", &last, &[]), ["bash {}"], "behind code");
    for data in [
        r#"{"name":"bash","version":"5.2"}"#,
        r#"{"name":"bash","arguments":"ls -la"}"#,
        r#"{"name":"bash","arguments":null}"#,
        r#"{"name":"bash","arguments":[1]}"#,
    ] {
        assert!(found("", data, &[]).is_empty(), "{data}");
    }
}

#[test]
fn tags_are_calls() {
    for (open, close) in [
        ("<|DSML|", "</|DSML|"),
        ("<｜DSML｜", "</｜DSML｜"),
        ("<", "</"),
    ] {
        let text = format!(
            "So: {open}function_calls>{open}invoke name=\"bash\">\n{open}parameter name=\"command\" string=\"true\"> ls {close}parameter>\
             {open}parameter name=\"n\" string=\"false\">3{close}parameter>{open}parameter name=\"bad\" string=\"false\">{{x{close}parameter>\
             {open}parameter name=\"j\">{{\"name\":\"read_file\"}}{close}parameter>{close}invoke>{close}function_calls>"
        );
        let wanted = r#"bash {"command":"ls","n":3,"bad":"{x","j":"{\"name\":\"read_file\"}"}"#;
        assert_eq!(found(&text, &text, &[]), [wanted], "{text}");
    }
}

#[test]
fn declared_calls_and_unknown_tools_are_not_taken_up() {
    let text = r#"{"name":"bash","arguments":{"a":1,"b":[2]}} {"name":"rm","arguments":{}} {"arguments":{}} {"name":3}"#;
    let same = declared("bash", r#"{ "b": [2], "a": 1 }"#);
    assert!(found(text, text, &[same]).is_empty());
    let other = declared("bash", r#"{"a":1}"#);
    assert_eq!(found("", text, &[other]), [r#"bash {"a":1,"b":[2]}"#]);
    for unclosed in [
        "<invoke name=\"bash\"><parameter name=\"command\">ls",
        r#"{"name":"bash","arguments":{"command":"ls"}"#,
        "<invoke",
        "<invoke name=\"bash\"",
    ] {
        assert!(found(unclosed, unclosed, &[]).is_empty(), "{unclosed}");
    }
}

#[test]
fn no_more_than_four_are_taken() {
    let call = |number: usize| format!("{{\"name\":\"bash\",\"arguments\":{{\"n\":{number}}}}}");
    let text: String = (0..9).map(call).collect();
    let found = found("", &text, &[]);
    assert_eq!(found.len(), TAKEN_MAX);
    assert_eq!(found[0], r#"bash {"n":0}"#);
}

#[test]
fn adversarial_input_is_scanned_fast_and_has_no_call() {
    for piece in [
        "{",
        "{\"",
        "<invoke name=\"bash\">",
        "<invoke ",
        "<|DSML|invoke name=\"bash\"><invoke x>",
        "<",
        "{}",
        "\\\"{",
        "中",
    ] {
        let text = piece.repeat(2 * SCANNED_MAX / piece.len() + 1);
        assert!(found(&text, &text, &[]).is_empty(), "{piece}");
    }
}

proptest! {
    /// Any text yields only calls of existing tools, each once.
    #[test]
    fn any_text_is_looked_through(pieces in proptest::collection::vec(
        prop_oneof![
            Just("{\"name\":\"bash\",\"arguments\":".to_owned()),
            Just("<invoke name=\"bash\">".to_owned()), Just("</invoke>".to_owned()),
            Just("<｜DSML｜invoke name=\"read_file\">".to_owned()), Just("</｜DSML｜invoke>".to_owned()),
            Just("<parameter name=\"a\" string=\"false\">".to_owned()), Just("</parameter>".to_owned()),
            Just("{".to_owned()), Just("}".to_owned()), Just("\"".to_owned()), Just("\\".to_owned()),
            ".{0,6}",
        ], 0..30)) {
        let text = pieces.concat();
        let calls = scavenge(&text, &text, &[], is_tool);
        prop_assert!(calls.len() <= TAKEN_MAX);
        for (place, call) in calls.iter().enumerate() {
            prop_assert!(is_tool(&call.tool));
            prop_assert!(!calls[..place].contains(call));
        }
    }
}
