//! Commands in the background: they have a number, outlive their turn, and end with their session or their daemon.

use std::time::{Duration, Instant};

use proto::hello::Role;
use proto::state::OnAsk;
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::Script;
use tests::processes;
use tests::{House, Raw, until};

fn mark(test: u32) -> String {
    format!("RX_SHELL={}.{test}", std::process::id())
}

/// A session whose first turn has left a command in the background; the session and the command's number.
fn begin(test: u32) -> (House, Raw, u64) {
    let command = "setsid sh -c 'sleep 4176; :' & touch ready; sleep 4175";
    let call = json!({"command": command, "run_in_background": true});
    let house = House::playing(
        &Script::new()
            .calls("bash", &call)
            .says("It runs.")
            .says("Another turn."),
    );
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let mut params = house.create("go");
    params.options.on_ask = Some(OnAsk::Allow);
    let entry = mark(test);
    let (name, value) = entry.split_once('=').expect("an entry");
    params.env.insert(name.to_owned(), value.to_owned());
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    let spawned = until("the command in the background", || {
        let bodies = house.log(Pid(1)).bodies();
        bodies.into_iter().find_map(|body| match body {
            Body::ChildSpawned(child) => Some(child.pid.0),
            _ => None,
        })
    });
    until("its processes", || {
        (processes::marked(&mark(test)).len() >= 2).then_some(())
    });
    (house, raw, spawned)
}

fn gone(test: u32, what: &str) {
    let since = Instant::now();
    until(&format!("the background to be gone after {what}"), || {
        processes::marked(&mark(test)).is_empty().then_some(())
    });
    let took = since.elapsed();
    assert!(took < Duration::from_secs(6), "{what}: {took:?}");
}

/// The command's end in the log.
fn exited(house: &House, number: u64) -> Option<Value> {
    let bodies = house.log(Pid(1)).bodies();
    bodies.into_iter().find_map(|body| match body {
        Body::ChildExited(child) if child.pid.0 == number => serde_json::to_value(child).ok(),
        _ => None,
    })
}

#[test]
fn background_command_outlives_its_turn_and_an_interrupt_and_is_killed_by_number() {
    let (house, mut raw, number) = begin(1);
    assert!(number > 1, "a number of its own");
    raw.call("session.prompt", &json!({"session": "1", "text": "again"}))
        .expect("prompt");
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    raw.call("session.interrupt", &json!({"session": "1"}))
        .expect("interrupt");
    assert!(!processes::marked(&mark(1)).is_empty(), "it still runs");
    let listed = house.reasonix(&["ps", "--json"]).expect_code(0).out;
    assert!(listed.contains("\"shell\""), "{listed}");
    let _ = house
        .reasonix(&["kill", &number.to_string()])
        .expect_code(0);
    gone(1, "its own end");
    until("the record of its end", || exited(&house, number));
    house.log(Pid(1)).check();
}

#[test]
fn background_command_ends_with_its_session() {
    for (test, method, params) in [
        (2, "session.close", json!({"session": "1"})),
        (
            3,
            "session.signal",
            json!({"session": "1", "signal": "TERM"}),
        ),
        (
            4,
            "session.signal",
            json!({"session": "1", "signal": "KILL"}),
        ),
    ] {
        let (house, mut raw, number) = begin(test);
        raw.call(method, &params).expect("end the session");
        gone(test, &params.to_string());
        until("the record of its end", || exited(&house, number));
        house.stop_daemon();
        house.log(Pid(1)).check();
    }
}

#[test]
fn background_command_ends_with_the_daemon_and_the_next_one_reports_it() {
    for test in [5, 6] {
        let (house, raw, number) = begin(test);
        drop(raw);
        if test == 5 {
            house.kill_daemon();
            house.wait_for_daemon();
        } else {
            house.kill_daemon_and_parent();
        }
        gone(test, "the death of the daemon");
        // Whoever asks for the session next hears of it.
        let _ = house.reasonix(&["logs", "1"]).expect_code(0);
        let _ = house
            .reasonix(&["run", "-s", "1", "--on-ask", "allow", "again"])
            .expect_code(0);
        let end = until("the record of its end", || exited(&house, number));
        assert!(end["cause"].as_str().is_some(), "{end}");
        assert_eq!(house.log(Pid(1)).check().count("child.exited"), 1);
    }
}
