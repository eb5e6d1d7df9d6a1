//! Scenes for what a person reads.

use proptest::prelude::*;
use proto::{Event, Pid, Seq, Stamp};
use serde_json::json;

use super::*;

fn event(seq: Option<u64>, kind: &str, data: &serde_json::Value) -> DecodedEvent {
    let data = serde_json::value::to_raw_value(data).unwrap();
    Event {
        seq: seq.map(Seq),
        session: Pid(3),
        at: Stamp(0),
        turn: Some(1),
        kind: kind.into(),
        data,
    }
    .into()
}

fn delta(offset: u64, text: &str) -> DecodedEvent {
    event(
        None,
        "delta.text",
        &json!({"item": "m1.1", "offset": offset, "text": text}),
    )
}

fn message(text: &str) -> DecodedEvent {
    event(
        Some(5),
        "message.assistant",
        &json!({"item": "m1.1", "text": text, "finish": "stop"}),
    )
}

/// All that grows, as one text; a `|` where a line was ended.
fn grown(events: &[DecodedEvent]) -> String {
    let mut transcript = Transcript::default();
    let pieces = events.iter().flat_map(|event| transcript.fold(event));
    pieces.fold(String::new(), |mut all, piece| {
        match piece {
            Piece::Grow { text } => all.push_str(&text),
            Piece::Whole => all.push('|'),
            Piece::Block { text, .. } => all.push_str(&format!("[{text}]")),
            Piece::Todos { todos } => all.push_str(&format!("[{} todos]", todos.len())),
        }
        all
    })
}

#[test]
fn streamed_text_comes_once() {
    assert_eq!(
        grown(&[delta(0, "Hel"), delta(3, "lo"), message("Hello!")]),
        "Hello!|"
    );
}

#[test]
fn text_that_comes_again_after_a_break_is_not_shown_again() {
    assert_eq!(
        grown(&[
            delta(0, "Hel"),
            delta(0, "Hello"),
            delta(2, "llo, you"),
            message("Hello, you")
        ]),
        "Hello, you|"
    );
}

#[test]
fn finished_message_completes_text_after_a_gap_in_the_deltas() {
    assert_eq!(
        grown(&[delta(0, "He"), delta(9, "zzz"), message("Hello, you")]),
        "Hello, you|"
    );
}

#[test]
fn a_new_attempt_says_so_and_starts_again() {
    let superseded = event(
        None,
        "message.partial",
        &json!({"item": "m1.1", "superseded": true}),
    );
    let shown = grown(&[
        delta(0, "Hal"),
        superseded,
        delta(0, "Hello"),
        message("Hello"),
    ]);
    assert_eq!(shown, "Hal|[the answer restarts]Hello|");
}

#[test]
fn another_text_than_was_streamed_is_shown_whole() {
    assert_eq!(grown(&[delta(0, "Hal"), message("Hello")]), "Hal|Hello|");
}

#[test]
fn denial_from_this_client_is_shown_as_by_you_with_its_note() {
    let resolved = json!({"interaction_id": "3.1", "call": "c",
        "answer": {"type": "approval", "decision": "deny", "note": "keep it"}, "by": "reasonix attach"});
    assert_eq!(
        grown(&[event(Some(4), "interaction.resolved", &resolved)]),
        "[[3.1] denied by you: keep it]"
    );
}

#[test]
fn a_denied_call_without_a_subject_ends_with_its_tool() {
    let call = |why: &str| {
        json!({"outcome": "blocked", "reason": "denied", "text": "", "steps": 1, "tool_calls": 1, "duration_ms": 1,
               "usage": {"requests": 1, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 0,
                         "reasoning_tokens": 0, "cost_micros": 0, "unknown_cost_calls": 0},
               "denied": [{"call": "c", "tool": "remember", "subject": "", "why": why}]})
    };
    let end = grown(&[event(Some(4), "turn.ended", &call("Not here."))]);
    assert!(end.contains("[denied: remember (Not here.)]"), "{end}");
    let finished = json!({"call": "c", "tool": "remember", "status": "denied", "duration_ms": 0,
        "display": {"type": "line", "text": "Not here."}});
    let all = grown(&[
        event(Some(3), "tool.finished", &finished),
        event(Some(4), "turn.ended", &call("Not here.")),
    ]);
    assert!(all.contains("[denied: remember]"), "{all}");
}

