use super::*;
use crate::names::tests::tool;

fn told() -> Told {
    Told {
        session: SessionId(uuid()),
        pid: Pid(7),
        cwd: PathBuf::from("/proj"),
    }
}

fn uuid() -> uuid::Uuid {
    uuid::Uuid::nil()
}

fn line(what: &What<'_>) -> Value {
    let line = told().line(what).unwrap();
    assert_eq!(line.matches('\n').count(), 1, "{line}");
    assert!(line.ends_with('\n'));
    serde_json::from_str(&line).unwrap()
}

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn a_call_has_our_names_and_those_of_claude_code() {
    let call = CallId("c1".to_owned());
    let arguments = arguments(json!({"path": "src/a.rs", "old": "x\ny"}));
    let value = line(&What::Call {
        call: &call,
        tool: &tool("edit_file"),
        arguments: &arguments,
    });
    for (name, wanted) in [
        ("event", json!("PreToolUse")),
        ("hook_event_name", json!("PreToolUse")),
        ("pid", json!(7)),
        ("cwd", json!("/proj")),
        ("toolName", json!("edit_file")),
        ("tool_name", json!("Edit")),
        ("toolArgs", json!({"path": "src/a.rs", "old": "x\ny"})),
        (
            "tool_input",
            json!({"path": "src/a.rs", "old": "x\ny", "file_path": "/proj/src/a.rs"}),
        ),
        ("tool_use_id", json!("c1")),
    ] {
        assert_eq!(value[name], wanted, "{name}");
    }
    assert_eq!(value["session"], value["session_id"]);
    assert!(value.get("toolResult").is_none() && value.get("prompt").is_none());
}

#[test]
fn the_other_events_have_what_is_theirs() {
    let call = CallId("c1".to_owned());
    let arguments = arguments(json!({"command": "ls"}));
    let value = line(&What::Result {
        call: &call,
        tool: &tool("bash"),
        arguments: &arguments,
        result: "a\nb",
        status: "ok",
    });
    assert_eq!(value["toolResult"], "a\nb");
    assert_eq!(value["tool_response"], "a\nb");
    assert_eq!(value["toolStatus"], "ok");
    let value = line(&What::Prompt { text: "do it" });
    assert_eq!(
        (&value["event"], &value["prompt"]),
        (&json!("UserPromptSubmit"), &json!("do it"))
    );
    let value = line(&What::Stop {
        last_text: "Done.",
        turn: 3,
        outcome: "completed",
    });
    assert_eq!(value["lastAssistantText"], "Done.");
    assert_eq!(
        (&value["turn"], &value["outcome"]),
        (&json!(3), &json!("completed"))
    );
    let value = line(&What::Waits {
        message: "May `bash` run?",
        kind: "approval",
    });
    assert_eq!(value["hook_event_name"], "Notification");
    assert_eq!(value["notification_type"], "approval");
}

#[test]
fn of_what_is_remembered_a_hook_hears_the_name_only() {
    let call = CallId("c1".to_owned());
    let arguments = arguments(json!({"content": "private"}));
    let what = What::Result {
        call: &call,
        tool: &tool("remember"),
        arguments: &arguments,
        result: "private",
        status: "ok",
    };
    let told = told().line(&what).unwrap();
    assert!(
        told.contains("remember") && !told.contains("private"),
        "{told}"
    );
}

#[test]
fn what_is_too_long_is_not_asked_about_and_cut_where_it_is_only_told() {
    let call = CallId("c1".to_owned());
    let arguments = arguments(json!({"content": "ä".repeat(LINE_MAX / 3)}));
    let asked = What::Call {
        call: &call,
        tool: &tool("write_file"),
        arguments: &arguments,
    };
    assert_eq!(told().line(&asked), None);
    let value = line(&What::Result {
        call: &call,
        tool: &tool("write_file"),
        arguments: &arguments,
        result: "ok",
        status: "ok",
    });
    assert_eq!(value["truncated"], true);
    assert_eq!(value["toolResult"], "ok");
}
