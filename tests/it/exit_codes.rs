//! The exit codes of chapter 80, each produced in the shortest way, with its result object.

use std::path::Path;

use rustix::process::Signal;
use serde_json::json;
use testkit::model::{Answer, Fault, Gate, Model, Place};
use tests::House;

use crate::scripted::{RunOutput, command_is_gone, command_runs, house, run};

fn bash(command: &str) -> Answer {
    Answer::call("bash", json!({"command": command}))
}

/// One row: the model's behaviour, the arguments of `run`, the exit code and the outcome.
struct Row {
    answers: Vec<Answer>,
    arguments: &'static [&'static str],
    code: i32,
    outcome: &'static str,
}

fn row(
    answers: Vec<Answer>,
    arguments: &'static [&'static str],
    code: i32,
    outcome: &'static str,
) -> Row {
    Row {
        answers,
        arguments,
        code,
        outcome,
    }
}

#[test]
fn how_a_turn_ended_is_the_exit_code() {
    let never = Gate::new();
    let full = Fault::refusal(400, "too long", "context_length_exceeded");
    let rows = [
        row(vec![Answer::text("Hi.")], &[], 0, "completed"),
        row(
            vec![Answer::text("").fault(Fault::status(400))],
            &[],
            1,
            "failed",
        ),
        row(
            vec![Answer::text("").finish("content_filter")],
            &[],
            1,
            "failed",
        ),
        row(
            vec![bash("false"), Answer::text("It said no.")],
            &["--on-ask", "allow"],
            0,
            "completed",
        ),
        row(
            vec![bash("true"), Answer::text("Enough.")],
            &["--max-steps", "1"],
            2,
            "max_steps",
        ),
        row(vec![Answer::text("").fault(full)], &[], 2, "context_full"),
        row(
            vec![bash("touch x"), Answer::text("I may not.")],
            &["--on-ask", "deny"],
            3,
            "blocked",
        ),
        row(
            vec![bash("touch x"), Answer::text("I may not.")],
            &[],
            3,
            "blocked",
        ),
        row(vec![bash("touch x")], &["--on-ask", "park"], 75, "waiting"),
        row(
            vec![Answer::text("Slow.").held(Place::Before, &never)],
            &["--timeout", "0.3"],
            124,
            "interrupted",
        ),
    ];
    let model = Model::start(Vec::new());
    for row in rows {
        // An answer that is not asked for any more must not be the next row's: each has a model of its own.
        let model = if row.code == 0 {
            &model
        } else {
            &Model::start(Vec::new())
        };
        let house = house(model);
        house.turn_off_sandbox();
        model.push(row.answers);
        let what = format!("{:?} → {}", row.arguments, row.code);
        let ran = run(&house, row.arguments, "do it");
        assert_eq!(
            (ran.code, ran.result["outcome"].as_str()),
            (Some(row.code), Some(row.outcome)),
            "{what}: {ran:#?}"
        );
        assert!(ran.result["pid"].is_u64(), "{what}: the session is named");
        assert_eq!(
            ran.result["error"].is_object(),
            ran.result["outcome"] == "failed" || row.outcome == "context_full",
            "{what}"
        );
        assert_eq!(
            !ran.result["denied"].as_array().expect("a list").is_empty(),
            row.code == 3,
            "{what}: {ran:#?}"
        );
        // A waiter gets the same result; a session that waits for the user does not end.
        if row.code != 75 {
            let waited = house.reasonix(&["wait", &ran.pid()]);
            assert_eq!(waited.code(), Some(row.code), "{what}: `wait`: {waited:?}");
        }
    }
}

#[test]
fn a_parked_run_goes_on_when_it_is_answered() {
    let model = Model::start([bash("touch made"), Answer::text("Made.")]);
    let house = house(&model);
    let parked = house
        .reasonix(&["run", "--on-ask", "park", "make it"])
        .expect_code(75);
    let pid = parked.out.trim();
    assert!(
        pid.parse::<u64>().is_ok(),
        "the session is printed: {parked:?}"
    );
    let inbox = house.reasonix(&["inbox", "--json"]).expect_code(0);
    let id = inbox.json()[0]["interaction_id"]
        .as_str()
        .expect("an open question")
        .to_owned();
    assert!(!house.project().join("made").exists());
    let _ = house.reasonix(&["inbox", "allow", &id]).expect_code(0);
    let _ = house.reasonix(&["wait", pid]).expect_code(0);
    assert!(house.project().join("made").exists());
}

