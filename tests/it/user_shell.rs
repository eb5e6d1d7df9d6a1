//! Commands that users run themselves (`session.shell`, `!` in the clients): unsandboxed, seen by everybody, and shown
//! to the model with the next prompt.

use proto::hello::Role;
use proto::record::ChildExited;
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::model::{Answer, Model};
use tests::{House, Raw, processes, until};

use crate::scripted::house;

/// A session at rest after its first turn, with a model that has these answers left.
fn rested<const N: usize>(answers: [Answer; N]) -> (Model, House, Raw) {
    let first = [Answer::text("Hello.")];
    let model = Model::start(first.into_iter().chain(answers).collect::<Vec<_>>());
    let house = house(&model);
    let mut raw = house.raw_as(Role::Drive);
    let params = serde_json::to_value(house.create("go")).expect("JSON");
    raw.call("session.create", &params).expect("create");
    wait(&mut raw);
    (model, house, raw)
}

fn shell(raw: &mut Raw, command: &str) -> Result<Value, proto::Failure> {
    raw.call(
        "session.shell",
        &json!({"session": "1", "command": command}),
    )
}

fn prompt(raw: &mut Raw, text: &str) {
    raw.call("session.prompt", &json!({"session": "1", "text": text}))
        .expect("prompt");
}

fn wait(raw: &mut Raw) {
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
}

fn ends(house: &House) -> Vec<ChildExited> {
    let bodies = house.log(Pid(1)).bodies().into_iter();
    bodies
        .filter_map(|body| match body {
            Body::ChildExited(child) => Some(child),
            _ => None,
        })
        .collect()
}

fn result(end: &ChildExited) -> &str {
    &end.result.as_ref().expect("a result").text
}

#[test]
fn the_model_sees_a_users_command_with_the_next_prompt_and_not_before() {
    let (model, house, mut raw) = rested([Answer::text("Three."), Answer::text("Bye.")]);
    let written = house.user_home().join("written-outside");
    let command = format!(
        "echo out; echo err >&2; pwd; touch '{}'; exit 3",
        written.display()
    );
    shell(&mut raw, &command).expect("shell");
    wait(&mut raw);
    assert_eq!(model.count(), 1, "no request is made for it");
    assert!(written.exists(), "it has the user's rights");
    let end = &ends(&house)[0];
    assert_eq!(end.code, Some(3));
    let cwd = house.project().display().to_string();
    assert!(
        result(end).contains(&format!("out\nerr\n{cwd}\n")),
        "{end:?}"
    );
    prompt(&mut raw, "What did it print?");
    wait(&mut raw);
    prompt(&mut raw, "Thanks.");
    wait(&mut raw);
    let requests = model.requests();
    let said = requests[1].last_text();
    assert!(
        said.contains("<user-command>\n$ echo out; echo err >&2; pwd; touch"),
        "{said}"
    );
    assert!(said.contains("\nexit code 3, "), "{said}");
    assert!(said.ends_with("What did it print?"), "{said}");
    assert_eq!(requests[2].last_text(), "Thanks.");
    model.assert_prefix();
    house.log(Pid(1)).check();
}

#[test]
fn only_a_client_that_may_drive_runs_commands() {
    let (_model, house, mut raw) = rested([]);
    for role in [Role::Watch, Role::Approve] {
        let refused = shell(&mut house.raw_as(role), "touch ran").expect_err("refused");
        assert_eq!(refused.name, proto::ErrorName::NotAllowed, "{refused:?}");
    }
    // A command of its own comes from the daemon, and so may only watch.
    let program = tests::house::client_program().display().to_string();
    let inner = r#"{"session":"1","command":"touch ran"}"#;
    let command = format!(
        "REASONIX_SOCKET='{}' REASONIX_HOME='{}' '{program}' rpc session.shell '{inner}' > refused 2>&1",
        house.socket().display(),
        house.home().display(),
    );
    shell(&mut raw, &command).expect("shell");
    wait(&mut raw);
    assert!(!house.project().join("ran").exists());
    let refused = std::fs::read_to_string(house.project().join("refused")).expect("words");
    assert!(!refused.is_empty());
    for (command, name) in [
        ("  ", proto::ErrorName::InvalidParams),
        ("a\0b", proto::ErrorName::InvalidParams),
    ] {
        assert_eq!(shell(&mut raw, command).expect_err("refused").name, name);
    }
}

