//! Every command, found through the help: its help text, its output, and its handling of bad input,
//! without a daemon, and with a reader that has gone.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::Script;
use testkit::schema::fits;
use tests::program::run;
use tests::{Done, House};

/// The behaviour of a command if no daemon runs and none can be started.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Alone {
    /// It cannot work: 69.
    Fails,
    /// It says that none runs, and that is an answer: 0.
    Says,
    /// It reports problems as its answer: 1.
    Finds,
    /// It needs none: 0.
    Works,
    /// Not looked at: it would start one by other means, or never ends.
    Skip,
}

/// One command, by the words that lead to it.
struct Row {
    words: &'static str,
    /// Arguments with which it succeeds in the scene; `None`: it needs a person, or never ends.
    good: Option<&'static [&'static str]>,
    /// The name of its schema, if it prints JSON.
    json: Option<&'static str>,
    /// Arguments that name a session that is not there.
    lost: Option<&'static [&'static str]>,
    alone: Alone,
}

const fn row(
    words: &'static str,
    good: Option<&'static [&'static str]>,
    json: Option<&'static str>,
    lost: Option<&'static [&'static str]>,
    alone: Alone,
) -> Row {
    Row {
        words,
        good,
        json,
        lost,
        alone,
    }
}

/// Session 1 has had a turn and exited, session 2 waits for an approval. In this order: commands that change things come last.
const ROWS: &[Row] = &[
    row("ls", Some(&[]), Some("ls"), None, Alone::Fails),
    row("ps", Some(&["-a"]), Some("ps"), None, Alone::Says),
    row(
        "show",
        Some(&["1"]),
        Some("show"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "steps",
        Some(&["1"]),
        Some("steps"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "cache",
        Some(&["1"]),
        Some("cache"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "prompt",
        Some(&["1"]),
        Some("prompt"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "strace",
        Some(&["1"]),
        Some("strace"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "logs",
        Some(&["1"]),
        Some("logs"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "inspect",
        Some(&["1", "status"]),
        Some("inspect"),
        Some(&["nosuch", "status"]),
        Alone::Fails,
    ),
    row(
        "queue",
        Some(&["1"]),
        Some("queue"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "wait",
        Some(&["1"]),
        Some("wait"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "search",
        Some(&["made"]),
        Some("search"),
        None,
        Alone::Fails,
    ),
    row(
        "history search",
        Some(&["made"]),
        Some("history search"),
        None,
        Alone::Fails,
    ),
    row(
        "history around",
        Some(&["1", "1"]),
        Some("history around"),
        Some(&["nosuch", "1"]),
        Alone::Fails,
    ),
    row("stats", Some(&[]), Some("stats"), None, Alone::Fails),
    row("mcp", Some(&[]), Some("mcp"), None, Alone::Fails),
    row("mcp list", Some(&[]), Some("mcp list"), None, Alone::Fails),
    row(
        "mcp add",
        Some(&["spare", "true"]),
        Some("mcp add"),
        None,
        Alone::Fails,
    ),
    row(
        "mcp logs",
        Some(&["spare"]),
        Some("mcp logs"),
        None,
        Alone::Fails,
    ),
    row(
        "mcp restart",
        Some(&["spare"]),
        Some("mcp restart"),
        None,
        Alone::Fails,
    ),
    row(
        "mcp remove",
        Some(&["spare"]),
        Some("mcp remove"),
        None,
        Alone::Fails,
    ),
    row(
        "mcp presets",
        Some(&[]),
        Some("mcp presets"),
        None,
        Alone::Works,
    ),
    row("mcp test", None, Some("mcp test"), None, Alone::Fails),
    row("mcp login", None, Some("mcp login"), None, Alone::Fails),
    row("mcp logout", None, Some("mcp logout"), None, Alone::Fails),
    row("hooks", Some(&[]), Some("hooks"), None, Alone::Fails),
    row(
        "goal",
        None,
        Some("goal"),
        Some(&["--session", "nosuch", "y"]),
        Alone::Fails,
    ),
    row(
        "goal status",
        Some(&[]),
        Some("goal status"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "goal change",
        None,
        Some("goal change"),
        Some(&["nosuch", "--max-turns", "9"]),
        Alone::Fails,
    ),
    row("goal stop", None, None, Some(&["nosuch"]), Alone::Fails),
    row("memory", Some(&[]), Some("memory"), None, Alone::Fails),
    row(
        "memory list",
        Some(&[]),
        Some("memory list"),
        None,
        Alone::Fails,
    ),
    row(
        "memory search",
        Some(&["x"]),
        Some("memory search"),
        None,
        Alone::Fails,
    ),
    row(
        "memory show",
        None,
        Some("memory show"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "memory forget",
        None,
        Some("memory forget"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "memory restore",
        None,
        None,
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "memory edit",
        None,
        Some("memory edit"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "memory add",
        None,
        Some("memory add"),
        Some(&["../x", "y"]),
        Alone::Fails,
    ),
    row(
        "commands",
        Some(&[]),
        Some("commands"),
        Some(&["--session", "nosuch"]),
        Alone::Fails,
    ),
    row(
        "agents",
        Some(&[]),
        Some("agents"),
        Some(&["--session", "nosuch"]),
        Alone::Fails,
    ),
    row(
        "agents new",
        Some(&["--template", "explorer"]),
        None,
        Some(&["--template", "nosuch"]),
        Alone::Fails,
    ),
    row(
        "skills",
        Some(&[]),
        Some("skills"),
        Some(&["--session", "nosuch"]),
        Alone::Fails,
    ),
    row(
        "export",
        Some(&["1"]),
        None,
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row("inbox", Some(&[]), Some("inbox"), None, Alone::Says),
    row("inbox deny", None, None, Some(&["nosuch.1"]), Alone::Fails),
    row("inbox allow", None, None, Some(&["nosuch.1"]), Alone::Fails),
    row(
        "inbox answer",
        None,
        None,
        Some(&["nosuch.1", "1"]),
        Alone::Fails,
    ),
    row(
        "daemon status",
        Some(&[]),
        Some("daemon status"),
        None,
        Alone::Says,
    ),
    row("daemon logs", Some(&[]), None, None, Alone::Skip),
    row("daemon start", Some(&[]), None, None, Alone::Fails),
    row("doctor", Some(&[]), Some("doctor"), None, Alone::Finds),
    row("models", Some(&[]), Some("models"), None, Alone::Fails),
    row("config", Some(&[]), Some("config"), None, Alone::Fails),
    row(
        "config get",
        Some(&["agent.max_steps"]),
        Some("config get"),
        None,
        Alone::Fails,
    ),
    row(
        "config check",
        Some(&[]),
        Some("config check"),
        None,
        Alone::Fails,
    ),
    row("config path", Some(&[]), None, None, Alone::Works),
    row(
        "config set",
        Some(&["agent.max_steps", "40"]),
        Some("config set"),
        None,
        Alone::Fails,
    ),
    row(
        "config unset",
        Some(&["agent.max_steps"]),
        Some("config unset"),
        None,
        Alone::Fails,
    ),
    row(
        "trust",
        Some(&["--show"]),
        Some("trust"),
        None,
        Alone::Fails,
    ),
    row(
        "permissions",
        Some(&[]),
        Some("permissions"),
        None,
        Alone::Fails,
    ),
    row(
        "permissions list",
        Some(&["--session", "1"]),
        Some("permissions list"),
        Some(&["--session", "nosuch"]),
        Alone::Fails,
    ),
    row(
        "permissions explain",
        Some(&["--tool", "read_file", "--args", "{\"path\": \"x\"}"]),
        Some("permissions explain"),
        Some(&["--session", "nosuch", "--tool", "ls"]),
        Alone::Fails,
    ),
    row("permissions revoke", None, None, None, Alone::Skip),
    row("permissions check", None, None, None, Alone::Skip),
    row("completions", Some(&["bash"]), None, None, Alone::Works),
    row("man", Some(&[]), None, None, Alone::Works),
    row("help", Some(&["--all"]), None, None, Alone::Works),
    row("rpc", Some(&["daemon.status"]), None, None, Alone::Fails),
    row("setup", None, None, None, Alone::Fails),
    row("login", None, None, None, Alone::Fails),
    row(
        "attach",
        None,
        None,
        Some(&["--plain", "nosuch"]),
        Alone::Fails,
    ),
    row("chat", None, None, None, Alone::Fails),
    row("top", None, None, None, Alone::Fails),
    row("demo", None, None, None, Alone::Skip),
    row("queue edit", None, None, None, Alone::Fails),
    row("queue move", None, None, None, Alone::Fails),
    row("queue rm", None, None, None, Alone::Fails),
    row("queue steer", None, None, None, Alone::Fails),
    row(
        "run",
        None,
        Some("run"),
        Some(&["-s", "nosuch", "Hello."]),
        Alone::Fails,
    ),
    row(
        "send",
        Some(&["2", "And then?"]),
        Some("send"),
        Some(&["nosuch", "Hello."]),
        Alone::Fails,
    ),
    row(
        "rename",
        Some(&["1", "first"]),
        Some("rename"),
        Some(&["nosuch", "name"]),
        Alone::Fails,
    ),
    row(
        "compact",
        Some(&["1", "--preview"]),
        Some("compact"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "reload",
        Some(&["1"]),
        Some("reload"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "pin",
        Some(&["1", "1"]),
        None,
        Some(&["nosuch", "1"]),
        Alone::Fails,
    ),
    row(
        "model",
        Some(&["1"]),
        Some("model"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "budget",
        Some(&["1"]),
        Some("budget"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "fork",
        Some(&["1"]),
        Some("fork"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "rewind",
        Some(&["1", "0", "--dry-run", "--conversation"]),
        Some("rewind"),
        Some(&["nosuch", "0"]),
        Alone::Fails,
    ),
    row(
        "pause",
        Some(&["2"]),
        Some("pause"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "resume",
        Some(&["2"]),
        Some("resume"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "kill",
        Some(&["2"]),
        Some("kill"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "close",
        Some(&["1"]),
        Some("close"),
        Some(&["nosuch"]),
        Alone::Fails,
    ),
    row(
        "rm",
        Some(&["--yes", "1"]),
        Some("rm"),
        Some(&["--yes", "nosuch"]),
        Alone::Fails,
    ),
    row("daemon restart", None, None, None, Alone::Skip),
    row("daemon stop", Some(&[]), None, None, Alone::Says),
];

/// Commands with `--quiet` that change data.
const QUIET_MUTATING: [&str; 2] = ["rm", "rewind"];

/// The words of every command, as help names them.
fn commands(house: &House) -> Vec<String> {
    fn below(house: &House, words: &[String], found: &mut Vec<String>) {
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        arguments.push("--help");
        if words.is_empty() {
            arguments = vec!["help", "--all"];
        }
        let help = house.reasonix(&arguments).expect_code(0).out;
        // The overview has groups of commands up to its options; the help of a command has one list.
        let listed = match words.is_empty() {
            true => help.split("\nOptions:\n").next(),
            false => help.split("\nCommands:\n").nth(1),
        };
        let names: Vec<String> = listed
            .unwrap_or_default()
            .lines()
            .take_while(|line| words.is_empty() || line.starts_with("  "))
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
            .collect();
        // A command with others below it that is none by itself says so.
        let is_one = names.is_empty()
            || help.contains("[COMMAND]")
            || help.contains(&format!("{} [OPTIONS]\n", words.join(" ")))
            || help.contains(&format!("{} [OPTIONS] [", words.join(" ")));
        if !words.is_empty() && is_one {
            found.push(words.join(" "));
        }
        for name in names {
            let deeper: Vec<String> = words.iter().cloned().chain([name]).collect();
            below(house, &deeper, found);
        }
    }
    let mut found = Vec::new();
    below(house, &[], &mut found);
    found
}

fn scene() -> House {
    let house = House::playing(
        &Script::new()
            .runs("touch made; seq 3000")
            .says("It is made."),
    );
    house.daemon();
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "Make it."])
        .expect_code(0);
    let _ = house
        .reasonix(&["run", "--on-ask", "park", "Make it again."])
        .expect_code(75);
    house
}

fn with<'a>(row: &'a Row, more: &[&'a str]) -> Vec<&'a str> {
    let words = row.words.split(' ');
    words.chain(more.iter().copied()).collect()
}

/// No panic, no empty complaint: what happened and, in another line, what to do.
fn complains_well(words: &str, done: &Done) {
    assert!(!done.err.contains("panicked"), "{words}: {done:?}");
    assert!(done.err.lines().count() >= 2, "{words}: {done:?}");
    assert!(done.out.is_empty() || words == "run", "{words}: {done:?}");
}

#[test]
fn every_command_is_in_the_table_and_has_help() {
    let house = House::new();
    let found = commands(&house);
    let rows: Vec<&str> = ROWS.iter().map(|row| row.words).collect();
    let missing: Vec<_> = found
        .iter()
        .filter(|words| !rows.contains(&words.as_str()))
        .collect();
    assert!(missing.is_empty(), "without a row: {missing:?}");
    let gone: Vec<_> = rows
        .iter()
        .filter(|words| found.iter().all(|found| found != *words))
        .collect();
    assert!(gone.is_empty(), "rows of no command: {gone:?}");
    for row in ROWS {
        let done = house.reasonix(&with(row, &["--help"])).expect_code(0);
        let first = done.out.lines().next().unwrap_or_default();
        assert!(
            first.len() > 10 && done.out.contains("Usage:"),
            "{}: {}",
            row.words,
            done.out
        );
        assert!(done.err.is_empty(), "{}: {done:?}", row.words);
    }
    assert!(!house.home_file("run").exists(), "help starts no daemon");
}

#[test]
fn what_is_printed_as_json_fits_its_schema() {
    let house = scene();
    let published = house
        .reasonix(&["rpc", "--schema", "--cli"])
        .expect_code(0)
        .json();
    for row in ROWS {
        let Some(good) = row.good else { continue };
        let Some(name) = row.json else {
            let _ = house.reasonix(&with(row, good)).expect_code(0);
            continue;
        };
        let mut arguments = with(row, good);
        arguments.push("--json");
        let done = house.reasonix(&arguments).expect_code(0);
        let entry = &published["commands"][name];
        assert!(entry.is_object(), "no schema of `{name}`");
        let values = done.lines();
        if entry["lines"] == Value::Bool(false) {
            assert_eq!(values.len(), 1, "{name}: {done:?}");
        }
        for value in &values {
            if let Err(why) = fits(&published, &entry["schema"], value) {
                panic!("`{name} --json` does not fit its schema: {why}\n{value}");
            }
        }
        assert!(
            done.out
                .chars()
                .all(|char| char == '\n' || !char.is_control()),
            "{name}: {done:?}"
        );
    }
}

#[test]
fn quiet_listings_print_only_values_that_their_json_has() {
    fn scalars(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(all) => all.iter().for_each(|one| scalars(one, found)),
            Value::Object(all) => all.values().for_each(|one| scalars(one, found)),
            Value::String(text) => found.push(text.clone()),
            other => found.push(other.to_string()),
        }
    }
    let house = scene();
    let file = |name: &str| format!("---\nname: {name}\ndescription: Tests.\n---\nTest it.\n");
    house.files(&format!(
        "//- .reasonix/agents/tester.md\n{}//- .reasonix/skills/tidy/SKILL.md\n{}",
        file("tester"),
        file("tidy")
    ));
    let hook = json!({"hooks": {"Stop": [{"command": "true"}]}});
    std::fs::write(house.home_file("settings.json"), hook.to_string()).expect("a hook");
    house.settings("[permissions]\nallow = [\"Bash(make)\"]");
    let more: [&[&str]; 2] = [
        &["memory", "add", "tabs", "Indent with tabs. x"],
        &["mcp", "add", "spare", "true"],
    ];
    for line in more {
        let _ = house.reasonix(line).expect_code(0);
    }
    let mut empty = Vec::new();
    for row in ROWS
        .iter()
        .filter(|row| !QUIET_MUTATING.contains(&row.words))
    {
        let help = house.reasonix(&with(row, &["--help"])).out;
        let (Some(good), true) = (row.good, help.contains("--quiet")) else {
            continue;
        };
        let said = |option| {
            let done = house.reasonix(&[with(row, good), vec![option]].concat());
            let done = done.expect_code(0);
            assert_eq!(done.err, "", "{}", row.words);
            done
        };
        let mut known = Vec::new();
        let listed = said("--json").lines();
        listed.iter().for_each(|value| scalars(value, &mut known));
        let quiet = said("-q").out;
        for line in quiet.lines() {
            assert!(known.iter().any(|one| one == line), "{}: {line}", row.words);
        }
        if quiet.is_empty() {
            empty.push(row.words);
        }
    }
    // The queue is empty, and the session was created before the rule.
    assert_eq!(empty, ["queue", "permissions list"]);
}

#[test]
fn bad_input_is_reported_with_a_hint_and_the_right_exit_code() {
    let house = scene();
    for row in ROWS {
        let done = house.reasonix(&with(row, &["--frobnicate"]));
        assert_eq!(done.code(), Some(64), "{}: {done:?}", row.words);
        complains_well(row.words, &done);
        if let Some(lost) = row.lost {
            let done = house.reasonix(&with(row, lost));
            assert!(
                matches!(done.code(), Some(1 | 64)),
                "{}: {done:?}",
                row.words
            );
            complains_well(row.words, &done);
        }
    }
    let done = house.reasonix(&["shwo"]);
    assert_eq!(done.code(), Some(64));
    assert!(done.err.contains("show"), "the near name: {}", done.err);
}

#[test]
fn interface_commands_without_a_terminal_fail_and_name_an_alternative() {
    let house = House::new();
    for (arguments, hint) in [
        (&["chat"][..], "`reasonix run"),
        (&["code"], "`reasonix run"),
        (&["-c"], "`reasonix run"),
        (&["--fullscreen"], "`reasonix run"),
        (&["attach", "1"], "--plain"),
        (&["top"], "`reasonix ps"),
    ] {
        let done = house.reasonix(arguments).expect_code(64);
        complains_well(&arguments.join(" "), &done);
        assert!(done.err.contains(hint), "{arguments:?}: {done:?}");
    }
    assert!(
        !house.home_file("run").exists(),
        "no daemon is started for it"
    );
}

#[test]
fn without_a_daemon_each_command_works_or_reports_it() {
    for row in ROWS {
        let arguments = row.good.or(row.lost).unwrap_or(&[]);
        let code = match row.alone {
            Alone::Fails => 69,
            Alone::Finds => 1,
            Alone::Says | Alone::Works => 0,
            Alone::Skip => continue,
        };
        let house = House::new();
        let mut command = house.command(&with(row, arguments));
        command.env("REASONIX_DAEMON", "/nonexistent/reasonixd");
        let done = run(command.stdin(Stdio::null()));
        // Some want more than they were given here before they look for a daemon.
        let usage = row.good.is_none() && row.lost.is_none() && done.code() == Some(64);
        assert!(
            usage || done.code() == Some(code),
            "{}: {code} wanted: {done:?}",
            row.words
        );
        assert!(!done.err.contains("panicked"), "{}: {done:?}", row.words);
    }
}

#[test]
fn a_reader_that_has_gone_ends_a_command_quietly() {
    let house = scene();
    for row in ROWS {
        let Some(good) = row.good else { continue };
        let mut command = house.command(&with(row, good));
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        command
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(Stdio::piped());
        let done = command.spawn().expect("start it").wait_with_output();
        let done = done.expect("it ends");
        let err = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{}: {err}", row.words);
        assert!(!err.contains("panicked"), "{}: {err}", row.words);
    }
}
