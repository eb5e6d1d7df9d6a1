//! A trace, word by word.

use proto::{Event, Pid};
use serde_json::{Value, json};

use super::*;

const PROMPT: &str = "01890000-0000-7000-8000-0000000000aa";

/// Records of a session: seconds, turn, kind, data.
fn log(records: &[(f64, Option<u64>, &str, Value)]) -> Vec<DecodedEvent> {
    let records = records.iter().enumerate();
    records
        .map(|(index, (at, turn, kind, data))| Event {
            seq: Some(Seq(index as u64 + 1)),
            session: Pid(3),
            #[allow(
                clippy::cast_possible_truncation,
                reason = "whole milliseconds of a test"
            )]
            at: Stamp((at * 1000.0).round() as i64),
            turn: *turn,
            kind: (*kind).into(),
            data: serde_json::value::to_raw_value(data).unwrap(),
        })
        .map(DecodedEvent::from)
        .collect()
}

fn text(events: &[DecodedEvent]) -> String {
    let mut trace = Trace::default();
    let lines = events.iter().flat_map(|event| trace.fold(event));
    lines.map(|line| format!("{line}\n")).collect()
}

fn usage(attempt: u32, first: u64, duration: u64, reported: bool) -> Value {
    json!({"item": "m3.1", "step": 1, "attempt": attempt, "prompt_tokens": 1200, "cached_tokens": 1100,
           "output_tokens": 85, "reasoning_tokens": 0, "reported": reported, "request_bytes": 12_345,
           "first_token_ms": first, "duration_ms": duration})
}

fn sums() -> Value {
    json!({"requests": 1, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0,
           "cost_micros": 0, "unknown_cost_calls": 0})
}

/// A turn with everything that usually happens in one.
fn turn() -> Vec<DecodedEvent> {
    let t = Some(3);
    log(&[
        (
            99.0,
            None,
            "prompt.queued",
            json!({"prompt_id": PROMPT, "text": "Fix the test\nplease", "by": "reasonix run"}),
        ),
        (100.0, t, "turn.started", json!({"prompt_id": PROMPT})),
        (
            100.0,
            t,
            "message.user",
            json!({"item": "m3.0", "text": "Fix the test\nplease", "voice": "prompt"}),
        ),
        (
            100.5,
            t,
            "session.state",
            json!({"state": "waiting", "waiting_for": "retry", "cause": "429 slow down", "retry_in_ms": 2000}),
        ),
        (
            104.5,
            t,
            "message.assistant",
            json!({"item": "m3.1", "text": "", "finish": "tool_calls",
            "calls": [{"id": "c1", "name": "bash", "arguments": "{}"}, {"id": "c2", "name": "bash", "arguments": "{}"}]}),
        ),
        (104.5, t, "usage", usage(2, 420, 1900, true)),
        (
            104.6,
            t,
            "policy.decided",
            json!({"call": "c1", "verdict": "ask", "rule": "fallback", "layer": "built-in",
            "read_only": false, "subject": "cargo test", "input_sha256": ""}),
        ),
        (
            104.6,
            t,
            "interaction.opened",
            json!({"interaction_id": "3.1", "session": 3, "call": "c1", "shown_hash": "h", "opened_at": "2026-01-01T00:00:00.000Z",
                "request": {"type": "approval", "tool": "bash", "subject": "cargo test",
                "preview": {"type": "line", "text": ""}, "rule": "fallback", "scopes": []}}),
        ),
        (
            105.0,
            t,
            "session.set",
            json!({"paused": true, "by": "reasonix pause"}),
        ),
        (
            106.0,
            t,
            "session.set",
            json!({"paused": false, "by": "reasonix resume", "approval_mode": "auto"}),
        ),
        (
            116.7,
            t,
            "interaction.resolved",
            json!({"interaction_id": "3.1", "call": "c1",
                "answer": {"type": "approval", "decision": "allow_once"}, "by": "ann"}),
        ),
        (
            116.7,
            t,
            "tool.started",
            json!({"call": "c1", "tool": "bash", "subject": "cargo test", "read_only": false}),
        ),
        (
            120.9,
            t,
            "tool.finished",
            json!({"call": "c1", "tool": "bash", "status": "ok", "duration_ms": 4200,
            "display": {"type": "command", "exit_code": 0, "signal": null, "output_bytes": 1, "tail": "x"}}),
        ),
        (
            120.9,
            t,
            "message.tool",
            json!({"item": "m3.2", "call": "c1", "tool": "bash", "status": "ok", "text": "x"}),
        ),
        (
            120.9,
            t,
            "policy.decided",
            json!({"call": "c2", "verdict": "allow", "rule": "Bash(sleep:*)", "layer": "session",
            "read_only": false, "subject": "sleep 9 &", "input_sha256": ""}),
        ),
        (
            121.0,
            t,
            "child.spawned",
            json!({"pid": 12, "kind": "shell", "call": "c2", "command": "sleep 9"}),
        ),
        (
            121.0,
            t,
            "message.tool",
            json!({"item": "m3.3", "call": "c2", "tool": "bash", "status": "unknown", "text": "The daemon stopped."}),
        ),
        (
            121.5,
            t,
            "child.exited",
            json!({"pid": 12, "signal": 15, "cause": "kill_shell"}),
        ),
        (121.6, t, "compaction.done", json!({"kept": 4})),
        (
            122.0,
            t,
            "turn.ended",
            json!({"outcome": "completed", "text": "Done.", "usage": sums(), "steps": 1, "tool_calls": 2, "duration_ms": 22_000}),
        ),
        (123.0, None, "session.suspended", json!({})),
        (
            124.0,
            None,
            "notice",
            json!({"level": "warning", "text": "mind the gap"}),
        ),
        (
            125.0,
            None,
            "session.exited",
            json!({"outcome": "killed", "reason": "term", "exit_code": 143}),
        ),
    ])
}

