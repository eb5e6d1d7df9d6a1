//! Scenes.

use contract::Outcome;
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
fn arguments_of_another_form_are_refused() {
    let text = called(json!({"tool": "bash", "arguments": [1]}))
        .unwrap_err()
        .text;
    assert!(text.contains("must be an object"), "{text}");
}
