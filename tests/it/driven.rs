//! `run --input-format jsonl`: lines on standard input drive a session to its end.

use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::Script;
use tests::house::client_program;
use tests::program::run;
use tests::{Done, Gate, House, Running, until};

use crate::scripted::RunOutput;

const DRIVEN: [&str; 3] = ["run", "--input-format", "jsonl"];

fn start(house: &House, arguments: &[&str]) -> Running {
    house.start(&[&DRIVEN[..], arguments].concat())
}

fn say(running: &mut Running, line: &Value) {
    running.say(&format!("{line}\n"));
}

/// Waits for an event of this kind, and returns it.
fn event(running: &Running, kind: &str) -> Value {
    let mark = format!("\"kind\":\"{kind}\"");
    let line = running.line(kind, |line| line.contains(&mark));
    serde_json::from_str(&line).expect("JSON")
}

/// Waits for the question with this number, and returns its data.
fn opened(running: &Running, number: u64) -> Value {
    let id = format!("\"interaction_id\":\"1.{number}\"");
    let fits = |line: &str| line.contains("\"kind\":\"interaction.opened\"") && line.contains(&id);
    let line = running.line(&format!("question {number}"), fits);
    let event: Value = serde_json::from_str(&line).expect("JSON");
    event["data"].clone()
}

/// The replies to lines, in order: the number, and `accepted` or the message of the error.
fn replies(events: &[Value]) -> Vec<(u64, String)> {
    let replies = events.iter().filter(|event| event["line"].is_u64());
    let said = replies.map(|reply| {
        let said = match reply["kind"].as_str() {
            Some("accepted") => "accepted",
            _ => reply["error"]["message"].as_str().expect("a message"),
        };
        (reply["line"].as_u64().unwrap_or_default(), said.to_owned())
    });
    said.collect()
}

fn numbers(events: &[Value]) -> Vec<u64> {
    replies(events)
        .into_iter()
        .map(|(number, _)| number)
        .collect()
}

#[test]
fn prompts_run_one_after_the_other_and_the_end_of_input_ends_the_run() {
    let house = House::playing(&Script::new().says("One.").says("Two.").says("Three."));
    let input = "{\"kind\":\"prompt\",\"text\":\"first\"}\n{\"kind\":\"prompt\",\"text\":\"second\"}\n\n\
                 {\"kind\":\"prompt\",\"text\":\"third\"}";
    let done = house.reasonix_reading(&DRIVEN, input).expect_code(0);
    let ran = RunOutput::of(&done).expect(0, "completed");
    assert_eq!(ran.text(), "Three.");
    assert_eq!(
        ran.result["steps"], 3,
        "what all turns took: {}",
        ran.result
    );
    assert_eq!(numbers(&ran.events), [1, 2, 4]);
    let texts: Vec<_> = ran
        .all("turn.ended")
        .iter()
        .map(|ended| ended["text"].clone())
        .collect();
    assert_eq!(texts, ["One.", "Two.", "Three."]);
    assert_eq!(house.logs().len(), 1, "one session");
    // A prompt of the command line comes first.
    let done = house.reasonix_reading(
        &[
            "run",
            "--input-format",
            "jsonl",
            "--output-format",
            "jsonl",
            "-s",
            "1",
            "x",
        ],
        "",
    );
    let ran = RunOutput::of(&done).expect(0, "completed");
    assert_eq!((ran.pid().as_str(), numbers(&ran.events)), ("1", vec![0]));
    assert_eq!(ran.all("message.user")[0]["text"], "x");
}

