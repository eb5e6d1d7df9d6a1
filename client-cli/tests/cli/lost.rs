//! What those who follow a session do when the daemon, its home or its disk is gone.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use proto::{ErrorName, Failure};
use serde_json::json;

use crate::commands::summary;
use crate::fake::{Call, Fake, FakeAction, SESSION, attached, durable, live, sync};
use crate::program::{Done, Running, reasonix};

/// A program in the daemon's place: notes that it was started, and ends as its argument says.
fn program(directory: &Path, end: &str) -> PathBuf {
    let path = directory.join("daemon.sh");
    let noted = directory.join("started");
    let text = format!("#!/bin/sh\necho x >> '{}'\n{end}\n", noted.display());
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn starts(directory: &Path) -> usize {
    fs::read_to_string(directory.join("started")).map_or(0, |text| text.lines().count())
}

/// The first record.
fn first() -> serde_json::Value {
    durable(
        1,
        None,
        "notice",
        &json!({"level": "info", "text": "there"}),
    )
}

/// A daemon with a session in a turn. When it is asked to interrupt, `before` is done, its socket is gone, and so is it.
fn daemon(before: impl Fn(&Path) + Send + 'static) -> Fake {
    let (sender, homes) = mpsc::channel::<PathBuf>();
    let mut home = None;
    let fake = Fake::start(move |call: &Call| match call.method.as_str() {
        "session.create" => vec![FakeAction::Answer(
            json!({"session": SESSION, "pid": 3, "model": "m", "prompt_id": SESSION}),
        )],
        "session.attach" => {
            let snapshot =
                json!({"seq": 1, "epoch": 1, "session": summary(3, "running"), "queue": []});
            vec![
                FakeAction::Answer(attached(1)),
                FakeAction::Event(live("snapshot", &snapshot)),
                FakeAction::Event(first()),
                FakeAction::Event(sync(1)),
            ]
        }
        "session.unqueue" | "session.interrupt" => {
            let home = home.get_or_insert_with(|| homes.recv().unwrap());
            before(home);
            // It may be gone with its home.
            let _ = fs::remove_file(home.join("run/reasonixd.sock"));
            vec![FakeAction::Close]
        }
        _ => vec![FakeAction::Answer(json!({}))],
    });
    sender.send(fake.home()).unwrap();
    fake
}

/// Attaches, and has the daemon go.
fn attach(fake: &Fake, program: &Path) -> Running {
    let mut running = Running::start(
        reasonix(&fake.home(), &["attach", "--plain", "3"])
            .stdin(Stdio::piped())
            .env("REASONIX_DAEMON", program),
    );
    running.say("/interrupt\n");
    running
}

/// Runs, and has the daemon go.
fn start_run(fake: &Fake, program: &Path) -> Running {
    let running =
        Running::start(reasonix(&fake.home(), &["run", "p"]).env("REASONIX_DAEMON", program));
    fake.wait_for("session.attach", 1);
    running.signal(rustix::process::Signal::INT);
    running
}

fn stop_file(home: &Path) -> File {
    File::create(home.join("run/stop")).unwrap()
}

#[test]
fn waiting_clients_do_not_restart_a_stopped_daemon() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let program = program(directory.path(), "exit 3");
    let fakes = [0, 1].map(|_| daemon(|home| drop(stop_file(home))));
    let begun = Instant::now();
    let followers = [attach(&fakes[0], &program), start_run(&fakes[1], &program)];
    for running in followers {
        let done = running.done();
        assert_eq!(done.code, Some(69), "{done:?}");
        assert!(
            done.err.contains(
                "The daemon was stopped. Session 3 continues when it is started again: `reasonix attach 3`."
            ),
            "{}",
            done.err
        );
    }
    assert!(
        begun.elapsed() >= Duration::from_secs(19),
        "somebody may start it again meanwhile: {:?}",
        begun.elapsed()
    );
    assert_eq!(starts(directory.path()), 0);
}

#[test]
fn a_home_that_was_removed_is_not_made_again() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let program = program(directory.path(), "exit 3");
    let fakes = [0, 1].map(|_| daemon(|home| fs::remove_dir_all(home).unwrap()));
    let followers = [attach(&fakes[0], &program), start_run(&fakes[1], &program)];
    for (running, fake) in followers.into_iter().zip(&fakes) {
        let done = running.done();
        assert_eq!(done.code, Some(69), "{done:?}");
        let words = format!("The home `{}` no longer exists.", fake.home().display());
        assert!(done.err.contains(&words), "{}", done.err);
        assert!(!fake.home().exists());
    }
    assert_eq!(starts(directory.path()), 0);
}

