//! Questions of models, answered from the inbox, at a session, and at a run's own terminal.

use std::io::Write;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use proto::{ErrorName, Failure};
use serde_json::{Value, json};

use crate::commands::summary;
use crate::fake::{Call, Fake, FakeAction, SESSION, attached, durable, live};
use crate::program::{Running, reasonix, run};
use crate::terminal;

/// A question with as many parts.
fn question(id: &str, parts: usize, at: &str) -> Value {
    let one = json!({"question": "Which \u{202e}store?", "header": "Store", "options": [
        {"label": "SQLite", "description": "a file"}, {"label": "Postgres"}]});
    let two = json!({"question": "Which targets?", "header": "Targets", "multi_select": true,
                     "options": [{"label": "Linux"}, {"label": "macOS"}, {"label": "BSD"}]});
    let questions: Vec<_> = [one, two].into_iter().take(parts).collect();
    json!({"interaction_id": id, "session": 3, "call": "c", "shown_hash": "h", "opened_at": format!("2026-01-01T00:00:{at}.000Z"),
        "request": {"type": "questions", "questions": questions}})
}

fn approval(id: &str, at: &str) -> Value {
    json!({"interaction_id": id, "session": 4, "call": "c", "shown_hash": "h", "opened_at": format!("2026-01-01T00:00:{at}.000Z"),
        "request": {"type": "approval", "tool": "bash", "subject": "rm x",
        "preview": {"type": "line", "text": ""}, "rule": "fallback", "scopes": []}})
}

/// A daemon where this waits.
fn waiting(open: Vec<Value>) -> Fake {
    Fake::start(move |call: &Call| match call.method.as_str() {
        "interaction.list" => vec![FakeAction::Answer(json!({"interactions": open}))],
        "process.list" => vec![FakeAction::Answer(json!({"processes": [], "children": []}))],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

#[test]
fn the_inbox_lists_what_the_daemon_lists_in_its_order() {
    let fake = waiting(vec![
        approval("4.1", "01"),
        question("3.1", 2, "02"),
        approval("4.2", "03"),
    ]);
    let list = run(&mut reasonix(&fake.home(), &["inbox"]));
    let place = |words: &str| {
        list.out
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {list:?}"))
    };
    assert!(
        place("4.1") < place("3.1") && place("3.1") < place("4.2"),
        "{}",
        list.out
    );
    assert!(
        list.out
            .contains("Which \\u{202e}store?  1. SQLite  2. Postgres  (and 1 more)"),
        "{}",
        list.out
    );
    assert_eq!(
        run(&mut reasonix(&fake.home(), &["inbox", "-q"])).out,
        "4.1\n3.1\n4.2\n"
    );
    let json = run(&mut reasonix(&fake.home(), &["inbox", "--json"])).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[1]["interaction_id"], "3.1");
}

#[test]
fn the_inbox_answers_a_question_with_an_argument_for_each_part() {
    let fake = waiting(vec![question("3.1", 2, "01")]);
    let home = fake.home();
    let arguments = ["inbox", "answer", "3.1", "2: with replication", "1,3"];
    let done = run(&mut reasonix(&home, &arguments));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.err.contains("Which \\u{202e}store?") && done.err.contains("2. Postgres"),
        "it is shown: {}",
        done.err
    );
    let sent = &fake.params("interaction.answer")[0];
    assert_eq!(sent["interaction_id"], "3.1");
    assert_eq!(
        sent["answer"]["replies"],
        json!([{"labels": ["Postgres"], "other": "with replication"}, {"labels": ["Linux", "BSD"]}])
    );
    assert!(sent["request_id"].is_string());
    for wrong in [
        ["inbox", "answer", "3.1", "1"].as_slice(),
        &["inbox", "answer", "3.1", "1", "1", "1"],
        &["inbox", "answer", "3.1", "3", "1"],
        &["inbox", "answer", "3.1", "1,2", "1"],
    ] {
        let done = run(&mut reasonix(&home, wrong));
        assert_eq!(done.code, Some(64), "{wrong:?}: {done:?}");
    }
    assert_eq!(fake.params("interaction.answer").len(), 1);
}

#[test]
fn a_question_that_is_closed_is_told_by_whom() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "interaction.list" => vec![FakeAction::Answer(json!({"interactions": []}))],
        _ => vec![FakeAction::Refuse(Failure::new(
            ErrorName::AlreadyResolved,
            "two answered first.",
            "",
        ))],
    });
    let done = run(&mut reasonix(
        &fake.home(),
        &["inbox", "answer", "3.1", "1"],
    ));
    assert_eq!(
        (done.code, done.err.as_str()),
        (Some(1), "reasonix: question 3.1: two answered first.\n")
    );
}

