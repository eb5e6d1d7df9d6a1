//! `ls` and `ps` in their four forms, what every command prints as JSON, and `show`.

use std::fs::File;
use std::process::Stdio;

use proto::{ErrorName, Failure};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

use crate::commands::summary;
use crate::fake::{Call, Fake, FakeAction, durable};
use crate::program::{Running, reasonix, run, terminal};
use crate::schema::check;
use crate::terminal::Screen;

const PROMPT: &str = "01890000-0000-7000-8000-0000000000aa";

fn usage() -> Value {
    json!({"requests": 2, "prompt_tokens": 12_000, "cached_tokens": 6_000, "output_tokens": 345,
           "reasoning_tokens": 0, "cost_micros": 12_345, "unknown_cost_calls": 1})
}

fn rich() -> Value {
    let mut summary = summary(3, "running");
    summary["usage"] = usage();
    summary["labels"] = json!(["ci", "night"]);
    summary["context_tokens"] = json!(50_000);
    summary["context_window"] = json!(200_000);
    summary["queued"] = json!(1);
    summary["pending_interactions"] = json!(2);
    summary["origin"] = json!({"session": crate::fake::SESSION, "pid": 2, "turn": 5, "first": crate::fake::SESSION});
    summary
}

fn records() -> Vec<Value> {
    vec![
        durable(
            1,
            Some(1),
            "message.user",
            &json!({"item": "m1.1", "text": "first", "voice": "prompt"}),
        ),
        durable(
            2,
            Some(1),
            "message.assistant",
            &json!({"item": "m1.2", "text": "one", "finish": "stop"}),
        ),
        durable(
            3,
            Some(2),
            "message.user",
            &json!({"item": "m2.1", "text": "sec\u{1b}[31mond", "voice": "prompt"}),
        ),
        durable(
            4,
            Some(2),
            "message.assistant",
            &json!({"item": "m2.2", "text": "two\nlines", "finish": "stop"}),
        ),
        durable(5, Some(2), "usage", &json!({})),
    ]
}

/// A daemon that knows session 3.
fn daemon() -> Fake {
    Fake::start(|call: &Call| {
        if call.params["session"] == "9" || call.method == "process.kill" {
            let failure = Failure::new(ErrorName::NotFound, "There is no session `9`.", "");
            return vec![FakeAction::Refuse(failure)];
        }
        vec![match call.method.as_str() {
            "session.signal" => FakeAction::Answer(json!({"delivered": true})),
            "session.close" => FakeAction::Answer(json!({})),
            "session.list" => FakeAction::Answer(json!({"sessions": [rich()]})),
            "session.get" => FakeAction::Answer(rich()),
            "session.set" => FakeAction::Answer(rich()),
            "process.list" => FakeAction::Answer(json!({
                "processes": [rich()],
                "children": [{"session": 3, "os_pid": 77, "kind": "shell", "pid": 12, "command": "sleep 9",
                              "running_ms": 4000}],
            })),
            "session.read" => {
                let from = call.params["from_seq"].as_u64().unwrap();
                let events: Vec<_> = records().split_off(usize::try_from(from - 1).unwrap());
                FakeAction::Answer(json!({"events": events, "epoch": 1}))
            }
            "session.inspect" => FakeAction::Answer(json!({"part": "status", "summary": rich(),
                "queue": [{"prompt_id": PROMPT, "text": "then this", "steer": false, "by": "ann"}],
                "settings": {}, "clients": [{"name": "c", "role": "watch"}]})),
            "session.checkpoints" => FakeAction::Answer(
                json!({"turns": [{"turn": 1, "at": "2026-01-01T00:00:00.000Z",
                "prompt": "first", "files": ["/w/a.rs"]}], "undo": true}),
            ),
            "session.steps" => FakeAction::Answer(json!({"steps": [{"n": 1, "turn": 1, "seq": 2,
                "at": "2026-01-01T00:00:00.000Z", "attempts": 1, "request_bytes": 1, "first_token_ms": 1,
                "duration_ms": 1, "prompt_tokens": 1, "cached_tokens": 0, "output_tokens": 1, "text": "", "calls": []}]})),
            "session.fork" => {
                FakeAction::Answer(json!({"session": crate::fake::SESSION, "pid": 4, "at_turn": 2}))
            }
            "session.rewind" => {
                FakeAction::Answer(json!({"seq": 9, "turn": 1, "turns": 1, "files": []}))
            }
            "session.delete" => {
                FakeAction::Answer(json!({"session": crate::fake::SESSION, "pid": 3, "bytes": 9}))
            }
            "session.prune" => FakeAction::Answer(json!({"sessions": [], "bytes": 0, "kept": 0})),
            "history.search" => {
                FakeAction::Answer(json!({"hits": [], "matches": 0, "complete": true}))
            }
            "history.around" => FakeAction::Answer(
                json!({"session": crate::fake::SESSION, "pid": 3, "cwd": "/w",
                "messages": [], "earlier": false, "later": false}),
            ),
            "stats.query" => FakeAction::Answer(
                json!({"total": {"key": "total", "usage": usage()}, "days": [],
                "models": [], "sessions": []}),
            ),
            "session.prompt" => {
                FakeAction::Answer(json!({"prompt_id": PROMPT, "position": 1, "seq": 6}))
            }
            "session.wait" => {
                FakeAction::Answer(json!({"done": true, "attention": false, "exit_code": 0}))
            }
            "daemon.status" => FakeAction::Answer(json!({
                "daemon": {"version": "1", "build": "", "pid": 5, "started_at": "2026-01-01T00:00:00.000Z",
                           "instance": "i"},
                "pid": 5, "version": "1", "uptime_s": 7, "home": "/h", "socket": "/s", "memory_bytes": 9,
                "sessions": {"stored": 1, "loaded": 1, "running": 0, "waiting": 0}, "clients": [],
                "confinement": "namespaces", "problems": []})),
            "doctor.run" => FakeAction::Answer(json!({"checks": []})),
            other => FakeAction::Refuse(Failure::new(
                ErrorName::Internal,
                format!("nobody asks for {other}"),
                "",
            )),
        }]
    })
}