#[test]
fn a_running_command_holds_prompts_back_and_can_be_interrupted() {
    let (model, house, mut raw) = rested([Answer::text("It was stopped.")]);
    let mark = format!("RX_USER_SHELL={}.1", std::process::id());
    shell(&mut raw, &format!("export {mark}; echo begun; sleep 4190")).expect("shell");
    until("the command", || {
        (!processes::marked(&mark).is_empty()).then_some(())
    });
    let busy = shell(&mut raw, "true").expect_err("one at a time");
    assert_eq!(busy.name, proto::ErrorName::Busy, "{busy:?}");
    prompt(&mut raw, "What happened?");
    assert_eq!(model.count(), 1, "the prompt waits for the command's end");
    raw.call("session.interrupt", &json!({"session": "1"}))
        .expect("interrupt");
    wait(&mut raw);
    assert!(processes::marked(&mark).is_empty());
    let said = model.requests()[1].last_text().to_owned();
    assert!(said.contains("stopped by the user"), "{said}");
    assert!(said.contains("begun"), "{said}");
    house.log(Pid(1)).check();
}

#[test]
fn a_killed_daemon_ends_the_command_and_the_model_is_told() {
    let (model, house, mut raw) = rested([Answer::text("It was lost.")]);
    let mark = format!("RX_USER_SHELL={}.2", std::process::id());
    shell(&mut raw, &format!("export {mark}; sleep 4191")).expect("shell");
    until("the command", || {
        (!processes::marked(&mark).is_empty()).then_some(())
    });
    house.kill_daemon_and_parent();
    until("its end", || {
        processes::marked(&mark).is_empty().then_some(())
    });
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    prompt(&mut raw, "What happened?");
    wait(&mut raw);
    let end = &ends(&house)[0];
    assert_eq!(end.cause.as_deref(), Some("the daemon stopped"));
    let said = model.requests()[1].last_text().to_owned();
    assert!(
        said.contains("$ export") && said.contains("ended: the daemon stopped;"),
        "{said}"
    );
    house.log(Pid(1)).check();
}

#[test]
fn a_session_at_work_and_one_that_has_ended_run_no_commands() {
    let model = Model::start(vec![Answer::call("bash", json!({"command": "sleep 4192"}))]);
    let house = house(&model);
    let mut raw = house.raw_as(Role::Drive);
    let mut params = house.create("go");
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    until("the request", || (model.count() == 1).then_some(()));
    let busy = shell(&mut raw, "touch ran").expect_err("a turn runs");
    assert_eq!(busy.name, proto::ErrorName::Busy, "{busy:?}");
    raw.call("session.signal", &json!({"session": "1", "signal": "KILL"}))
        .expect("kill");
    raw.call("session.wait", &json!({"session": "1", "until": "exit"}))
        .expect("wait");
    let ended = shell(&mut raw, "touch ran").expect_err("it has ended");
    assert_eq!(ended.name, proto::ErrorName::NotAllowed, "{ended:?}");
    assert!(!house.project().join("ran").exists());
}

#[test]
fn line_mode_runs_a_command_and_shows_what_it_prints() {
    let (model, house, raw) = rested([Answer::text("Forty-two.")]);
    drop(raw);
    let typed = "!echo the answer is $((6 * 7)); exit 4\nWhat is it?\n";
    let done = house
        .reasonix_reading(&["attach", "--plain", "1"], typed)
        .expect_code(0);
    assert!(done.out.contains("> ! echo the answer is"), "{}", done.out);
    assert!(done.out.contains("the answer is 42"), "{}", done.out);
    assert!(done.out.contains("Forty-two."), "{}", done.out);
    assert!(model.requests()[1].last_text().contains("the answer is 42"));
    let watched =
        house.reasonix_reading(&["attach", "--plain", "--read-only", "1"], "!touch ran\n");
    assert!(!house.project().join("ran").exists(), "{}", watched.out);
}

#[test]
fn line_mode_shows_each_line_as_it_comes_and_all_of_them() {
    let (_model, house, raw) = rested([]);
    drop(raw);
    let mut attached = house.start(&["attach", "--plain", "1"]);
    attached.say("!seq 101 140; while [ ! -e go ]; do sleep 0.05; done; printf 'the end'\n");
    attached.line("the first lines", |line| line == "  │ 140");
    std::fs::write(house.project().join("go"), "").expect("a file");
    attached.line("the last line", |line| line == "  │ the end");
    attached.say("/quit\n");
    let done = attached.done().expect_code(0);
    let lines: Vec<_> = done.out.lines().collect();
    for number in 101..=140 {
        let line = format!("  │ {number}");
        let count = lines.iter().filter(|shown| **shown == line).count();
        assert_eq!(count, 1, "{number}: {}", done.out);
    }
    assert_eq!(done.out.matches("│ the end").count(), 1, "{}", done.out);
}

#[test]
fn output_with_escapes_is_shown_once_in_line_mode() {
    let (_model, house, raw) = rested([]);
    drop(raw);
    let mut attached = house.start(&["attach", "--plain", "1"]);
    attached.say("!printf 'a\\033[31mred\\nthe end\\n'\n");
    attached.line("the last line", |line| line == "  │ the end");
    attached.say("!echo after\n");
    attached.line("the next command", |line| line == "  │ after");
    attached.say("/quit\n");
    let done = attached.done().expect_code(0);
    assert_eq!(done.out.matches("│ ared").count(), 1, "{}", done.out);
}
