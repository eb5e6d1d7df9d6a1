//! The client in the documents: Python's standard library and the protocol's pages are enough to write one.

use std::process::{Command, Stdio};

use testkit::Script;
use tests::{House, Running};

/// A call of the client in a project.
fn client(house: &House, prompt: &str) -> Command {
    let mut command = Command::new("python3");
    command
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/client.py"))
        .arg(prompt)
        .env("REASONIX_SOCKET", house.socket())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(house.project());
    command
}

#[test]
fn example_client_is_under_120_lines_and_imports_only_the_standard_library() {
    let text = include_str!("../../docs/client.py");
    assert!(text.lines().count() < 120);
    let imports: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("import ") || line.starts_with("from "))
        .collect();
    let standard = ["hashlib", "json", "os", "socket", "sys", "uuid"];
    assert_eq!(imports, standard.map(|name| format!("import {name}")));
}

#[test]
fn example_client_sends_the_users_approval_and_prints_the_answer() {
    let house = House::playing(&Script::new().runs("touch made").says("It is made."));
    house.turn_off_sandbox();
    house.daemon();
    let mut command = client(&house, "Make it.");
    let mut running = Running::start(command.stdin(Stdio::piped()));
    running.say("y\n");
    let done = running.done().expect_code(0);
    for words in ["bash: touch made", "It is made.", "[completed]"] {
        assert!(done.out.contains(words), "{words}: {done:?}");
    }
    assert!(house.project().join("made").exists());
}

#[test]
fn example_client_prints_the_answer_and_reports_a_missing_daemon() {
    let house = House::playing(&Script::new().says("Hello, friend."));
    house.turn_off_sandbox();
    let gone = Running::start(&mut client(&house, "hello")).done();
    assert!(!gone.status.success());
    assert!(gone.err.contains("run `reasonix daemon start`"), "{gone:?}");
    house.daemon();
    let done = Running::start(&mut client(&house, "hello"))
        .done()
        .expect_code(0);
    assert!(done.out.contains("Hello, friend."), "{done:?}");
}