#[test]
fn ps_has_four_forms() {
    let fake = daemon();
    let out = |arguments: &[&str]| {
        let done = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{done:?}");
        done.out
    };
    // How long ago changes from hour to hour, and with it the width of its column: the words are tried where
    // they are made.
    let short = out(&["ps"]);
    let (table, children) = short.split_once("\n\n").expect("two tables");
    let (head, row) = table.split_once('\n').expect("a row");
    assert_eq!(
        head.split_whitespace().collect::<Vec<_>>().join(" "),
        "PID STATE MODEL TURNS TOKENS ACTIVE CWD TITLE"
    );
    let (before, after) = row.split_once(" ago ").expect("how long ago");
    let (before, _) = before.split_once("12k ").expect("tokens");
    assert_eq!(
        (before, after),
        ("3    running  p/m    2      ", " /tmp  name")
    );
    assert_eq!(head.find("CWD"), row.find("/tmp"));
    assert_eq!(
        children,
        "PID  KIND   SESSION  OS PID  RUNS   COMMAND\n12   shell  3        77      4.0 s  sleep 9\n"
    );
    let long = out(&["ps", "-v"]);
    assert_eq!(long, out(&["ps", "--verbose"]));
    let heads = long.lines().next().unwrap();
    let row = long.lines().nth(1).unwrap();
    for (head, cell) in [
        ("COST", "$0.0123 and one request of unknown price"),
        ("CONTEXT", "25 %"),
        ("APPROVAL", "ask"),
        ("CREATED", "2026-01-01T00:00"),
        ("LABELS", "ci,night"),
        ("SESSION", crate::fake::SESSION),
    ] {
        let column = heads.find(head).unwrap();
        assert!(row[column..].starts_with(cell), "{head}: {long}");
    }
    assert_eq!(out(&["ps", "-q"]), "3\n");
    check("ps", &out(&["ps", "--json"]));
}

