//! I1: whatever happens between two requests of a session, the second extends the first byte for byte.

use std::path::Path;

use proto::hello::Role;
use serde_json::json;
use testkit::model::{Answer, Gate, Model, Place, Request, Script};
use tests::{House, follow, soon};

use crate::scripted::{FAST_RETRIES, RunOutput, house, run, shown};

/// Requests of a prompt: so many answers with calls, and one in words.
const ROUNDS: usize = 11;

/// The script of an edit session: what the model does is a function of how much it has said.
fn step(said: usize) -> Answer {
    if said % (ROUNDS + 1) == ROUNDS {
        return Answer::text(format!("Part {} is done.\n\nNext?", said / (ROUNDS + 1)));
    }
    let file = format!("src/f{}.txt", said % 3);
    let from = |line: usize| format!("line {line} of the file\n");
    match said % (ROUNDS + 1) {
        0 => read(&file),
        // Each answer edits another line, once.
        1 | 4 | 7 => {
            let old = format!("mark {said} here");
            Answer::text(format!("Step {said}: ü 世界 \"quoted\" \\ and a tab\t."))
                .and_call(
                    "write_file",
                    json!({"path": format!("out/{said}.txt"), "content": old}),
                )
                .and_call("read_file", json!({"path": format!("out/{said}.txt")}))
        }
        2 | 5 => {
            let made = said - 1;
            let (old, new) = (format!("mark {made} here"), format!("changed by {said}"));
            Answer::call(
                "edit_file",
                json!({"path": format!("out/{made}.txt"), "old_string": old, "new_string": new}),
            )
        }
        3 => Answer::call("grep", json!({"pattern": "line 1[0-9] of", "path": "src"}))
            .reasoning("Where is it?"),
        6 => Answer::call(
            "bash",
            json!({"command": format!("printf 'said %s\\n' {said}; ls out | wc -l")}),
        ),
        8 => read(&file)
            .and_call("read_file", json!({"path": "src/none.txt"}))
            .and_call("grep", json!({"pattern": "("})),
        9 => Answer::call("bash", json!({"command": "echo to stderr >&2; exit 3"})),
        _ => Answer::call(
            "edit_file",
            json!({"path": file, "old_string": from(said), "new_string": "twice"}),
        ),
    }
}

fn read(path: &str) -> Answer {
    Answer::call("read_file", json!({"path": path}))
}

fn script() -> Script {
    Script::by(|request: &Request| step(request.answered()))
}

fn project(house: &House) {
    let lines: String = (0..120)
        .map(|line| format!("line {line} of the file\n"))
        .collect();
    for file in 0..3 {
        house.files(&format!("//- src/f{file}.txt\n{lines}"));
    }
}

/// One more prompt of a session, by its own run.
fn prompt(house: &House, session: &str, text: &str) {
    run(house, &["--on-ask", "allow", "-s", session], text).expect(0, "completed");
}

#[test]
fn sixty_requests_of_an_edit_session_extend_each_other() {
    let model = Model::start(script());
    let house = house(&model);
    project(&house);
    let session = run(&house, &["--on-ask", "allow"], "Part 0, please.")
        .expect(0, "completed")
        .pid();
    for part in 1..5 {
        prompt(&house, &session, &format!("Part {part}, please."));
    }
    assert_eq!(model.count(), 60);
    model.assert_prefix();
    let log = &house.logs()[0];
    log.check();
    let failed = log
        .results()
        .iter()
        .filter(|result| result.status != proto::item::CallStatus::Ok)
        .count();
    assert!(
        failed > 0 && failed < 30,
        "a session where some calls fail: {failed} of {}",
        log.results().len()
    );
}

#[test]
fn a_restart_of_the_daemon_changes_no_byte() {
    let model = Model::start(script());
    let house = house(&model);
    project(&house);
    let session = run(&house, &["--on-ask", "allow"], "Part 0, please.")
        .expect(0, "completed")
        .pid();
    house.stop_daemon();
    house.daemon();
    prompt(&house, &session, "Part 1, after an orderly stop.");
    house.kill_daemon();
    house.wait_for_daemon();
    prompt(&house, &session, "Part 2, after a kill.");
    house.kill_daemon_and_parent();
    house.daemon();
    prompt(&house, &session, "Part 3, after a kill of both.");
    assert_eq!(model.count(), 4 * (ROUNDS + 1));
    model.assert_prefix();
}