#[test]
fn thousand_turns_of_eight_processes_are_all_listed_and_found() {
    const PROCESSES: usize = 8;
    const TURNS: usize = 125;
    let script = (0..TURNS).fold(Script::new(), |script, _| script.says("Saved."));
    let house = House::playing(&script);
    let programs: Vec<_> = (0..PROCESSES)
        .map(|number| {
            let mut program = start(&house, &[]);
            for turn in 0..TURNS {
                let text = format!("word{number}x{turn}");
                say(&mut program, &json!({"kind": "prompt", "text": text}));
            }
            program.hang_up();
            program
        })
        .collect();
    for program in programs {
        RunOutput::of(&program.done()).expect(0, "completed");
    }
    let check = || {
        let listed = house.reasonix(&["ls", "--json"]).expect_code(0).json();
        let turns = listed.as_array().expect("sessions").iter();
        let turns: Vec<_> = turns
            .filter_map(|session| session["turns"].as_u64())
            .collect();
        assert_eq!(turns, [TURNS as u64; PROCESSES]);
        for (number, turn) in (0..PROCESSES).flat_map(|number| [(number, 0), (number, TURNS - 1)]) {
            let word = format!("word{number}x{turn}");
            let found = || house.reasonix(&["search", "-q", &word]).expect_code(0);
            until(&word, || (found().out.lines().count() == 1).then_some(()));
        }
    };
    check();
    house.kill_daemon_and_parent();
    check();
    let logs = house.logs().into_iter();
    let prompts = logs.map(|log| log.check().count("message.user"));
    assert_eq!(prompts.sum::<usize>(), PROCESSES * TURNS);
}

#[test]
fn a_bad_line_gets_its_error_and_ends_nothing() {
    let house = House::playing(&Script::new().says("One."));
    let mut running = start(&house, &[]);
    running.say("{\"kind\":\"interrupt\"}\nnot JSON\n{\"kind\":\"promt\",\"text\":\"x\"}\n");
    running.say("{\"kind\":\"prompt\",\"text\":\"first\"}\n{\"kind\":\"answer\",\"id\":\"1.7\",\"decision\":\"deny\"}\n");
    running.say("{\"kind\":\"prompt\",\"text\":\" \"}\n");
    running.hang_up();
    let ran = RunOutput::of(&running.done()).expect(0, "completed");
    let said = replies(&ran.events);
    let expected = [
        "there is no session yet",
        "not valid JSON",
        "unknown kind `promt`",
        "accepted",
        "no question `1.7` is open",
        "prompt is empty",
    ];
    assert_eq!(said.len(), expected.len(), "{said:?}");
    for (place, ((number, said), expected)) in said.iter().zip(expected).enumerate() {
        assert_eq!(*number, place as u64 + 1);
        assert!(said.contains(expected), "{number}: {said}");
    }
    let error = ran
        .events
        .iter()
        .find(|event| event["line"] == 3)
        .expect("a reply");
    assert_eq!(error["error"]["hint"], "did you mean `prompt`?");
}

#[test]
fn approvals_and_questions_are_answered_by_lines() {
    let question = json!({"questions": [{"question": "Which?", "header": "Which",
        "options": [{"label": "red", "description": ""}, {"label": "blue", "description": ""}]}]});
    let house = House::playing(
        &Script::new()
            .runs("touch made")
            .runs("touch not-made")
            .calls("ask", &question)
            .says("Blue it is."),
    );
    house.turn_off_sandbox();
    let mut running = start(&house, &[]);
    say(&mut running, &json!({"kind": "prompt", "text": "make it"}));
    let decisions = [
        json!({"decision": "allow_once"}),
        json!({"type": "approval", "decision": "deny", "note": "not this"}),
    ];
    for (number, mut line) in (1..).zip(decisions) {
        let question = opened(&running, number);
        assert_eq!(question["request"]["type"], "approval");
        line["kind"] = "answer".into();
        line["id"] = question["interaction_id"].clone();
        say(&mut running, &line);
    }
    let question = opened(&running, 3);
    assert_eq!(question["request"]["questions"][0]["question"], "Which?");
    let id = &question["interaction_id"];
    // Neither ends the run, and the question stays open.
    say(
        &mut running,
        &json!({"kind": "answer", "id": id, "decision": "allow_once"}),
    );
    say(
        &mut running,
        &json!({"kind": "answer", "id": id, "replies": [{"labels": ["green"]}]}),
    );
    say(
        &mut running,
        &json!({"kind": "answer", "id": id, "replies": [{"labels": ["blue"]}]}),
    );
    running.hang_up();
    let ran = RunOutput::of(&running.done()).expect(0, "completed");
    assert_eq!(ran.text(), "Blue it is.");
    let said = replies(&ran.events);
    let accepted: Vec<_> = said.iter().map(|(_, said)| said == "accepted").collect();
    assert_eq!(accepted, [true, true, true, false, false, true], "{said:?}");
    assert!(house.project().join("made").exists());
    assert!(!house.project().join("not-made").exists());
}

