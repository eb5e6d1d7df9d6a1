//! What a daemon needs of its home, deleted while it works: it makes it again and goes on. And sessions that could not be
//! brought back at a start: tried again until they are.

use std::fs;

use proto::Pid;
use proto::hello::Role;
use serde_json::json;
use testkit::Script;
use tests::{Gate, House, until};

/// A turn under way whose command waits, and then something of the home is deleted.
fn goes_on_without(delete: impl Fn(&House)) {
    let house = House::playing(&Script::new().runs(&Gate::command("one")).says("Done."));
    house.daemon();
    let daemon = house.daemon_pid();
    let mut raw = house.raw_as(Role::Drive);
    let mut create = serde_json::to_value(house.create("work")).expect("JSON");
    create["on_ask"] = json!("allow");
    raw.call("session.create", &create).expect("create");
    let gate = Gate::new(&house, "one");
    gate.wait();
    delete(&house);
    until("the lock to be taken again", || {
        let log = house.daemon_log();
        log.contains("the lock of the home was deleted, and has been made again")
            .then_some(())
    });
    // Who starts another one finds this one.
    let _ = house.reasonix(&["ps"]).expect_code(0);
    let another = house
        .spawn_daemon(&["serve"])
        .wait_with_output()
        .expect("another daemon");
    assert!(another.status.success(), "{another:?}");
    gate.open();
    let ended = raw
        .call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    assert_eq!(ended["exit_code"], 0, "{ended}");
    assert_eq!(house.daemon_pid(), daemon, "it is the same daemon");
    house.log(Pid(1)).check();
}

#[test]
fn a_run_directory_that_is_deleted_in_a_turn_is_made_again() {
    goes_on_without(|house| {
        fs::remove_dir_all(house.home().join("run")).expect("delete it");
    });
}

#[test]
fn a_lock_that_is_deleted_in_a_turn_is_made_again() {
    goes_on_without(|house| {
        fs::remove_file(house.home().join("run/reasonixd.lock")).expect("delete it");
    });
}

#[test]
fn a_lock_that_is_replaced_by_another_file_in_a_turn_is_taken() {
    goes_on_without(|house| {
        let lock = house.home().join("run/reasonixd.lock");
        fs::write(house.home().join("run/other"), "").expect("another file");
        fs::rename(house.home().join("run/other"), &lock).expect("replace it");
    });
}

#[test]
fn a_session_that_cannot_be_brought_back_is_tried_again_until_it_is() {
    let house = House::playing(
        &Script::new()
            .runs(&Gate::command("one"))
            .says("Done.")
            .says("Done."),
    );
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let mut create = serde_json::to_value(house.create("work")).expect("JSON");
    create["on_ask"] = json!("allow");
    create["kind"] = json!("headless");
    raw.call("session.create", &create).expect("create");
    Gate::new(&house, "one").wait();
    house.kill_daemon_and_parent();
    // As if another daemon still had it.
    let log = house.log(Pid(1)).path;
    let held = fs::File::open(&log).expect("the log");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).expect("lock it");
    house.daemon();
    let doctor = house.reasonix(&["doctor"]);
    assert!(doctor.out.contains("another writer"), "{}", doctor.out);
    assert_ne!(doctor.code(), Some(0), "{}", doctor.out);
    drop(held);
    let mut raw = house.raw_as(Role::Drive);
    until("its turn to end", || {
        let log = house.log(Pid(1));
        (log.count("turn.ended") == 1).then_some(())
    });
    let ended = raw
        .call("session.wait", &json!({"session": "1", "until": "exit"}))
        .expect("wait");
    assert_eq!(ended["exit_code"], 0, "{ended}");
    let doctor = house.reasonix(&["doctor"]);
    assert!(!doctor.out.contains("another writer"), "{}", doctor.out);
}