#[test]
fn why_a_call_was_denied_is_told_once() {
    let why = "Denied: no client was attached to approve it.";
    let finished = event(
        Some(3),
        "tool.finished",
        &json!({"call": "c", "tool": "bash", "status": "denied", "duration_ms": 0,
                "display": {"type": "line", "text": why}}),
    );
    let ended = event(
        Some(4),
        "turn.ended",
        &json!({"outcome": "blocked", "reason": "denied", "text": "", "steps": 1, "tool_calls": 1, "duration_ms": 1,
                "usage": {"requests": 1, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 0,
                          "reasoning_tokens": 0, "cost_micros": 0, "unknown_cost_calls": 0},
                "denied": [{"call": "c", "tool": "bash", "subject": "rm x", "why": why}]}),
    );
    let all = grown(&[finished.clone(), ended.clone()]);
    assert_eq!(all.matches(why).count(), 1, "{all}");
    assert!(all.contains("[denied: bash rm x]"), "{all}");
    let end = grown(std::slice::from_ref(&ended));
    assert!(
        end.contains(&format!("[denied: bash rm x ({why})]")),
        "the end explains the denial to a client that did not see the call: {end}"
    );
}

#[test]
fn unknown_event_kinds_and_malformed_data_print_nothing() {
    assert_eq!(
        grown(&[
            event(Some(1), "of.the.future", &json!({})),
            event(None, "of.the.future", &json!({}))
        ]),
        ""
    );
    assert_eq!(
        grown(&[
            event(Some(1), "turn.ended", &json!(7)),
            event(None, "delta.text", &json!(7))
        ]),
        ""
    );
}

proptest! {
    /// However the stream was cut, repeated or torn, the shown text ends in the finished text, once.
    #[test]
    fn the_final_text_is_what_was_shown(text in "[a-zä\u{4e2d}]{0,40}", cuts in proptest::collection::vec((0usize..60, 0usize..60), 0..12)) {
        let mut events = Vec::new();
        for (from, to) in cuts {
            if let Some(part) = text.get(from.min(to)..to.max(from)) {
                events.push(delta(u64::try_from(from.min(to)).unwrap(), part));
            }
        }
        events.push(message(&text));
        let expected = if text.is_empty() { String::new() } else { format!("{text}|") };
        prop_assert_eq!(grown(&events), expected);
    }
}

#[test]
fn a_piece_without_a_letter_begins_no_message() {
    assert_eq!(grown(&[delta(0, ""), message("")]), "");
}

fn synced(live: &serde_json::Value) -> DecodedEvent {
    event(
        None,
        "sync",
        &json!({"seq": 1, "epoch": 1, "live": live, "interactions": []}),
    )
}

#[test]
fn after_a_second_sync_the_live_texts_are_those_it_tells() {
    let kept = |item: &str, text: &str| synced(&json!([{"item": item, "offset": 0, "text": text}]));
    // Pieces were dropped while we were behind.
    assert_eq!(
        grown(&[
            delta(0, "Hel"),
            delta(9, "zzz"),
            kept("m1.1", "Hello, yo"),
            delta(9, "u"),
            message("Hello, you")
        ]),
        "Hello, you|"
    );
    // It was started again meanwhile, under the same name and under another.
    assert_eq!(
        grown(&[delta(0, "Hel"), kept("m1.1", "Other"), message("Other!")]),
        "Hel|Other!|"
    );
    assert_eq!(
        grown(&[delta(0, "Hel"), kept("m1.2", "Other")]),
        "Hel|Other"
    );
    // It came to nothing.
    assert_eq!(grown(&[delta(0, "Hel"), synced(&json!([]))]), "Hel|");
}

#[test]
fn pauses_queue_and_commands_in_the_background_are_told() {
    let cases = [
        (
            "session.set",
            json!({"paused": true, "by": "ann"}),
            "ann paused the session",
        ),
        ("session.set", json!({"paused": false}), "resumed"),
        (
            "child.spawned",
            json!({"pid": 12, "kind": "shell", "call": "c", "command": "sleep 9"}),
            "12 runs in the background: sleep 9",
        ),
        (
            "child.exited",
            json!({"pid": 12, "signal": 15, "cause": "kill_shell"}),
            "background command 12 ended: signal 15 (kill_shell)",
        ),
        (
            "prompt.moved",
            json!({"prompt_id": "01890000-0000-7000-8000-0000000000aa", "position": 0, "by": "ann"}),
            "ann moved a queued prompt to position 1",
        ),
    ];
    for (kind, data, words) in cases {
        let shown = grown(&[event(Some(1), kind, &data)]);
        assert!(shown.contains(words), "{kind}: {shown}");
    }
    assert_eq!(
        grown(&[event(
            Some(1),
            "session.set",
            &json!({"approval_mode": "auto"})
        )]),
        ""
    );
    assert_eq!(
        grown(&[event(None, "status", &json!({"behind": 7}))]),
        "[this client is 7 events behind and catching up]"
    );
}