#[test]
fn a_daemon_that_crashed_is_started_again() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let program = program(directory.path(), "exit 3");
    // A stop of an earlier life is an old story: this one began in 2026.
    let fakes = [0, 1].map(|_| {
        daemon(|home| {
            let before = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
            stop_file(home).set_modified(before).unwrap();
        })
    });
    let attached = attach(&fakes[0], &program).done();
    assert_eq!(starts(directory.path()), 1, "{attached:?}");
    assert_eq!(
        attached
            .out
            .matches("· connection lost, reconnecting…")
            .count(),
        1,
        "{}",
        attached.out
    );
    let ran = start_run(&fakes[1], &program).done();
    assert_eq!(starts(directory.path()), 2, "{ran:?}");
    for Done { code, err, .. } in [attached, ran] {
        assert_eq!(code, Some(69));
        assert!(err.contains("exit status: 3"), "{err}");
    }
}

#[test]
fn client_starts_another_daemon_if_its_first_one_lost_the_race() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let home = directory.path().join("home");
    let end = "[ $(wc -l < ../started) -lt 2 ]; exit $((3 * $?))";
    let program = program(directory.path(), end);
    let done = Running::start(reasonix(&home, &["ls"]).env("REASONIX_DAEMON", program)).done();
    assert_eq!(starts(directory.path()), 2, "{done:?}");
    assert!(done.err.contains("exit status: 3"), "{}", done.err);
}

fn full() -> Failure {
    Failure::new(ErrorName::Storage, "No space left on device.", "Free some.")
}

/// A daemon whose disk is full at first; whoever attaches again gets these events.
fn filled(events: Vec<serde_json::Value>) -> Fake {
    let (mut attaches, mut gets) = (0, 0);
    Fake::start(move |call: &Call| match call.method.as_str() {
        "session.create" => vec![FakeAction::Answer(
            json!({"session": SESSION, "pid": 3, "model": "m", "prompt_id": SESSION}),
        )],
        "session.attach" => {
            attaches += 1;
            let snapshot =
                json!({"seq": 1, "epoch": 1, "session": summary(3, "running"), "queue": []});
            let mut acts = vec![FakeAction::Answer(attached(1))];
            if attaches == 1 {
                acts.push(FakeAction::Event(live("snapshot", &snapshot)));
                acts.push(FakeAction::Event(first()));
                acts.push(FakeAction::Event(sync(1)));
                acts.push(FakeAction::Ended(Some(full())));
            } else {
                acts.extend(events.iter().cloned().map(FakeAction::Event));
            }
            acts
        }
        "session.get" => {
            gets += 1;
            let mut summary = summary(3, "running");
            summary["read_only"] = match gets {
                1 => "full".into(),
                _ => serde_json::Value::Null,
            };
            vec![FakeAction::Answer(summary)]
        }
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

#[test]
fn a_full_disk_is_waited_for() {
    let waiting = "! the log cannot be written: No space left on device; waiting until it can";
    let notice = |seq| {
        durable(
            seq,
            Some(1),
            "notice",
            &json!({"level": "info", "text": "on"}),
        )
    };
    let fake = filled(vec![notice(2), sync(2)]);
    let mut running =
        Running::start(reasonix(&fake.home(), &["attach", "--plain", "3"]).stdin(Stdio::piped()));
    assert_eq!(fake.wait_for("session.attach", 2)["after_seq"], 1);
    running.say("/quit\n");
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.out.matches(waiting).count(), 1, "{}", done.out);
    assert_eq!(fake.params("session.get").len(), 2);

    let usage = summary(3, "idle")["usage"].clone();
    let end = json!({"outcome": "completed", "text": "Done.", "usage": usage, "steps": 1, "tool_calls": 0, "duration_ms": 1});
    let fake = filled(vec![
        durable(2, Some(1), "turn.started", &json!({"prompt_id": SESSION})),
        durable(3, Some(1), "turn.ended", &end),
    ]);
    let done = Running::start(&mut reasonix(&fake.home(), &["run", "p"])).done();
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), "Done.\n"),
        "{done:?}"
    );
    assert!(done.err.contains(waiting), "{}", done.err);
}
