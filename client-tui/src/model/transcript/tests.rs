//! Scenes of what becomes of events. Other tests make events with [`scene`].

use client::DecodedEvent;
use client::form::Asked;
use proptest::prelude::*;
use proto::params::interaction::InteractionAnswer;
use serde_json::{Value, json};

use super::*;

/// Events by hand.
pub(crate) mod scene {
    use client::DecodedEvent;
    use proto::{Event, Pid, Seq, Stamp};
    use serde_json::{Value, json};

    pub(crate) fn event(seq: Option<u64>, kind: &str, data: &Value) -> DecodedEvent {
        Event {
            seq: seq.map(Seq),
            session: Pid(3),
            at: Stamp(0),
            turn: Some(1),
            kind: kind.into(),
            data: serde_json::value::to_raw_value(data).unwrap(),
        }
        .into()
    }

    pub(crate) fn delta(kind: &str, item: &str, offset: usize, text: &str) -> DecodedEvent {
        let data = json!({"item": item, "offset": offset, "text": text});
        event(None, kind, &data)
    }

    pub(crate) fn text(offset: usize, text: &str) -> DecodedEvent {
        delta("delta.text", "m1.1", offset, text)
    }

    pub(crate) fn reasoning(offset: usize, text: &str) -> DecodedEvent {
        delta("delta.reasoning", "m1.1", offset, text)
    }

    pub(crate) fn message(seq: u64, reasoning: &str, text: &str, finish: &str) -> DecodedEvent {
        let data = json!({"item": "m1.1", "reasoning": reasoning, "text": text, "finish": finish});
        event(Some(seq), "message.assistant", &data)
    }

    pub(crate) fn sync(live: &Value) -> DecodedEvent {
        let data = json!({"seq": 1, "epoch": 1, "live": live, "interactions": []});
        event(None, "sync", &data)
    }

    pub(crate) fn partial(superseded: bool) -> DecodedEvent {
        let data = json!({"item": "m1.1", "superseded": superseded});
        event(None, "message.partial", &data)
    }

    pub(crate) fn started(seq: u64, call: &str, tool: &str, subject: &str) -> DecodedEvent {
        let data = json!({"call": call, "tool": tool, "subject": subject, "read_only": false});
        event(Some(seq), "tool.started", &data)
    }

    pub(crate) fn output(call: &str, offset: usize, text: &str) -> DecodedEvent {
        let data = json!({"call": call, "offset": offset, "text": text});
        event(None, "tool.output", &data)
    }

    pub(crate) fn finished(seq: u64, call: &str, status: &str, display: &Value) -> DecodedEvent {
        let data = json!({"call": call, "tool": "bash", "status": status, "duration_ms": 40,
                          "display": display});
        event(Some(seq), "tool.finished", &data)
    }

    pub(crate) fn ended(seq: u64, outcome: &str, ms: u64, denied: &Value) -> DecodedEvent {
        let usage = json!({"requests": 2, "prompt_tokens": 33_000, "cached_tokens": 0,
            "output_tokens": 1_200, "reasoning_tokens": 0, "cost_micros": 12_300,
            "unknown_cost_calls": 0});
        let data = json!({"outcome": outcome, "text": "", "usage": usage, "steps": 1,
            "tool_calls": 1, "duration_ms": ms, "denied": denied});
        event(Some(seq), "turn.ended", &data)
    }
}
use scene::*;

fn folded(events: &[DecodedEvent]) -> Transcript {
    let mut transcript = Transcript::default();
    for event in events {
        transcript.fold(event);
    }
    transcript
}

