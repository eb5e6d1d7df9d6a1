//! What keeps a protected place from being taken while a command runs is nothing that a person should meet afterwards:
//! neither when the command has ended nor when the daemon was killed in the middle.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use proto::hello::Role;
use serde_json::json;
use testkit::Script;
use tests::until;

use super::SandboxHouse;

/// What in the project only keeps a place: it has rights that nothing has by chance.
fn stubs(place: &SandboxHouse) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.house.project()).expect("the project");
    let paths = entries.flatten().map(|entry| entry.path());
    paths
        .filter(|path| {
            let found = path.symlink_metadata();
            found.is_ok_and(|found| [0o1555, 0o1444].contains(&(found.mode() & 0o7777)))
        })
        .collect()
}

/// Kills the daemon while a command runs in a session, with the parent that would start the next at once, and starts it
/// again.
fn killed_in_the_middle(place: &SandboxHouse, arguments: &serde_json::Value) {
    let script = Script::new().calls("bash", arguments).says("Done.");
    place.house.cassette(&script.jsonl());
    let mut raw = place.house.raw_as(Role::Drive);
    let mut params = place.house.create("go");
    params.options.approval_mode = Some(proto::state::ApprovalMode::Yolo);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    let ready = place.house.project().join("ready");
    until("the command to run", || ready.exists().then_some(()));
    assert!(!stubs(place).is_empty(), "{}", place.layer);
    place.house.kill_daemon_and_parent();
    assert!(
        !stubs(place).is_empty(),
        "{}: nobody could remove them",
        place.layer
    );
    place.house.daemon();
}

#[test]
fn a_killed_daemons_stubs_go_when_its_session_is_recovered() {
    for place in SandboxHouse::all() {
        killed_in_the_middle(&place, &json!({"command": "touch ready; sleep 600"}));
        until("the stubs to be gone", || {
            stubs(&place).is_empty().then_some(())
        });
        assert!(place.house.project().join("ready").exists());
    }
}

#[test]
fn those_of_a_command_in_the_background_go_when_its_session_is_looked_at() {
    for place in SandboxHouse::all() {
        let command = "touch ready; sleep 600";
        killed_in_the_middle(
            &place,
            &json!({"command": command, "run_in_background": true}),
        );
        // A file without such a mark belongs to the user.
        fs::create_dir(place.house.project().join("own")).expect("a directory");
        let mut raw = place.house.raw_as(Role::Watch);
        let look = json!({"session": "1", "subscription": "x"});
        raw.call("session.attach", &look).expect("attach");
        until("the stubs to be gone", || {
            stubs(&place).is_empty().then_some(())
        });
        assert!(place.house.project().join("own").is_dir());
    }
}
