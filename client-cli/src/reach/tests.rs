use super::*;

fn session(pid: u64, state: &str, active_at: i64) -> SessionSummary {
    let made = serde_json::json!({
        "session": format!("00000000-0000-7000-8000-{pid:012}"), "pid": pid, "ppid": 0, "cwd": "/proj",
        "model": "fake/model", "kind": "interactive", "state": state, "cause": "", "approval_mode": "ask", "turns": 1,
        "usage": proto::outcome::UsageTotals::default(), "context_tokens": 0, "context_window": 0,
        "created_at": proto::Stamp(0), "active_at": proto::Stamp(active_at), "last_line": "", "queued": 0,
        "pending_interactions": 0, "attached": 0, "seq": 1,
    });
    serde_json::from_value(made).unwrap()
}

#[test]
fn most_recently_active_session_is_picked_in_any_state() {
    let sessions = vec![
        session(4, "paused", 10),
        session(3, "idle", 30),
        session(2, "running", 20),
    ];
    let last = active_last(sessions).map(|session| session.pid.0);
    assert_eq!(last, Some(3));
    assert_eq!(active_last(Vec::new()), None);
}
