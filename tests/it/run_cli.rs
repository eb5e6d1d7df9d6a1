//! `reasonix run` as scripts see it: the contents of each stream, and a result on every path.

use std::io::Read;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use proto::Pid;
use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::Script;
use tests::program::run;
use tests::{Done, Gate, House, Running, until};

/// Every member that a result has, whatever happened.
const MEMBERS: [&str; 10] = [
    "session",
    "pid",
    "outcome",
    "text",
    "usage",
    "cost_usd",
    "duration_ms",
    "steps",
    "tool_calls",
    "denied",
];

/// The result in the last line, and the events before it.
fn result(done: &Done) -> (Value, Vec<Value>) {
    let mut lines = done.lines();
    let last = lines
        .pop()
        .unwrap_or_else(|| panic!("nothing on standard output: {done:?}"));
    assert_eq!(last["kind"], "result", "{done:?}");
    for member in MEMBERS {
        assert!(last.get(member).is_some(), "no `{member}` in {last}");
    }
    assert!(
        lines.iter().all(|line| line["kind"] != "result"),
        "one result: {done:?}"
    );
    (last, lines)
}

#[test]
fn text_is_the_answer_and_nothing_else() {
    let house = House::playing(
        &Script::new()
            .runs("echo noise")
            .says("The answer.\nIn two lines."),
    );
    let done = house.reasonix(&["run", "ask"]).expect_code(0);
    assert_eq!(done.out, "The answer.\nIn two lines.\n");
    assert!(
        done.err.contains("echo noise"),
        "progress is on standard error: {}",
        done.err
    );
}

#[test]
fn json_is_one_object() {
    let house = House::playing(
        &Script::new()
            .line(json!({"text": "Four.", "usage": {"prompt": 10, "cached": 4, "output": 2}})),
    );
    let done = house
        .reasonix(&["run", "--output-format", "json", "2 + 2?"])
        .expect_code(0);
    assert_eq!(done.out.lines().count(), 1);
    let object = done.json();
    for member in MEMBERS {
        assert!(object.get(member).is_some(), "no `{member}` in {object}");
    }
    assert_eq!(object["outcome"], "completed");
    assert_eq!(object["text"], "Four.");
    assert_eq!(object["pid"], 1);
    assert_eq!(
        (&object["steps"], &object["tool_calls"]),
        (&json!(1), &json!(0))
    );
    let usage = &object["usage"];
    assert_eq!(
        (
            &usage["prompt_tokens"],
            &usage["cached_tokens"],
            &usage["output_tokens"]
        ),
        (&json!(10), &json!(4), &json!(2))
    );
    assert_eq!(object.get("error"), None);
}

#[test]
fn json_has_the_problems_of_the_config() {
    let house = House::playing(&Script::new().says("Yes."));
    let done = house.reasonix(&["run", "--json", "x"]).expect_code(0);
    assert_eq!(done.json().get("warnings"), None);
    house.files("//- reasonix.toml\nnonsense = 3\n");
    let done = house.reasonix(&["run", "--json", "x"]).expect_code(0);
    let warnings = done.json()["warnings"].clone();
    let first = warnings[0].as_str().unwrap_or_default();
    assert!(
        first.contains("reasonix.toml:1: unknown setting `nonsense`"),
        "{warnings}"
    );
}

#[test]
fn jsonl_is_every_event_in_order_and_then_the_result() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    let gate = Gate::new(&house, "gate");
    let running = house.start(&["run", "--output-format", "jsonl", "--on-ask", "allow", "do"]);
    gate.wait();
    // Events without a number go only to attached clients.
    running.line("the border to live events", |line| {
        line.contains("\"sync\"")
    });
    gate.open();
    let done = running.done().expect_code(0);
    let (last, events) = result(&done);
    assert_eq!(
        (&last["outcome"], &last["text"]),
        (&json!("completed"), &json!("Done."))
    );
    let numbers: Vec<_> = events
        .iter()
        .filter_map(|event| event["seq"].as_u64())
        .collect();
    let log = house.log(Pid(1));
    let ended = log
        .lines
        .iter()
        .find(|line| line.kind == "turn.ended")
        .expect("an end of the turn")
        .seq
        .0;
    assert_eq!(
        numbers,
        (1..=ended).collect::<Vec<_>>(),
        "every record up to the end of the turn, once"
    );
    assert!(
        events
            .iter()
            .any(|event| event["seq"].is_null() && event["kind"] == "delta.text"),
        "deltas too"
    );
}

