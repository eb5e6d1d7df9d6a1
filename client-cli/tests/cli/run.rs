//! `reasonix run`.

use std::process::Stdio;

use proto::{ErrorName, Failure};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fake::{Call, Fake, FakeAction, SESSION, attached, durable, live};
use crate::program::{Running, reasonix, run};

const PROMPT: &str = "01890000-0000-7000-8000-0000000000aa";

fn ended(outcome: &str, extra: &Value) -> Value {
    let mut data = json!({
        "outcome": outcome, "text": "The answer.", "steps": 2, "tool_calls": 1, "duration_ms": 1234,
        "usage": {"requests": 2, "prompt_tokens": 100, "cached_tokens": 50, "output_tokens": 10,
                  "reasoning_tokens": 0, "cost_micros": 1500, "unknown_cost_calls": 0},
    });
    data.as_object_mut()
        .unwrap()
        .extend(extra.as_object().unwrap().clone());
    data
}

/// The events of a session with one turn that ends so.
fn turn(end: &Value) -> Vec<Value> {
    vec![
        durable(
            1,
            None,
            "prompt.queued",
            &json!({"prompt_id": PROMPT, "text": "p", "by": "x"}),
        ),
        durable(2, Some(1), "turn.started", &json!({"prompt_id": PROMPT})),
        durable(
            3,
            Some(1),
            "notice",
            &json!({"level": "info", "text": "a \u{1b}[31mnotice"}),
        ),
        durable(4, Some(1), "turn.ended", end),
    ]
}

/// A daemon whose sessions see these events.
fn daemon(events: Vec<Value>) -> Fake {
    Fake::start(move |call: &Call| match call.method.as_str() {
        "session.create" => vec![FakeAction::Answer(json!({
            "session": SESSION, "pid": 3, "model": "m",
            "prompt_id": call.params.get("prompt").map(|_| PROMPT),
        }))],
        "session.attach" => {
            let mut acts = vec![FakeAction::Answer(attached(1))];
            acts.extend(events.iter().cloned().map(FakeAction::Event));
            acts
        }
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": PROMPT, "position": 0, "seq": 1}),
        )],
        "session.interrupt" => vec![FakeAction::Answer(json!({"delivered": true}))],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

fn completed() -> Vec<Value> {
    turn(&ended("completed", &json!({})))
}

#[test]
fn the_answer_is_all_that_stands_on_standard_output() {
    let fake = daemon(completed());
    let done = run(&mut reasonix(&fake.home(), &["run", "do", "it"]));
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), "The answer.\n"),
        "{done:?}"
    );
    assert_eq!(done.err, "· a notice\n");
    let create = &fake.params("session.create")[0];
    assert_eq!(
        (&create["prompt"], &create["kind"], &create["on_ask"]),
        (&json!("do it"), &json!("headless"), &json!("sandboxed"))
    );
    assert_eq!(create["cwd"], "/tmp");
}

#[test]
fn json_is_one_object() {
    let fake = daemon(completed());
    let done = run(&mut reasonix(
        &fake.home(),
        &["run", "--output-format", "json", "p"],
    ));
    let value: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(done.out.lines().count(), 1);
    let names: Vec<_> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        names,
        [
            "session",
            "pid",
            "outcome",
            "text",
            "usage",
            "cost_usd",
            "duration_ms",
            "steps",
            "tool_calls",
            "denied"
        ]
    );
    assert_eq!(
        (&value["pid"], &value["outcome"], &value["cost_usd"]),
        (&json!(3), &json!("completed"), &json!(0.0015))
    );
    assert_eq!(done.err, "");
}

#[test]
fn jsonl_is_the_events_and_the_object() {
    let mut events = completed();
    events.insert(
        2,
        live(
            "delta.text",
            &json!({"item": "m1.1", "offset": 0, "text": "The \u{9b}31m"}),
        ),
    );
    let fake = daemon(events.clone());
    let done = run(&mut reasonix(
        &fake.home(),
        &["run", "--output-format=jsonl", "p"],
    ));
    assert!(
        done.out
            .chars()
            .all(|character| character == '\n' || !character.is_control()),
        "{}",
        done.out
    );
    let lines: Vec<Value> = done
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[..5], events[..]);
    assert_eq!(
        (&lines[5]["kind"], &lines[5]["text"]),
        (&json!("result"), &json!("The answer."))
    );
    assert_eq!(lines.len(), 6);
    assert_eq!(fake.params("session.attach")[0]["ephemeral"], true);
}

