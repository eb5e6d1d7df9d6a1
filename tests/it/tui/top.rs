//! The list of sessions, with the real daemon: it shows changes, and its keys act as labelled.

use std::time::Duration;

use proto::hello::Role;
use proto::methods::SessionSet;
use proto::params::session::SetParams;
use proto::{Pid, SessionId, SessionOptions};
use tests::{House, until};

use super::scenes::{self, TerminalSetup};

/// A key that comes sooner does not count as an answer: nobody can have read the question.
const GUARD: Duration = Duration::from_millis(350);

#[test]
fn a_session_is_paused_let_go_on_and_ended_by_the_keys_of_the_list() {
    let scene = scenes::tool();
    let terminal = scene.attach(TerminalSetup::USUAL);
    terminal.wait_text("gate.here");
    terminal.type_text("/top\n");
    terminal.wait_text("sessions 1");
    let log = || scene.house.log(scene.pid);
    terminal.press("p");
    scene.wait("session.set", 1);
    scene.gate.open();
    // The command ends, and nothing new starts.
    scene.wait("tool.finished", 1);
    terminal.wait_text("paused");
    assert_eq!(log().count("turn.ended"), 0);
    terminal.press("p");
    scene.wait("turn.ended", 1);
    terminal.wait_gone("paused");
    terminal.press("x");
    terminal.wait_text("End session");
    assert!(terminal.quiet(GUARD), "a question is at rest");
    terminal.press("y");
    scene.wait("session.exited", 1);
    // It goes from the list, too.
    terminal.wait_text("sessions 0");
    until("a log that says so", || {
        (log().check().count("turn.ended") == 1).then_some(())
    });
}

#[test]
fn from_the_list_one_goes_to_the_session_that_asks_and_answers_there() {
    let scene = scenes::approval();
    let mut params = scene.house.create("");
    params.prompt = None;
    let other = scene.create(&params);
    let terminal = scenes::interface(
        &scene.house,
        &["attach", &other.to_string()],
        TerminalSetup::USUAL,
    );
    terminal.wait_for("a line for prompts", scenes::has_composer);
    terminal.type_text("/top\n");
    terminal.wait_text("sessions 2");
    // Those that wait come first.
    terminal.press("a");
    terminal.wait_text("y yes");
    assert!(terminal.quiet(GUARD), "a question is at rest");
    terminal.press("y");
    scene.wait("turn.ended", 1);
    terminal.wait_scrolled("It is changed.");
}

#[test]
fn top_shows_a_change_of_one_of_fifty_sessions() {
    let scene = scenes::idle();
    let mut params = scene.house.create("");
    params.prompt = None;
    let mut pids = vec![scene.pid];
    while pids.len() < 50 {
        params.session = SessionId::new();
        pids.push(scene.create(&params));
    }
    let terminal = scenes::interface(
        &scene.house,
        &["top"],
        TerminalSetup {
            columns: 120,
            rows: 70,
            ..TerminalSetup::USUAL
        },
    );
    terminal.wait_text("sessions 50");
    for pid in [pids[0], pids[24], pids[49]] {
        let name = format!("renamed {pid}");
        rename(&scene.house, pid, &name);
        // Its row alone changes, and it is drawn: nothing is pressed.
        terminal.wait_for("the new name in its row", |screen| {
            let mut rows = screen.lines();
            rows.any(|row| row.contains(&name) && row.contains(&format!(" {pid} ")))
        });
    }
}

fn rename(house: &House, pid: Pid, name: &str) {
    let options = SessionOptions {
        name: Some(name.to_owned()),
        ..SessionOptions::default()
    };
    house.block_on(async {
        let client = house.client("test", Role::Drive).await;
        let set = SetParams::new(pid.to_string(), options);
        client.call::<SessionSet>(&set).await.expect("rename");
    });
}