#[test]
fn interrupted_ended_and_killed_have_distinct_results() {
    for (signal, code, outcome) in [
        (Signal::INT, 130, "interrupted"),
        (Signal::TERM, 143, "interrupted"),
    ] {
        let gate = Gate::new();
        let model = Model::start([Answer::text("Slow.").held(Place::Before, &gate)]);
        let house = house(&model);
        let running = house.start(&["run", "--output-format", "jsonl", "do it"]);
        running.line("the turn", |line| line.contains("\"turn.started\""));
        running.signal(signal);
        RunOutput::of(&running.done()).expect(code, outcome);
    }
    for (signal, code, outcome) in [
        ("INT", 130, "interrupted"),
        ("TERM", 143, "interrupted"),
        ("KILL", 137, "killed"),
    ] {
        let model = Model::start([bash("echo begun; sleep 4178")]);
        let house = house(&model);
        let running = house.start(&[
            "run",
            "--output-format",
            "jsonl",
            "--on-ask",
            "allow",
            "do it",
        ]);
        let started = running.line("the command", |line| line.contains("\"tool.started\""));
        command_runs(&house, "sleep 4178");
        let event: serde_json::Value = serde_json::from_str(&started).expect("an event");
        let pid = event["session"].to_string();
        let _ = house.reasonix(&["kill", "-s", signal, &pid]).expect_code(0);
        RunOutput::of(&running.done()).expect(code, outcome);
        command_is_gone(&house, "sleep 4178");
        let waited = house.reasonix(&["wait", &pid]);
        assert_eq!(waited.code(), Some(code), "{signal}: {waited:?}");
    }
}

/// Runs that create no session: the code, and a result that says so on the last line of both formats.
fn fails(house: &House, arguments: &[&str], code: i32, words: &str) {
    for format in ["jsonl", "json"] {
        let line = [&["run", "--output-format", format], arguments].concat();
        let done = house.reasonix(&line);
        let what = format!("{line:?}: {done:?}");
        assert_eq!(done.code(), Some(code), "{what}");
        let result = done
            .lines()
            .pop()
            .unwrap_or_else(|| panic!("no result: {what}"));
        assert_eq!(result["outcome"], "failed", "{what}");
        assert!(
            result["error"]["message"].is_string() && result["error"]["name"].is_string(),
            "{what}"
        );
        assert!(done.err.contains(words), "`{words}` is not said: {what}");
    }
    let line = [&["run"], arguments].concat();
    let done = house.reasonix(&line);
    assert_eq!(
        (done.code(), done.out.as_str()),
        (Some(code), ""),
        "standard output carries nothing else: {done:?}"
    );
}

#[test]
fn failures_before_a_session_have_distinct_exit_codes() {
    let model = Model::start(Vec::new());
    let house = house(&model);
    fails(&house, &["--no-such-flag", "x"], 64, "--no-such-flag");
    fails(&house, &["--timeout", "never", "x"], 64, "never");
    fails(&house, &["--on-ask", "perhaps", "x"], 64, "perhaps");
    fails(&house, &[], 64, "prompt");
    fails(&house, &["-s", "4177", "x"], 64, "4177");
    fails(&house, &["-s", "1", "--model", "other", "x"], 64, "model");
    fails(&house, &["--model", "none", "x"], 64, "none");
    fails(
        &house,
        &["--cwd", "/no/such/directory", "x"],
        64,
        "/no/such/directory",
    );
    assert_eq!(house.reasonix(&["no-such-command"]).code(), Some(64));
    assert_eq!(house.reasonix(&["--help"]).code(), Some(0));
    assert_eq!(model.count(), 0);
}

#[test]
fn without_a_provider_the_config_is_wrong() {
    let house = House::new();
    house.daemon();
    fails(&house, &["x"], 78, "provider");
    house.config_text("[[providers]]\nname = \"broken\"\nkind = \"openai\"\nmodel = \"m\"\nbase_url = \"nowhere\"\n");
    fails(&house, &["x"], 78, "base_url");
    house.config_text(
        "[[providers]]\nname = \"broken\"\nkind = \"carrier pigeon\"\nmodel = \"m\"\n",
    );
    fails(&house, &["x"], 78, "carrier pigeon");
}

#[test]
fn without_a_daemon_there_is_a_code_for_that() {
    let house = House::new();
    let run_with = |program: &Path| {
        let mut command = house.command(&["run", "--output-format", "jsonl", "x"]);
        command.env("REASONIX_DAEMON", program);
        tests::program::run(&mut command)
    };
    let missing = run_with(Path::new("/no/such/reasonixd"));
    RunOutput::of(&missing).expect(69, "failed");
    // A program that ends at once and answers nothing.
    RunOutput::of(&run_with(Path::new("/bin/false"))).expect(69, "failed");
    assert_eq!(
        house.reasonix(&["ps"]).code(),
        Some(0),
        "listing sessions needs no daemon"
    );
}

#[test]
fn a_tool_that_answers_for_a_person_is_not_permitted() {
    let program = tests::house::client_program();
    let command = format!(
        "{} inbox allow 1.1; echo \"code $?\"",
        program.to_string_lossy()
    );
    let model = Model::start([bash(&command), Answer::text("It said no.")]);
    let house = house(&model);
    house.turn_off_sandbox();
    run(&house, &["--on-ask", "allow"], "try it").expect(0, "completed");
    let result_text = model.requests()[1].results().remove(0).1;
    assert!(result_text.contains("code 77"), "{result_text}");
}
