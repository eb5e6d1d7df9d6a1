//! Daemons of other versions: which is replaced, which is worked with, and how a daemon is handed over.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use proto::{ErrorName, Failure};
use serde_json::{Value, json};

use crate::commands::summary;
use crate::fake::{Call, Fake, FakeAction};
use crate::program::{Done, reasonix, run};

/// A daemon's program that says it is of this version, and does nothing else.
fn installed(fake: &Fake, version: &str) -> PathBuf {
    let path = fake.home().join("reasonixd");
    std::fs::write(&path, format!("#!/bin/sh\necho reasonixd {version}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A daemon that is at this.
fn daemon(
    version: &'static str,
    running: u64,
    clients: usize,
    state: &'static str,
    children: Vec<Value>,
) -> Fake {
    Fake::of_version(version, move |call: &Call| match call.method.as_str() {
        "daemon.status" => {
            let client = json!({"name": "c", "pid": 6, "role": "drive", "connected_s": 1});
            vec![FakeAction::Answer(json!({
                "daemon": {"version": version, "build": "", "pid": 5, "started_at": "2026-01-01T00:00:00.000Z", "instance": "i"},
                "pid": 5, "version": version, "uptime_s": 7, "home": "/h", "socket": "/s", "memory_bytes": 9,
                "sessions": {"stored": 1, "loaded": 1, "running": running, "waiting": 0},
                "clients": vec![client; clients], "confinement": "", "problems": [],
            }))]
        }
        "process.list" => vec![FakeAction::Answer(
            json!({"processes": [summary(3, state)], "children": children}),
        )],
        "session.list" => vec![FakeAction::Answer(json!({"sessions": []}))],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

fn with(fake: &Fake, version: &str, arguments: &[&str]) -> Done {
    run(reasonix(&fake.home(), arguments).env("REASONIX_DAEMON", installed(fake, version)))
}

#[test]
fn idle_older_daemon_is_shut_down_for_a_newer_client() {
    let fake = daemon("0.0.9", 0, 1, "idle", Vec::new());
    let done = with(&fake, "0.1.0", &["ls"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(fake.params("daemon.shutdown"), [json!({"mode": "idle"})]);
    let methods: Vec<_> = fake.calls().into_iter().map(|call| call.method).collect();
    assert_eq!(
        methods.last().map(String::as_str),
        Some("session.list"),
        "the call is made afterwards, and once: {methods:?}"
    );
}

#[test]
fn a_daemon_that_has_work_or_is_not_older_stays() {
    let shell = json!({"session": 3, "os_pid": 7, "kind": "shell", "pid": 12, "command": "x", "running_ms": 1});
    let cases: [(Fake, &str, &[&str]); 8] = [
        (daemon("0.0.9", 1, 1, "idle", Vec::new()), "0.1.0", &["ls"]),
        (daemon("0.0.9", 0, 2, "idle", Vec::new()), "0.1.0", &["ls"]),
        (
            daemon("0.0.9", 0, 1, "paused", Vec::new()),
            "0.1.0",
            &["ls"],
        ),
        (daemon("0.0.9", 0, 1, "idle", vec![shell]), "0.1.0", &["ls"]),
        // The daemon that would be started is not newer: nothing would be gained.
        (daemon("0.0.9", 0, 1, "idle", Vec::new()), "0.0.9", &["ls"]),
        // A command that only asks a running daemon.
        (daemon("0.0.9", 0, 1, "idle", Vec::new()), "0.1.0", &["ps"]),
        (daemon("0.2.0", 0, 1, "idle", Vec::new()), "0.3.0", &["ls"]),
        (
            daemon("0.1.0+other", 0, 1, "idle", Vec::new()),
            "0.1.0",
            &["ls"],
        ),
    ];
    for (index, (fake, version, arguments)) in cases.iter().enumerate() {
        let done = with(fake, version, arguments);
        assert_eq!(done.code, Some(0), "{index}: {done:?}");
        assert!(fake.params("daemon.shutdown").is_empty(), "{index}");
    }
}

#[test]
fn a_restart_hands_over_and_says_what() {
    let shell = json!({"session": 3, "os_pid": 7, "kind": "shell", "pid": 12, "command": "sleep\n9", "running_ms": 1});
    let tool =
        json!({"session": 3, "os_pid": 8, "kind": "command", "command": "make", "running_ms": 1});
    let fake = daemon("0.1.0", 1, 1, "running", vec![shell, tool]);
    let done = with(&fake, "0.1.0", &["daemon", "restart"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(
        fake.params("daemon.shutdown"),
        [json!({"mode": "hand_over"})]
    );
    assert_eq!(
        done.err,
        "· to be handed over: session 3 (/tmp)\n\
         · to be ended unless it finishes within 5 seconds: command of session 3: make\n\
         · to be ended: background command 12 of session 3: sleep 9\n\
         daemon 4000000 is running, version 0.1.0\n"
    );
    let lost = run(&mut reasonix(&fake.home(), &["daemon", "restart"]));
    assert_eq!(lost.code, Some(69), "nothing to start afterwards: {lost:?}");
    let older = with(&fake, "0.0.9", &["daemon", "restart"]);
    assert_eq!(older.code, Some(1), "{older:?}");
    assert!(older.err.contains("is newer"), "{}", older.err);
    assert_eq!(fake.params("daemon.shutdown").len(), 1);
}

#[test]
fn a_daemon_that_cannot_hand_over_is_not_stopped_under_its_work() {
    for (state, modes, code) in [
        ("running", vec!["hand_over"], 1),
        ("idle", vec!["hand_over", "idle"], 0),
    ] {
        let list = json!({"processes": [summary(3, state)], "children": []});
        let fake = Fake::of_version("0.0.1", move |call: &Call| match call.method.as_str() {
            "process.list" => vec![FakeAction::Answer(list.clone())],
            "daemon.shutdown" if call.params["mode"] == "hand_over" => {
                vec![FakeAction::Refuse(Failure::new(
                    ErrorName::InvalidParams,
                    "unknown variant",
                    "",
                ))]
            }
            _ => vec![FakeAction::Answer(json!({}))],
        });
        let done = with(&fake, "0.1.0", &["daemon", "restart"]);
        assert_eq!(done.code, Some(code), "{done:?}");
        let sent: Vec<_> = fake.params("daemon.shutdown");
        let sent: Vec<_> = sent
            .iter()
            .map(|params| params["mode"].as_str().unwrap())
            .collect();
        assert_eq!(sent, modes);
        assert_eq!(done.err.contains("--idle"), code == 1, "{}", done.err);
    }
}

#[test]
fn commands_are_named_before_a_stop_ends_them() {
    let shell = json!({"session": 3, "os_pid": 7, "kind": "shell", "pid": 12, "command": "sleep 9", "running_ms": 1});
    let tool =
        json!({"session": 3, "os_pid": 8, "kind": "command", "command": "make", "running_ms": 1});
    let list = json!({"processes": [summary(3, "idle")], "children": [tool, shell]});
    let fake = Fake::start(move |call: &Call| match call.method.as_str() {
        "process.list" => vec![FakeAction::Answer(list.clone())],
        // No session is ended: the failure came before.
        _ => vec![FakeAction::Refuse(Failure::new(
            ErrorName::Internal,
            "No.",
            "",
        ))],
    });
    for (arguments, fate) in [
        (&["daemon", "stop"][..], "to be ended"),
        // Then the daemon lets them end first.
        (&["daemon", "stop", "--idle"], "waiting until it finishes"),
    ] {
        let done = run(&mut reasonix(&fake.home(), arguments));
        let commands = [
            "command of session 3: make",
            "background command 12 of session 3: sleep 9",
        ];
        let lines = commands.map(|command| format!("· {fate}: {command}\n"));
        assert_eq!(done.err, format!("{}reasonix: No.\n", lines.concat()));
    }
}

#[test]
fn a_stop_says_what_it_interrupted() {
    let fake = daemon("0.1.0", 1, 1, "running", Vec::new());
    let done = run(&mut reasonix(&fake.home(), &["daemon", "stop"]));
    assert_eq!(
        (done.code, done.err.as_str()),
        (
            Some(0),
            "· interrupted: session 3 (/tmp)\nthe daemon has stopped\n"
        )
    );
    let done = run(&mut reasonix(&fake.home(), &["daemon", "stop", "--idle"]));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.err.contains("waiting until it finishes: session 3"),
        "{}",
        done.err
    );
    let sent = fake.params("daemon.shutdown");
    assert_eq!(sent, [json!({"mode": "now"}), json!({"mode": "idle"})]);
}

#[test]
fn no_common_protocol_says_which_side_and_an_old_daemon_can_still_be_stopped() {
    let refusal = Failure::new(
        ErrorName::ProtocolMismatch,
        "No protocol version in common: the client speaks 1 to 1, the daemon 0 to 0.",
        "Upgrade the daemon.",
    );
    let fake = Fake::start(|_| vec![FakeAction::Answer(json!({}))]);
    fake.speaks(0, refusal);
    let done = run(&mut reasonix(&fake.home(), &["ls"]));
    assert_eq!(done.code, Some(69), "{done:?}");
    assert!(
        done.err.contains("1 to 1") && done.err.contains("Upgrade the daemon"),
        "{}",
        done.err
    );
    let done = run(&mut reasonix(&fake.home(), &["daemon", "stop"]));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(fake.params("daemon.shutdown"), [json!({"mode": "now"})]);
}
