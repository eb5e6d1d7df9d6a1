//! The other verbs.

use proto::{ErrorName, Failure};
use serde_json::{Value, json};

use crate::fake::{Call, Fake, FakeAction, SESSION, durable};
use crate::program::{reasonix, run};

/// A session as `session.get` says it.
pub fn summary(pid: u64, state: &str) -> Value {
    json!({
        "session": SESSION, "pid": pid, "ppid": 0, "name": "na\u{1b}[31mme", "labels": [], "cwd": "/tmp",
        "model": "p/m", "kind": "interactive", "state": state, "cause": "x", "approval_mode": "ask", "turns": 2,
        "usage": {"requests": 1, "prompt_tokens": 12_000, "cached_tokens": 0, "output_tokens": 345,
                  "reasoning_tokens": 0, "cost_micros": 0, "unknown_cost_calls": 0},
        "context_tokens": 0, "context_window": 0, "created_at": "2026-01-01T00:00:00.000Z",
        "active_at": "2026-01-02T03:04:05.000Z", "title": "na\u{1b}[31mme", "last_line": "last", "queued": 0, "pending_interactions": 0,
        "attached": 0, "seq": 9,
    })
}

fn approval(id: &str) -> Value {
    json!({"interaction_id": id, "session": 3, "call": "c", "shown_hash": format!("h{id}"), "opened_at": "2026-01-01T00:00:00.000Z",
        "request": {"type": "approval", "tool": "bash", "subject": "rm \u{202e}x",
        "preview": {"type": "line", "text": ""}, "rule": "fallback", "scopes": []}})
}

const VERBS: [&str; 36] = [
    "run",
    "attach",
    "ls",
    "ps",
    "kill",
    "pause",
    "resume",
    "queue",
    "inspect",
    "strace",
    "steps",
    "show",
    "wait",
    "logs",
    "inbox",
    "daemon",
    "demo",
    "doctor",
    "rpc",
    "send",
    "search",
    "history",
    "export",
    "rename",
    "fork",
    "rewind",
    "close",
    "rm",
    "stats",
    "setup",
    "login",
    "models",
    "config",
    "trust",
    "completions",
    "man",
];

#[test]
fn only_near_values_are_suggested() {
    for (mode, near) in [
        ("foo", None),
        ("ay", None),
        ("yol", Some("yolo")),
        ("autoo", Some("auto")),
    ] {
        for language in ["en", "zh"] {
            let home = tempfile::tempdir_in("/tmp").unwrap();
            let mut command = reasonix(home.path(), &["run", "--approval-mode", mode, "x"]);
            let done = run(command.env("REASONIX_LANG", language));
            assert_eq!(done.code, Some(64), "{mode}: {done:?}");
            let tip = match language {
                "en" => "a similar value exists",
                _ => "是否想用",
            };
            assert_eq!(
                done.err.contains(tip),
                near.is_some(),
                "{mode}: {}",
                done.err
            );
            let line = done.err.lines().find(|line| line.contains(tip));
            if let (Some(line), Some(near)) = (line, near) {
                assert!(line.contains(near), "{mode}: {line}");
            }
        }
    }
}

#[test]
fn every_command_has_help_and_refuses_nonsense_with_a_hint() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    for verb in VERBS {
        let help = run(&mut reasonix(home.path(), &[verb, "--help"]));
        assert_eq!(help.code, Some(0), "{verb}");
        assert!(
            help.out.contains("Usage:") && help.err.is_empty(),
            "{verb}: {help:?}"
        );
        let wrong = run(&mut reasonix(home.path(), &[verb, "--no-such-option"]));
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(64), ""), "{verb}");
        assert!(
            wrong.err.contains("--no-such-option") && wrong.err.contains("--help"),
            "{verb}: {}",
            wrong.err
        );
    }
    let all = run(&mut reasonix(home.path(), &["help", "--all"]));
    for verb in VERBS {
        assert!(
            all.out
                .lines()
                .any(|line| line.trim_start().starts_with(verb)),
            "{verb} is not in the help"
        );
    }
    assert_eq!(
        run(&mut reasonix(home.path(), &["--version"])).out,
        format!("reasonix {}\n", proto::VERSION)
    );
}