/// The entries, a line each; a live one ends with `…`.
fn entry_lines(events: &[DecodedEvent]) -> Vec<String> {
    let transcript = folded(events);
    let entries = transcript.entries.iter();
    entries
        .map(|entry| {
            let live = if entry.settled() { "" } else { "…" };
            let words = match &entry.kind {
                EntryKind::User { text, steer, .. } => format!("user{} {text}", u8::from(*steer)),
                EntryKind::Reasoning { thought, .. } => format!("thought {}", thought.text()),
                EntryKind::Answer {
                    text: markdown,
                    finish,
                    ..
                } => match finish {
                    None | Some(Finish::Stop) => format!("answer {}", markdown.text()),
                    Some(finish) => format!("answer {} ({finish:?})", markdown.text()),
                },
                EntryKind::Tool(tool) => {
                    let status = tool.outcome.as_ref().map(|done| done.status);
                    let output = tool.output.escape_debug();
                    let status = status.map_or_else(String::new, |status| format!(" {status:?}"));
                    format!("{} {} [{output}]{status}", tool.tool, tool.subject)
                }
                EntryKind::Resolved { asked, resolved } => match (asked, &resolved.answer) {
                    (
                        Asked::Approval { subject, .. },
                        Some(InteractionAnswer::Approval { decision, .. }),
                    ) => format!("{decision:?} {subject}"),
                    (Asked::Questions(asked), Some(InteractionAnswer::Questions { replies })) => {
                        format!("{asked:?} {}", replies.len())
                    }
                    (asked, answer) => format!("{asked:?} {answer:?}"),
                },
                EntryKind::Child {
                    command, exited, ..
                } => format!("child {command} {}", exited.is_some()),
                EntryKind::Ended { ended, explained } => {
                    let untold = ended.denied.len() - explained.len();
                    format!("ended {:?} {untold}", ended.outcome)
                }
                EntryKind::Notice { words, .. } => format!("notice {words}"),
                EntryKind::Divider { words } => format!("divider {words}"),
                EntryKind::Rewound(rewound) => format!("rewound {}", rewound.to_turn),
                EntryKind::Status(status) => match status.as_ref() {
                    Status::StartsAgain { .. } => "starts again".to_owned(),
                    Status::BrokeOff => "broke off".to_owned(),
                    Status::CacheReset(reset) => {
                        format!("CacheReset {{ reason: {:?} }}", reset.reason)
                    }
                    other => format!("{other:?}"),
                },
                other => panic!("{other:?} is not shown"),
            };
            format!("{words}{live}")
        })
        .collect()
}

#[test]
fn an_answer_grows_and_is_finished_by_its_message() {
    let thought = [reasoning(0, "Let me"), reasoning(6, " see")];
    assert_eq!(entry_lines(&thought), ["thought Let me see…"]);
    let all = [
        thought.as_slice(),
        &[
            text(0, "\n"),
            text(1, "\nHel"),
            text(2, "Hello"),
            text(40, "zz"),
        ],
    ]
    .concat();
    assert_eq!(entry_lines(&all), ["thought Let me see", "answer Hello…"]);
    let end = message(5, "Let me see", "\n\nHello, you", "stop");
    assert_eq!(
        entry_lines(&[all.as_slice(), std::slice::from_ref(&end)].concat()),
        ["thought Let me see", "answer Hello, you"]
    );
    // The same from the records alone.
    assert_eq!(
        entry_lines(&[end]),
        ["thought Let me see", "answer Hello, you"]
    );
}

#[test]
fn replayed_events_are_not_shown_twice() {
    let records = [
        event(
            Some(1),
            "message.user",
            &json!({"item": "m1.0", "text": "hi"}),
        ),
        message(2, "", "Hello", "stop"),
    ];
    let twice = [records.clone(), records].concat();
    assert_eq!(entry_lines(&twice), ["user0 hi", "answer Hello"]);
}

#[test]
fn a_superseded_attempt_goes_where_nothing_of_it_can_be_printed() {
    let begun = [reasoning(0, "hm"), text(0, "Hal")];
    let again = [partial(true), reasoning(0, "so"), text(0, "Hello")];
    assert_eq!(
        entry_lines(&[begun.as_slice(), &again].concat()),
        ["thought hm", "thought so", "answer Hello…"]
    );
    let only_thought = [&begun[..1], &again].concat();
    assert_eq!(entry_lines(&only_thought), ["thought so", "answer Hello…"]);
}

