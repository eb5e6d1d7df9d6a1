use super::*;
use crate::names::tests::tool;

fn session() -> HookSession {
    HookSession {
        session: SessionId(uuid()),
        pid: Pid(7),
        cwd: PathBuf::from("/proj"),
    }
}

fn uuid() -> uuid::Uuid {
    uuid::Uuid::nil()
}

fn line(what: &HookPayload<'_>) -> Value {
    let line = session().line(what).unwrap();
    assert_eq!(line.matches('\n').count(), 1, "{line}");
    assert!(line.ends_with('\n'));
    serde_json::from_str(&line).unwrap()
}

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn a_call_is_matched_by_our_names_and_those_of_claude_code() {
    let call = CallId("c1".to_owned());
    let arguments = arguments(json!({"path": "src/a.rs", "old": "x\ny"}));
    let value = line(&HookPayload::Call {
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
fn the_other_events_have_their_fields() {
    let call = CallId("c1".to_owned());
    let arguments = arguments(json!({"command": "ls"}));
    let value = line(&HookPayload::Result {
        call: &call,
        tool: &tool("bash"),
        arguments: &arguments,
        result: "a\nb",
        status: "ok",
    });
    assert_eq!(value["toolResult"], "a\nb");
    assert_eq!(value["tool_response"], "a\nb");
    assert_eq!(value["toolStatus"], "ok");
    let value = line(&HookPayload::Prompt { text: "do it" });
    assert_eq!(
        (&value["event"], &value["prompt"]),
        (&json!("UserPromptSubmit"), &json!("do it"))
    );
    let value = line(&HookPayload::Stop {
        last_text: "Done.",
        turn: 3,
        outcome: "completed",
    });
    assert_eq!(value["lastAssistantText"], "Done.");
    assert_eq!(
        (&value["turn"], &value["outcome"]),
        (&json!(3), &json!("completed"))
    );
    let value = line(&HookPayload::Notifies {
        message: "May `bash` run?",
        kind: "approval",
        outcome: None,
    });
    assert_eq!(value["hook_event_name"], "Notification");
    assert_eq!(value["notification_type"], "approval");
    assert_eq!(value.get("outcome"), None);
    let value = line(&HookPayload::Notifies {
        message: "The goal has ended, complete: all of it",
        kind: "goal_ended",
        outcome: Some("complete"),
    });
    assert_eq!(value["outcome"], "complete");
}

#[test]
fn a_hook_receives_only_the_name_of_a_remembered_rule() {
    let call = CallId("c1".to_owned());
    let arguments = arguments(json!({"content": "private"}));
    let what = HookPayload::Result {
        call: &call,
        tool: &tool("remember"),
        arguments: &arguments,
        result: "private",
        status: "ok",
    };
    let line = session().line(&what).unwrap();
    assert!(
        line.contains("remember") && !line.contains("private"),
        "{line}"
    );
}

#[test]
fn oversized_payloads_are_refused_for_blocking_hooks_and_truncated_for_notifications() {
    let call = CallId("c1".to_owned());
    let arguments = arguments(json!({"content": "ä".repeat(LINE_MAX / 3)}));
    let asked = HookPayload::Call {
        call: &call,
        tool: &tool("write_file"),
        arguments: &arguments,
    };
    assert_eq!(session().line(&asked), None);
    let value = line(&HookPayload::Result {
        call: &call,
        tool: &tool("write_file"),
        arguments: &arguments,
        result: "ok",
        status: "ok",
    });
    assert_eq!(value["truncated"], true);
    assert_eq!(value["toolResult"], "ok");
}