fn interrupted(text: &str) -> DecodedEvent {
    event(
        Some(6),
        "message.assistant",
        &json!({"item": "m1.1", "text": text, "finish": "interrupted"}),
    )
}

#[test]
fn what_was_seen_before_a_crash_is_not_shown_again() {
    let notice = || event(Some(5), "notice", &json!({"level": "info", "text": "back"}));
    let end = "[the answer was interrupted]";
    // The daemon kept less than was seen, as much, and more.
    for (kept, more) in [("w0 w1", ""), ("w0 w1 w2 ", ""), ("w0 w1 w2 w3", "w3")] {
        let events = [delta(0, "w0 w1 w2 "), notice(), interrupted(kept)];
        let expected = format!("w0 w1 w2 [back]{more}|{end}");
        assert_eq!(grown(&events), expected, "{kept}");
        // The same where the border came first.
        let events = [
            delta(0, "w0 w1 w2 "),
            synced(&json!([])),
            notice(),
            interrupted(kept),
        ];
        let expected = format!("w0 w1 w2 |[back]{more}|{end}");
        assert_eq!(grown(&events), expected, "{kept}, after a sync");
    }
    // Broken off by the provider, and then kept.
    let partial = event(
        None,
        "message.partial",
        &json!({"item": "m1.1", "superseded": false}),
    );
    assert_eq!(
        grown(&[delta(0, "w0 w1 "), partial, interrupted("w0 w1")]),
        format!("w0 w1 |[the answer was cut off]|{end}")
    );
    // Kept in pieces that a second reconnect brings again.
    let live = synced(&json!([{"item": "m1.1", "offset": 0, "text": "w0 w1 w2"}]));
    assert_eq!(
        grown(&[
            delta(0, "w0 "),
            synced(&json!([])),
            live,
            message("w0 w1 w2")
        ]),
        "w0 |w1 w2|"
    );
}

#[test]
fn what_the_daemon_says_to_the_model_is_not_shown() {
    let said = json!({"item": "m1.2", "text": "Go on from there.", "voice": "daemon"});
    assert_eq!(grown(&[event(Some(7), "message.user", &said)]), "");
}

#[test]
fn a_queued_prompt_is_named_by_its_first_words() {
    let id = "01890000-0000-7000-8000-0000000000aa";
    let long = "do this and that and whatever else there is to do\nplease";
    let queued = |text: &str| {
        let data = json!({"prompt_id": id, "text": text, "by": "ann"});
        event(Some(1), "prompt.queued", &data)
    };
    let moved = json!({"prompt_id": id, "position": 0, "by": "bob"});
    let edited = json!({"prompt_id": id, "text": "other", "steer": false, "by": "bob"});
    let shown = grown(&[
        queued(long),
        event(Some(2), "prompt.moved", &moved),
        event(Some(3), "prompt.edited", &edited),
        event(
            Some(4),
            "prompt.unqueued",
            &json!({"prompt_id": id, "by": "bob"}),
        ),
    ]);
    let first = "the queued prompt \"do this and that and whatever else there…\"";
    assert_eq!(
        shown,
        format!(
            "[bob moved {first} to position 1][bob changed {first}: other][the queued prompt \"other\" was removed]"
        )
    );
}

#[test]
fn a_queued_prompt_that_is_sent_into_the_turn_is_not_called_changed() {
    let id = "01890000-0000-7000-8000-0000000000aa";
    let with = |text: &str| json!({"prompt_id": id, "text": text, "steer": true, "by": "ann"});
    let queued = json!({"prompt_id": id, "text": "also this", "by": "ann"});
    let shown = grown(&[
        event(Some(1), "prompt.queued", &queued),
        event(Some(2), "prompt.edited", &with("also this")),
        event(Some(3), "prompt.edited", &with("not this")),
    ]);
    let first = "the queued prompt \"also this\"";
    assert_eq!(
        shown,
        format!("[{first} will be sent into this turn][ann changed {first}: not this]")
    );
}