#[test]
fn an_interrupt_ends_the_turn_and_the_next_prompt_runs() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Next."));
    let gate = Gate::new(&house, "gate");
    let mut running = start(&house, &["--on-ask", "allow"]);
    say(&mut running, &json!({"kind": "prompt", "text": "wait"}));
    gate.wait();
    say(&mut running, &json!({"kind": "interrupt"}));
    let ended = event(&running, "turn.ended");
    assert_eq!(ended["data"]["outcome"], "interrupted");
    say(&mut running, &json!({"kind": "prompt", "text": "next"}));
    running.hang_up();
    let ran = RunOutput::of(&running.done()).expect(0, "completed");
    assert_eq!(ran.text(), "Next.");
}

#[test]
fn a_steering_prompt_joins_the_turn_that_runs() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Both."));
    let gate = Gate::new(&house, "gate");
    let mut running = start(&house, &["--on-ask", "allow"]);
    say(&mut running, &json!({"kind": "prompt", "text": "wait"}));
    gate.wait();
    say(
        &mut running,
        &json!({"kind": "prompt", "text": "and this", "steer": true}),
    );
    running.hang_up();
    running.line("the reply to the second line", |line| {
        line.contains("\"line\":2")
    });
    gate.open();
    let ran = RunOutput::of(&running.done()).expect(0, "completed");
    assert_eq!(ran.all("turn.ended").len(), 1, "one turn");
    assert_eq!(ran.text(), "Both.");
}

#[test]
fn a_question_that_nobody_can_answer_any_more_is_decided_as_without_a_client() {
    let house = House::playing(&Script::new().runs("touch made").says("It was not allowed."));
    house.turn_off_sandbox();
    let done = house.reasonix_reading(&DRIVEN, "{\"kind\":\"prompt\",\"text\":\"make it\"}\n");
    let ran = RunOutput::of(&done).expect(3, "blocked");
    assert_eq!(
        ran.result["denied"].as_array().map(Vec::len),
        Some(1),
        "{}",
        ran.result
    );
    assert!(!house.project().join("made").exists());
}

#[test]
fn with_park_a_question_behind_the_end_of_input_leaves_the_session_waiting() {
    let house = House::playing(&Script::new().runs("touch made").says("Made."));
    house.turn_off_sandbox();
    let arguments = [&DRIVEN[..], &["--on-ask", "park"]].concat();
    let done = house.reasonix_reading(&arguments, "{\"kind\":\"prompt\",\"text\":\"make it\"}\n");
    let ran = RunOutput::of(&done).expect(75, "waiting");
    assert_eq!(ran.pid(), "1");
    let _ = house.reasonix(&["inbox", "allow", "1.1"]).expect_code(0);
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    assert!(house.project().join("made").exists());
}

#[test]
fn driven_run_refuses_conflicting_options_and_input_without_a_prompt() {
    let house = House::playing(&Script::new().says("Never said."));
    for arguments in [
        &["--output-format", "text"][..],
        &["--output-format", "json"],
        &["--json"],
        &["--detach"],
        &["-"],
    ] {
        let line = [&DRIVEN[..], arguments].concat();
        let _ = house.reasonix_reading(&line, "").expect_code(64);
    }
    let ran = RunOutput::of(&house.reasonix_reading(&DRIVEN, "\n")).expect(64, "failed");
    assert!(ran.result["session"].is_null(), "{}", ran.result);
    assert_eq!(house.logs().len(), 0);
}

