//! Looking into sessions: traces, steps, parts, the queue.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::commands::summary;
use crate::fake::{Call, Fake, FakeAction, attached, durable, live, sync};
use crate::program::{Running, reasonix, run};

const ONE: &str = "01890000-0000-7000-8000-0000000000aa";
const TWO: &str = "01890000-0000-7000-8000-0000000000bb";

fn queued(id: &str, text: &str) -> Value {
    json!({"prompt_id": id, "text": text, "steer": false, "by": "ann"})
}

fn records() -> Vec<Value> {
    let started = |turn: u64| json!({"prompt_id": if turn == 1 { ONE } else { TWO }});
    let ended = json!({"outcome": "completed", "text": "", "steps": 1, "tool_calls": 0, "duration_ms": 1500,
        "usage": {"requests": 1, "prompt_tokens": 1, "cached_tokens": 0, "output_tokens": 1, "reasoning_tokens": 0,
                  "cost_micros": 0, "unknown_cost_calls": 0}});
    vec![
        durable(
            1,
            None,
            "prompt.queued",
            &json!({"prompt_id": ONE, "text": "first \u{1b}[31mred", "by": "ann"}),
        ),
        durable(2, Some(1), "turn.started", &started(1)),
        durable(3, Some(1), "turn.ended", &ended),
        durable(4, Some(2), "turn.started", &started(2)),
        durable(
            5,
            Some(2),
            "notice",
            &json!({"level": "info", "text": "second"}),
        ),
        durable(
            6,
            None,
            "session.exited",
            &json!({"outcome": "completed", "exit_code": 0}),
        ),
    ]
}

#[test]
fn a_trace_is_the_same_from_the_log_and_followed() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "session.read" => vec![FakeAction::Answer(json!({"events": records(), "epoch": 1}))],
        "session.attach" => {
            let mut acts = vec![FakeAction::Answer(attached(6))];
            acts.extend(records().into_iter().map(FakeAction::Event));
            acts.push(FakeAction::Event(sync(6)));
            acts
        }
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let log = run(&mut reasonix(&fake.home(), &["strace", "3"]));
    let followed = run(&mut reasonix(&fake.home(), &["strace", "-f", "3"]));
    assert_eq!((log.code, followed.code), (Some(0), Some(0)), "{log:?}");
    assert_eq!(log.out, followed.out);
    let expected = "        -  prompt by ann \"first red\"
    0.000  turn 1 start \"first red\"
    0.000  turn 1 end completed 1.50 s, 1 step, 0 calls
    0.000  turn 2 start \"\"
    0.000  notice: second
        -  exited completed code 0
";
    assert_eq!(log.out, expected);
    let turn = run(&mut reasonix(
        &fake.home(),
        &["strace", "3", "--turn", "2", "--json"],
    ));
    let lines: Vec<Value> = turn
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let what: Vec<_> = lines
        .iter()
        .map(|line| (&line["seq"], &line["what"]))
        .collect();
    assert_eq!(
        what,
        [
            (&json!(4), &json!("turn_start")),
            (&json!(5), &json!("notice"))
        ]
    );
}

#[test]
fn logs_and_traces_show_events_whole() {
    let data = json!({"level": "info", "text": "all of it"}).to_string();
    let fake = Fake::start(move |call: &Call| match call.method.as_str() {
        "session.read" => {
            let event = durable(1, None, "notice", &json!({"oversized_bytes": 2_000_000}));
            vec![FakeAction::Answer(json!({"events": [event], "epoch": 1}))]
        }
        "session.event" => vec![FakeAction::Answer(
            json!({"text": data, "total": data.len()}),
        )],
        _ => vec![FakeAction::Answer(summary(3, "idle"))],
    });
    for verb in ["logs", "strace"] {
        let done = run(&mut reasonix(&fake.home(), &[verb, "3"]));
        assert!(done.out.contains("all of it"), "{verb}: {done:?}");
    }
}