fn asked() -> serde_json::Value {
    json!({"interaction_id": "7.1", "session": 3, "call": "c", "shown_hash": "h", "opened_at": "2026-01-01T00:00:00.000Z",
        "request": {"type": "questions", "questions": [
        {"question": "Which store?", "header": "Store", "options": [
            {"label": "SQLite", "description": "a file"}, {"label": "Postgres\n9. none"}]},
        {"question": "Which targets?", "header": "Targets", "multi_select": true,
         "options": [{"label": "Linux"}, {"label": "macOS"}]},
    ]}})
}

#[test]
fn questions_are_numbered_with_their_options_and_no_option_looks_like_two() {
    let shown = grown(&[event(Some(4), "interaction.opened", &asked())]);
    let expected = "[the model asks 2 questions [7.1]
1/2 Store: Which store?
  1. SQLite (a file)
  2. Postgres 9. none
2/2 Targets: Which targets?
  1. Linux
  2. macOS
  several may be chosen]";
    assert_eq!(shown, expected);
}

#[test]
fn who_answered_a_question_and_how_is_told() {
    let answered = |replies: serde_json::Value| {
        let data = json!({"interaction_id": "7.1", "call": "c",
            "answer": {"type": "questions", "replies": replies}, "by": "ann"});
        grown(&[event(Some(5), "interaction.resolved", &data)])
    };
    assert_eq!(
        answered(json!([{"labels": ["Linux", "macOS"], "other": "and BSD"}])),
        "[[7.1] answered by ann: Linux, macOS, \"and BSD\"]"
    );
    assert_eq!(
        answered(json!([{"labels": ["SQLite"]}, {"other": "none"}])),
        "[[7.1] answered by ann\n  1. SQLite\n  2. \"none\"]"
    );
    for (unattended, words) in [
        (true, "[[7.1] no client was attached to answer]"),
        (false, "[[7.1] closed without an answer by reasonix]"),
    ] {
        let closed = json!({"interaction_id": "7.1", "call": "c", "by": "reasonix", "unattended": unattended});
        let shown = grown(&[
            event(Some(4), "interaction.opened", &asked()),
            event(Some(5), "interaction.resolved", &closed),
        ]);
        assert!(shown.ends_with(words), "{words}: {shown}");
    }
}

fn todo(content: &str, status: &str) -> serde_json::Value {
    json!({"content": content, "active_form": content, "status": status})
}

fn todos(seq: u64, list: &[serde_json::Value]) -> DecodedEvent {
    event(Some(seq), "todo.updated", &json!({"todos": list}))
}

fn snapshot(seq: u64, list: &[serde_json::Value]) -> DecodedEvent {
    let usage = json!({"requests": 0, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 0,
                       "reasoning_tokens": 0, "cost_micros": 0, "unknown_cost_calls": 0});
    let session = json!({
        "session": "01890000-0000-7000-8000-000000000003", "pid": 3, "ppid": 0, "cwd": "/tmp", "model": "p/m",
        "kind": "interactive", "state": "idle", "cause": "x", "approval_mode": "ask", "turns": 2, "usage": usage,
        "context_tokens": 0, "context_window": 0, "created_at": "2026-01-01T00:00:00.000Z",
        "active_at": "2026-01-01T00:00:00.000Z", "last_line": "", "queued": 0, "pending_interactions": 0, "attached": 0,
        "seq": seq,
    });
    event(
        None,
        "snapshot",
        &json!({"seq": seq, "epoch": 1, "session": session, "queue": [], "todos": list}),
    )
}

/// How often a list was shown, by its length.
fn lists(events: &[DecodedEvent]) -> Vec<usize> {
    let mut transcript = Transcript::default();
    let pieces = events.iter().flat_map(|event| transcript.fold(event));
    pieces
        .filter_map(|piece| match piece {
            Piece::Todos { todos } => Some(todos.len()),
            _ => None,
        })
        .collect()
}

#[test]
fn todo_list_is_shown_only_when_it_changed() {
    let one = [todo("a", "pending")];
    let two = [todo("a", "completed"), todo("b", "in_progress")];
    assert_eq!(
        lists(&[todos(1, &one), todos(2, &one), todos(3, &two)]),
        [1, 2]
    );
    assert_eq!(
        grown(&[todos(1, &one), todos(2, &[])]),
        "[1 todos][the to-do list is empty]"
    );
}