const GOLDEN: &str = "        \
        -  prompt by reasonix run \"Fix the test…\"
    0.000  turn 3 start \"Fix the test…\"
    0.500  retry in 2.00 s: 429 slow down
    2.600  request #1 try 2 → 12.3 kB
    3.020  first token #1 0.42 s
    4.500  answer #1 1.90 s 1200→85 tokens (cached 1100)
    4.600  call bash \"cargo test\" to be asked: fallback (built-in)
    4.600  asks 3.1 bash \"cargo test\"
    5.000  paused by reasonix pause
    6.000  resumed by reasonix resume
    6.000  set approval_mode=auto by reasonix resume
   16.700  asked 3.1 → allow_once by ann after 12.1 s
   16.700  start bash \"cargo test\"
   20.900  run bash 4.20 s exit 0
   20.900  call bash \"sleep 9 &\" allowed: Bash(sleep:*) (session)
   21.000  child 12 spawned \"sleep 9\"
   21.000  result bash unknown: The daemon stopped.
   21.500  child 12 exited signal 15 (kill_shell)
   21.600  compaction.done {\"kept\":4}
   22.000  turn 3 end completed 22.0 s, 1 step, 2 calls
        -  suspended: the daemon hands over
        -  warning: mind the gap
        -  exited killed (TERM) code 143
";

#[test]
fn a_turn_is_told_line_by_line() {
    assert_eq!(text(&turn()), GOLDEN);
}

#[test]
fn a_trace_is_read_in_the_language_of_its_user() {
    let mut trace = Trace::in_language(Language::Chinese);
    let events = turn();
    let lines = events.iter().flat_map(|event| trace.fold(event));
    let text: String = lines
        .map(|line| format!("{}\n", line.words(Language::Chinese)))
        .collect();
    for line in [
        "        -  reasonix run 的提示词 \"Fix the test…\"\n",
        "    0.000  第 3 回合开始 \"Fix the test…\"\n",
        "    2.600  请求 #1，第 2 次尝试 → 12.3 kB\n",
        "    4.600  询问 3.1 bash \"cargo test\"\n",
        "   20.900  运行 bash 4.20 秒 退出码 0\n",
        "   22.000  第 3 回合结束：完成，22.0 秒，1 步，2 次调用\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    for english in [
        " try ",
        "first token",
        "answer",
        "spawned",
        "exited",
        "child",
        "turn ",
        " by ",
        "allowed",
    ] {
        assert!(!text.contains(english), "{english}: {text}");
    }
}

#[test]
fn slow_runs_and_answers_are_marked_in_a_trace() {
    let run = |duration_ms| What::Run {
        call: proto::CallId::from("c1"),
        tool: "bash".into(),
        status: proto::item::CallStatus::Ok,
        duration_ms,
        exit_code: Some(0),
        signal: None,
    };
    assert_eq!(run(9_999).to_string(), "run bash 10.00 s exit 0");
    assert_eq!(run(10_000).to_string(), "run bash 10.0 s (slow) exit 0");
    let answer = |duration_ms| What::Answer {
        purpose: proto::record::Purpose::Answer,
        n: 1,
        duration_ms,
        tokens: None,
    };
    assert!(!answer(9_000).to_string().contains("slow"));
    assert!(
        answer(61_000)
            .to_string()
            .starts_with("answer #1 61.0 s (slow)")
    );
}

#[test]
fn a_turn_took_what_it_did_not_wait_for_its_user() {
    let t = Some(1);
    let state = |state: &str, waiting_for: Value| json!({"state": state, "waiting_for": waiting_for, "cause": "c"});
    let ended = json!({"outcome": "completed", "text": "", "usage": sums(), "steps": 1, "tool_calls": 1, "duration_ms": 65_000});
    let events = log(&[
        (100.0, t, "turn.started", json!({"prompt_id": PROMPT})),
        (
            102.0,
            t,
            "session.state",
            state("waiting", json!("approval")),
        ),
        (162.0, t, "session.state", state("running", Value::Null)),
        (165.0, t, "turn.ended", ended),
    ]);
    let words = text(&events);
    assert!(
        words.ends_with("turn 1 end completed 5.00 s, 1 step, 1 call\n"),
        "{words}"
    );
    let mut trace = Trace::default();
    let lines = events.iter().flat_map(|event| trace.fold(event));
    let last = serde_json::to_value(lines.last().unwrap()).unwrap();
    assert_eq!(
        (&last["duration_ms"], &last["waited_ms"]),
        (&json!(65_000), &json!(60_000))
    );
}

#[test]
fn course_of_a_goal_is_told_in_words() {
    let goal = "01a2b3c4-0000-7000-8000-000000000001";
    let started = json!({"goal": goal, "text": "make it fast", "max_turns": 3, "check": null, "by": "reasonix tui"});
    let ended = json!({"goal": goal, "outcome": "out_of_turns", "reason": "its 3 turns are used up", "turns": 3});
    let events = log(&[
        (1.0, None, "goal.started", started),
        (2.0, None, "goal.ended", ended),
    ]);
    let words = text(&events);
    assert!(words.contains("goal by "), "{words}");
    assert!(words.contains("\"make it fast\""), "{words}");
    assert!(!words.contains('{'), "no data of a record: {words}");
}

#[test]
fn a_trace_from_the_log_and_a_live_one_are_the_same() {
    // Live, events without a number come in between, and some come twice as far as their kinds go.
    let mut live = Vec::new();
    for event in turn() {
        let mut passing = event.clone();
        passing.seq = None;
        live.extend([passing, event]);
    }
    assert_eq!(text(&live), GOLDEN);
}

#[test]
fn a_line_for_programs_has_its_numbers() {
    let mut trace = Trace::default();
    let lines: Vec<Value> = turn()
        .iter()
        .flat_map(|event| trace.fold(event))
        .map(|line| serde_json::to_value(&line).unwrap())
        .collect();
    assert_eq!(
        lines[5],
        json!({"seq": 6, "turn": 3, "at": "1970-01-01T00:01:44.500Z", "t_ms": 4500, "what": "answer", "n": 1,
               "duration_ms": 1900, "tokens": {"prompt": 1200, "cached": 1100, "output": 85}})
    );
    assert_eq!(lines[3]["what"], "request");
    assert_eq!(lines[0]["t_ms"], Value::Null);
}

#[test]
fn a_clock_that_goes_back_takes_no_line_with_it() {
    let t = Some(1);
    let events = log(&[
        (100.0, t, "turn.started", json!({"prompt_id": PROMPT})),
        (101.0, t, "notice", json!({"level": "info", "text": "one"})),
        (50.0, t, "notice", json!({"level": "info", "text": "two"})),
        (50.0, t, "usage", usage(1, 10, 5_000, false)),
    ]);
    let expected = "    0.000  turn 1 start \"\"
    1.000  notice: one
    1.000  notice: two
    0.000  request #1 try 1 → 12.3 kB
    0.010  first token #1 0.01 s
    1.000  answer #1 5.00 s tokens not reported
";
    assert_eq!(text(&events), expected);
}

#[test]
fn a_request_has_its_own_time_whatever_was_told_before_its_answer() {
    let t = Some(1);
    let events = log(&[
        (100.0, t, "turn.started", json!({"prompt_id": PROMPT})),
        (
            100.684,
            t,
            "session.set",
            json!({"paused": true, "by": "reasonix pause"}),
        ),
        (101.0, t, "usage", usage(1, 150, 1_000, false)),
    ]);
    let expected = "    0.000  turn 1 start \"\"
    0.684  paused by reasonix pause
    0.000  request #1 try 1 → 12.3 kB
    0.150  first token #1 0.15 s
    1.000  answer #1 1.00 s tokens not reported
";
    assert_eq!(text(&events), expected);
}

#[test]
fn trace_prints_unreadable_events_as_raw_lines() {
    let events = log(&[
        (
            1.0,
            None,
            "turn.ended",
            json!({"oversized_bytes": 2_000_000}),
        ),
        (1.0, None, "of.tomorrow", json!({"a": 1})),
    ]);
    assert_eq!(
        text(&events),
        "        -  turn.ended {\"oversized_bytes\":2000000}\n        -  of.tomorrow {\"a\":1}\n"
    );
}

#[test]
fn questions_lists_checkpoints_and_rewinds_are_lines() {
    let t = Some(2);
    let question = json!({"interaction_id": "7.1", "session": 3, "call": "c", "shown_hash": "h", "opened_at": "2026-01-01T00:00:00.000Z",
        "request": {"type": "questions", "questions": [{"question": "Which store?", "header": "Store", "options": [{"label": "a"}, {"label": "b"}]}]}});
    let todo =
        |status: &str| json!({"content": "Test", "active_form": "Testing", "status": status});
    let file = |did: &str| json!({"path": "/w/a", "result": {"did": did}, "before": {"is": "absent"}, "after": {"is": "absent"}});
    let call = json!({"item": "m2.1", "text": "", "finish": "tool_calls",
        "calls": [{"id": "c", "name": "tool_call", "arguments": "{\"tool\":\"fetch\",\"arguments\":{}}"}]});
    let events = log(&[
        (1.0, t, "turn.started", json!({"prompt_id": PROMPT})),
        (1.0, t, "message.assistant", call),
        (
            1.0,
            t,
            "policy.decided",
            json!({"call": "c", "tool": "fetch", "verdict": "allow", "rule": "r", "layer": "user",
            "read_only": true, "subject": "x", "input_sha256": ""}),
        ),
        (2.0, t, "interaction.opened", question),
        (
            5.0,
            t,
            "interaction.resolved",
            json!({"interaction_id": "7.1", "call": "c",
                "answer": {"type": "questions", "replies": [{"labels": ["a"]}]}, "by": "ann"}),
        ),
        (
            6.0,
            t,
            "interaction.resolved",
            json!({"interaction_id": "7.2", "call": "c", "by": "reasonix", "unattended": true}),
        ),
        (
            7.0,
            t,
            "todo.updated",
            json!({"todos": [todo("completed"), todo("in_progress")]}),
        ),
        (
            8.0,
            t,
            "checkpoint.created",
            json!({"files": [{"path": "/w/a", "was": {"is": "absent"}}], "tree": "t", "skipped": "too large"}),
        ),
        (
            9.0,
            None,
            "session.rewound",
            json!({"to_turn": 1, "what": "both", "files": [file("restored"), file("changed_since")], "by": "ann"}),
        ),
        (9.0, None, "cache.reset", json!({"reason": "rewind"})),
    ]);
    let expected = "    0.000  turn 2 start \"\"
    0.000  call fetch \"x\" allowed: r (user)
    1.000  asks 7.1 \"Which store?\"
    4.000  asked 7.1 → a by ann after 3.00 s
    5.000  asked 7.2 → no client was attached
    6.000  todos 1/2 done: Testing
    7.000  checkpoint 1 file and the tree, commands not kept: too large
        -  rewound to turn 1 (both) by ann, 1 file restored, 1 skipped
        -  cache reset: rewind
";
    assert_eq!(text(&events), expected);
}

#[test]
fn requests_beside_the_conversation_say_what_they_are_for() {
    let t = Some(1);
    let beside = |purpose: &str| {
        let mut usage = usage(1, 100, 500, true);
        usage["purpose"] = json!(purpose);
        usage
    };
    let repaired = json!({"taken_up": ["a"], "closed": ["b", "c"], "nested": ["d"]});
    let found = json!({"item": "m1.1", "subgoals": ["s"], "uncertainties": ["u", "v"]});
    let events = log(&[
        (1.0, t, "turn.started", json!({"prompt_id": PROMPT})),
        (2.0, t, "usage", beside("sample")),
        (3.0, t, "usage", beside("extraction")),
        (4.0, t, "calls.repaired", repaired),
        (5.0, t, "reasoning.extracted", found),
        (
            6.0,
            t,
            "tool.finished",
            json!({"call": "c", "tool": "bash", "status": "unknown", "duration_ms": 0,
                "display": {"type": "line", "text": ""}}),
        ),
    ]);
    let text = text(&events);
    for line in [
        "request #1 (sample) try 1",
        "first token #1 (extraction)",
        "answer #1 (extraction)",
        "repaired calls: 1 recovered from the answer's text, 2 cut-off calls completed, 1 calls with flattened arguments rebuilt",
        "run bash unknown\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains('{'), "{text}");
}
