//! Scenes for what a person reads.

use proptest::prelude::*;
use proto::{Pid, Seq, Stamp};
use serde_json::json;

use super::*;

fn event(seq: Option<u64>, kind: &str, data: &serde_json::Value) -> Event {
    let data = serde_json::value::to_raw_value(data).unwrap();
    Event {
        seq: seq.map(Seq),
        session: Pid(3),
        at: Stamp(0),
        turn: Some(1),
        kind: kind.into(),
        data,
    }
}

fn delta(offset: u64, text: &str) -> Event {
    event(
        None,
        "delta.text",
        &json!({"item": "m1.1", "offset": offset, "text": text}),
    )
}

fn message(text: &str) -> Event {
    event(
        Some(5),
        "message.assistant",
        &json!({"item": "m1.1", "text": text, "finish": "stop"}),
    )
}

/// All that grows, as one text; a `|` where a line was ended.
fn grown(events: &[Event]) -> String {
    let mut transcript = Transcript::default();
    let pieces = events.iter().flat_map(|event| transcript.fold(event));
    pieces.fold(String::new(), |mut all, piece| {
        match piece {
            Piece::Grow { text } => all.push_str(&text),
            Piece::Whole => all.push('|'),
            Piece::Block { text, .. } => all.push_str(&format!("[{text}]")),
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
fn after_a_jump_the_finished_message_tells_the_rest() {
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
    assert_eq!(shown, "Hal|[the answer starts again]Hello|");
}

#[test]
fn another_text_than_was_streamed_is_shown_whole() {
    assert_eq!(grown(&[delta(0, "Hal"), message("Hello")]), "Hal|Hello|");
}

#[test]
fn who_answered_is_told() {
    let resolved = json!({"approval_id": "3.1", "call": "c", "decision": "deny", "note": "keep it", "by": "reasonix attach"});
    assert_eq!(
        grown(&[event(Some(4), "approval.resolved", &resolved)]),
        "[[3.1] denied by reasonix attach: keep it]"
    );
}

#[test]
fn why_a_call_was_denied_is_told_once() {
    let why = "Denied: nobody was there to allow it.";
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
        "whoever did not see the call is told why: {end}"
    );
}

#[test]
fn kinds_of_the_future_and_data_that_does_not_read_add_nothing() {
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
    /// However the stream was cut, repeated or torn, what is shown ends in the finished text, once.
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

fn synced(live: &serde_json::Value) -> Event {
    event(
        None,
        "sync",
        &json!({"seq": 1, "epoch": 1, "live": live, "pending": []}),
    )
}

#[test]
fn after_a_second_sync_the_live_texts_are_those_it_tells() {
    let told = |item: &str, text: &str| synced(&json!([{"item": item, "offset": 0, "text": text}]));
    // Pieces were dropped while we were behind.
    assert_eq!(
        grown(&[
            delta(0, "Hel"),
            delta(9, "zzz"),
            told("m1.1", "Hello, yo"),
            delta(9, "u"),
            message("Hello, you")
        ]),
        "Hello, you|"
    );
    // It was started again meanwhile, under the same name and under another.
    assert_eq!(
        grown(&[delta(0, "Hel"), told("m1.1", "Other"), message("Other!")]),
        "Hel|Other!|"
    );
    assert_eq!(
        grown(&[delta(0, "Hel"), told("m1.2", "Other")]),
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
            "paused by ann",
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
            "12 in the background ended: signal 15 (kill_shell)",
        ),
        (
            "prompt.moved",
            json!({"prompt_id": "01890000-0000-7000-8000-0000000000aa", "position": 0, "by": "ann"}),
            "ann moved a queued prompt to place 1",
        ),
    ];
    for (kind, data, words) in cases {
        let shown = grown(&[event(Some(1), kind, &data)]);
        assert!(shown.contains(words), "{kind}: {shown}");
    }
    assert_eq!(
        grown(&[event(Some(1), "session.set", &json!({"posture": "auto"}))]),
        ""
    );
    assert_eq!(
        grown(&[event(None, "status", &json!({"behind": 7}))]),
        "[this client is behind by 7 events, and catches up]"
    );
}

fn interrupted(text: &str) -> Event {
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
        assert_eq!(grown(&events), expected, "{kept}, behind a sync");
    }
    // Broken off by the provider, and then kept.
    let partial = event(
        None,
        "message.partial",
        &json!({"item": "m1.1", "superseded": false}),
    );
    assert_eq!(
        grown(&[delta(0, "w0 w1 "), partial, interrupted("w0 w1")]),
        format!("w0 w1 |[the answer broke off]|{end}")
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
            "[bob moved {first} to place 1][bob changed {first}: other][the queued prompt \"other\" was taken back]"
        )
    );
}