#[test]
fn each_outcome_has_its_exit_code() {
    let cases = [
        ("completed", json!({}), 0),
        (
            "failed",
            json!({"error": {"name": "provider_failed", "message": "no", "hint": "do", "retryable": false}}),
            1,
        ),
        ("max_steps", json!({}), 2),
        ("context_full", json!({}), 2),
        (
            "blocked",
            json!({"reason": "denied", "denied": [{"call": "c", "tool": "bash", "subject": "rm", "why": "nobody"}]}),
            3,
        ),
        ("interrupted", json!({"reason": "timeout"}), 124),
        ("interrupted", json!({"reason": "user"}), 130),
        ("killed", json!({}), 137),
        ("interrupted", json!({"reason": "term"}), 143),
    ];
    for (outcome, extra, code) in cases {
        let fake = daemon(turn(&ended(outcome, &extra)));
        let done = run(&mut reasonix(
            &fake.home(),
            &["run", "--output-format", "jsonl", "p"],
        ));
        assert_eq!(done.code, Some(code), "{outcome} {extra}");
        let last: Value = serde_json::from_str(done.out.lines().last().unwrap()).unwrap();
        assert_eq!(last["outcome"], outcome);
        assert_eq!(last.get("error").is_some(), extra.get("error").is_some());
        assert_eq!(
            last["denied"].as_array().unwrap().len(),
            usize::from(code == 3)
        );
    }
}

#[test]
fn an_unknown_price_is_no_price() {
    let usage = json!({"requests": 1, "prompt_tokens": 1, "cached_tokens": 0, "output_tokens": 1,
                       "reasoning_tokens": 0, "cost_micros": 7, "unknown_cost_calls": 1});
    let fake = daemon(turn(&ended("completed", &json!({"usage": usage}))));
    let done = run(&mut reasonix(
        &fake.home(),
        &["run", "--output-format", "json", "p"],
    ));
    assert_eq!(
        serde_json::from_str::<Value>(&done.out).unwrap()["cost_usd"],
        Value::Null
    );
}

#[test]
fn every_failure_has_a_result_line() {
    let refusing = Fake::start(|_| {
        vec![FakeAction::Refuse(Failure::new(
            ErrorName::InvalidConfig,
            "no model `x`",
            "see config.toml",
        ))]
    });
    let empty = tempfile::tempdir_in("/tmp").unwrap();
    let cases: [(&std::path::Path, &[&str], i32, &str); 4] = [
        (&refusing.home(), &["p"], 78, "invalid_config"),
        (empty.path(), &["p"], 69, "no_daemon"),
        (empty.path(), &["--bogus", "p"], 64, "usage"),
        (empty.path(), &["--cwd", "/nonexistent", "p"], 64, "usage"),
    ];
    for (home, arguments, code, name) in cases {
        let done = run(reasonix(home, &["run", "--output-format", "jsonl"]).args(arguments));
        assert_eq!(done.code, Some(code), "{done:?}");
        let last: Value = serde_json::from_str(done.out.lines().last().unwrap()).unwrap();
        assert_eq!(
            (&last["kind"], &last["outcome"], &last["error"]["name"]),
            (&json!("result"), &json!("failed"), &json!(name))
        );
        assert_ne!(last["error"]["hint"], "", "{done:?}");
        assert!(
            done.err.lines().count() >= 2,
            "what, and what to do: {}",
            done.err
        );
    }
}

#[test]
fn a_reader_that_has_had_enough_ends_it_quietly() {
    let fake = daemon(completed());
    let mut running = reasonix(&fake.home(), &["run", "--output-format", "jsonl", "p"])
        .spawn()
        .unwrap();
    drop(running.stdout.take());
    let done = running.wait_with_output().unwrap();
    assert_eq!(
        (
            done.status.code(),
            String::from_utf8_lossy(&done.stderr).as_ref()
        ),
        (Some(0), "")
    );
}