#[test]
fn help_explains_a_command_and_knows_near_names() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let help = |arguments: &[&str]| run(&mut reasonix(home.path(), arguments));
    assert_eq!(help(&["help"]).out, help(&["--help"]).out);
    assert_eq!(
        help(&["help", "daemon", "stop"]).out,
        help(&["daemon", "stop", "--help"]).out
    );
    let wrong = help(&["help", "daemon", "strt"]);
    assert_eq!(wrong.code, Some(64), "{wrong:?}");
    assert!(wrong.err.contains("`start`"), "{}", wrong.err);
}

#[test]
fn bad_input_is_64_and_says_what_to_do() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let cases: &[&[&str]] = &[
        &[],
        &["nonsense"],
        &["attch"],
        &["run", "--approval-mode", "brave", "p"],
        &["run", "--timeout", "0", "p"],
        &["run", "-c", "-s", "3", "p"],
        &["attach"],
        &["kill"],
        &["kill", "-s", "HUP", "3"],
        &["pause"],
        &["resume"],
        &["attach", "--plain", "--new", "--role", "watch"],
        &["attach", "--plain", "--role", "boss", "3"],
        &["queue", "3", "move", "1", "0"],
        &["queue", "3", "edit", "1"],
        &["show"],
        &["show", "3", "--sent"],
        &["show", "3", "--json", "--step", "1"],
        &["show", "3", "--step", "0"],
        &["inspect", "3", "soul"],
        &["wait"],
        &["wait", "--timeout", "soon", "3"],
        &["logs"],
        &["logs", "--since", "0", "3"],
        &["logs", "--since", "yesterday", "3"],
        &["ls", "--state", "happy"],
        &["ls", "-q", "--json"],
        &["search"],
        &["search", " "],
        &["search", "-n", "0", "x"],
        &["history"],
        &["history", "around", "3"],
        &["export"],
        &["export", "3", "--format", "pdf"],
        &["export", "3", "--force"],
        &["export", "3", "-o", "/tmp"],
        &["rename", "3"],
        &["rename", "3", ""],
        &["rename", "3", "x", "--clear"],
        &["fork", "3", "--at-turn", "0"],
        &["rewind", "3"],
        &["rewind", "3", "1", "--undo"],
        &["rewind", "3", "1", "--code", "--conversation"],
        &["rewind", "3", "--list", "--force"],
        &["rm"],
        &["rm", "3"],
        &["rm", "3", "--older-than", "5"],
        &["rm", "--older-than", "0", "--yes"],
        &["send", "3"],
        &["send", "3", "x", "--now", "--steer"],
        &["inbox", "allow"],
        &["inbox", "--timeout", "1"],
        &["inbox", "--line", "--json"],
        &["setup"],
        &["setup", "--provider", "x", "--base-url", "x.example"],
        &["login"],
        &["config", "get", "--quiet"],
        &["completions", "cmd"],
        &["man", "nonsense"],
        &["rpc"],
        &["rpc", "session.list", "{"],
    ];
    for arguments in cases.iter().copied() {
        let done = run(&mut reasonix(home.path(), arguments));
        assert_eq!(
            (done.code, done.out.as_str()),
            (Some(64), ""),
            "{arguments:?}: {done:?}"
        );
        assert!(
            done.err.lines().filter(|line| !line.is_empty()).count() >= 2,
            "{arguments:?}: {}",
            done.err
        );
    }
    let near = run(&mut reasonix(home.path(), &["attch"]));
    assert!(
        near.err.contains("`attach`"),
        "a near name is suggested: {}",
        near.err
    );
}

#[test]
fn status_commands_do_not_start_the_daemon() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::create_dir(home.path().join("open")).unwrap();
    std::fs::write(home.path().join("open").join(SESSION), "").unwrap();
    let cases: [(&[&str], &str); 7] = [
        (&["ps"], ""),
        (
            &["ps", "--json"],
            "{\"processes\":[],\"children\":[],\"change\":0}\n",
        ),
        (&["inbox"], ""),
        (&["inbox", "--json"], "[]\n"),
        (&["daemon", "status"], ""),
        (&["daemon", "status", "--json"], "{\"running\":false}\n"),
        (&["daemon", "stop"], ""),
    ];
    for (arguments, out) in cases {
        // The daemon's program does not exist: starting it would fail.
        let done = run(&mut reasonix(home.path(), arguments));
        assert_eq!(
            (done.code, done.out.as_str()),
            (Some(0), out),
            "{arguments:?}: {done:?}"
        );
        assert!(
            done.err.contains("no daemon is running"),
            "{arguments:?}: {}",
            done.err
        );
        assert_eq!(
            done.err.contains(SESSION),
            arguments != ["daemon", "stop"],
            "{arguments:?}: {}",
            done.err
        );
    }
}