#[test]
fn a_list_of_a_snapshot_is_shown_once_whatever_the_replay_shows_of_it() {
    let (one, two) = (
        [todo("a", "pending")],
        [todo("a", "completed"), todo("b", "pending")],
    );
    let sync = || synced(&json!([]));
    assert_eq!(lists(&[snapshot(9, &two), sync()]), [2]);
    assert_eq!(lists(&[snapshot(9, &two), todos(8, &two), sync()]), [2]);
    assert_eq!(lists(&[snapshot(9, &two), todos(7, &one), sync()]), [1, 2]);
    // A newer one came before the border.
    assert_eq!(lists(&[snapshot(9, &two), todos(10, &one), sync()]), [1]);
    // The border again, after a reconnect.
    assert_eq!(lists(&[snapshot(9, &two), sync(), sync()]), [2]);
    assert_eq!(
        lists(&[snapshot(9, &two), sync(), snapshot(9, &two), sync()]),
        [2]
    );
}

#[test]
fn only_skipped_checkpoints_are_shown_and_once_per_turn() {
    let kept = event(
        Some(1),
        "checkpoint.created",
        &json!({"call": "c", "files": []}),
    );
    assert_eq!(grown(std::slice::from_ref(&kept)), "");
    let skipped = |seq: u64| {
        let data = json!({"skipped": "no git here"});
        event(Some(seq), "checkpoint.created", &data)
    };
    let mut next = skipped(4);
    next.turn = Some(2);
    let words = "[no git here]";
    assert_eq!(grown(&[skipped(2), skipped(3), next]), words.repeat(2));
}

#[test]
fn a_rewind_tells_what_it_hides_and_what_became_of_files() {
    let file = |path: &str, result: serde_json::Value| json!({"path": path, "result": result, "before": {"is": "absent"}, "after": {"is": "directory"}});
    let mut removed = file("/w/e", json!({"did": "restored"}));
    removed["after"]["is"] = json!("absent");
    let files = [
        removed,
        file("/w/a", json!({"did": "restored"})),
        file("/w/b", json!({"did": "same"})),
        file("/w/c", json!({"did": "changed_since"})),
        file("/w/d", json!({"did": "failed", "why": "no room"})),
    ];
    let data = json!({"to_turn": 2, "what": "both", "files": files, "by": "ann"});
    assert_eq!(
        grown(&[event(Some(9), "session.rewound", &data)]),
        "[ann rewound to turn 2: later turns are hidden][restored: /w/a][removed: /w/e][skipped, because someone else changed it since: /w/c][not restored: /w/d: no room]"
    );
    let undone = json!({"to_turn": 4, "what": "both", "undoes": 9, "by": "ann"});
    let shown = grown(&[event(Some(10), "session.rewound", &undone)]);
    assert!(
        shown.contains("undid the rewind") && shown.contains("turn 4"),
        "{shown}"
    );
    assert_eq!(
        grown(&[event(Some(11), "cache.reset", &json!({"reason": "rewind"}))]),
        "[cache reset: rewind]"
    );
}

#[test]
fn a_call_through_another_tool_is_told_by_the_tool_that_runs() {
    let started = json!({"call": "c", "tool": "fetch", "subject": "x", "read_only": true});
    let finished = json!({"call": "c", "tool": "tool_call", "status": "interrupted", "duration_ms": 1,
                          "display": {"type": "line", "text": ""}});
    assert_eq!(
        grown(&[
            event(Some(1), "tool.started", &started),
            event(Some(2), "tool.finished", &finished)
        ]),
        "[fetch x][fetch: interrupted]"
    );
}

#[test]
fn a_fork_tells_where_it_comes_from() {
    let id = "01890000-0000-7000-8000-000000000003";
    let created = json!({
        "session": id, "pid": 5, "ppid": 0, "epoch": 1, "cwd": "/tmp", "root": "/tmp",
        "provider_kind": "openai-chat", "model": "p/m", "context_window": 0, "prefix_sha256": "", "tools": [], "kind": "interactive",
        "approval_mode": "ask", "on_ask": "wait", "max_steps": 0, "timeout_ms": 0, "env": {}, "version": "0",
        "origin": {"session": id, "pid": 3, "turn": 2, "first": id},
    });
    assert_eq!(
        grown(&[event(Some(1), "session.created", &created)]),
        "[session 5 · p/m · /tmp · forked from 3 after turn 2]"
    );
}