#[test]
fn piped_input_joins_the_prompt() {
    let fake = daemon(completed());
    let mut running =
        Running::start(reasonix(&fake.home(), &["run", "explain", "-"]).stdin(Stdio::piped()));
    running.say("the text\n");
    drop(running.child.stdin.take());
    assert_eq!(running.done().code, Some(0));
    assert_eq!(
        fake.params("session.create")[0]["prompt"],
        "explain\n\nthe text\n"
    );
}

#[test]
fn an_open_silent_input_does_not_hang() {
    let fake = daemon(completed());
    let mut running = Running::start(reasonix(&fake.home(), &["run", "p"]).stdin(Stdio::piped()));
    let held = running.child.stdin.take();
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.err.contains("open but empty"), "{}", done.err);
    drop(held);
}

#[test]
fn no_prompt_at_all_is_a_usage_error() {
    let fake = daemon(completed());
    let done = run(&mut reasonix(&fake.home(), &["run"]));
    assert_eq!(done.code, Some(64), "{done:?}");
    assert!(fake.calls().is_empty());
}

#[test]
fn keys_go_as_credentials_and_never_as_environment() {
    let fake = daemon(completed());
    let mut command = reasonix(&fake.home(), &["run", "p"]);
    command
        .env("FAKE_API_KEY", "k1")
        .env("GITHUB_TOKEN", "t")
        .env("DB_PASSWORD", "x")
        .env("MY_SECRET", "y")
        .env("EDITOR", "vi");
    assert_eq!(run(&mut command).code, Some(0));
    let create = &fake.params("session.create")[0];
    assert_eq!(create["credentials"], json!({"FAKE_API_KEY": "k1"}));
    let names: Vec<_> = create["env"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert!(
        names.contains(&"EDITOR") && names.contains(&"PATH"),
        "{names:?}"
    );
    assert!(
        !create["env"].to_string().contains("TOKEN")
            && !create["env"].to_string().contains("SECRET"),
        "{names:?}"
    );
    assert!(
        !create["env"].to_string().contains("PASSWORD")
            && !create["env"].to_string().contains("FAKE_API_KEY")
    );
}

#[test]
fn options_reach_the_session() {
    let fake = daemon(completed());
    let arguments = [
        "run",
        "--model",
        "a/b",
        "--approval-mode",
        "auto",
        "--max-steps",
        "5",
        "--timeout",
        "90",
        "--on-ask",
        "deny",
        "--allow",
        "Bash(ls:*)",
        "--allow",
        "Bash(cat:*)",
        "--ask",
        "Bash(git:*)",
        "--deny",
        "Bash(rm:*)",
        "--label",
        "one",
        "--label",
        "two",
        "--name",
        "n",
        "--cwd",
        "/usr",
        "p",
    ];
    assert_eq!(run(&mut reasonix(&fake.home(), &arguments)).code, Some(0));
    let create = &fake.params("session.create")[0];
    let expected = json!({
        "model": "a/b", "approval_mode": "auto", "max_steps": 5, "timeout_ms": 90_000, "on_ask": "deny", "name": "n",
        "labels": ["one", "two"], "cwd": "/usr",
        "rules": {"allow": ["Bash(ls:*)", "Bash(cat:*)"], "ask": ["Bash(git:*)"], "deny": ["Bash(rm:*)"]},
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&create[name], value, "{name}");
    }
}

#[test]
fn detach_prints_where_to_find_it_and_watches_nothing() {
    let fake = daemon(completed());
    let text = run(&mut reasonix(&fake.home(), &["run", "--detach", "p"]));
    assert_eq!((text.code, text.out.as_str()), (Some(0), "3\n"));
    let json = run(&mut reasonix(
        &fake.home(),
        &["run", "--detach", "--output-format", "json", "p"],
    ));
    assert_eq!(
        serde_json::from_str::<Value>(&json.out).unwrap(),
        json!({"session": SESSION, "pid": 3})
    );
    assert!(fake.params("session.attach").is_empty());
}

fn approval() -> Value {
    json!({"interaction_id": "3.1", "session": 3, "call": "c", "shown_hash": "h1", "opened_at": "2026-01-01T00:00:00.000Z",
        "request": {"type": "approval", "tool": "bash", "subject": "rm x",
        "preview": {"type": "line", "text": "rm x"}, "rule": "fallback", "scopes": []}})
}

#[test]
fn a_parked_run_leaves_when_a_person_is_needed() {
    let mut events = completed();
    events[2] = durable(3, Some(1), "interaction.opened", &approval());
    for (format, check) in [("text", "3\n"), ("json", "\"outcome\":\"waiting\"")] {
        let fake = daemon(events[..3].to_vec());
        let arguments = ["run", "--on-ask", "park", "--output-format", format, "p"];
        let done = run(&mut reasonix(&fake.home(), &arguments));
        assert_eq!(done.code, Some(75), "{done:?}");
        assert!(done.out.contains(check), "{done:?}");
        assert_eq!(fake.params("session.create")[0]["on_ask"], "park");
    }
}

#[test]
fn the_first_interrupt_ends_the_turn_and_the_run_tells_how() {
    let fake = daemon(completed()[..2].to_vec());
    let running = Running::start(&mut reasonix(
        &fake.home(),
        &["run", "--output-format", "json", "p"],
    ));
    let subscription = fake.wait_for("session.attach", 1)["subscription"]
        .as_str()
        .unwrap()
        .to_owned();
    running.signal(Signal::INT);
    fake.wait_for("session.interrupt", 1);
    fake.event(
        &subscription,
        &durable(
            3,
            Some(1),
            "turn.ended",
            &ended("interrupted", &json!({"reason": "user"})),
        ),
    );
    let done = running.done();
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(done.out.contains("\"outcome\":\"interrupted\""), "{done:?}");
}

#[test]
fn a_second_interrupt_leaves_at_once() {
    let fake = daemon(completed()[..2].to_vec());
    let running = Running::start(&mut reasonix(
        &fake.home(),
        &["run", "--output-format", "json", "p"],
    ));
    fake.wait_for("session.attach", 1);
    running.signal(Signal::INT);
    fake.wait_for("session.interrupt", 1);
    running.signal(Signal::INT);
    let done = running.done();
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(done.out.contains("\"outcome\":\"interrupted\""), "{done:?}");
    assert!(
        done.err
            .contains("exited while the turn may still run: `reasonix show 3`"),
        "{done:?}"
    );
}

#[test]
fn interrupting_a_prompt_that_waits_takes_it_back_and_says_so() {
    // The turn of another client runs.
    let queued = || {
        daemon(vec![durable(
            1,
            None,
            "prompt.queued",
            &json!({"prompt_id": PROMPT, "text": "p", "by": "x"}),
        )])
    };
    let taking = "· taking the prompt back; Ctrl-C again exits at once";
    let fake = queued();
    let running = Running::start(&mut reasonix(&fake.home(), &["run", "p"]));
    let subscription = fake.wait_for("session.attach", 1)["subscription"]
        .as_str()
        .unwrap()
        .to_owned();
    running.signal(Signal::INT);
    let taken = fake.wait_for("session.unqueue", 1);
    assert_eq!(taken["prompt_id"], PROMPT);
    fake.event(
        &subscription,
        &durable(2, None, "prompt.unqueued", &json!({"prompt_id": PROMPT})),
    );
    let done = running.done();
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(done.err.contains(taking), "{done:?}");
    assert!(!done.err.contains("interrupting"), "{done:?}");
    assert!(!done.err.contains("left before"), "{done:?}");

    // A second one leaves before the daemon has confirmed it.
    let fake = queued();
    let running = Running::start(&mut reasonix(&fake.home(), &["run", "p"]));
    fake.wait_for("session.attach", 1);
    running.signal(Signal::INT);
    fake.wait_for("session.unqueue", 1);
    running.signal(Signal::INT);
    let done = running.done();
    assert_eq!(done.code, Some(130), "{done:?}");
    let left =
        "left before the prompt was taken back: `reasonix queue 3` shows whether it still waits";
    assert!(done.err.contains(left), "{done:?}");
}

#[test]
fn losing_the_terminal_leaves_the_turn_alone() {
    let fake = daemon(completed()[..2].to_vec());
    let running = Running::start(&mut reasonix(&fake.home(), &["run", "p"]));
    fake.wait_for("session.attach", 1);
    running.signal(Signal::HUP);
    assert_eq!(running.done().code, Some(0));
    assert!(fake.params("session.interrupt").is_empty());
}

#[test]
fn going_on_in_a_session_prompts_it_and_shows_only_what_is_new() {
    let summary = crate::commands::summary(3, "idle");
    let fake = Fake::start(move |call: &Call| match call.method.as_str() {
        "session.get" | "session.set" => vec![FakeAction::Answer(summary.clone())],
        "session.list" => vec![FakeAction::Answer(json!({"sessions": [summary]}))],
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": PROMPT, "position": 0, "seq": 10}),
        )],
        "session.attach" => vec![
            FakeAction::Answer(attached(10)),
            FakeAction::Event(durable(
                10,
                None,
                "prompt.queued",
                &json!({"prompt_id": PROMPT, "text": "p", "by": "x"}),
            )),
            // Another turn ends first: it is not ours.
            FakeAction::Event(durable(
                11,
                Some(6),
                "turn.ended",
                &ended("failed", &json!({"text": "Not ours."})),
            )),
            FakeAction::Event(durable(
                12,
                Some(7),
                "turn.started",
                &json!({"prompt_id": PROMPT}),
            )),
            FakeAction::Event(durable(
                13,
                Some(7),
                "turn.ended",
                &ended("completed", &json!({})),
            )),
        ],
        _ => vec![FakeAction::Answer(json!({}))],
    });
    for arguments in [["run", "-s", "3", "p"].as_slice(), &["run", "-c", "p"]] {
        let done = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!(
            (done.code, done.out.as_str()),
            (Some(0), "The answer.\n"),
            "{done:?}"
        );
    }
    assert_eq!(fake.params("session.attach")[0]["after_seq"], 9);
    // Nobody is asked in this turn; the session stays as it was set.
    assert_eq!(fake.params("session.prompt")[0]["on_ask"], "sandboxed");
    assert!(fake.params("session.set").is_empty());
    assert_eq!(fake.params("session.list")[0]["cwd"], "/tmp");
    assert!(fake.params("session.create").is_empty());
    let refused = run(&mut reasonix(
        &fake.home(),
        &["run", "-s", "3", "--model", "x", "p"],
    ));
    assert_eq!(
        refused.code,
        Some(64),
        "an option that would be ignored is refused"
    );
}