/// One kind of failed run: the setup, the arguments, the exit code, `error.name` (empty: none).
struct Wrong {
    what: &'static str,
    config: &'static str,
    cassette: Option<&'static str>,
    arguments: &'static [&'static str],
    code: i32,
    error: &'static str,
}

const REPLAY: &str =
    "[[providers]]\nname = \"replay\"\nkind = \"replay\"\nmodel = \"cassette.jsonl\"\n";
const UNHELD: &str = "[sandbox]\nbash = \"off\"\n[[providers]]\nname = \"replay\"\nkind = \"replay\"\nmodel = \"cassette.jsonl\"\n";
const HELLO: Option<&str> = Some("{\"text\": \"Hello.\"}\n");

const WRONG: &[Wrong] = &[
    Wrong {
        what: "an argument that is none",
        config: REPLAY,
        cassette: HELLO,
        arguments: &["--max-steps", "many", "x"],
        code: 64,
        error: "usage",
    },
    Wrong {
        what: "no prompt",
        config: REPLAY,
        cassette: HELLO,
        arguments: &[],
        code: 64,
        error: "usage",
    },
    Wrong {
        what: "a directory that is none",
        config: REPLAY,
        cassette: HELLO,
        arguments: &["--cwd", "/nonexistent/x", "x"],
        code: 64,
        error: "usage",
    },
    Wrong {
        what: "an unknown model",
        config: REPLAY,
        cassette: HELLO,
        arguments: &["--model", "nobody", "x"],
        code: 64,
        error: "not_found",
    },
    Wrong {
        what: "an unknown session",
        config: REPLAY,
        cassette: HELLO,
        arguments: &["-s", "77", "x"],
        code: 64,
        error: "not_found",
    },
    Wrong {
        what: "no earlier session",
        config: REPLAY,
        cassette: HELLO,
        arguments: &["-c", "x"],
        code: 64,
        error: "usage",
    },
    Wrong {
        what: "no provider",
        config: "",
        cassette: None,
        arguments: &["x"],
        code: 78,
        error: "invalid_config",
    },
    Wrong {
        what: "a config that is no TOML",
        config: "[[providers\nname = ",
        cassette: None,
        arguments: &["x"],
        code: 78,
        error: "invalid_config",
    },
    Wrong {
        what: "a cassette that is not there",
        config: REPLAY,
        cassette: None,
        arguments: &["x"],
        code: 78,
        error: "invalid_config",
    },
    Wrong {
        what: "a cassette that is none",
        config: REPLAY,
        cassette: Some("{\"txt\": 1}"),
        arguments: &["x"],
        code: 78,
        error: "invalid_config",
    },
    Wrong {
        what: "a provider that refuses",
        config: REPLAY,
        cassette: Some("{\"fault\": \"http:401\"}\n"),
        arguments: &["x"],
        code: 1,
        error: "provider_failed",
    },
    Wrong {
        what: "a step too many",
        config: REPLAY,
        cassette: Some(
            "{\"tool_calls\": [{\"name\": \"bash\", \"arguments\": {\"command\": \"true\"}}]}\n{\"text\": \"Summed up.\"}\n",
        ),
        arguments: &["--max-steps", "1", "x"],
        code: 2,
        error: "",
    },
    Wrong {
        what: "a call that nobody allows",
        config: UNHELD,
        cassette: Some(
            "{\"tool_calls\": [{\"name\": \"bash\", \"arguments\": {\"command\": \"touch made\"}}]}\n{\"text\": \"I could not.\"}\n",
        ),
        arguments: &["x"],
        code: 3,
        error: "",
    },
    Wrong {
        what: "a command that takes too long",
        config: REPLAY,
        cassette: Some(
            "{\"tool_calls\": [{\"name\": \"bash\", \"arguments\": {\"command\": \"sleep 50\"}}]}\n{\"text\": \"Never said.\"}\n",
        ),
        arguments: &["--on-ask", "allow", "--timeout", "0.3", "x"],
        code: 124,
        error: "",
    },
];

