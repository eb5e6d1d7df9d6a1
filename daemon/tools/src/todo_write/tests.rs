//! Scenes.

use serde_json::{Value, json};

use super::*;
use crate::scene::{Scene, object, tool_named};

fn item(content: &str, status: &str) -> Value {
    json!({"content": content, "active_form": format!("{content}ing"), "status": status})
}

fn updated(arguments: Value) -> Vec<Todo> {
    let tool = tool_named("todo_write");
    let arguments = tool.parse(&object(arguments)).unwrap();
    match tool.action(&arguments) {
        Ok(CallAction::UpdateTodos(todos)) => todos,
        other => panic!("the list is updated, not {other:?}"),
    }
}

#[test]
fn the_list_goes_to_the_session() {
    let todos = updated(json!({"todos": [
        item("look", "completed"),
        {"content": "test", "activeForm": "Testing", "status": "in_progress"},
        {"content": "ship", "status": "pending"},
    ]}));
    assert_eq!(todos.len(), 3);
    assert_eq!(todos[1].active_form, "Testing");
    assert_eq!(todos[2].active_form, "ship");
    assert_eq!(todos[0].status, TodoStatus::Completed);
    assert_eq!(updated(json!({"todos": "[]"})), Vec::new());
}

#[tokio::test]
async fn invalid_todo_list_is_refused_with_the_reason() {
    let scene = Scene::new();
    let long = "x".repeat(501);
    let many: Vec<Value> = (0..101).map(|_| item("x", "pending")).collect();
    for (todos, words) in [
        (
            json!([item("a", "in_progress"), item("b", "in_progress")]),
            "2 items are `in_progress` (`a`, `b`); only one may be",
        ),
        (json!(many), "the list has 101 items"),
        (json!([item(&long, "pending")]), "item 1 has 5"),
        (json!([item(" ", "pending")]), "item 1 has no `content`"),
        (json!([item("a", "begun")]), "begun"),
        (
            json!([{"content": "a", "status": "pending", "owner": "me"}]),
            "unknown field `owner`",
        ),
        (json!("look"), "must be a list"),
    ] {
        let text = scene.fails("todo_write", json!({ "todos": todos })).await;
        assert!(text.contains(words), "{text}");
    }
}