#[test]
fn ps_tree_shows_processes_below_their_session() {
    let fake = Fake::start(|_: &Call| {
        let (mut agent, mut other) = (rich(), rich());
        (agent["pid"], agent["ppid"], agent["title"]) = (json!(5), json!(3), json!("agent"));
        (other["pid"], other["title"]) = (json!(4), json!("other"));
        let process = |session: u64, kind: &str, command: &str| json!({"session": session, "os_pid": 77, "kind": kind, "command": command, "running_ms": 4000});
        let mut shared = process(0, "command", "npx ex");
        shared["server"] = json!(true);
        let mut background = process(5, "shell", "sleep 9");
        background["pid"] = json!(12);
        let children = [
            shared,
            background,
            process(3, "command", "make"),
            process(9, "command", "top"),
        ];
        vec![FakeAction::Answer(
            json!({"processes": [rich(), other, agent], "children": children}),
        )]
    });
    let rows = |arguments: &[&str]| {
        let done = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{done:?}");
        let (tree, _) = done.out.split_once("\n\n").expect("two tables");
        let lines = tree.lines().skip(1).map(|line| {
            let title = line
                .rsplit("  ")
                .find(|cell| !cell.is_empty() && *cell != "last");
            let title = title.unwrap_or_default().trim().to_owned();
            (line.split(' ').next().unwrap_or_default().to_owned(), title)
        });
        lines.collect::<Vec<_>>()
    };
    let wanted = [
        ("3", "name"),
        ("-", "└ make"),
        ("5", "└ agent"),
        ("12", "└ sleep 9"),
        ("4", "other"),
    ];
    let wanted = wanted.map(|(pid, title)| (pid.to_owned(), title.to_owned()));
    assert_eq!(rows(&["ps", "--tree"]), wanted);
    let long = rows(&["ps", "--tree", "-v"]);
    assert_eq!(long.len(), wanted.len(), "{long:?}");
    // Processes of no session, or of one that is not listed, are below.
    let whole = run(&mut reasonix(&fake.home(), &["ps", "--tree"])).out;
    let (_, others) = whole.split_once("\n\n").expect("two tables");
    let rows: Vec<_> = others.lines().skip(1).collect();
    assert!(
        rows.len() == 2 && rows[0].ends_with("npx ex") && rows[1].ends_with("top"),
        "{whole}"
    );
    let quiet = run(&mut reasonix(&fake.home(), &["ps", "--tree", "-q"])).out;
    assert_eq!(quiet, "3\n5\n4\n");
    let json = run(&mut reasonix(&fake.home(), &["ps", "--tree", "--json"])).out;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["children"].as_array().map(Vec::len), Some(4), "{json}");
}

#[test]
fn ps_calls_an_mcp_server_a_server() {
    let fake = Fake::start(|_: &Call| {
        vec![FakeAction::Answer(json!({"processes": [], "children": [
            {"session": 0, "os_pid": 78, "kind": "command", "command": "npx ex", "running_ms": 4000,
             "server": true}]}))]
    });
    let done = run(&mut reasonix(&fake.home(), &["ps"]));
    assert!(
        done.out
            .contains("\n-    server  -        78      4.0 s  npx ex\n"),
        "{done:?}"
    );
}

#[test]
fn quiet_lists_of_servers_facts_and_rules_are_names_only() {
    let fake = Fake::start(|call: &Call| {
        vec![FakeAction::Answer(match call.method.as_str() {
            "mcp.list" => json!({"problems": ["no."], "servers": [
                {"name": "ex", "scope": "user", "source": "f", "target": "t", "state": "failed",
                 "reason": "gone"}]}),
            "memory.list" | "memory.search" => json!({"problems": ["no."], "facts": [
                {"name": "one", "description": "d", "type": "project", "scope": "project", "file": "/f"}]}),
            _ => json!({"root": "/w", "approval_mode": "ask", "problems": ["no."], "rules": [
                {"list": "allow", "rule": "bash(a *)", "layer": "user", "origin": "f"},
                {"list": "deny", "rule": "write(b)", "layer": "user", "origin": "f"}]}),
        })]
    });
    for (arguments, out) in [
        (&["mcp", "-q"][..], "ex\n"),
        (&["mcp", "list", "-q"], "ex\n"),
        (&["memory", "--quiet"], "one\n"),
        (&["memory", "list", "-q"], "one\n"),
        (&["memory", "search", "-q", "x"], "one\n"),
        (&["permissions", "-q"], "bash(a *)\nwrite(b)\n"),
        (&["permissions", "list", "-q"], "bash(a *)\nwrite(b)\n"),
    ] {
        let done = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!(
            (done.out.as_str(), done.err.as_str()),
            (out, ""),
            "{arguments:?}"
        );
        assert_eq!(done.code, Some(0), "{arguments:?}");
    }
    let presets = run(&mut reasonix(&fake.home(), &["mcp", "presets", "-q"])).out;
    assert!(presets.starts_with("context7\nfetch\n"), "{presets}");
    let both = run(&mut reasonix(
        &fake.home(),
        &["mcp", "list", "-q", "--json"],
    ));
    assert_eq!(both.code, Some(64), "{both:?}");
}