#[test]
fn steps_are_listed_page_by_page_and_shown_byte_by_byte() {
    let step = |n: u64| {
        json!({"n": n, "turn": 1, "seq": 5, "at": "2026-01-01T00:00:00.000Z", "attempts": 2, "request_bytes": 12_345,
               "first_token_ms": 420, "duration_ms": 1900, "prompt_tokens": if n == 1 { 0 } else { 1200 }, "cached_tokens": 1100,
               "output_tokens": if n == 1 { 0 } else { 85 }, "text": "I look.", "calls": [{"call": "c", "tool": "bash", "subject": "ls",
               "status": "failed", "duration_ms": 4200, "asked_ms": 12_000}]})
    };
    let fake = Fake::start(move |call: &Call| match call.method.as_str() {
        "session.steps" if call.params["after"] == 0 => {
            vec![FakeAction::Answer(json!({"steps": [step(1)], "next": 1}))]
        }
        "session.steps" => vec![FakeAction::Answer(json!({"steps": [step(2)]}))],
        "session.step" => {
            let whole = format!(
                "{{\"{}\":\"\u{9b}ä\"}}",
                call.params["part"].as_str().unwrap()
            );
            let start = usize::try_from(call.params["offset"].as_u64().unwrap()).unwrap();
            let end = if start == 0 { 5 } else { whole.len() };
            let next = (start == 0).then_some(5);
            vec![FakeAction::Answer(
                json!({"text": whole[start..end], "total": whole.len(), "next": next}),
            )]
        }
        _ => vec![FakeAction::Close],
    });
    let list = run(&mut reasonix(&fake.home(), &["steps", "3", "--turn", "1"]));
    assert_eq!(list.code, Some(0), "{list:?}");
    let row = list.out.lines().nth(2).unwrap();
    for words in [
        "12kB",
        "1200→85",
        "1100",
        "bash ls 4.2 s (asked for 12 s) (failed) · I look.",
    ] {
        assert!(row.contains(words), "{words}: {row}");
    }
    let unreported = list.out.lines().nth(1).unwrap();
    assert!(
        unreported.contains(" -  ") && !unreported.contains("0→0"),
        "{unreported}"
    );
    let json = run(&mut reasonix(&fake.home(), &["steps", "3", "--json"])).out;
    assert_eq!(
        serde_json::from_str::<Value>(&json)
            .unwrap()
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let sent = run(&mut reasonix(
        &fake.home(),
        &["show", "3", "--step", "2", "--sent"],
    ));
    assert_eq!(
        (sent.code, sent.out.as_str(), sent.err.as_str()),
        (Some(0), "{\"sent\":\"\u{9b}ä\"}", ""),
        "byte for byte, and nothing else"
    );
    let both = run(&mut reasonix(&fake.home(), &["show", "3", "--step", "2"]));
    assert_eq!(both.out, "{\"sent\":\"\u{9b}ä\"}\n{\"got\":\"\u{9b}ä\"}\n");
    assert_eq!(fake.params("session.step")[0]["n"], 2);
}

fn part(call: &Call) -> Value {
    match call.params["part"].as_str().unwrap() {
        "status" => {
            json!({"part": "status", "summary": summary(3, "running"), "queue": [queued(ONE, "one"), queued(TWO, "two")],
            "settings": {"max_steps": "9"}, "clients": [{"name": "c", "role": "watch"}]})
        }
        "context" => {
            json!({"part": "context", "tokens": 50, "window": 200, "prefix_sha256": "ab", "prefix_bytes": 7,
            "messages": 4, "message_bytes": 99})
        }
        "files" => {
            json!({"part": "files", "changed": [{"path": "a.rs", "turn": 2, "at": "2026-01-01T00:00:00.000Z",
            "added": 3, "removed": 1, "edited": true}, {"path": "b.rs", "turn": 2, "at": "2026-01-01T00:00:00.000Z", "added": 0, "removed": 0,
            "by_command": true}]})
        }
        "children" => {
            json!({"part": "children", "children": [{"session": 3, "os_pid": 77, "kind": "command",
            "command": "make", "running_ms": 61_000}]})
        }
        _ => {
            json!({"part": "env", "shown": {"EDITOR": "vi"}, "hidden": ["MY_VAR"], "lost": ["OLD_VAR"]})
        }
    }
}

#[test]
fn every_part_can_be_inspected() {
    let fake = Fake::start(|call: &Call| vec![FakeAction::Answer(part(call))]);
    for (name, words) in [
        (
            "status",
            &["max_steps", "watches", "queued 2", "by ann: two"][..],
        ),
        ("context", &["25 %", "ab", "4, 99 bytes"]),
        (
            "files",
            &[
                "edits      +3     −1       a.rs",
                "a command  -      -        b.rs",
            ],
        ),
        ("children", &["command", "make", "61 s"]),
        ("env", &["EDITOR=vi", "MY_VAR (only", "OLD_VAR (lost"]),
    ] {
        let done = run(&mut reasonix(&fake.home(), &["inspect", "3", name]));
        assert_eq!(done.code, Some(0), "{done:?}");
        for words in words {
            assert!(done.out.contains(words), "{name}, {words}: {}", done.out);
        }
        let json = run(&mut reasonix(
            &fake.home(),
            &["inspect", "3", name, "--json"],
        ));
        assert_eq!(
            serde_json::from_str::<Value>(&json.out).unwrap()["part"],
            name
        );
    }
    assert_eq!(
        run(&mut reasonix(&fake.home(), &["inspect", "3"])).code,
        Some(0)
    );
}

#[test]
fn the_queue_is_changed_by_place_or_id() {
    let fake = Fake::start(|call: &Call| {
        vec![FakeAction::Answer(match call.method.as_str() {
            "session.inspect" => part(call),
            "session.unqueue" => json!({}),
            _ => json!({"queue": [queued(TWO, "changed")]}),
        })]
    });
    let list = run(&mut reasonix(&fake.home(), &["queue", "3"])).out;
    assert!(list.contains(ONE) && list.contains("two"), "{list}");
    for arguments in [
        &["edit", "1", "new", "words"][..],
        &["move", TWO, "1"],
        &["rm", "2"],
        &["steer", "1"],
    ] {
        let done = run(reasonix(&fake.home(), &["queue", "3"]).args(arguments));
        assert_eq!(done.code, Some(0), "{done:?}");
    }
    let edits = fake.params("session.edit");
    assert_eq!(
        (
            &edits[0]["prompt_id"],
            &edits[0]["text"],
            edits[0].get("steer")
        ),
        (&json!(ONE), &json!("new words"), None)
    );
    assert_eq!(
        (&edits[1]["text"], &edits[1]["steer"]),
        (&json!("one"), &json!(true))
    );
    let moved = &fake.params("session.reorder")[0];
    assert_eq!(
        (&moved["prompt_id"], &moved["position"]),
        (&json!(TWO), &json!(0))
    );
    assert_eq!(fake.params("session.unqueue")[0]["prompt_id"], TWO);
    let wrong = run(&mut reasonix(&fake.home(), &["queue", "3", "rm", "7"]));
    assert_eq!(wrong.code, Some(64), "{wrong:?}");
    assert!(wrong.err.contains("2 are queued"), "{}", wrong.err);
}

/// A session with two prompts that wait, whose person was away, and that lost a variable.
fn waiting_session() -> Fake {
    Fake::start(|call: &Call| match call.method.as_str() {
        "session.attach" => {
            let away = json!({"since": "2026-01-01T00:00:00.000Z", "seq": 3, "turns": 2, "outcome": "completed",
                "files": ["a.rs"], "commands": 1, "usage": summary(3, "idle")["usage"]});
            let snapshot = json!({"seq": 9, "epoch": 1, "session": summary(3, "running"), "away": away,
                "queue": [queued(ONE, "one"), queued(TWO, "two")]});
            vec![
                FakeAction::Answer(attached(9)),
                FakeAction::Event(live("snapshot", &snapshot)),
                FakeAction::Event(sync(9)),
            ]
        }
        "session.inspect" => vec![FakeAction::Answer(
            json!({"part": "env", "shown": {}, "hidden": [], "lost": ["REASONIX_TEST_LOST", "MY_TOKEN", "ABSENT"]}),
        )],
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": ONE, "position": 0, "seq": 10}),
        )],
        "session.signal" => vec![FakeAction::Answer(json!({"delivered": true}))],
        _ => vec![FakeAction::Answer(json!({"queue": []}))],
    })
}