#[test]
fn one_line_for_a_status_bar_is_empty_where_nothing_waits_and_ascii_where_it_must_be() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let none = run(&mut reasonix(home.path(), &["inbox", "--line"]));
    assert_eq!(
        (none.code, none.out.as_str(), none.err.as_str()),
        (Some(0), "", ""),
        "no daemon is started, and none is missed"
    );
    let fake = waiting(Vec::new());
    assert_eq!(
        run(&mut reasonix(&fake.home(), &["inbox", "--line"])).out,
        ""
    );
    let fake = waiting(vec![approval("4.1", "01"), question("3.1", 1, "02")]);
    let line = |locale: &str| {
        let mut command = reasonix(&fake.home(), &["inbox", "--line"]);
        run(command.env("LANG", locale)).out
    };
    assert_eq!(line("C.UTF-8"), "⚑ 2 waiting (1 approval, 1 question)\n");
    assert_eq!(line("C"), "! 2 waiting (1 approval, 1 question)\n");
}

#[test]
fn waiting_returns_when_something_waits_and_124_when_nothing_did() {
    let looks = AtomicUsize::new(0);
    let fake = Fake::start(move |call: &Call| match call.method.as_str() {
        "interaction.list" => {
            let open = match looks.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => Vec::new(),
                _ => vec![question("3.1", 1, "01")],
            };
            vec![FakeAction::Answer(json!({"interactions": open}))]
        }
        _ => vec![FakeAction::Answer(json!({"processes": [], "children": []}))],
    });
    let done = run(&mut reasonix(&fake.home(), &["inbox", "--wait", "-q"]));
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), "3.1\n"),
        "{done:?}"
    );
    assert!(fake.params("interaction.list").len() >= 3);

    let fake = waiting(Vec::new());
    let done = run(&mut reasonix(
        &fake.home(),
        &["inbox", "--wait", "--timeout", "0.2"],
    ));
    assert_eq!((done.code, done.out.as_str()), (Some(124), ""), "{done:?}");
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let done = run(&mut reasonix(
        home.path(),
        &["inbox", "--wait", "--timeout", "0.2"],
    ));
    assert_eq!(
        done.code,
        Some(124),
        "without a daemon nothing waits: {done:?}"
    );
}

/// A session with these questions open.
fn session(questions: Vec<Value>) -> Fake {
    Fake::start(move |call: &Call| match call.method.as_str() {
        "session.attach" => vec![
            FakeAction::Answer(attached(9)),
            FakeAction::Event(live(
                "snapshot",
                &json!({"seq": 9, "epoch": 1, "session": summary(3, "waiting"), "queue": [],
                        "todos": [{"content": "Test", "active_form": "Testing", "status": "in_progress"}]}),
            )),
            FakeAction::Event(live(
                "sync",
                &json!({"seq": 9, "epoch": 1, "live": [], "interactions": questions}),
            )),
        ],
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": SESSION, "position": 0, "seq": 10}),
        )],
        "session.checkpoints" => vec![FakeAction::Answer(json!({"undo": true, "turns": [
            {"turn": 1, "at": "2026-01-01T00:00:00.000Z", "prompt": "first", "files": []},
            {"turn": 4, "at": "2026-01-01T00:00:00.000Z", "prompt": "fourth", "files": ["/w/a"]},
            {"turn": 5, "at": "2026-01-01T00:00:00.000Z", "prompt": "fifth", "files": ["/w/a"],
             "notes": ["what `make` did is not kept"]}]}))],
        "session.rewind" => vec![FakeAction::Answer(
            json!({"seq": 11, "turn": 1, "turns": 0, "files": []}),
        )],
        "session.fork" => vec![FakeAction::Answer(
            json!({"session": SESSION, "pid": 8, "at_turn": 5}),
        )],
        "session.set" => vec![FakeAction::Answer(summary(3, "idle"))],
        "session.export" => {
            let at = call.params["offset"].as_u64().unwrap();
            let piece = match at {
                0 => json!({"text": "# one\n", "total": 10, "next": 6}),
                _ => json!({"text": "two\n", "total": 10}),
            };
            vec![FakeAction::Answer(piece)]
        }
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

fn attach(fake: &Fake, arguments: &[&str]) -> Running {
    let mut all = vec!["attach", "--plain", "3"];
    all.extend(arguments);
    Running::start(reasonix(&fake.home(), &all).stdin(Stdio::piped()))
}

#[test]
fn lines_that_begin_with_a_digit_answer_while_a_question_is_open_and_others_are_prompts() {
    let fake = session(vec![question("3.1", 2, "01")]);
    let mut running = attach(&fake, &[]);
    running.say("9\nwhat for?\n2\n/answer neither: ask ann\n");
    fake.wait_for("interaction.answer", 1);
    running.say("/quit\n");
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(
        fake.params("interaction.answer")[0]["answer"]["replies"],
        json!([{"labels": ["Postgres"]}, {"other": "neither: ask ann"}])
    );
    let prompts = fake.params("session.prompt");
    assert_eq!(prompts.len(), 1, "{prompts:?}");
    assert_eq!(prompts[0]["text"], "what for?");
    for words in [
        "1/2 Store: Which \\u{202e}store?",
        "1. SQLite (a file)",
        "there is no option 9",
        "2/2 Targets",
        "[>] Testing",
    ] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
}

#[test]
fn a_digit_is_a_prompt_where_nothing_is_asked_and_a_watcher_answers_nothing() {
    let fake = session(Vec::new());
    let mut running = attach(&fake, &[]);
    running.say("2 files are missing\n/answer yes\n");
    fake.wait_for("session.prompt", 1);
    running.say("/quit\n");
    let done = running.done();
    assert_eq!(
        fake.params("session.prompt")[0]["text"],
        "2 files are missing"
    );
    assert!(done.out.contains("no question is open"), "{}", done.out);

    let fake = session(vec![question("3.1", 1, "01")]);
    let mut running = attach(&fake, &["--read-only"]);
    running.say("1\n/answer 1\n/undo\n/quit\n");
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        fake.params("interaction.answer").is_empty() && fake.params("session.rewind").is_empty()
    );
    // Who may answer, may not prompt.
    let mut running = attach(&fake, &["--role", "approve"]);
    running.say("a prompt\n1\n");
    fake.wait_for("interaction.answer", 1);
    running.say("/quit\n");
    assert_eq!(running.done().code, Some(0));
    assert!(fake.params("session.prompt").is_empty());
}