#[test]
fn the_last_line_of_jsonl_is_the_result_however_the_run_ends() {
    for wrong in WRONG {
        let house = House::new();
        house.config_text(wrong.config);
        if let Some(cassette) = wrong.cassette {
            std::fs::write(house.home_file("cassette.jsonl"), cassette)
                .expect("write the cassette");
        }
        let mut arguments = vec!["run", "--output-format", "jsonl"];
        arguments.extend(wrong.arguments);
        let done = house.reasonix(&arguments);
        let (last, _) = result(&done);
        assert_eq!(done.code(), Some(wrong.code), "{}: {done:?}", wrong.what);
        assert_ne!(last["outcome"], "completed", "{}", wrong.what);
        match wrong.error {
            "" => assert_eq!(last.get("error"), None, "{}: {last}", wrong.what),
            name => {
                assert_eq!(last["error"]["name"], name, "{}: {last}", wrong.what);
                let hint = last["error"]["hint"].as_str().unwrap_or_default();
                assert!(
                    !hint.is_empty(),
                    "{}: an error says what to do: {last}",
                    wrong.what
                );
            }
        }
    }
}

#[test]
fn without_a_daemon_program_there_is_still_a_result() {
    let house = House::playing(&Script::new().says("Hello."));
    let nowhere = house.root().join("nowhere");
    for format in ["json", "jsonl"] {
        let mut command = house.command(&["run", "--output-format", format, "x"]);
        let done = run(command.env("REASONIX_DAEMON", &nowhere)).expect_code(69);
        let object = done.lines().pop().expect("a result");
        assert_eq!(object["outcome"], "failed");
        assert_eq!(object["error"]["name"], "no_daemon", "{object}");
        assert!(
            done.err.contains("REASONIX_DAEMON"),
            "what to do: {}",
            done.err
        );
    }
    // The error for a daemon that exits at once quotes the end of its log.
    let mut command = house.command(&["run", "--output-format", "jsonl", "x"]);
    let done = run(command.env("REASONIX_DAEMON", "/bin/false")).expect_code(69);
    assert_eq!(result(&done).0["error"]["name"], "no_daemon");
}

#[test]
fn a_run_that_is_interrupted_or_killed_has_its_result() {
    for (signal, arguments, code, outcome) in [
        (Some(Signal::INT), &[][..], 130, "interrupted"),
        (Some(Signal::TERM), &[][..], 143, "interrupted"),
        (None, &["kill", "-s", "KILL", "1"][..], 137, "killed"),
        (None, &["kill", "-s", "TERM", "1"][..], 143, "interrupted"),
    ] {
        let house = House::playing(
            &Script::new()
                .runs(&Gate::command("gate"))
                .says("Never said."),
        );
        house.daemon();
        let gate = Gate::new(&house, "gate");
        let running = house.start(&["run", "--output-format", "jsonl", "--on-ask", "allow", "x"]);
        gate.wait();
        match signal {
            Some(signal) => running.signal(signal),
            None => {
                let _ = house.reasonix(arguments).expect_code(0);
            }
        }
        let done = running.done();
        let (last, _) = result(&done);
        assert_eq!(
            done.code(),
            Some(code),
            "{signal:?} {arguments:?}: {done:?}"
        );
        assert_eq!(last["outcome"], outcome, "{signal:?} {arguments:?}: {last}");
        until("the log's last record", || {
            let kinds: Vec<String> = house
                .log(Pid(1))
                .kinds()
                .into_iter()
                .map(str::to_owned)
                .collect();
            kinds.contains(&"turn.ended".to_owned()).then_some(())
        });
        house.log(Pid(1)).check();
    }
}

#[test]
fn an_interrupt_before_there_is_a_turn_ends_the_run_with_its_result() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let house = House::new();
        let directory = house.home().join("run");
        std::fs::create_dir(&directory).expect("a directory");
        // Somebody who takes the connection and never says a word.
        let silent = UnixListener::bind(house.socket()).expect("a socket");
        let running = Running::start(&mut house.command(&["run", "--output-format", "jsonl", "x"]));
        let connection = silent.accept().expect("a connection");
        running.signal(signal);
        let done = running.done().expect_code(code);
        assert_eq!(result(&done).0["outcome"], "interrupted", "{done:?}");
        drop(connection);
    }
}