fn attach(fake: &Fake, arguments: &[&str], said: &str) -> crate::program::Done {
    let mut all = vec!["attach", "--plain"];
    all.extend(arguments);
    let mut running = Running::start(
        reasonix(&fake.home(), &all)
            .stdin(Stdio::piped())
            .env("REASONIX_TEST_LOST", "found")
            .env("MY_TOKEN", "secret"),
    );
    running.say(said);
    running.done()
}

#[test]
fn attach_tells_what_happened_and_changes_the_queue() {
    let fake = waiting_session();
    let done = attach(
        &fake,
        &["3"],
        "/queue\n/steer 1\n/edit 2 second words\n/move 2 1\n/drop 1\n/drop 9\n/pause\n/resume\n/help\n/quit\n",
    );
    assert_eq!(done.code, Some(0), "{done:?}");
    for words in [
        "while you were away",
        "2 turns; the last one was completed",
        "changed a.rs",
        "1. one, by ann",
        "2. two, by ann",
        "no queued prompt `9`",
        "/edit N TEXT",
    ] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    let steered = &fake.params("session.edit")[0];
    assert_eq!(
        (&steered["prompt_id"], &steered["text"], &steered["steer"]),
        (&json!(ONE), &json!("one"), &json!(true))
    );
    let edit = &fake.params("session.edit")[1];
    assert_eq!(
        (&edit["prompt_id"], &edit["text"]),
        (&json!(TWO), &json!("second words"))
    );
    assert_eq!(fake.params("session.reorder")[0]["position"], 0);
    assert_eq!(fake.params("session.unqueue")[0]["prompt_id"], ONE);
    let signals: Vec<_> = fake
        .params("session.signal")
        .iter()
        .map(|params| params["signal"].clone())
        .collect();
    assert_eq!(signals, ["PAUSE", "RESUME"]);
}

