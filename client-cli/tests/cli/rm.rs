//! Deleting: nothing goes without a yes.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use proto::{ErrorName, Failure};
use serde_json::{Value, json};

use crate::commands::summary;
use crate::fake::{Call, Fake, FakeAction, SESSION};
use crate::program::{Done, Running, reasonix, run, terminal};
use crate::terminal::Screen;

/// Sessions 3 and 5 can be deleted, 7 runs, 9 does not exist.
fn daemon() -> Fake {
    Fake::start(|call: &Call| match call.method.as_str() {
        "session.delete" => vec![deleted(&call.params)],
        "session.prune" => {
            let one = json!({"session": SESSION, "pid": 3, "name": "n", "cwd": "/w",
                "active_at": "2026-01-01T00:00:00.000Z", "bytes": 2_500_000});
            vec![FakeAction::Answer(
                json!({"sessions": [one], "bytes": 2_500_000, "kept": 2}),
            )]
        }
        "session.get" if call.params["session"] == "9" => vec![deleted(&call.params)],
        "session.get" => vec![FakeAction::Answer(summary(3, "idle"))],
        "session.signal" => vec![FakeAction::Answer(json!({"delivered": true}))],
        _ => vec![FakeAction::Answer(
            json!({"done": true, "attention": false, "exit_code": 137}),
        )],
    })
}

fn deleted(params: &Value) -> FakeAction {
    let session = params["session"].as_str().unwrap();
    match (session, params["confirm"].as_bool()) {
        ("9", _) => FakeAction::Refuse(Failure::new(
            ErrorName::NotFound,
            "There is no session `9`.",
            "`reasonix ls` lists all",
        )),
        ("7", Some(false)) => FakeAction::Refuse(Failure::new(
            ErrorName::Busy,
            "Session 7 runs.",
            "`reasonix kill 7` ends it",
        )),
        (_, Some(true)) => FakeAction::Answer(
            json!({"session": SESSION, "pid": session.parse::<u64>().unwrap(), "bytes": 12_000}),
        ),
        _ => FakeAction::Refuse(
            Failure::new(
                ErrorName::ConfirmNeeded,
                format!("Session {session} has 4 turns and 12 kB."),
                "say it again with `confirm`",
            )
            .with("bytes", 12_000),
        ),
    }
}

/// Sessions that were deleted.
fn gone(fake: &Fake) -> Vec<String> {
    fake.params("session.delete")
        .iter()
        .filter(|params| params["confirm"] == true)
        .map(|params| params["session"].as_str().unwrap().to_owned())
        .collect()
}

/// Runs it at a terminal, and types this when asked.
fn asked(fake: &Fake, arguments: &[&str], answer: &str) -> Done {
    let (ours, theirs) = terminal();
    let mut command = reasonix(&fake.home(), arguments);
    command
        .stdin(Stdio::from(theirs.try_clone().unwrap()))
        .stderr(Stdio::from(theirs))
        .env("TERM", "dumb");
    let running = Running::start(&mut command);
    drop(command);
    let mut keys = File::from(ours.try_clone().unwrap());
    let screen = Screen::read(File::from(ours));
    screen.wait_for("[y/N]");
    keys.write_all(answer.as_bytes()).unwrap();
    running.done()
}

#[test]
fn without_a_terminal_nothing_goes_unless_told_to() {
    let fake = daemon();
    for arguments in [&["rm", "3"][..], &["rm", "--older-than", "9"]] {
        let done = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!(done.code, Some(64), "{done:?}");
        assert!(done.err.contains("--yes"), "{}", done.err);
    }
    // `--yes` would not help.
    let done = run(&mut reasonix(&fake.home(), &["rm", "3", "9"]));
    assert_eq!(done.code, Some(64), "{done:?}");
    assert!(
        done.err.contains("no session `9`") && !done.err.contains("--yes"),
        "{}",
        done.err
    );
    for method in ["session.delete", "session.prune"] {
        assert!(fake.params(method).is_empty(), "{method}");
    }
}

#[test]
fn rm_deletes_the_named_sessions_and_reports_those_it_cannot() {
    let fake = daemon();
    let done = run(&mut reasonix(
        &fake.home(),
        &["rm", "3", "9", "3", "7", "5", "--yes"],
    ));
    assert_eq!(done.code, Some(1), "the last that failed: {done:?}");
    assert_eq!(gone(&fake), ["3", "5"]);
    for words in [
        "Session 3 has 4 turns and 12 kB.",
        "There is no session `9`.",
        "Session 7 runs.",
        "2 sessions deleted, 24 kB freed",
    ] {
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
    let quiet = run(&mut reasonix(&fake.home(), &["rm", "3", "-yq"]));
    assert_eq!(quiet.out, "3\n");
}

#[test]
fn rm_force_ends_a_running_session_before_deleting_it() {
    let fake = daemon();
    let done = run(&mut reasonix(
        &fake.home(),
        &["rm", "7", "--yes", "--force"],
    ));
    assert_eq!(done.code, Some(0), "{done:?}");
    let calls: Vec<_> = fake.calls().into_iter().map(|call| call.method).collect();
    assert_eq!(
        calls,
        [
            "session.delete",
            "session.signal",
            "session.wait",
            "session.delete"
        ]
    );
    assert_eq!(fake.params("session.wait")[0]["until"], "exit");
}

#[test]
fn a_dry_run_deletes_nothing() {
    let fake = daemon();
    let done = run(&mut reasonix(&fake.home(), &["rm", "3", "--dry-run"]));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.err.contains("has 4 turns")
            && done.err.contains("1 session would be deleted, 12 kB freed"),
        "{}",
        done.err
    );
    let json = run(&mut reasonix(
        &fake.home(),
        &["rm", "3", "--dry-run", "--json"],
    ))
    .out;
    let json = &crate::schema::check("rm", &json)[0];
    assert_eq!(json[0]["bytes"], 12_000);
    let done = run(&mut reasonix(
        &fake.home(),
        &["rm", "--older-than", "30", "--dry-run"],
    ));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.out
            .lines()
            .nth(1)
            .unwrap()
            .starts_with("3    2.5 MB  "),
        "{}",
        done.out
    );
    assert!(
        done.err
            .contains("not deleted, because they are running, waiting or paused: 2")
            && done
                .err
                .contains("1 session would be deleted, 2.5 MB freed"),
        "{}",
        done.err
    );
    assert!(gone(&fake).is_empty());
    let dry = fake.params("session.prune");
    assert_eq!(dry, [json!({"keep_days": 30, "dry_run": true})]);
}

#[test]
fn rm_asks_on_a_terminal_and_deletes_only_after_yes() {
    for (answer, code, deleted) in [
        ("y\n", 0, &["3"][..]),
        ("Yes\n", 0, &["3"]),
        ("n\n", 1, &[]),
        ("\n", 1, &[]),
        ("\u{4}", 1, &[]),
    ] {
        let fake = daemon();
        let done = asked(&fake, &["rm", "3"], answer);
        assert_eq!(done.code, Some(code), "{answer:?}: {done:?}");
        assert_eq!(gone(&fake), deleted, "{answer:?}");
    }
    let fake = daemon();
    let done = asked(&fake, &["rm", "--older-than", "30"], "y\n");
    assert_eq!(done.code, Some(0), "{done:?}");
    let dry: Vec<_> = fake
        .params("session.prune")
        .iter()
        .map(|params| params["dry_run"].clone())
        .collect();
    assert_eq!(dry, [json!(true), json!(false)]);
}