#[test]
fn result_of_a_blocked_turn_has_its_reason() {
    let house = House::playing(&Script::new().runs("touch made").says("I could not."));
    house.turn_off_sandbox();
    let arguments = [
        "run",
        "--on-ask",
        "deny",
        "--output-format",
        "json",
        "Make it.",
    ];
    let done = house.reasonix(&arguments).expect_code(3);
    assert_eq!(done.json()["outcome"], "blocked");
    assert_eq!(done.json()["reason"], "denied");
    let house = House::playing(&Script::new().says("Done."));
    let done = house.reasonix(&["run", "--output-format", "json", "Go."]);
    assert_eq!(done.expect_code(0).json().get("reason"), None);
}

#[test]
fn run_that_continues_a_session_names_it() {
    let house = House::playing(&Script::new().says("One.").says("Two."));
    let line = format!(
        "· session 1 · replay/cassette.jsonl · {}",
        house.project().display()
    );
    for arguments in [&["run", "One."][..], &["run", "-c", "Two."]] {
        let done = house.reasonix(arguments).expect_code(0);
        assert!(done.err.contains(&line), "{arguments:?}: {}", done.err);
    }
}

#[test]
fn calls_that_fail_say_so_before_the_reason_and_the_sandbox_a_way_on() {
    let script = Script::new()
        .calls("read_file", &json!({"path": "missing.txt"}))
        .runs("touch /etc/made")
        .says("Done.");
    let done = House::playing(&script).reasonix(&["run", "Go."]);
    let said = done.expect_code(0).err;
    assert!(said.contains("failed: "), "{said}");
    assert!(
        said.contains("the sandbox blocked something: `sandbox.allow_write`"),
        "{said}"
    );
}