#[test]
fn missing_variables_are_sent_once_with_the_next_prompt_without_secrets() {
    let fake = waiting_session();
    let done = attach(&fake, &["3"], "one\ntwo\n/steer 3\n/quit\n");
    assert_eq!(done.code, Some(0), "{done:?}");
    let prompts = fake.params("session.prompt");
    assert_eq!(prompts.len(), 2, "a number is no steering text");
    for words in ["no queued prompt `3`: 2 are queued", "`/steer TEXT`"] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    assert_eq!(prompts[0]["env"], json!({"REASONIX_TEST_LOST": "found"}));
    assert_eq!(prompts[1].get("env"), None, "once is enough");
    let inspected = fake.params("session.inspect");
    assert_eq!(inspected.len(), 1);
    assert_eq!(inspected[0]["part"], "env");
}

#[test]
fn attach_refuses_what_the_role_does_not_allow() {
    for (role, prompts, answers, words) in [
        ("watch", 0, 0, "can only watch"),
        ("approve", 0, 1, "can only answer"),
        ("drive", 1, 1, ""),
    ] {
        let fake = Fake::start(|call: &Call| match call.method.as_str() {
            "session.attach" => {
                let approval = json!({"interaction_id": "3.1", "session": 3, "call": "c", "shown_hash": "h", "opened_at": "2026-01-01T00:00:00.000Z",
                    "request": {"type": "approval", "tool": "bash", "subject": "ls",
                    "preview": {"type": "line", "text": ""}, "rule": "r", "scopes": []}});
                let snapshot =
                    json!({"seq": 9, "epoch": 1, "session": summary(3, "running"), "queue": []});
                vec![
                    FakeAction::Answer(attached(9)),
                    FakeAction::Event(live("snapshot", &snapshot)),
                    FakeAction::Event(live(
                        "sync",
                        &json!({"seq": 9, "epoch": 1, "live": [], "interactions": [approval]}),
                    )),
                ]
            }
            "session.prompt" => vec![FakeAction::Answer(
                json!({"prompt_id": ONE, "position": 0, "seq": 10}),
            )],
            _ => vec![FakeAction::Answer(json!({}))],
        });
        let done = attach(
            &fake,
            &["3", "--role", role],
            "a prompt\n/approve 3.1\n/queue\n/help\n/quit\n",
        );
        for (line, may) in [
            ("you can only watch here", role == "watch"),
            (
                "you can answer questions here, but not send prompts",
                role == "approve",
            ),
            ("/edit N TEXT", role == "drive"),
            ("/approve [ID]", role != "watch"),
            ("/queue   ", true),
        ] {
            assert_eq!(done.out.contains(line), may, "{role}: {line}: {}", done.out);
        }
        assert_eq!(done.code, Some(0), "{role}: {done:?}");
        assert_eq!(fake.params("session.prompt").len(), prompts, "{role}");
        assert_eq!(fake.params("interaction.answer").len(), answers, "{role}");
        assert!(
            done.out.contains(words) && done.out.contains("no prompts are queued"),
            "{role}: {}",
            done.out
        );
    }
}

#[test]
fn missing_turn_is_reported() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "session.steps" => vec![FakeAction::Answer(json!({"steps": []}))],
        "session.read" => vec![FakeAction::Answer(json!({"events": records(), "epoch": 1}))],
        "session.get" => {
            let mut summary = summary(3, "idle");
            summary["turns"] = 2.into();
            vec![FakeAction::Answer(summary)]
        }
        _ => vec![FakeAction::Close],
    });
    for command in ["steps", "strace"] {
        let none = run(&mut reasonix(&fake.home(), &[command, "3", "--turn", "9"]));
        assert_eq!(none.code, Some(64), "{command}: {none:?}");
        assert!(none.err.contains("Turn 9 does not exist."), "{}", none.err);
        let turn = run(&mut reasonix(&fake.home(), &[command, "3", "--turn", "2"]));
        assert_eq!(turn.code, Some(0), "{command}: {turn:?}");
    }
}