#[test]
fn a_kill_in_the_middle_of_an_answer_asks_for_it_again_with_the_same_bytes() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request: &Request| {
        let said = request.answered();
        if said == 5 && !held.is_reached() {
            return Answer::text("This is never heard to its end, by nobody.")
                .held(Place::Middle, &held);
        }
        step(said)
    }));
    let house = house(&model);
    project(&house);
    let running = house.start(&[
        "run",
        "--output-format",
        "jsonl",
        "--on-ask",
        "allow",
        "Part 0, please.",
    ]);
    shown(&running, "This is never");
    house.kill_daemon();
    RunOutput::of(&running.done()).expect(0, "completed");
    let requests = model.requests();
    assert_eq!(requests.len(), ROUNDS + 2);
    assert_eq!(
        requests[5].body, requests[6].body,
        "the request that was cut off is made again"
    );
    model.assert_prefix();
}

#[test]
fn prompt_prefix_does_not_depend_on_client_directory_or_locale() {
    let model = Model::start(script());
    let house = house(&model);
    project(&house);
    let first = run(&house, &["--on-ask", "allow"], "Part 0, please.").expect(0, "completed");
    let session = first.pid();
    let other_place = |directory: &Path| {
        let mut command = house.command(&[
            "run",
            "--output-format",
            "jsonl",
            "--on-ask",
            "allow",
            "-s",
            &session,
            "Part 1.",
        ]);
        command.current_dir(directory);
        for (name, value) in [
            ("LANG", "zh_CN.UTF-8"),
            ("LC_ALL", "de_DE.UTF-8"),
            ("TZ", "Asia/Shanghai"),
            ("TERM", "xterm-256color"),
            ("COLUMNS", "40"),
            ("EDITOR", "ed"),
            ("NO_COLOR", "1"),
        ] {
            command.env(name, value);
        }
        RunOutput::of(&tests::program::run(&mut command)).expect(0, "completed")
    };
    other_place(&house.user_home());
    assert_eq!(model.count(), 2 * (ROUNDS + 1));
    model.assert_prefix();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_clients_that_watch_and_one_that_prompts_make_no_difference() {
    let model = Model::start(script());
    let house = house(&model);
    project(&house);
    let (one, two) = (
        house.client("one", Role::Drive).await,
        house.client("two", Role::Approve).await,
    );
    let mut create = house.create("Part 0, please.");
    create.options.on_ask = Some(proto::state::OnAsk::Allow);
    let created = soon(
        "a session",
        one.call::<proto::methods::SessionCreate>(&create),
    )
    .await
    .expect("create");
    let mut first = follow::from_the_start(&one, created.session).await;
    let mut second = follow::from_the_start(&two, created.session).await;
    let here = follow::to_end_of_turn(&mut first).await;
    let there = follow::to_end_of_turn(&mut second).await;
    assert_eq!(
        follow::durable(&here),
        follow::durable(&there),
        "both see the same"
    );
    drop(second);
    let text = run(
        &house,
        &["--on-ask", "allow", "-s", &created.pid.to_string()],
        "Part 1.",
    )
    .expect(0, "completed");
    assert_eq!(text.text(), "Part 1 is done.\n\nNext?");
    assert_eq!(model.count(), 2 * (ROUNDS + 1));
    model.assert_prefix();
}

#[test]
fn a_new_session_of_the_same_build_has_the_same_prefix() {
    let model = Model::start([Answer::text("One."), Answer::text("Two.")]);
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&model.entry("model", None));
    house.daemon();
    run(&house, &[], "hello").expect(0, "completed");
    let mut elsewhere = house.command(&[
        "run",
        "--in-home",
        "--output-format",
        "jsonl",
        "something else",
    ]);
    elsewhere
        .current_dir(house.user_home())
        .env("TZ", "America/New_York")
        .env("TERM", "dumb");
    RunOutput::of(&tests::program::run(&mut elsewhere)).expect(0, "completed");
    let requests = model.requests();
    let (one, two) = (&requests[0].json, &requests[1].json);
    assert_eq!(one["tools"].to_string(), two["tools"].to_string());
    assert_eq!(
        one["messages"][0], two["messages"][0],
        "the system prompt holds nothing variable"
    );
    let size = one["tools"].to_string().len() + one["messages"][0].to_string().len();
    assert!(
        size <= 14 * 1024,
        "the frozen prefix of a default session is {size} bytes"
    );
    model.assert_strict();
}
