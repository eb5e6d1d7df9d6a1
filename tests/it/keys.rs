//! Keys that clients bring: they are in memory only, and yet outlive a crash of the daemon.

use serde_json::json;
use testkit::model::{Answer, Fault, Gate, Model, Place};
use tests::House;
use tests::program::run;

const VARIABLE: &str = "ACME_API_KEY";
const KEY: &str = "sk-canary-4711";

/// A house whose model wants a key. The daemon does not have it: only clients to which it is given do.
fn house(model: &Model) -> House {
    let house = House::new();
    house.settings(crate::scripted::FAST_RETRIES);
    house.provider(&model.entry("model", Some(VARIABLE)));
    house.daemon();
    house
}

fn answers(gate: &Gate) -> [Answer; 2] {
    let first = Answer::call("read_file", json!({"path": "a.txt"}));
    [first.held(Place::Before, gate), Answer::text("All done.")]
}

/// A run that has asked its model for the first time, left by its client.
fn detached(house: &House, gate: &Gate) {
    house.files("//- a.txt\nwords\n");
    let mut command = house.command(&["run", "--detach", "look"]);
    let _ = run(command.env(VARIABLE, KEY)).expect_code(0);
    tests::until("the first request", || gate.is_reached().then_some(()));
}

#[test]
fn a_detached_run_goes_on_with_its_key_after_the_daemon_was_killed() {
    let gate = Gate::new();
    let model = Model::start(answers(&gate));
    let house = house(&model);
    detached(&house, &gate);
    house.kill_daemon();
    gate.open();
    model.push([Answer::text("Done after the crash.")]);
    // They come at once, and may start a daemon of their own: it must not be one that has no keys.
    let waiting: Vec<_> = (0..6)
        .map(|_| house.start(&["wait", "--timeout", "60", "1"]))
        .collect();
    for waiting in waiting {
        let waited = waiting.done().expect_code(0);
        assert_eq!(waited.err, "", "nobody was asked for a key");
    }
    for request in model.requests() {
        let sent = request.authorization.expect("a key");
        assert!(sent.ends_with(KEY), "the key that was brought");
    }
    for file in walk(&house.home()) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        let found = bytes
            .windows(KEY.len())
            .any(|bytes| bytes == KEY.as_bytes());
        assert!(!found, "{} holds the key", file.display());
    }
}

/// All files below a directory.
fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory").flatten();
    let files = entries.map(|entry| entry.path());
    files
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn any_command_with_the_key_resumes_a_session_after_parent_and_daemon_kill() {
    let gate = Gate::new();
    let model = Model::start(answers(&gate));
    let house = house(&model);
    detached(&house, &gate);
    house.kill_daemon_and_parent();
    gate.open();
    model.push([Answer::text("Done after the crash.")]);
    house.daemon();
    tests::until("the session to wait for its key", || {
        let listed = house.reasonix(&["ps", "--json"]).expect_code(0);
        listed.out.contains("credentials").then_some(())
    });
    let mut waiting = house.start(&["wait", "1"]);
    waiting.err_line("what it waits for", |line| line.contains(VARIABLE));
    assert!(waiting.runs(), "a key may still come");
    let listed = run(house.command(&["ps"]).env(VARIABLE, KEY));
    let _ = listed.expect_code(0);
    let _ = waiting.done().expect_code(0);
}

/// The first command after both died is often the only one that has the key: it starts the daemon, which has not read
/// its sessions yet.
#[test]
fn the_first_command_after_parent_and_daemon_died_brings_the_key() {
    for first in [
        &["ls"][..],
        &["daemon", "start"],
        &["wait", "--timeout", "60", "1"],
    ] {
        let gate = Gate::new();
        let model = Model::start(answers(&gate));
        let house = house(&model);
        detached(&house, &gate);
        house.kill_daemon_and_parent();
        gate.open();
        model.push([Answer::text("Done after the crash.")]);
        let _ = run(house.command(first).env(VARIABLE, KEY)).expect_code(0);
        let waited = house.reasonix(&["wait", "--timeout", "60", "1"]);
        assert_eq!(waited.code(), Some(0), "{first:?}: {waited:?}");
    }
}

/// The shell of the restart has no key, but a client that comes back right after it.
#[test]
fn a_key_that_comes_after_a_restart_is_not_asked_for() {
    let gate = Gate::new();
    let model = Model::start(answers(&gate));
    let house = house(&model);
    detached(&house, &gate);
    // The old daemon leaves once the answer is there; the new one makes the call, and asks the model without a key.
    let restarting = house.start(&["daemon", "restart"]);
    restarting.err_line("what is handed over", |line| line.contains("session 1"));
    gate.open();
    let _ = restarting.done().expect_code(0);
    tests::until("the call, after the restart", || {
        let log = house.reasonix(&["logs", "1"]).expect_code(0).out;
        log.contains("read_file").then_some(())
    });
    let listed = run(house.command(&["ps", "--json"]).env(VARIABLE, KEY));
    let _ = listed.expect_code(0);
    let waited = house.reasonix(&["wait", "--timeout", "60", "1"]);
    let waited = waited.expect_code(0);
    let log = house.reasonix(&["logs", "1"]).expect_code(0).out;
    for text in [&waited.err, &log] {
        assert!(!text.contains("needs a key"), "{text}");
    }
    assert!(log.contains("All done."), "{log}");
}

#[test]
fn a_run_without_a_key_makes_no_session_and_says_how_to_get_one() {
    let model = Model::start([]);
    let house = house(&model);
    for arguments in [&["run", "look"][..], &["run", "--detach", "look"]] {
        let refused = house.reasonix(arguments);
        assert_ne!(refused.code(), Some(0), "{refused:?}");
        assert_eq!(refused.out, "", "no pid of a session that is not there");
        for words in [VARIABLE, "reasonix login"] {
            assert!(refused.err.contains(words), "{}", refused.err);
        }
    }
    assert_eq!(house.logs().len(), 0, "no session was made");
}

#[test]
fn wait_prints_why_a_run_did_not_end_well() {
    let model =
        Model::start([Answer::text("").fault(Fault::refusal(400, "the moon is not full", "moon"))]);
    let house = house(&model);
    let mut command = house.command(&["run", "--detach", "look"]);
    let _ = run(command.env(VARIABLE, KEY)).expect_code(0);
    let waited = house.reasonix(&["wait", "1"]);
    assert_ne!(waited.code(), Some(0), "{waited:?}");
    assert!(
        waited.err.contains("the moon is not full"),
        "{}",
        waited.err
    );
}