#[test]
fn listings_come_as_table_as_ids_and_as_json() {
    let fake = Fake::start(|call: &Call| {
        match (call.method.as_str(), call.params["before"].as_u64()) {
            ("session.list", None) => vec![FakeAction::Answer(
                json!({"sessions": [summary(3, "running")], "next": 3}),
            )],
            ("session.list", Some(_)) => {
                vec![FakeAction::Answer(
                    json!({"sessions": [summary(2, "exited")]}),
                )]
            }
            ("process.list", _) => vec![FakeAction::Answer(json!({
                "processes": [summary(3, "running")],
                "children": [{"session": 3, "os_pid": 77, "kind": "shell", "pid": 12, "command": "sleep 9", "running_ms": 4000}],
            }))],
            _ => vec![FakeAction::Close],
        }
    });
    let table = run(&mut reasonix(&fake.home(), &["ls"]));
    let lines: Vec<_> = table.out.lines().collect();
    assert!(
        lines[0].starts_with("PID") && lines[1].starts_with("3 ") && lines[2].starts_with("2 "),
        "{table:?}"
    );
    assert!(
        lines[1].contains("12k") && lines[1].contains("  name") && !table.out.contains('\u{1b}'),
        "{table:?}"
    );
    assert_eq!(
        run(&mut reasonix(&fake.home(), &["ls", "-q"])).out,
        "3\n2\n"
    );
    let json: Value =
        serde_json::from_str(&run(&mut reasonix(&fake.home(), &["ls", "--json"])).out).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 2);
    let ps = run(&mut reasonix(&fake.home(), &["ps", "-a", "-l", "ci"]));
    assert!(ps.out.contains("sleep 9"), "{ps:?}");
    assert_eq!(
        fake.params("process.list")[0],
        json!({"all": true, "label": "ci"})
    );
}

#[test]
fn kill_signals_each_and_tells_what_failed() {
    let fake = Fake::start(|call: &Call| match call.params["session"].as_str() {
        Some("9") | None => vec![FakeAction::Refuse(Failure::new(
            ErrorName::NotFound,
            "no session `9`",
            "is it `3`?",
        ))],
        _ => vec![FakeAction::Answer(json!({"delivered": true}))],
    });
    let done = run(&mut reasonix(
        &fake.home(),
        &["kill", "-s", "kill", "9", "3"],
    ));
    assert_eq!(done.code, Some(64), "{done:?}");
    assert_eq!(done.err, "reasonix: no session `9`\n  is it `3`?\n");
    let sent = fake.params("session.signal");
    assert_eq!(
        (&sent[1]["session"], &sent[1]["signal"]),
        (&json!("3"), &json!("KILL"))
    );
    assert!(sent[1]["request_id"].is_string());
    run(&mut reasonix(&fake.home(), &["kill", "3"]));
    assert_eq!(fake.params("session.signal")[2]["signal"], "TERM");
}

#[test]
fn wait_exits_as_the_run_would() {
    let fake = Fake::start(|call: &Call| {
        let (done, code) = match call.params["session"].as_str() {
            Some("1") => (true, 0),
            Some("2") => (true, 3),
            _ => (false, 0),
        };
        vec![FakeAction::Answer(
            json!({"done": done, "attention": false, "exit_code": code}),
        )]
    });
    for (arguments, code) in [
        (&["1"][..], 0),
        (&["1", "2", "5"], 3),
        (&["--timeout", "1.5", "5"], 124),
    ] {
        let done = run(reasonix(&fake.home(), &["wait"]).args(arguments));
        assert_eq!(
            (done.code, done.out.as_str()),
            (Some(code), ""),
            "{arguments:?}"
        );
    }
    // The remaining time when the daemon is asked.
    let left = fake.calls().last().unwrap().params["timeout_ms"].as_u64();
    assert!(
        left.is_some_and(|left| (1..=1500).contains(&left)),
        "{left:?}"
    );
}