#[test]
fn ls_asks_for_what_is_wanted_only() {
    let fake = daemon();
    run(&mut reasonix(
        &fake.home(),
        &["ls", "--here", "--state", "running", "-l", "ci"],
    ));
    assert_eq!(
        fake.params("session.list")[0],
        json!({"cwd": "/tmp", "state": "running", "label": "ci", "limit": 0})
    );
    for (text, found) in [("AME", "3\n"), ("other", "")] {
        let done = run(&mut reasonix(&fake.home(), &["ls", "-q", "--name", text]));
        assert_eq!((done.code, done.out.as_str()), (Some(0), found));
    }
    let long = run(&mut reasonix(&fake.home(), &["ls", "-v"])).out;
    assert!(long.contains("ci,night"), "{long}");
}

#[test]
fn every_json_fits_its_schema() {
    let fake = daemon();
    let cases: [(&str, &[&str]); 29] = [
        ("ls", &["ls"]),
        ("ps", &["ps"]),
        ("show", &["show", "3"]),
        ("rename", &["rename", "3", "x"]),
        ("fork", &["fork", "3"]),
        ("rewind", &["rewind", "3", "1"]),
        ("rewind --list", &["rewind", "3", "--list"]),
        ("rm --older-than", &["rm", "--older-than", "9", "--dry-run"]),
        ("rm", &["rm", "9", "3", "--yes"]),
        ("search", &["search", "x"]),
        ("history search", &["history", "search", "x"]),
        ("history around", &["history", "around", "3", "4"]),
        ("stats", &["stats"]),
        ("send", &["send", "3", "x"]),
        ("queue", &["queue", "3"]),
        ("inspect", &["inspect", "3"]),
        ("steps", &["steps", "3"]),
        ("strace", &["strace", "3"]),
        ("logs", &["logs", "3"]),
        ("wait", &["wait", "3", "5"]),
        ("daemon status", &["daemon", "status"]),
        ("doctor", &["doctor"]),
        ("ls", &["ls", "--name", "no such"]),
        ("kill", &["kill", "3", "9"]),
        ("pause", &["pause", "3"]),
        ("resume", &["resume", "3"]),
        ("close", &["close", "3", "9"]),
        ("wait", &["wait", "9"]),
        ("run", &["run", "-s", "9", "x", "--output-format=json"]),
    ];
    for (command, arguments) in cases {
        let mut arguments = arguments.to_vec();
        if !arguments.contains(&"--json") && command != "run" {
            arguments.push("--json");
        }
        let done = run(&mut reasonix(&fake.home(), &arguments));
        check(command, &done.out);
        assert!(!done.out.is_empty(), "{command}: {done:?}");
    }
    let home = tempfile::tempdir_in("/tmp").unwrap();
    for arguments in [&["ps", "--json"][..], &["daemon", "status", "--json"]] {
        let command = arguments[..arguments.len() - 1].join(" ");
        check(&command, &run(&mut reasonix(home.path(), arguments)).out);
    }
}

#[test]
fn every_command_with_json_has_a_schema() {
    /// Of no table: one has a schema of its own in the protocol, others belong to others.
    fn walk(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        for sub in command.get_subcommands() {
            let path = format!("{path} {}", sub.get_name()).trim().to_owned();
            if sub
                .get_arguments()
                .any(|argument| argument.get_id() == "json")
            {
                found.push(path.clone());
            }
            walk(sub, &path, found);
        }
    }
    let mut found = Vec::new();
    walk(&client_cli::command(), "", &mut found);
    assert!(found.len() > 15, "{found:?}");
    for command in found {
        assert!(
            client_cli::schema::schema(&command).is_some(),
            "`{command} --json` has no schema"
        );
    }
}

