//! `reasonix attach --plain`.

use std::process::Stdio;

use proto::{ErrorName, Failure};
use serde_json::{Value, json};

use crate::commands::summary;
use crate::fake::{Call, Fake, FakeAction, SESSION, attached, durable, live};
use crate::program::{Running, reasonix, run};

fn approval(id: &str) -> Value {
    json!({"interaction_id": id, "session": 3, "call": "c", "shown_hash": format!("h{id}"), "opened_at": "2026-01-01T00:00:00.000Z",
        "request": {"type": "approval", "tool": "edit_file", "subject": "a.txt",
        "preview": {"type": "diff", "path": "a.txt", "diff": "-old\n+new\n", "added": 1, "removed": 1}, "rule": "fallback", "scopes": []}})
}

fn message(seq: u64, text: &str) -> Value {
    durable(
        seq,
        Some(1),
        "message.assistant",
        &json!({"item": format!("m1.{seq}"), "text": text, "finish": "stop"}),
    )
}

/// A session at record 9, with these questions open.
fn daemon(pending: Vec<Value>) -> Fake {
    Fake::start(move |call: &Call| match call.method.as_str() {
        "session.attach" => vec![
            FakeAction::Answer(attached(9)),
            FakeAction::Event(live(
                "snapshot",
                &json!({"seq": 9, "epoch": 1, "session": summary(3, "running"), "queue": []}),
            )),
            FakeAction::Event(message(9, "from before")),
            FakeAction::Event(live(
                "sync",
                &json!({"seq": 9, "epoch": 1, "live": [], "interactions": pending}),
            )),
        ],
        "session.get" => vec![FakeAction::Answer(summary(3, "idle"))],
        "session.list" => vec![FakeAction::Answer(
            json!({"sessions": [summary(3, "idle")]}),
        )],
        "session.wait" => vec![FakeAction::Answer(
            json!({"done": true, "attention": false, "exit_code": 0}),
        )],
        "session.prompt" if call.params["text"] == "/nonsense" => {
            vec![FakeAction::Refuse(Failure::new(
                ErrorName::NotFound,
                "There is no command `/nonsense`.",
                "See `reasonix commands`. A blank before the slash makes it text.",
            ))]
        }
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": SESSION, "position": 0, "seq": 10}),
        )],
        "session.interrupt" => vec![FakeAction::Answer(json!({"delivered": true}))],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

fn start(fake: &Fake, arguments: &[&str]) -> Running {
    let mut all = vec!["attach", "--plain"];
    all.extend(arguments);
    Running::start(reasonix(&fake.home(), &all).stdin(Stdio::piped()))
}

#[test]
fn attach_without_a_terminal_suggests_plain() {
    let fake = daemon(Vec::new());
    let done = run(&mut reasonix(&fake.home(), &["attach", "3"]));
    assert_eq!(done.code, Some(64));
    assert!(done.err.contains("--plain"), "{}", done.err);
}

#[test]
fn a_session_that_does_not_exist_is_named_before_the_missing_terminal() {
    let fake = Fake::start(|_: &Call| {
        let failure = Failure::new(ErrorName::NotFound, "There is no session `99`.", "");
        vec![FakeAction::Refuse(failure)]
    });
    let done = run(&mut reasonix(&fake.home(), &["attach", "99"]));
    assert_eq!(done.err, "reasonix: There is no session `99`.\n");
}

#[test]
fn lines_are_prompts_and_words_with_a_slash_are_commands() {
    let fake = daemon(Vec::new());
    let mut running = start(&fake, &["3"]);
    running.say("do this\n/steer use tabs\n/nonsense\n/interrupt\n");
    fake.wait_for("session.interrupt", 1);
    running.say("/quit\n");
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    let prompts = fake.params("session.prompt");
    let words: Vec<_> = prompts
        .iter()
        .map(|prompt| (prompt["text"].as_str(), prompt["when"].as_str()))
        .collect();
    assert_eq!(
        words,
        [
            (Some("do this"), Some("queue")),
            (Some("use tabs"), Some("steer")),
            // The daemon knows the custom commands, and refuses other words.
            (Some("/nonsense"), Some("queue")),
        ]
    );
    assert!(done.out.contains("from before"), "{}", done.out);
    let hint = "· There is no command `/nonsense`.\n· See `/help`. A blank before the slash makes it text.\n";
    let all = format!("{}{}", done.out, done.err);
    assert!(all.contains(hint), "{all}");
}

#[test]
fn attach_waits_for_the_turn_at_the_end_of_its_input() {
    let fake = daemon(Vec::new());
    let mut running = start(&fake, &[]);
    drop(running.child.stdin.take());
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.out.contains("from before"),
        "earlier entries are printed before it leaves: {}",
        done.out
    );
    assert_eq!(fake.params("session.wait")[0]["until"], "turn");
}

