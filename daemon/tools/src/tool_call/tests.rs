//! Scenes.

use serde_json::json;

use super::*;
use crate::scene::{object, tool_named};

fn stands_for(arguments: serde_json::Value) -> Result<(String, Map<String, Value>), Outcome> {
    let tool = tool_named("tool_call");
    let arguments = tool.parse(&object(arguments))?;
    Ok(tool.stands_for(&arguments).unwrap())
}

#[test]
fn it_stands_for_the_call_that_it_names() {
    let wanted = ("kill_shell".to_owned(), object(json!({"id": 7})));
    for arguments in [
        json!({"tool": "kill_shell", "arguments": {"id": 7}}),
        json!({"tool": "kill_shell", "arguments": "{\"id\": 7}"}),
        json!({"name": "kill_shell", "input": {"id": 7}}),
    ] {
        assert_eq!(stands_for(arguments).unwrap(), wanted);
    }
    let (name, arguments) = stands_for(json!({"tool": "mcp__far__away"})).unwrap();
    assert_eq!((name.as_str(), arguments.len()), ("mcp__far__away", 0));
}

#[test]
fn an_unknown_tool_is_refused_with_the_nearest_names() {
    let text = stands_for(json!({"tool": "killshell", "arguments": {}}))
        .unwrap_err()
        .text;
    assert!(
        text.starts_with("there is no tool `killshell`; nearest are `kill_shell`"),
        "{text}"
    );
    let text = stands_for(json!({"tool": "", "arguments": {}}))
        .unwrap_err()
        .text;
    assert_eq!(text, "there is no tool ``. `tool_search` lists them");
    let text = stands_for(json!({"tool": "bash", "arguments": [1]}))
        .unwrap_err()
        .text;
    assert!(text.contains("must be an object"), "{text}");
}
