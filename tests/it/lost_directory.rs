//! A session whose working directory is gone: work is refused at once with what to do, nothing is lost, it can still be
//! read and exported, and it goes on when the directory is back.

use std::fs;
use std::path::PathBuf;

use proto::hello::Role;
use proto::{ErrorName, Failure, Pid};
use serde_json::{Value, json};
use testkit::model::{Answer, Model};
use tests::{House, Raw, until};

use crate::scripted::house;

/// A directory of a session that can be removed.
fn place(house: &House) -> PathBuf {
    let place = house.root().join("place");
    fs::create_dir_all(&place).expect("make it");
    place
}

/// A session that works there, which has this prompt.
fn create(house: &House, raw: &mut Raw, prompt: &str) {
    let mut params = house.create(prompt);
    params.cwd = place(house).to_string_lossy().into_owned();
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
}

fn wait(raw: &mut Raw) {
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
}

/// What starts work in a session.
fn work() -> [(&'static str, Value); 5] {
    [
        ("session.prompt", json!({"session": "1", "text": "more"})),
        (
            "session.shell",
            json!({"session": "1", "command": "touch ran"}),
        ),
        ("goal.start", json!({"session": "1", "text": "go far"})),
        ("session.resume", json!({"session": "1", "add_steps": 3})),
        (
            "session.signal",
            json!({"session": "1", "signal": "RESUME"}),
        ),
    ]
}

fn check(house: &House, refusal: &Failure) {
    let place = house.root().join("place");
    assert_eq!(refusal.name, ErrorName::Storage, "{refusal:?}");
    let words = format!("The directory `{}` does not exist.", place.display());
    assert!(refusal.message.contains(&words), "{refusal:?}");
    assert!(
        refusal.hint.contains("Create the directory again"),
        "{refusal:?}"
    );
}

#[test]
fn work_in_a_directory_that_is_gone_is_refused_and_goes_on_when_it_is_back() {
    let model = Model::start(vec![Answer::text("Hello."), Answer::text("Back.")]);
    let house = house(&model);
    let mut raw = house.raw_as(Role::Drive);
    create(&house, &mut raw, "go");
    wait(&mut raw);
    fs::remove_dir(place(&house)).expect("remove it");
    let records = house.log(Pid(1)).bodies().len();
    for round in ["loaded", "after a kill"] {
        for (method, params) in work() {
            let refusal = raw.call(method, &params).expect_err(method);
            check(&house, &refusal);
        }
        let said = house.reasonix(&["run", "-s", "1", "more"]);
        assert_ne!(said.code(), Some(0), "{round}: {said:?}");
        assert!(said.err.contains("Create the directory again"), "{said:?}");
        // It can be read, and nothing was written.
        for command in [
            &["show", "1"][..],
            &["steps", "1"],
            &["logs", "1"],
            &["export", "1"],
            &["ls"],
            &["ps", "-a"],
        ] {
            let done = house.reasonix(command).expect_code(0);
            assert!(!done.out.is_empty(), "{round}: {command:?}");
        }
        assert_eq!(house.log(Pid(1)).bodies().len(), records, "{round}");
        if round == "loaded" {
            house.kill_daemon_and_parent();
            house.daemon();
            raw = house.raw_as(Role::Drive);
        }
    }
    let _ = place(&house);
    until("the prompt to be taken", || {
        raw.call("session.prompt", &json!({"session": "1", "text": "more"}))
            .ok()
    });
    wait(&mut raw);
    assert_eq!(model.count(), 2);
    house.log(Pid(1)).check();
}

#[test]
fn prompt_is_refused_while_a_turn_runs_whose_directory_is_gone() {
    let gate = "touch ../here; while [ ! -e ../open ]; do sleep 0.01; done";
    let model = Model::start(vec![
        Answer::call("bash", json!({"command": gate})),
        Answer::text("Done."),
        Answer::text("More."),
    ]);
    let house = house(&model);
    house.turn_off_sandbox();
    let mut raw = house.raw_as(Role::Drive);
    create(&house, &mut raw, "go");
    until("the command", || {
        house.root().join("here").exists().then_some(())
    });
    let request = proto::RequestId::new();
    let queued = json!({"session": "1", "text": "later", "request_id": request});
    let taken = raw.call("session.prompt", &queued).expect("a prompt");
    fs::remove_dir(place(&house)).expect("remove it");
    let refusal = raw.call("session.prompt", &json!({"session": "1", "text": "more"}));
    check(&house, &refusal.expect_err("a refusal"));
    // One that was taken before gets the same answer again.
    let again = raw.call("session.prompt", &queued).expect("the answer");
    assert_eq!(again["prompt_id"], taken["prompt_id"]);
    let _ = place(&house);
    fs::write(house.root().join("open"), "").expect("open");
    until("both turns to end", || (model.count() == 3).then_some(()));
    wait(&mut raw);
    house.log(Pid(1)).check();
}