#[test]
fn questions_are_shown_whole_and_answered_with_their_hash() {
    let fake = daemon(vec![approval("3.1"), approval("3.2")]);
    let mut running = start(&fake, &["3"]);
    // The questions are on the screen before what follows them in the stream is.
    let subscription = fake.wait_for("session.attach", 1)["subscription"]
        .as_str()
        .unwrap()
        .to_owned();
    running.say("a prompt, to know that it reads\n");
    fake.wait_for("session.prompt", 1);
    fake.event(
        &subscription,
        &durable(
            10,
            Some(1),
            "interaction.resolved",
            &json!({"interaction_id": "3.1", "call": "c",
            "answer": {"type": "approval", "decision": "allow_once"}, "by": "somebody else"}),
        ),
    );
    running.say("/deny 3.2 keep \"it\"\n");
    let sent = fake.wait_for("interaction.answer", 1);
    running.say("/quit\n");
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(
        (
            &sent["interaction_id"],
            &sent["shown_hash"],
            &sent["answer"]["decision"],
            &sent["answer"]["note"]
        ),
        (
            &json!("3.2"),
            &json!("h3.2"),
            &json!("deny"),
            &json!("keep \"it\"")
        )
    );
    assert!(
        done.out.contains("+new") && done.out.contains("-old"),
        "{}",
        done.out
    );
}

#[test]
fn attach_prints_an_answer_given_by_another_client() {
    let fake = daemon(vec![approval("3.1")]);
    let mut running = start(&fake, &["3"]);
    let subscription = fake.wait_for("session.attach", 1)["subscription"]
        .as_str()
        .unwrap()
        .to_owned();
    let resolved = json!({"interaction_id": "3.1", "call": "c",
        "answer": {"type": "approval", "decision": "deny"}, "by": "somebody else"});
    // It comes after the events of the attach, on the same connection.
    running.say("a prompt, to know that it is attached\n");
    fake.wait_for("session.prompt", 1);
    fake.event(
        &subscription,
        &durable(10, Some(1), "interaction.resolved", &resolved),
    );
    fake.event(
        &subscription,
        &durable(
            11,
            Some(1),
            "session.exited",
            &json!({"outcome": "killed", "exit_code": 137}),
        ),
    );
    drop(running.child.stdin.take());
    fake.wait_for("session.get", 1);
    let done = running.done();
    assert!(done.out.contains("3.1"), "{}", done.out);
}

#[test]
fn one_letter_answers_an_open_question_and_is_a_prompt_where_there_is_none() {
    for (said, decision) in [("y\n", "allow_once"), ("No\n", "deny")] {
        let fake = daemon(vec![approval("3.1")]);
        let mut running = start(&fake, &["3"]);
        running.say(said);
        let sent = fake.wait_for("interaction.answer", 1);
        assert_eq!(
            (&sent["interaction_id"], &sent["answer"]["decision"]),
            (&json!("3.1"), &json!(decision))
        );
        running.say("/quit\n");
        let done = running.done();
        assert!(done.out.contains("`y` allows it once"), "{}", done.out);
        assert!(fake.params("session.prompt").is_empty());
    }
    let fake = daemon(Vec::new());
    let mut running = start(&fake, &["3"]);
    running.say("y\n");
    assert_eq!(fake.wait_for("session.prompt", 1)["text"], "y");
    running.say("/quit\n");
    running.done();
}

#[test]
fn a_watcher_changes_nothing() {
    let fake = daemon(vec![approval("3.1")]);
    let mut running = start(&fake, &["--read-only", "3"]);
    running.say("a prompt\n/approve\n/quit\n");
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        fake.params("session.prompt").is_empty() && fake.params("interaction.answer").is_empty()
    );
    assert!(done.out.contains("can only watch"), "{}", done.out);
}