/// A daemon whose events are these, and that says so much when it is asked how it ended.
fn asked_daemon(events: Vec<Value>, turns: u64, waited: Value) -> Fake {
    Fake::start(move |call: &Call| match call.method.as_str() {
        "session.create" => vec![FakeAction::Answer(
            json!({"session": SESSION, "pid": 3, "model": "m", "prompt_id": PROMPT}),
        )],
        "session.attach" => {
            let mut acts = vec![FakeAction::Answer(attached(1))];
            acts.extend(events.iter().cloned().map(FakeAction::Event));
            acts
        }
        "session.get" => {
            let mut summary = crate::commands::summary(3, "idle");
            summary["turns"] = turns.into();
            vec![FakeAction::Answer(summary)]
        }
        "session.wait" => vec![FakeAction::Answer(waited.clone())],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

#[test]
fn an_end_too_large_for_an_event_is_asked_for() {
    let oversized = json!({"oversized_bytes": 2_000_000});
    let waited = json!({"done": true, "attention": false, "ended": ended("max_steps", &json!({})), "exit_code": 2});
    let fake = asked_daemon(turn(&oversized), 1, waited);
    let done = run(&mut reasonix(
        &fake.home(),
        &["run", "--output-format", "json", "p"],
    ));
    assert_eq!(done.code, Some(2), "{done:?}");
    let value: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        (&value["outcome"], &value["text"]),
        (&json!("max_steps"), &json!("The answer."))
    );

    let mut events = turn(&oversized);
    events[3] = durable(4, None, "session.exited", &oversized);
    let waited = json!({"done": true, "attention": false, "exited": {"outcome": "killed", "exit_code": 137}, "exit_code": 137});
    let fake = asked_daemon(events, 1, waited);
    let done = run(&mut reasonix(&fake.home(), &["run", "p"]));
    assert_eq!(done.code, Some(137), "{done:?}");
    assert_eq!(fake.params("session.wait")[0]["until"], "exit");
}

#[test]
fn run_fails_if_the_outcome_of_its_turn_is_no_longer_available() {
    let waited = json!({"done": true, "attention": false, "ended": ended("completed", &json!({})), "exit_code": 0});
    // The session has had another turn since: how that one ended is not the answer.
    let fake = asked_daemon(turn(&json!({"oversized_bytes": 2_000_000})), 2, waited);
    let done = run(&mut reasonix(&fake.home(), &["run", "p"]));
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""), "{done:?}");
    assert!(done.err.contains("reasonix logs"), "{}", done.err);
}