#[test]
fn a_question_is_shown_once_over_a_reconnect_and_goes_when_it_is_answered_elsewhere() {
    let mut attaches = 0;
    let fake = Fake::start(move |call: &Call| match call.method.as_str() {
        "session.attach" => {
            attaches += 1;
            let mut acts = vec![FakeAction::Answer(attached(9))];
            if attaches == 1 {
                acts.push(FakeAction::Event(live(
                    "snapshot",
                    &json!({"seq": 9, "epoch": 1, "session": summary(3, "waiting"), "queue": []}),
                )));
            }
            acts.push(FakeAction::Event(live(
                "sync",
                &json!({"seq": 9, "epoch": 1, "live": [], "interactions": [question("3.1", 1, "01")]}),
            )));
            acts
        }
        "session.interrupt" => vec![FakeAction::Close],
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": SESSION, "position": 0, "seq": 10}),
        )],
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let mut running = attach(&fake, &[]);
    running.say("/interrupt\n");
    let subscription = fake.wait_for("session.attach", 2)["subscription"].clone();
    let answered = json!({"interaction_id": "3.1", "call": "c",
        "answer": {"type": "questions", "replies": [{"labels": ["SQLite"]}]}, "by": "ann"});
    fake.event(
        subscription.as_str().unwrap(),
        &durable(10, Some(1), "interaction.resolved", &answered),
    );
    let ended = json!({"level": "info", "text": "mark"});
    fake.event(
        subscription.as_str().unwrap(),
        &durable(11, Some(1), "notice", &ended),
    );
    running.say("/answer 1\n/quit\n");
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(
        done.out.matches("the model asks [3.1]").count(),
        1,
        "{}",
        done.out
    );
}

#[test]
fn attach_commands_rewind_fork_rename_and_export_a_session() {
    let fake = session(Vec::new());
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let file = directory.path().join("out.md");
    let file = file.to_str().unwrap();
    let mut running = attach(&fake, &[]);
    running.say(&format!(
        "/clear\n/clear yes\n/rewind\n/rewind 4 files\n/undo\n/redo\n/fork other\n/rename fix\n/todos\n/export {file}\n/export {file}\n/help\n/quit\n"
    ));
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    let rewinds: Vec<_> = fake
        .params("session.rewind")
        .into_iter()
        .map(|params| {
            (
                params["to_turn"].as_u64(),
                params["what"].as_str().unwrap_or_default().to_owned(),
                params["undo"] == true,
            )
        })
        .collect();
    assert_eq!(
        rewinds,
        [
            (Some(0), "conversation".to_owned(), false),
            (Some(4), "code".to_owned(), false),
            (Some(4), "code".to_owned(), false),
            (None, "both".to_owned(), true),
        ],
        "`/clear` alone does nothing; `/undo` goes to the turn before the last, whatever its number"
    );
    assert_eq!(fake.params("session.fork")[0]["name"], "other");
    assert_eq!(fake.params("session.set")[0]["name"], "fix");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "# one\ntwo\n");
    for words in [
        "`/clear yes` does it",
        "fourth (changed /w/a)",
        "what `make` did is not kept",
        "reasonix attach 8",
        "written to",
        "File exists",
        "/redo",
    ] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
}