/// A daemon with one session of this kind, or none, whose attach shows these records after the snapshot.
fn daemon_of(kind: Option<&'static str>, records: Vec<Value>) -> Fake {
    let summary = move |kind: &str| {
        let mut summary = summary(3, "idle");
        summary["kind"] = kind.into();
        summary["turns"] = 1.into();
        summary
    };
    Fake::start(move |call: &Call| match call.method.as_str() {
        "session.list" => {
            let sessions: Vec<_> = kind.map(summary).into_iter().collect();
            vec![FakeAction::Answer(json!({"sessions": sessions}))]
        }
        "session.create" => vec![FakeAction::Answer(
            json!({"session": call.params["session"], "pid": 3, "model": "m"}),
        )],
        "session.get" | "session.set" => {
            vec![FakeAction::Answer(summary(kind.unwrap_or("interactive")))]
        }
        "session.attach" => {
            let snapshot = json!({"seq": 9, "epoch": 1, "session": summary(kind.unwrap_or("interactive")), "queue": []});
            let mut acts = vec![
                FakeAction::Answer(attached(9)),
                FakeAction::Event(live("snapshot", &snapshot)),
            ];
            acts.extend(records.iter().cloned().map(FakeAction::Event));
            acts.push(FakeAction::Event(live(
                "sync",
                &json!({"seq": 9, "epoch": 1, "live": [], "interactions": []}),
            )));
            acts
        }
        "session.wait" => vec![FakeAction::Answer(json!({
            "done": true, "attention": false, "exit_code": 2, "ended": {
                "outcome": "max_steps", "text": "", "steps": 2, "tool_calls": 1, "duration_ms": 1,
                "usage": {"requests": 2, "prompt_tokens": 1, "cached_tokens": 0, "output_tokens": 1,
                          "reasoning_tokens": 0, "cost_micros": 1, "unknown_cost_calls": 0},
            },
        }))],
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": SESSION, "position": 0, "seq": 10}),
        )],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

#[test]
fn where_no_session_is_an_interactive_one_is_created() {
    for (there, arguments) in [
        (None, [].as_slice()),
        (Some("headless"), &["--new", "--model", "p/m"]),
    ] {
        let fake = daemon_of(there, Vec::new());
        let mut running = start(&fake, arguments);
        running.say("/quit\n");
        let done = running.done();
        assert_eq!(done.code, Some(0), "{done:?}");
        let created = fake.params("session.create");
        assert_eq!(created.len(), 1);
        assert_eq!(
            (&created[0]["kind"], &created[0]["cwd"]),
            (&json!("interactive"), &json!("/tmp"))
        );
        assert!(created[0].get("prompt").is_none());
        assert_eq!(
            created[0].get("model").is_some(),
            there.is_some(),
            "{created:?}"
        );
        assert_eq!(
            fake.params("session.attach")[0]["session"],
            created[0]["session"]
        );
    }
}

#[test]
fn a_watcher_creates_no_session() {
    let fake = daemon_of(None, Vec::new());
    let done = start(&fake, &["--read-only"]).done();
    assert_eq!(done.code, Some(64), "{done:?}");
    assert!(fake.params("session.create").is_empty());
}

#[test]
fn prompting_a_headless_session_makes_it_interactive() {
    let fake = daemon_of(Some("headless"), Vec::new());
    let mut running = start(&fake, &[]);
    running.say("one\ntwo\n/quit\n");
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    let changes: Vec<_> = fake
        .calls()
        .into_iter()
        .map(|call| call.method)
        .filter(|method| ["session.set", "session.prompt"].contains(&method.as_str()))
        .collect();
    assert_eq!(changes, ["session.set", "session.prompt", "session.prompt"]);
    let set = &fake.params("session.set")[0];
    assert_eq!(
        (&set["kind"], &set["on_ask"]),
        (&json!("interactive"), &json!("wait"))
    );
    assert!(fake.params("session.create").is_empty());

    let fake = daemon_of(Some("interactive"), Vec::new());
    let mut running = start(&fake, &[]);
    running.say("one\n/quit\n");
    assert_eq!(running.done().code, Some(0));
    assert!(fake.params("session.set").is_empty(), "it is a person's");
}

#[test]
fn the_title_stands_there_once() {
    let created = json!({
        "session": SESSION, "pid": 3, "ppid": 0, "epoch": 1, "cwd": "/tmp", "root": "/tmp",
        "provider_kind": "openai-chat", "model": "p/m", "context_window": 0, "prefix_sha256": "", "tools": [], "kind": "interactive",
        "approval_mode": "ask", "on_ask": "wait", "max_steps": 0, "timeout_ms": 0, "env": {}, "version": "0",
    });
    let fake = daemon_of(
        Some("interactive"),
        vec![
            durable(8, None, "session.created", &created),
            message(9, "from before"),
        ],
    );
    let mut running = start(&fake, &["3"]);
    drop(running.child.stdin.take());
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(
        done.out, "· session 3 · p/m · /tmp\nfrom before\n",
        "once, as provider/model"
    );
}

#[test]
fn an_end_too_large_for_an_event_is_asked_for() {
    for (turn, words) in [
        (1, "step limit reached"),
        (0, "did not report how it ended"),
    ] {
        let end = durable(
            9,
            Some(turn),
            "turn.ended",
            &json!({"oversized_bytes": 2_000_000}),
        );
        let fake = daemon_of(Some("interactive"), vec![end]);
        let mut running = start(&fake, &["3"]);
        drop(running.child.stdin.take());
        let done = running.done();
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.out.contains(words), "{}", done.out);
    }
}
