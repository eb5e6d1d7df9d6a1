use proto::outcome::{OutcomeKind, UsageTotals};

use super::*;

#[test]
fn a_session_at_rest_tells_what_its_last_turn_came_to() {
    let made = serde_json::json!({
        "session": "00000000-0000-7000-8000-000000000003", "pid": 3, "ppid": 0, "cwd": "/proj", "model": "fake/model",
        "kind": "interactive", "state": "idle", "cause": "", "approval_mode": "ask", "turns": 1,
        "usage": UsageTotals::default(), "context_tokens": 0, "context_window": 0, "created_at": Stamp(0),
        "active_at": Stamp(0), "last_line": "", "queued": 0, "pending_interactions": 0, "attached": 0, "seq": 1,
    });
    let mut session: SessionSummary = serde_json::from_value(made).unwrap();
    assert_eq!(state(&session), "idle");
    session.cut_off = Some(OutcomeKind::BudgetExceeded);
    assert_eq!(state(&session), "idle: budget exceeded");
    session.at_limit = Some(TurnLimit::Steps);
    assert_eq!(state(&session), "paused: step limit");
    session.at_limit = Some(TurnLimit::Time);
    assert_eq!(state(&session), "paused: time limit");
    session.at_limit = None;
    session.queued = 2;
    assert_eq!(state(&session), "idle: budget exceeded, 2 queued");
    session.state = State::Exited;
    session.exit_code = Some(2);
    assert_eq!(state(&session), "exited 2");
}

#[test]
fn a_model_named_by_a_path_is_shown_by_its_last_component() {
    assert_eq!(model("fake/model"), "fake/model");
    assert_eq!(model("hub/vendor/model"), "hub/vendor/model");
    assert_eq!(
        model("demo//tmp/reasonix-demo-1/cassette.jsonl"),
        "demo/…/cassette.jsonl"
    );
    assert_eq!(model("local//models/qwen"), "local/…/qwen");
    assert_eq!(model("local//qwen"), "local//qwen");
    assert_eq!(model("local//models/"), "local//models/");
}