#[test]
fn printable_blocks_of_a_superseded_attempt_stay() {
    let whole = "One.\n\nTwo.\n\nThr";
    let transcript = folded(&[text(0, whole)]);
    let EntryKind::Answer { text: markdown, .. } = &transcript.entries[0].kind else {
        panic!("{transcript:?}");
    };
    assert!(markdown.whole() > 0, "this is about blocks that are whole");
    assert_eq!(
        entry_lines(&[text(0, whole), partial(true), text(0, "Hello")]),
        [
            &format!("answer {whole} (Interrupted)"),
            "starts again",
            "answer Hello…"
        ]
    );
    assert_eq!(
        entry_lines(&[text(0, whole), message(3, "", "Other.", "stop")]),
        [
            &format!("answer {whole} (Interrupted)"),
            "starts again",
            "answer Other."
        ]
    );
}

#[test]
fn a_reconnect_neither_doubles_nor_loses_a_character() {
    let live = |words: &str| sync(&json!([{"item": "m1.1", "offset": 0, "text": words}]));
    let end = message(9, "Let me see now", "Hello, you", "stop");
    assert_eq!(
        entry_lines(&[
            reasoning(0, "Let me"),
            // More was thought meanwhile.
            live("Hel"),
            text(3, "lo"),
            text(0, "Hello"),
            end.clone(),
        ]),
        ["thought Let me see now", "answer Hello, you"]
    );
    // Meanwhile the answer has started again, under the same name.
    assert_eq!(
        entry_lines(&[text(0, "Hal"), live("Other")]),
        ["answer Other…"]
    );
    // It is not reported, because it only thinks yet.
    assert_eq!(
        entry_lines(&[reasoning(0, "Let"), sync(&json!([])), reasoning(3, " me")]),
        ["thought Let me…"]
    );
    // It was finished while we were away, and before the border.
    assert_eq!(
        entry_lines(&[text(0, "Hel"), end, sync(&json!([]))]),
        ["thought Let me see now", "answer Hello, you"]
    );
}

#[test]
fn a_broken_stream_is_reported_and_may_still_finish() {
    let broken = [text(0, "w0 w1 "), partial(false)];
    assert_eq!(entry_lines(&broken), ["answer w0 w1 …", "broke off"]);
    let kept = message(6, "", "w0 w1 w2", "interrupted");
    assert_eq!(
        entry_lines(&[broken.as_slice(), &[kept]].concat()),
        ["answer w0 w1 w2 (Interrupted)", "broke off"]
    );
    // Whatever is live when the turn ends is over.
    let end = ended(7, "interrupted", 5, &json!([]));
    assert_eq!(
        entry_lines(&[text(0, "w0"), started(3, "c", "bash", "ls"), end]),
        [
            "answer w0 (Interrupted)",
            "bash ls [] Interrupted",
            "ended Interrupted 0"
        ]
    );
}

#[test]
fn only_background_commands_report_their_end() {
    let spawned = |seq, pid, kind| {
        let data = json!({"pid": pid, "kind": kind, "call": "c", "command": "sleep"});
        event(Some(seq), "child.spawned", &data)
    };
    let exited = |seq, pid| {
        let data = json!({"pid": pid, "code": 0});
        event(Some(seq), "child.exited", &data)
    };
    // The first one began before the known records: most likely it is a call.
    let events = [
        exited(1, 7),
        spawned(2, 8, "command"),
        spawned(3, 9, "shell"),
        exited(4, 8),
        exited(5, 9),
    ];
    assert_eq!(
        entry_lines(&events),
        ["child sleep false", "child sleep true"]
    );
}

#[test]
fn a_call_runs_prints_and_ends() {
    let line = json!({"type": "line", "text": "3 files"});
    let run = [
        started(1, "c", "bash", "make"),
        output("c", 0, "one\n\u{1b}[31mtwo\u{1b}"),
        output("c", 4, "\u{1b}[31mtwo\u{1b}[0m 10%\r"),
        output("c", 23, "20%\r\nthree"),
    ];
    assert_eq!(entry_lines(&run), ["bash make [one\\n20%\\nthree]…"]);
    let end = finished(2, "c", "ok", &line);
    assert_eq!(
        entry_lines(&[run.as_slice(), &[end]].concat()),
        ["bash make [one\\n20%\\nthree] Ok"]
    );
}