#[test]
fn sandbox_denial_and_unsandboxed_rerun_are_each_shown_once() {
    let started = |outside: bool| {
        event(
            Some(if outside { 8 } else { 6 }),
            "tool.started",
            &json!({"call": "a", "tool": "bash", "subject": "touch /etc/x", "read_only": false, "outside": outside}),
        )
    };
    let display = json!({"type": "command", "exit_code": 1, "signal": null, "output_bytes": 3, "tail": "no\n",
        "sandbox_stopped": true});
    let blocked = event(
        Some(7),
        "tool.blocked",
        &json!({"call": "a", "tool": "bash", "reason": "it writes outside", "status": "failed", "duration_ms": 1,
            "display": display, "text": "no"}),
    );
    let finished = event(
        Some(9),
        "tool.finished",
        &json!({"call": "a", "tool": "bash", "status": "failed", "duration_ms": 1, "display": display}),
    );
    let within =
        "[bash touch /etc/x][no][exit code 1][the sandbox may have blocked it: it writes outside]";
    let all = [started(false), blocked.clone(), finished.clone()];
    assert_eq!(grown(&all), within);
    let all = [started(false), blocked, started(true), finished];
    assert_eq!(
        grown(&all),
        format!(
            "{within}[once outside the sandbox: bash touch /etc/x][no][exit code 1][the sandbox blocked something: `sandbox.allow_write` and `sandbox.network` allow more]"
        )
    );
}

#[test]
fn command_that_reached_a_limit_is_shown_with_that_limit() {
    let started = event(
        Some(6),
        "tool.started",
        &json!({"call": "a", "tool": "bash", "subject": "yes", "read_only": false, "outside": false}),
    );
    let display = json!({"type": "command", "exit_code": null, "signal": 15, "output_bytes": 2, "tail": "y\n",
        "stopped": "stopped after 64 MB of output"});
    let finished = event(
        Some(7),
        "tool.finished",
        &json!({"call": "a", "tool": "bash", "status": "failed", "duration_ms": 1, "display": display}),
    );
    assert_eq!(
        grown(&[started, finished]),
        "[bash yes][y][stopped after 64 MB of output]"
    );
}

#[test]
fn a_call_that_failed_before_anybody_judged_it_is_named_by_its_arguments() {
    let asked = json!({"item": "m1.1", "text": "", "finish": "tool_calls", "calls": [
        {"id": "c", "name": "edit_file", "arguments": "{\"path\":\"a.rs\"}"}]});
    let end = json!({"call": "c", "tool": "edit_file", "status": "failed", "duration_ms": 1,
        "display": {"type": "line", "text": "not read yet"}});
    let end = grown(&[
        event(Some(1), "message.assistant", &asked),
        event(Some(2), "tool.finished", &end),
    ]);
    assert!(end.starts_with("[edit_file a.rs: failed]"), "{end}");
}

#[test]
fn outputs_of_calls_that_run_at_once_are_each_under_their_own_heading() {
    let started = |seq, call: &str, subject: &str| {
        let data = json!({"call": call, "tool": "bash", "subject": subject, "read_only": true});
        event(Some(seq), "tool.started", &data)
    };
    let finished = |seq, call: &str, code: i32, tail: &str| {
        let status = if code == 0 { "ok" } else { "failed" };
        let display = json!({"type": "command", "exit_code": code, "signal": null, "output_bytes": 3, "tail": tail});
        let data = json!({"call": call, "tool": "bash", "status": status, "duration_ms": 1, "display": display});
        event(Some(seq), "tool.finished", &data)
    };
    let long = format!("jq .a a.txt {}\necho b", "x".repeat(90));
    let in_order = grown(&[
        started(1, "a", "wc -l"),
        finished(2, "a", 0, "1\n"),
        started(3, "b", "ls"),
        finished(4, "b", 2, "no\n"),
    ]);
    assert_eq!(in_order, "[bash wc -l][1][bash ls][no][exit code 2]");
    let shown = grown(&[
        started(1, "a", &long),
        started(2, "b", "true\nfalse"),
        started(3, "c", "true"),
        started(4, "d", "wc -l a.txt"),
        finished(5, "d", 0, "1 a.txt\n"),
        finished(6, "c", 0, ""),
        finished(7, "a", 4, "parse error\n"),
        finished(8, "b", 1, ""),
    ]);
    let cut: String = format!("bash {long}").chars().take(60).collect();
    assert_eq!(
        shown,
        format!(
            "[bash {long}][bash true\nfalse][bash true][bash wc -l a.txt][1 a.txt]\
             [{cut}…][parse error][exit code 4][bash true …][exit code 1]"
        )
    );
}