#[test]
fn show_tells_a_session_in_short_with_its_last_exchange() {
    let fake = daemon();
    let done = run(&mut reasonix(&fake.home(), &["show", "3"]));
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{done:?}");
    for words in [
        "session      3 (01890000",
        "name         name",
        "labels       ci, night",
        "state        running (x)",
        "model        p/m",
        "origin       a fork of 2 after its turn 5",
        "turns        2",
        "tokens       12k sent (6000 cached), 345 received, 2 requests",
        "cost         $0.0123 and one request of unknown price",
        "context      25 % (50k of 200k tokens)",
        "waits        questions: 2, queued prompts: 1, answer with `reasonix inbox`",
        "queued       by ann: then this",
        "checkpoints  1 turn to rewind to: `reasonix rewind 3 --list`",
    ] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    assert!(
        done.out.ends_with("\n> second\ntwo\nlines\n"),
        "{}",
        done.out
    );
    assert!(!done.out.contains('\u{1b}'), "{}", done.out);
}

#[test]
fn a_step_that_does_not_exist_prints_nothing_but_the_error() {
    let fake = Fake::start(|_: &Call| {
        let failure = Failure::new(ErrorName::NotFound, "There is no step 99.", "");
        vec![FakeAction::Refuse(failure)]
    });
    let done = run(&mut reasonix(&fake.home(), &["show", "3", "--step", "99"]));
    assert_eq!(
        (done.out.as_str(), done.err.as_str()),
        ("", "reasonix: There is no step 99.\n")
    );
}

#[test]
fn inspect_says_each_fact_once() {
    let fake = Fake::start(|_: &Call| {
        vec![FakeAction::Answer(
            json!({"part": "status", "summary": rich(), "queue": [],
            "settings": {"model": "p/m", "name": "name", "on_ask": "wait"}, "clients": []}),
        )]
    });
    let done = run(&mut reasonix(&fake.home(), &["inspect", "3"]));
    for name in ["model", "name", "on_ask"] {
        let rows = done
            .out
            .lines()
            .filter(|line| line.starts_with(&format!("{name} ")));
        assert_eq!(rows.count(), 1, "{name}: {}", done.out);
    }
}

#[test]
fn a_second_kill_says_that_nothing_is_left_to_stop() {
    let mut alive = true;
    let fake = Fake::start(move |_: &Call| {
        vec![FakeAction::Answer(
            json!({"delivered": std::mem::take(&mut alive)}),
        )]
    });
    let first = run(&mut reasonix(&fake.home(), &["kill", "3"]));
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""));
    let second = run(&mut reasonix(&fake.home(), &["kill", "3"]));
    assert_eq!(
        (second.code, second.err.as_str()),
        (Some(0), "3: nothing to stop\n")
    );
}

#[test]
fn turns_to_rewind_to_are_named_by_their_prompts_and_fit_the_terminal() {
    let fake = Fake::start(|_: &Call| {
        let prompt = "Rename the parser's tokens everywhere, then fix the tests";
        let files = ["/w/src/first_file.rs", "/w/src/second_file.rs"];
        vec![FakeAction::Answer(json!({"undo": false, "turns": [
            {"turn": 1, "at": "2026-01-01T00:00:00.000Z", "prompt": "Fix it", "files": []},
            {"turn": 2, "at": "2026-01-01T00:00:00.000Z", "prompt": prompt, "files": files}]}))]
    });
    let arguments = ["rewind", "3", "--list"];
    let piped = run(&mut reasonix(&fake.home(), &arguments)).out;
    assert!(piped.starts_with("TURN  PROMPT  "), "{piped}");
    assert!(piped.contains("\n2     Rename the parser's tokens everywhere, then fix the tests  "));
    assert!(
        piped.trim_end().ends_with("/w/src/second_file.rs"),
        "{piped}"
    );
    let (ours, theirs) = terminal();
    let size = Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size).unwrap();
    let screen = Screen::read(File::from(ours));
    let mut command = reasonix(&fake.home(), &arguments);
    let running = Running::start(command.stdout(Stdio::from(theirs)));
    drop(command);
    screen.wait_for("/w/src/f");
    screen.wait_for("…\r\n");
    assert_eq!(running.done().code, Some(0));
    let shown = screen.text();
    let row = shown.lines().last().unwrap();
    assert!(
        row.starts_with("2     Rename the parser's tokens everywhere, …  "),
        "{row}"
    );
    assert_eq!(row.chars().count(), 80, "{row}");
}