#[test]
fn output_of_a_call_is_truncated_at_a_line_start() {
    let mut events = vec![started(1, "c", "bash", "yes")];
    let line = format!("{}\n", "ä".repeat(300));
    for index in 0..60 {
        events.push(output("c", index * line.len(), &line));
    }
    let transcript = folded(&events);
    let EntryKind::Tool(tool) = &transcript.entries[0].kind else {
        panic!("{transcript:?}");
    };
    assert!(tool.output.len() <= 16 * 1024 && tool.output.len() > 15 * 1024);
    assert!(tool.output.lines().all(|line| line.chars().count() == 300));
}

#[test]
fn a_call_that_never_started_is_known_from_its_approval() {
    let decided = json!({"call": "c", "tool": "bash", "verdict": "deny", "rule": "r", "layer": "user",
        "read_only": false, "subject": "rm x", "input_sha256": ""});
    let why = json!({"type": "line", "text": "Denied by a rule."});
    let denied =
        json!([{"call": "c", "tool": "bash", "subject": "rm x", "why": "Denied by a rule."}]);
    assert_eq!(
        entry_lines(&[
            event(Some(1), "policy.decided", &decided),
            finished(2, "c", "denied", &why),
            ended(3, "blocked", 5, &denied),
        ]),
        ["bash rm x [] Denied", "ended Blocked 0"],
        "the reason is shown once"
    );
    assert_eq!(
        entry_lines(&[ended(3, "blocked", 5, &denied)]),
        ["ended Blocked 1"],
        "without the call the reason is shown"
    );
}

fn approval(seq: u64, decision: &str) -> Vec<DecodedEvent> {
    let asked = json!({"interaction_id": "3.1", "session": 3, "call": "c", "shown_hash": "", "opened_at": "2026-01-01T00:00:00.000Z",
        "request": {"type": "approval", "tool": "bash", "subject": "rm x",
        "preview": {"type": "line", "text": "rm x"}, "rule": "r", "scopes": []}});
    let answer = json!({"interaction_id": "3.1", "call": "c",
        "answer": {"type": "approval", "decision": decision, "note": "keep it"}, "by": "ann"});
    vec![
        event(Some(seq), "interaction.opened", &asked),
        event(Some(seq + 1), "interaction.resolved", &answer),
    ]
}

#[test]
fn denials_and_session_approvals_are_shown_and_single_approvals_are_not() {
    assert!(entry_lines(&approval(1, "allow_once")).is_empty());
    assert_eq!(
        entry_lines(&approval(1, "allow_session")),
        ["AllowSession rm x"]
    );
    let mut events = approval(1, "deny");
    let why = json!({"type": "line", "text": "Denied by the user (ann): keep it"});
    events.push(finished(3, "c", "denied", &why));
    assert_eq!(entry_lines(&events), ["Deny rm x"], "said once");
}

#[test]
fn only_a_turn_that_took_long_or_ended_otherwise_leaves_a_line() {
    let none = json!([]);
    assert!(entry_lines(&[ended(1, "completed", 9_000, &none)]).is_empty());
    assert_eq!(
        entry_lines(&[ended(1, "completed", 72_000, &none)]),
        ["ended Completed 0"]
    );
    assert_eq!(
        entry_lines(&[ended(1, "failed", 5, &none)]),
        ["ended Failed 0"]
    );
}