#[test]
fn settings_that_stay_with_the_session_are_told() {
    let going_on = |kind: &'static str| {
        Fake::start(move |call: &Call| match call.method.as_str() {
            "session.get" | "session.set" => {
                let mut summary = crate::commands::summary(3, "idle");
                summary["kind"] = kind.into();
                vec![FakeAction::Answer(summary)]
            }
            "session.prompt" => vec![FakeAction::Answer(
                json!({"prompt_id": PROMPT, "position": 0, "seq": 1}),
            )],
            "session.attach" => {
                let mut acts = vec![FakeAction::Answer(attached(1))];
                acts.extend(completed().into_iter().map(FakeAction::Event));
                acts
            }
            _ => vec![FakeAction::Answer(json!({}))],
        })
    };
    let notice = |kind, arguments: &[&str]| {
        let fake = going_on(kind);
        let mut all = vec!["run", "-s", "3", "--output-format", "json"];
        all.extend(arguments);
        all.push("p");
        let done = run(&mut reasonix(&fake.home(), &all));
        assert_eq!(done.code, Some(0), "{done:?}");
        done.err
    };
    assert_eq!(
        notice(
            "headless",
            &[
                "--approval-mode",
                "yolo",
                "--max-steps",
                "5",
                "--timeout",
                "1.5"
            ]
        ),
        "· session 3 keeps these options: approval mode yolo, max-steps 5, timeout 1.5 s\n"
    );
    assert_eq!(
        notice("headless", &["--on-ask", "deny"]),
        "· session 3 keeps these options: on-ask deny\n"
    );
    assert_eq!(
        notice("interactive", &[]),
        "",
        "that nobody is asked is this turn's"
    );
    assert_eq!(
        notice("headless", &["--approval-mode", "ask"]),
        "",
        "as it was"
    );
    let fake = going_on("headless");
    let help = run(&mut reasonix(&fake.home(), &["run", "--help"]));
    let words: Vec<_> = help.out.split_whitespace().collect();
    assert!(words.join(" ").contains("later turns"), "{}", help.out);
}

