//! Scenes.

use serde_json::json;

use super::*;
use crate::scene::{object, tool_named};

fn called(arguments: serde_json::Value) -> Result<(String, Map<String, Value>), Outcome> {
    let tool = tool_named("tool_call");
    let arguments = tool.parse(&object(arguments))?;
    match tool.action(&arguments)? {
        CallAction::CallTool { tool, arguments } => Ok((tool, arguments)),
        other => panic!("another tool is called, not {other:?}"),
    }
}

#[test]
fn the_named_tool_is_called() {
    let wanted = ("kill_shell".to_owned(), object(json!({"id": 7})));
    for arguments in [
        json!({"tool": "kill_shell", "arguments": {"id": 7}}),
        json!({"tool": "kill_shell", "arguments": "{\"id\": 7}"}),
        json!({"name": "kill_shell", "input": {"id": 7}}),
    ] {
        assert_eq!(called(arguments).unwrap(), wanted);
    }
    let (name, arguments) = called(json!({"tool": "mcp__far__away"})).unwrap();
    assert_eq!((name.as_str(), arguments.len()), ("mcp__far__away", 0));
}

#[test]
fn an_unknown_tool_is_refused_with_the_nearest_names() {
    let text = called(json!({"tool": "killshell", "arguments": {}}))
        .unwrap_err()
        .text;
    assert!(
        text.starts_with("there is no tool `killshell`; nearest are `kill_shell`"),
        "{text}"
    );
    let text = called(json!({"tool": "", "arguments": {}}))
        .unwrap_err()
        .text;
    assert!(text.contains("there is no tool ``"), "{text}");
    let text = called(json!({"tool": "bash", "arguments": [1]}))
        .unwrap_err()
        .text;
    assert!(text.contains("must be an object"), "{text}");
}

#[test]
fn names_are_near_by_their_letters() {
    assert_eq!(distance("abc", "abd"), 1);
    assert_eq!(distance("kitten", "sitting"), 3);
    assert_eq!(nearest("grpe", &["bash", "glob", "grep"])[0], "grep");
    assert_eq!(
        nearest("read", &["bash", "grep", "read_file"])[0],
        "read_file"
    );
}
