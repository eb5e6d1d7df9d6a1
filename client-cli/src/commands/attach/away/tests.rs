//! What a person reads who comes back.

use serde_json::json;

use super::*;

fn snapshot(state: &str, pending: u64, away: &serde_json::Value) -> Snapshot {
    let usage = json!({"requests": 0, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0,
                       "cost_micros": 0, "unknown_cost_calls": 0});
    serde_json::from_value(json!({
        "seq": 9, "epoch": 1, "queue": [], "away": away,
        "session": {
            "session": "01890000-0000-7000-8000-000000000003", "pid": 3, "ppid": 0, "cwd": "/tmp", "model": "p/m",
            "kind": "interactive", "state": state, "cause": "x", "approval_mode": "ask", "turns": 2, "usage": usage,
            "context_tokens": 0, "context_window": 0, "created_at": "2026-01-01T00:00:00.000Z",
            "active_at": "2026-01-01T00:00:00.000Z", "last_line": "", "queued": 0, "pending_interactions": pending,
            "attached": 0, "seq": 9, "children": 0,
        },
    }))
    .unwrap()
}

fn away(
    turns: u64,
    outcome: &str,
    files: &[&str],
    commands: u64,
    cost: (u64, u64),
) -> serde_json::Value {
    json!({
        "since": proto::Stamp(proto::Stamp::now().0 - 7_260_500), "seq": 3, "turns": turns, "outcome": outcome,
        "files": files, "commands": commands,
        "usage": {"requests": 4, "prompt_tokens": 12_000, "cached_tokens": 0, "output_tokens": 345, "reasoning_tokens": 0,
                  "cost_micros": cost.0, "unknown_cost_calls": cost.1},
    })
}

#[test]
fn snapshot_without_away_data_prints_no_lines() {
    assert!(lines(&snapshot("idle", 0, &json!(null))).is_empty());
}

#[test]
fn turns_files_commands_and_what_waits_are_told_in_plain_words() {
    let long = snapshot(
        "waiting",
        1,
        &away(
            3,
            "max_steps",
            &["a", "b", "c", "d", "e", "f"],
            7,
            (123_400, 0),
        ),
    );
    assert_eq!(
        lines(&long),
        [
            "while you were away (2 h 1 min): 3 turns; the last one reached its step limit",
            "changed 6 files: a, b, c, d, e and 1 more",
            "ran 7 commands, took 12k tokens in 4 requests ($0.1234)",
            "now: one question waits for you",
        ]
    );
    let short = snapshot("idle", 0, &away(1, "completed", &["a"], 1, (0, 4)));
    assert_eq!(
        lines(&short),
        [
            "while you were away (2 h 1 min): one turn, which was completed",
            "changed a",
            "ran one command, took 12k tokens in 4 requests (price unknown)",
            "now: it waits for a prompt",
        ]
    );
}