#[test]
fn signals_end_a_driven_run_with_the_exit_codes_of_other_runs() {
    for (signal, code, outcome) in [
        (Signal::INT, 130, "interrupted"),
        (Signal::TERM, 143, "interrupted"),
        (Signal::HUP, 0, "detached"),
    ] {
        let house = House::playing(
            &Script::new()
                .runs(&Gate::command("gate"))
                .says("Done.")
                .says("Second."),
        );
        let gate = Gate::new(&house, "gate");
        let mut running = start(&house, &["--on-ask", "allow"]);
        say(&mut running, &json!({"kind": "prompt", "text": "wait"}));
        gate.wait();
        say(&mut running, &json!({"kind": "prompt", "text": "second"}));
        running.line("the reply to the second line", |line| {
            line.contains("\"line\":2")
        });
        running.signal(signal);
        let ran = RunOutput::of(&running.done()).expect(code, outcome);
        assert_eq!(ran.pid(), "1");
        gate.open();
        if signal == Signal::HUP {
            let _ = house.reasonix(&["wait", "1"]).expect_code(0);
        }
        until("the session to rest", || {
            let listed = house.reasonix(&["ls", "--json"]).expect_code(0);
            (listed.json()[0]["queued"] == 0 && listed.json()[0]["state"] == "exited").then_some(())
        });
        let turns = house
            .log(proto::Pid(1))
            .kinds()
            .iter()
            .filter(|kind| **kind == "turn.ended")
            .count();
        assert_eq!(
            turns,
            if signal == Signal::HUP { 2 } else { 1 },
            "{signal:?}"
        );
    }
}

#[test]
fn closed_stdout_ends_a_driven_run_with_exit_code_0() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    let gate = Gate::new(&house, "gate");
    let mut child = house
        .command(&[&DRIVEN[..], &["--on-ask", "allow", "x"]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    gate.wait();
    drop(child.stdout.take());
    gate.open();
    let status = until("its end", || child.try_wait().expect("look"));
    assert_eq!(status.code(), Some(0));
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
}

#[test]
fn a_killed_daemon_loses_no_line() {
    let house = House::playing(
        &Script::new()
            .runs(&Gate::command("gate"))
            .says("One.")
            .says("Two."),
    );
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let mut running = start(&house, &["--on-ask", "allow"]);
    say(&mut running, &json!({"kind": "prompt", "text": "first"}));
    gate.wait();
    say(&mut running, &json!({"kind": "prompt", "text": "second"}));
    running.line("the reply to the second line", |line| {
        line.contains("\"line\":2")
    });
    house.kill_daemon();
    gate.open();
    running.hang_up();
    let ran = RunOutput::of(&running.done()).expect(0, "completed");
    assert_eq!(ran.text(), "Two.");
}

/// The program in the page about lines of input.
fn example() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/run-input.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let (_, rest) = page.split_once("```python\n").expect("a program");
    rest.split_once("```").expect("its end").0.to_owned()
}

#[test]
fn the_documented_python_program_drives_a_run() {
    let question = json!({"questions": [{"question": "Which?", "header": "Which",
        "options": [{"label": "red", "description": ""}, {"label": "blue", "description": ""}]}]});
    let house = House::playing(
        &Script::new()
            .runs("touch made")
            .calls("ask", &question)
            .says("One.")
            .says("Two."),
    );
    house.turn_off_sandbox();
    std::fs::write(house.root().join("drive.py"), example()).expect("write the program");
    let mut command: Command = house.program(Path::new("python3"));
    let programs = client_program();
    std::os::unix::fs::symlink(&programs, house.root().join("reasonix")).expect("a link");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", house.root().display());
    command
        .arg(house.root().join("drive.py"))
        .args(["first", "second"])
        .env("PATH", path);
    let done: Done = run(&mut command).expect_code(0);
    assert_eq!(done.out, "One.\nTwo.\n", "{}", done.err);
    assert!(house.project().join("made").exists());
}

#[test]
fn input_with_an_empty_prompt_alone_creates_no_session() {
    let house = House::playing(&Script::new());
    let input = "{\"kind\":\"prompt\",\"text\":\" \"}\n";
    let done = house.reasonix_reading(&DRIVEN, input).expect_code(64);
    assert!(done.out.contains("the prompt is empty"), "{done:?}");
    assert_eq!(house.logs().len(), 0);
}