#[test]
fn progress_shows_no_beginnings_of_answers() {
    let mut events = completed();
    events.insert(
        2,
        live(
            "sync",
            &json!({"seq": 2, "epoch": 1, "interactions": [],
                    "live": [{"item": "m1.1", "offset": 0, "text": "w0 "}]}),
        ),
    );
    events.insert(
        4,
        durable(
            4,
            Some(1),
            "message.assistant",
            &json!({"item": "m1.1", "text": "w0 w1", "finish": "tool_calls",
                    "calls": [{"id": "c", "name": "bash", "arguments": "{}"}]}),
        ),
    );
    events[5]["seq"] = 5.into();
    let fake = daemon(events);
    let done = run(&mut reasonix(&fake.home(), &["run", "p"]));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.err, "· a notice\nw0 w1\n");
}

#[test]
fn in_a_pipeline_a_prompt_is_an_option_and_the_result_one_object() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "session.create" => vec![FakeAction::Refuse(Failure::new(
            ErrorName::Limit,
            "too many",
            "wait",
        ))],
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let done = run(&mut reasonix(
        &fake.home(),
        &["run", "-p", "do it", "--json", "at once"],
    ));
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_eq!(fake.params("session.create")[0]["prompt"], "do it at once");
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(result["error"]["name"], "limit");
    let both = ["run", "--json", "--output-format", "jsonl", "p"];
    let done = run(&mut reasonix(&fake.home(), &both));
    assert_eq!(done.code, Some(64));
}