#[test]
fn a_run_asks_at_its_terminal_one_part_after_another_and_takes_nothing_typed_before() {
    let fake = terminal::daemon();
    let (running, subscription, mut keys, screen) = terminal::start(&fake);
    keys.write_all(b"sqlite\n").unwrap();
    // The terminal shows what has come to it.
    screen.wait_for("sqlite\r\n");
    fake.event(
        &subscription,
        &durable(3, Some(1), "interaction.opened", &question("3.1", 2, "01")),
    );
    screen.wait_for("? answer 1/2");
    keys.write_all(b"7\n").unwrap();
    screen.wait_for("there is no option 7");
    keys.write_all(b"postgres\n").unwrap();
    screen.wait_for("? answer 2/2: numbers");
    keys.write_all(b"1,2\n").unwrap();
    let sent = fake.wait_for("interaction.answer", 1);
    assert_eq!(
        sent["answer"]["replies"],
        json!([{"labels": ["Postgres"]}, {"labels": ["Linux", "macOS"]}])
    );
    let answered = json!({"interaction_id": "3.1", "call": "c",
        "answer": {"type": "questions", "replies": sent["answer"]["replies"]}, "by": "me"});
    fake.event(
        &subscription,
        &durable(4, Some(1), "interaction.resolved", &answered),
    );
    terminal::finish(&fake, &subscription, 5, running);
    assert_eq!(fake.params("interaction.answer").len(), 1);
}

#[test]
fn a_parked_run_leaves_at_a_question() {
    let fake = terminal::daemon();
    let mut command = reasonix(&fake.home(), &["run", "--on-ask", "park", "p"]);
    let running = Running::start(&mut command);
    let subscription = fake.wait_for("session.attach", 1)["subscription"].clone();
    fake.wait_for("session.prompt", 1);
    fake.event(
        subscription.as_str().unwrap(),
        &durable(1, Some(1), "interaction.opened", &question("3.1", 1, "01")),
    );
    let done = running.done();
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(75), "3\n"),
        "{done:?}"
    );
    assert!(done.err.contains("reasonix inbox"), "{}", done.err);
}

#[test]
fn inbox_watch_prints_a_line_when_a_question_opens_or_closes() {
    let looks = AtomicUsize::new(0);
    let fake = Fake::start(move |call: &Call| match call.method.as_str() {
        "interaction.list" => {
            let open = match looks.fetch_add(1, Ordering::SeqCst) {
                1 | 2 => vec![approval("4.1", "01")],
                _ => Vec::new(),
            };
            vec![FakeAction::Answer(json!({"interactions": open}))]
        }
        _ => vec![FakeAction::Answer(json!({"processes": [], "children": []}))],
    });
    let running = Running::start(&mut reasonix(&fake.home(), &["inbox", "--watch"]));
    fake.wait_for("interaction.list", 5);
    // Not INT, which is ignored below a shell that runs its jobs in the background.
    running.signal(rustix::process::Signal::TERM);
    let done = running.done();
    assert_eq!(
        done.out, "+ 4.1  4  bash  rm x\n- 4.1  4  bash  rm x\n",
        "{done:?}"
    );
}

#[test]
fn nothing_but_a_terminal_gets_escapes() {
    let fake = session(vec![question("3.1", 2, "01")]);
    let mut command = reasonix(&fake.home(), &["attach", "--plain", "3"]);
    let mut running = Running::start(command.stdin(Stdio::piped()).env("TERM", "xterm-256color"));
    running.say("/todos\n/rewind\n/quit\n");
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.out.contains("Testing") && !done.out.contains('\u{1b}'),
        "{}",
        done.out
    );
    let fake = waiting(vec![approval("4.1", "01"), question("3.1", 1, "02")]);
    let mut command = reasonix(&fake.home(), &["inbox", "answer", "3.1", "1"]);
    let done = run(command.env("TERM", "xterm-256color"));
    assert!(
        !done.err.contains('\u{1b}') && !done.err.contains('\u{202e}'),
        "{}",
        done.err
    );
}
