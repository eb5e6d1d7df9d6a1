//! A session's commands see the environment of the terminal that made it: not that of another session, and not that of
//! whoever happened to start the daemon.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use proto::{Body, Pid};
use testkit::Script;
use tests::program::run;
use tests::{Done, House};

/// A directory with a program `which-one` that says its name.
fn place(house: &House, name: &str) -> PathBuf {
    let place = house.root().join(name);
    std::fs::create_dir(&place).expect("a directory");
    let program = place.join("which-one");
    std::fs::write(&program, format!("#!/bin/sh\necho it is {name}\n")).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
    place
}

/// A run from a terminal whose `PATH` begins with this directory.
fn from(house: &House, place: &std::path::Path, arguments: &[&str]) -> Done {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", place.display());
    run(house.command(arguments).env("PATH", path)).expect_code(0)
}

/// What the commands of a session printed, in order.
fn printed(house: &House, pid: u64) -> Vec<String> {
    let results = house.log(Pid(pid)).check().results();
    results
        .iter()
        .map(|result| result.text.lines().last().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn two_terminals_with_different_paths_have_one_daemon_and_each_its_own_programs() {
    let script = (0..8).fold(Script::new(), |script, _| {
        script.runs("which-one").says("Done.")
    });
    let house = House::playing(&script);
    // Both directories are below `/tmp`, and sandboxed commands have a private `/tmp`.
    house.turn_off_sandbox();
    let (one, two) = (place(&house, "one"), place(&house, "two"));
    // The first one starts the daemon: its environment is not the others'.
    from(&house, &one, &["run", "--on-ask", "allow", "x"]);
    let daemon = house.daemon_pid();
    from(&house, &two, &["run", "--on-ask", "allow", "x"]);
    assert_eq!(house.daemon_pid(), daemon, "one daemon");
    assert_eq!(printed(&house, 1), ["it is one"]);
    assert_eq!(printed(&house, 2), ["it is two"]);

    // After a crash a session has its own again, whoever prompts it.
    house.kill_daemon_and_parent();
    from(
        &house,
        &two,
        &["run", "-s", "1", "--on-ask", "allow", "again"],
    );
    from(
        &house,
        &one,
        &["run", "-s", "2", "--on-ask", "allow", "again"],
    );
    assert_eq!(printed(&house, 1), ["it is one", "it is one"]);
    assert_eq!(printed(&house, 2), ["it is two", "it is two"]);
}

#[test]
fn clients_are_identified_by_the_name_in_their_environment() {
    let house = House::playing(&Script::new().says("Done.").says("Done."));
    let by = |pid: u64, name: Option<&str>| {
        let mut command = house.command(&["run", "x"]);
        let _ = run(command.envs(name.map(|name| ("USER", name)))).expect_code(0);
        let bodies = house.log(Pid(pid)).check().bodies().into_iter();
        let mut queued = bodies.filter_map(|body| match body {
            Body::PromptQueued(queued) => Some(queued.by),
            _ => None,
        });
        queued.next().expect("a prompt")
    };
    assert_eq!(by(1, Some("ann")), "ann");
    assert_eq!(by(2, None), "reasonix run");
}