#[test]
fn session_notices_are_shown_once_each() {
    let id = "01890000-0000-7000-8000-0000000000aa";
    let cases: &[(&str, Value, &str)] = &[
        (
            "session.set",
            json!({"paused": true, "by": "ann"}),
            "Paused { by: Some(\"ann\") }",
        ),
        ("session.set", json!({"approval_mode": "auto"}), ""),
        (
            "session.state",
            json!({"state": "waiting", "waiting_for": "retry", "cause": "429"}),
            "",
        ),
        (
            "session.state",
            json!({"state": "waiting", "waiting_for": "credentials", "cause": "no key"}),
            "Credentials { cause: \"no key\" }",
        ),
        (
            "cache.reset",
            json!({"reason": "rewind"}),
            "CacheReset { reason: \"rewind\" }",
        ),
        (
            "prompt.moved",
            json!({"prompt_id": id, "position": 0, "by": "bob"}),
            "PromptMoved { by: \"bob\", which: \"\", place: 1 }",
        ),
        (
            "child.spawned",
            json!({"pid": 9, "kind": "shell", "call": "c", "command": "sleep"}),
            "child sleep false",
        ),
        (
            "child.spawned",
            json!({"pid": 9, "kind": "command", "call": "c", "command": "sleep"}),
            "",
        ),
        ("child.exited", json!({"pid": 9, "code": 0}), ""),
        (
            "message.user",
            json!({"item": "m1.2", "text": "go on", "voice": "daemon"}),
            "",
        ),
        (
            "message.user",
            json!({"item": "m1.2", "text": "stop", "voice": "steer"}),
            "user1 stop",
        ),
        (
            "session.rewound",
            json!({"to_turn": 2, "what": "both", "by": "ann"}),
            "rewound 2",
        ),
        ("of.the.future", json!({}), ""),
        ("turn.ended", json!(7), ""),
    ];
    for (kind, data, words) in cases {
        let expected: &[&str] = if words.is_empty() { &[] } else { &[words] };
        assert_eq!(
            entry_lines(&[event(Some(1), kind, data)]),
            expected,
            "{kind}"
        );
    }
    let skipped = |seq| {
        event(
            Some(seq),
            "checkpoint.created",
            &json!({"skipped": "no git"}),
        )
    };
    assert_eq!(entry_lines(&[skipped(1), skipped(2)]).len(), 1);
}

#[test]
fn questions_stand_with_their_answers() {
    let asked = json!({"interaction_id": "7.1", "session": 3, "call": "c", "shown_hash": "h", "opened_at": "2026-01-01T00:00:00.000Z",
        "request": {"type": "questions", "questions": [{"question": "Which store?", "header": "Store", "options": []}]}});
    let answered = json!({"interaction_id": "7.1", "call": "c",
        "answer": {"type": "questions", "replies": [{"labels": ["SQLite"]}]}, "by": "ann"});
    assert_eq!(
        entry_lines(&[
            event(Some(1), "interaction.opened", &asked),
            event(Some(2), "interaction.resolved", &answered)
        ]),
        ["[\"Which store?\"] 1"]
    );
}

#[test]
fn another_session_begins_with_nothing() {
    let mut transcript = folded(&[message(9, "", "Hello", "stop")]);
    transcript.reset();
    assert!(transcript.entries.is_empty());
    assert_eq!(transcript.generation, 1);
    transcript.fold(&message(2, "", "Again", "stop"));
    assert_eq!(
        transcript.entries.len(),
        1,
        "its records count from the first"
    );
}

proptest! {
    /// However the stream was cut, repeated or torn, the text of the answer is that of the message.
    #[test]
    fn answer_equals_its_message_for_any_deltas_and_syncs(
        words in "[a-zä\u{4e2d} ]{1,40}",
        cuts in proptest::collection::vec((0usize..60, 0usize..60, 0u8..3), 0..14),
    ) {
        prop_assume!(!words.trim().is_empty());
        let mut events = Vec::new();
        for (from, to, what) in cuts {
            let (from, to) = (from.min(to), from.max(to));
            match (words.get(from..to), what) {
                (Some(part), 0) => events.push(text(from, part)),
                (Some(part), 1) => events.push(reasoning(from, part)),
                (Some(_), _) => events.push(sync(&match words.get(..to) {
                    Some(draft) => json!([{"item": "m1.1", "offset": 0, "text": draft}]),
                    None => json!([]),
                })),
                (None, _) => {}
            }
        }
        events.push(message(5, &words, &words, "stop"));
        let all = entry_lines(&events);
        let of = |kind: &str| all.iter().filter_map(|line| line.strip_prefix(kind)).collect::<String>();
        prop_assert_eq!(of("answer "), words.clone(), "{:?}", &all);
        // Blanks at the ends of a thought are not shown, and may be cut off with a part of it.
        let thought = of("thought ");
        prop_assert_eq!(thought.trim(), words.trim(), "{:?}", &all);
    }
}