#[test]
fn lists_without_entries_say_so() {
    let house = House::new();
    for (arguments, words) in [
        (&["memory"][..], "no facts"),
        (
            &["skills"],
            "no skills; `reasonix help skills` says where they are looked for",
        ),
        (
            &["mcp", "list"],
            "no MCP server is configured here; `reasonix mcp add NAME COMMAND` adds one",
        ),
        (&["inbox"], "Nothing waits for you."),
        (&["search", "anything"], "no message has these words"),
        (
            &["search", "--here", "anything"],
            "or search without `--here`",
        ),
    ] {
        let done = house.reasonix(arguments);
        let said = format!("{}{}", done.out, done.err);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn standard_input_joins_the_prompt() {
    let house = House::playing(&Script::new().says("Read."));
    let _ = house
        .reasonix_reading(&["run", "explain", "this"], "line 1\nline 2\n")
        .expect_code(0);
    let _ = house
        .reasonix_reading(&["run", "-"], "only this\n")
        .expect_code(0);
    let prompts: Vec<String> = house
        .logs()
        .iter()
        .flat_map(|log| log.bodies())
        .filter_map(|body| match body {
            proto::Body::PromptQueued(prompt) => Some(prompt.text),
            _ => None,
        })
        .collect();
    assert_eq!(prompts[0], "explain this\n\nline 1\nline 2\n");
    assert_eq!(prompts[1].trim_end(), "only this");
}

#[test]
fn an_open_and_silent_standard_input_does_not_hang_the_run() {
    let house = House::playing(&Script::new().says("Hello."));
    // The pipe stays open until the run is done.
    let running = house.start(&["run", "hello"]);
    let done = running.done().expect_code(0);
    assert_eq!(done.out, "Hello.\n");
}

#[test]
fn a_reader_that_has_had_enough_ends_the_run_quietly() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    let gate = Gate::new(&house, "gate");
    let mut child = house
        .command(&["run", "--output-format", "jsonl", "--on-ask", "allow", "x"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start reasonix");
    let mut first = [0; 1];
    child
        .stdout
        .take()
        .expect("a pipe")
        .read_exact(&mut first)
        .expect("the first byte, and no more");
    gate.wait();
    gate.open();
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
}

#[test]
fn a_detached_run_is_waited_for_from_elsewhere() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    let gate = Gate::new(&house, "gate");
    let detached = house
        .reasonix(&[
            "run", "--detach", "--on-ask", "allow", "--label", "night", "x",
        ])
        .expect_code(0);
    assert_eq!(detached.out, "1\n");
    gate.wait();
    let listed = house.reasonix(&["ps", "--json"]).expect_code(0).json();
    assert_eq!(listed["processes"][0]["state"], "running");
    assert_eq!(listed["processes"][0]["labels"], json!(["night"]));
    assert_eq!(
        listed["children"][0]["session"], 1,
        "its command is a process of it: {listed}"
    );
    let waiting = house.start(&["wait", "1"]);
    gate.open();
    let _ = waiting.done().expect_code(0);
    let listed = house
        .reasonix(&["ps", "-a", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(
        (
            &listed["processes"][0]["state"],
            &listed["processes"][0]["exit_code"]
        ),
        (&json!("exited"), &json!(0))
    );
    let json = house
        .reasonix(&["run", "--detach", "--output-format", "json", "x"])
        .expect_code(0)
        .json();
    assert_eq!(json["pid"], 2);
    let _ = house.reasonix(&["wait", "2"]);
}

#[test]
fn a_terminal_that_goes_away_leaves_the_run_going() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    let gate = Gate::new(&house, "gate");
    let running = house.start(&["run", "--on-ask", "allow", "x"]);
    gate.wait();
    running.signal(Signal::HUP);
    let _ = running.done().expect_code(0);
    gate.open();
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    assert_eq!(house.log(Pid(1)).check().count("turn.ended"), 1);
}

#[test]
fn output_that_is_cut_off_for_the_model_is_whole_in_a_file() {
    let house = House::playing(&Script::new().runs("seq 1 60000").says("Counted."));
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "count"])
        .expect_code(0);
    let log = house.log(Pid(1));
    let text = &log.results()[0].text;
    assert!(text.len() < 70_000, "{} bytes reach the model", text.len());
    let spill = log.bodies().into_iter().find_map(|body| match body {
        proto::Body::ToolFinished(finished) => finished.spill,
        _ => None,
    });
    let spill = std::fs::read_to_string(spill.expect("a file with all of it")).expect("read it");
    assert_eq!(spill.lines().count(), 60_000);
    assert!(spill.ends_with("60000\n"));
}

/// Ends quickly if nothing is wrong: `reasonix` with a terminal-less, closed environment.
#[test]
fn verbs_that_only_ask_start_no_daemon() {
    let house = House::playing(&Script::new().says("Hello."));
    for arguments in [
        &["ps"][..],
        &["ps", "--json"],
        &["inbox"],
        &["inbox", "--json"],
        &["daemon", "status"],
        &["daemon", "status", "--json"],
        &["daemon", "stop"],
    ] {
        let done = house.reasonix(arguments).expect_code(0);
        assert!(
            done.err.contains("no daemon is running"),
            "{arguments:?}: {done:?}"
        );
        if arguments.contains(&"--json") {
            let _ = done.json();
        }
    }
    assert_eq!(house.daemon_pid(), None);
    let mut command: Command = house.command(&["--version"]);
    let version = Running::start(&mut command).done().expect_code(0);
    assert_eq!(version.out.trim(), format!("reasonix {}", proto::VERSION));
}

#[test]
fn a_provider_dropped_for_an_unknown_key_is_reported_with_file_and_line() {
    let lost = format!("{REPLAY}sandbox.layer = \"direct\"\n");
    for config in [lost.clone(), format!("default_model = \"replay\"\n{lost}")] {
        let house = House::new();
        house.config_text(&config);
        let line = config.lines().count();
        let message = format!("config.toml:{line}: a provider has no key `sandbox`");
        for arguments in [&["run", "x"][..], &["run", "--model", "replay", "x"]] {
            let done = house.reasonix(arguments);
            assert_ne!(done.code(), Some(0), "{done:?}");
            assert!(
                done.err.contains(&message) && done.err.contains("above the first `[[providers]]`"),
                "{done:?}"
            );
        }
    }
}
