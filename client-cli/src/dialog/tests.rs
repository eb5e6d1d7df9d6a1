//! What counts as an answer.

use super::*;

#[test]
fn a_yes_is_one_letter_and_a_no_may_say_why() {
    let no = |note: &str| {
        Some((
            ApprovalDecision::Deny,
            Some(note.to_owned()).filter(|note| !note.is_empty()),
        ))
    };
    let cases = [
        ("y", Some((ApprovalDecision::AllowOnce, None))),
        (" yes ", Some((ApprovalDecision::AllowOnce, None))),
        ("s", Some((ApprovalDecision::AllowSession, None))),
        ("n", no("")),
        ("n keep it", no("keep it")),
        ("no,", None),
        ("y, do it", None),
        ("", None),
        ("sure", None),
    ];
    for (line, answer) in cases {
        assert_eq!(read(line), answer, "{line:?}");
    }
}

#[test]
fn y_approves_a_plan_and_c_approves_it_and_keeps_asking() {
    let opened = |request: serde_json::Value| {
        let interaction = serde_json::json!({
            "interaction_id": "3.1", "session": 3, "call": "c", "shown_hash": "h",
            "opened_at": "2026-01-01T00:00:00.000Z", "request": request,
        });
        Dialog::new(serde_json::from_str(&interaction.to_string()).unwrap())
    };
    let mut plan = opened(serde_json::json!({"type": "plan", "plan": "1. look"}));
    assert!(plan.prompt().contains(" · c approve, keep asking · "));
    let mut decision = |line: &str| {
        let answer = plan.typed(line).unwrap().unwrap().answer;
        serde_json::to_value(answer).unwrap()["decision"].clone()
    };
    assert_eq!(decision("y"), "approve");
    assert_eq!(decision("c"), "approve_keep_asking");
    assert_eq!(decision("n"), "reject");
    let mut call = opened(serde_json::json!({
        "type": "approval", "tool": "bash", "subject": "rm x",
        "preview": {"type": "line", "text": ""}, "rule": "no rule allows it", "scopes": [],
    }));
    assert!(call.typed("c").is_err());
}

#[test]
fn a_command_after_e_runs_in_place_of_the_shown_one() {
    let opened = |editable: bool| {
        let interaction = serde_json::json!({
            "interaction_id": "3.1", "session": 3, "call": "c", "shown_hash": "h",
            "opened_at": "2026-01-01T00:00:00.000Z",
            "request": {"type": "approval", "tool": "bash", "subject": "rm x", "editable": editable,
                "preview": {"type": "line", "text": ""}, "rule": "no rule allows it", "scopes": []},
        });
        Dialog::new(serde_json::from_str(&interaction.to_string()).unwrap())
    };
    let mut asked = opened(true);
    assert!(asked.prompt().contains(" · e COMMAND run this instead · "));
    let answer = asked.typed("e rm -i x").unwrap().unwrap().answer;
    let sent = serde_json::to_value(answer).unwrap();
    let edited = serde_json::json!({
        "type": "approval", "decision": "allow_once", "edited_command": "rm -i x",
    });
    assert_eq!(sent, edited);
    assert!(asked.typed("e").unwrap_err().contains("e COMMAND"));
    assert!(asked.typed("echo").is_err(), "a word is not a letter");
    let mut other = opened(false);
    assert!(!other.prompt().contains("e COMMAND"));
    assert!(other.typed("e ls").unwrap_err().contains("no command"));
}