#[test]
fn logs_print_all_pages() {
    let fake = Fake::start(|call: &Call| {
        if call.method == "session.get" {
            let mut summary = summary(3, "idle");
            summary["read_only"] = json!("the log is damaged");
            return vec![FakeAction::Answer(summary)];
        }
        let from = call.params["from_seq"].as_u64().unwrap();
        let notice = |seq: u64| {
            durable(
                seq,
                None,
                "notice",
                &json!({"level": "info", "text": format!("n{seq}")}),
            )
        };
        vec![FakeAction::Answer(match from {
            5 => json!({"events": [notice(5)], "epoch": 1}),
            from => {
                json!({"events": (from..5).map(notice).collect::<Vec<_>>(), "next": 5, "epoch": 1})
            }
        })]
    });
    let json = run(&mut reasonix(
        &fake.home(),
        &["logs", "--json", "--since", "3", "3"],
    ));
    let seqs: Vec<_> = json
        .out
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!((json.code, seqs), (Some(0), vec![3, 4, 5]));
    assert!(
        json.err.contains("is read-only: the log is damaged"),
        "{}",
        json.err
    );
    assert_eq!(
        run(&mut reasonix(&fake.home(), &["logs", "3"])).out,
        "· n1\n· n2\n· n3\n· n4\n· n5\n"
    );
}

#[test]
fn the_inbox_answers_with_the_hash_of_what_it_showed() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "interaction.list" => vec![FakeAction::Answer(
            json!({"interactions": [approval("3.1"), approval("3.2")]}),
        )],
        "process.list" => vec![FakeAction::Answer(json!({"processes": [], "children": []}))],
        _ if call.params["interaction_id"] == "9.9" => {
            vec![FakeAction::Refuse(Failure::new(
                ErrorName::NotFound,
                "no question `9.9`",
                "see `reasonix inbox`",
            ))]
        }
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let list = run(&mut reasonix(&fake.home(), &["inbox"]));
    assert!(
        list.out.contains("3.1") && list.out.contains("rm \\u{202e}x"),
        "{list:?}"
    );
    assert_eq!(
        run(&mut reasonix(&fake.home(), &["inbox", "-q"])).out,
        "3.1\n3.2\n"
    );
    let allowed = run(&mut reasonix(
        &fake.home(),
        &["inbox", "allow", "3.2", "--session"],
    ));
    assert_eq!(allowed.code, Some(0), "{allowed:?}");
    assert!(
        allowed.err.contains("rm \\u{202e}x"),
        "the question is shown: {}",
        allowed.err
    );
    assert!(
        allowed.err.ends_with("· 3.2: allowed for the session\n"),
        "and what became of it: {}",
        allowed.err
    );
    run(&mut reasonix(
        &fake.home(),
        &["inbox", "deny", "3.1", "--note", "keep it"],
    ));
    run(&mut reasonix(
        &fake.home(),
        &["inbox", "deny", "3.2", "no, use", "pnpm"],
    ));
    let sent = fake.params("interaction.answer");
    assert_eq!(
        (&sent[0]["shown_hash"], &sent[0]["answer"]["decision"]),
        (&json!("h3.2"), &json!("allow_session"))
    );
    assert_eq!(
        (&sent[1]["shown_hash"], &sent[1]["answer"]["note"]),
        (&json!("h3.1"), &json!("keep it"))
    );
    assert_eq!(
        (&sent[2]["shown_hash"], &sent[2]["answer"]["note"]),
        (&json!("h3.2"), &json!("no, use pnpm"))
    );
    assert_eq!(
        run(&mut reasonix(&fake.home(), &["inbox", "allow", "9.9"])).code,
        Some(64)
    );
}

