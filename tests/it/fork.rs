//! Forks with the real programs: the provider sees the same bytes of a fork as of its origin.

use proto::hello::Role;
use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script};
use tests::House;

use crate::scripted::{house, run};

/// Two requests a prompt: a call, then words.
fn script() -> Script {
    Script::by(|request: &Request| match request.answered() % 2 {
        0 => Answer::text("I look: ü 世界 \"quoted\".")
            .and_call("grep", json!({"pattern": "line", "path": "src"})),
        _ => Answer::text(format!("Answer {}.", request.answered())),
    })
}

fn fork(house: &House, session: &str, more: Value) -> Value {
    let mut params = json!({"session": session, "fork": proto::SessionId::new()});
    for (name, value) in more.as_object().expect("an object") {
        params[name] = value.clone();
    }
    let mut raw = house.raw_as(Role::Drive);
    raw.call("session.fork", &params).expect("fork")
}

fn text(request: &Request) -> String {
    String::from_utf8(request.body.to_vec()).expect("a request is text")
}

/// Both go on from the same bytes: up to where the prompt of the origin's next turn begins.
fn assert_shared(origin: &str, fork: &str, prompt: &str) {
    let upto = origin.find(prompt).expect("the origin's prompt");
    assert_eq!(
        fork.get(..upto),
        origin.get(..upto),
        "the fork's request begins with the origin's bytes"
    );
    assert!(!fork.contains(prompt), "nothing of the later turn");
    let key = |body: &str| -> Value {
        let body: Value = serde_json::from_str(body).expect("JSON");
        body["prompt_cache_key"].clone()
    };
    assert_eq!(key(fork), key(origin), "the provider's cache is the same");
}

#[test]
fn a_fork_asks_with_the_bytes_of_its_origin() {
    let model = Model::start(script());
    let house = house(&model);
    house.files("//- src/a.txt\nline 1\nline 2\n");
    let origin = run(&house, &["--on-ask", "allow"], "The first prompt.")
        .expect(0, "completed")
        .pid();
    run(&house, &["-s", &origin], "The second prompt.").expect(0, "completed");
    run(&house, &["-s", &origin], "The third prompt.").expect(0, "completed");
    let forked = fork(&house, &origin, json!({"at_turn": 1, "name": "other"}));
    assert_eq!(forked["at_turn"], 1);
    run(&house, &["-s", "other"], "Another way.").expect(0, "completed");
    let requests = model.requests();
    assert_eq!(requests.len(), 8);
    assert_shared(
        &text(&requests[2]),
        &text(&requests[6]),
        "The second prompt.",
    );
    model.assert_strict();

    // Also of a fork of the fork, and after the daemon was killed in between.
    let again = fork(&house, "other", json!({}));
    assert_eq!(again["at_turn"], 2);
    house.kill_daemon();
    house.wait_for_daemon();
    run(&house, &["-s", "other"], "Go on here.").expect(0, "completed");
    run(&house, &["-s", &again["pid"].to_string()], "Or there.").expect(0, "completed");
    let requests = model.requests();
    assert_shared(&text(&requests[8]), &text(&requests[10]), "Go on here.");
    for log in house.logs() {
        log.check();
    }
}

#[test]
fn a_running_turn_is_not_taken_over() {
    let gate = testkit::model::Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request: &Request| {
        match request.answered() {
            0 => Answer::text("The first answer."),
            _ => Answer::text("The second answer is long, and it is not over yet.")
                .held(testkit::model::Place::Middle, &held),
        }
    }));
    let house = house(&model);
    let origin = run(&house, &[], "One.").expect(0, "completed").pid();
    let running = house.start(&["run", "--output-format", "jsonl", "-s", &origin, "Two."]);
    crate::scripted::shown(&running, "The second");
    let forked = fork(&house, &origin, json!({}));
    assert_eq!(forked["at_turn"], 1);
    let mut raw = house.raw_as(Role::Drive);
    let params = json!({"session": origin, "fork": proto::SessionId::new(), "at_turn": 2});
    let refused = raw.call("session.fork", &params).expect_err("it runs");
    assert_eq!(refused.name, proto::ErrorName::NotFound);
    let busy = json!({"session": origin, "confirm": true});
    let busy = raw.call("session.delete", &busy).expect_err("it runs");
    assert_eq!(busy.name, proto::ErrorName::Busy);
    gate.open();
    let _ = running.done();
}

#[test]
fn a_run_goes_on_in_a_fork_and_leaves_the_session_as_it_is() {
    let model = Model::start(script());
    let house = house(&model);
    house.files("//- src/a.txt\nline 1\n");
    let origin = run(&house, &["--on-ask", "allow"], "The first prompt.")
        .expect(0, "completed")
        .pid();
    let before = house.logs().remove(0).bodies().len();
    let forked = run(&house, &["-s", &origin, "--fork"], "Another way.").expect(0, "completed");
    assert_ne!(forked.pid(), origin);
    let last = run(&house, &["-c", "--fork"], "And another.").expect(0, "completed");
    assert_ne!(last.pid(), forked.pid());
    let logs = house.logs();
    assert_eq!(logs.len(), 3);
    let own = logs.iter().filter(|log| log.bodies().len() == before);
    assert_eq!(own.count(), 1, "the origin is as it was");
    let asked = text(model.requests().last().expect("a request"));
    for prompt in ["The first prompt.", "Another way.", "And another."] {
        assert!(asked.contains(prompt), "{prompt}");
    }
    let refused = house.reasonix(&["run", "--fork", "words"]);
    assert_eq!(refused.code(), Some(64));
    assert!(
        refused.err.contains("`--fork` needs a session"),
        "{}",
        refused.err
    );
}