#[test]
fn raw_calls_go_through_unchanged() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "session.list" => vec![FakeAction::Answer(json!({"z": 1, "a": [2.5, "x\u{9b}"]}))],
        _ => vec![FakeAction::Refuse(Failure::new(
            ErrorName::NotAllowed,
            "no",
            "ask",
        ))],
    });
    let done = run(&mut reasonix(
        &fake.home(),
        &["rpc", "session.list", r#"{"limit": 1}"#],
    ));
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), "{\"z\":1,\"a\":[2.5,\"x\\u009b\"]}\n"),
        "{done:?}"
    );
    assert_eq!(fake.params("session.list")[0], json!({"limit": 1}));
    assert_eq!(
        run(&mut reasonix(&fake.home(), &["rpc", "session.close"])).code,
        Some(77)
    );
    let schema: Value =
        serde_json::from_str(&run(&mut reasonix(&fake.home(), &["rpc", "--schema"])).out).unwrap();
    assert!(schema["methods"]["session.create"].is_object());
}

#[test]
fn doctor_fails_where_something_needed_does() {
    let check =
        |level: &str| json!({"name": "store", "level": level, "text": "t", "hint": "fix it"});
    for (level, code) in [("ok", 0), ("warning", 0), ("failed", 1)] {
        let checks = json!({"checks": [check(level)]});
        let fake = Fake::start(move |_| vec![FakeAction::Answer(checks.clone())]);
        // The fake's own socket is open to others until now: the daemon's never is.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(fake.home().join("run/reasonixd.sock"), mode).unwrap();
        let done = run(&mut reasonix(
            &fake.home(),
            &["doctor", "--rebuild-index", "--json"],
        ));
        assert_eq!(done.code, Some(code), "{done:?}");
        assert_eq!(fake.params("doctor.run")[0]["rebuild_index"], true);
    }
    let home = tempfile::tempdir_in("/tmp").unwrap();
    assert_eq!(
        run(&mut reasonix(home.path(), &["doctor"])).code,
        Some(1),
        "no daemon can be started"
    );
}

#[test]
fn daemon_status_has_what_scripts_read() {
    let fake = Fake::start(|_| {
        vec![FakeAction::Answer(json!({
            "daemon": {"version": "1", "build": "", "pid": 5, "started_at": "2026-01-01T00:00:00.000Z", "instance": "i"},
            "pid": 5, "version": "1", "uptime_s": 7, "home": "/h", "socket": "/s", "memory_bytes": 9_000_000,
            "sessions": {"stored": 1, "loaded": 1, "running": 0, "waiting": 0},
            "clients": [{"name": "c", "pid": 6, "role": "drive", "connected_s": 1}],
            "confinement": "namespaces", "problems": ["config.toml: unknown key"],
        }))]
    });
    let json: Value = serde_json::from_str(
        &run(&mut reasonix(&fake.home(), &["daemon", "status", "--json"])).out,
    )
    .unwrap();
    for name in [
        "pid", "version", "uptime_s", "sessions", "clients", "running",
    ] {
        assert!(json.get(name).is_some(), "{name}");
    }
    let text = run(&mut reasonix(&fake.home(), &["daemon", "status"])).out;
    assert!(
        text.contains("namespaces") && text.contains("unknown key"),
        "{text}"
    );
}

#[test]
fn daemon_logs_are_cut_and_cleaned() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    assert_eq!(
        run(&mut reasonix(home.path(), &["daemon", "logs"])).code,
        Some(0)
    );
    std::fs::create_dir(home.path().join("logs")).unwrap();
    std::fs::write(
        home.path().join("logs/reasonixd.log"),
        "one\ntwo\nthr\u{1b}[31mee\n",
    )
    .unwrap();
    assert_eq!(
        run(&mut reasonix(home.path(), &["daemon", "logs", "-n", "2"])).out,
        "two\nthree\n"
    );
}

#[test]
fn an_answer_that_comes_too_late_is_told_who_answered() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "interaction.list" => vec![FakeAction::Answer(json!({"interactions": []}))],
        _ => vec![FakeAction::Refuse(
            Failure::new(
                ErrorName::AlreadyResolved,
                "two answered first: allowed once.",
                "There is nothing left to do.",
            )
            .with("by", "two")
            .with("decision", "allow_once")
            .with("at", "2026-01-01T00:00:03.000Z"),
        )],
    });
    for verb in ["allow", "deny"] {
        let done = run(&mut reasonix(&fake.home(), &["inbox", verb, "3.1"]));
        assert_eq!(done.code, Some(1));
        assert_eq!(
            done.err,
            "reasonix: question 3.1: two already answered it: allowed once at 2026-01-01T00:00:03.000Z\n"
        );
    }
}
