//! `reasonix` alone, in a directory that has sessions: one that works or waits is offered, others are not in the way.

use std::time::Duration;

use proto::Pid;
use tests::{House, Terminal};

use super::scenes::{self, TerminalSetup, has_composer, interface};

/// Keys count so long after a question has appeared.
const GUARD: Duration = Duration::from_millis(350);

/// The mark before the row that Enter takes.
const MARKED: &str = "▸";

/// The interface, once it offers sessions; the row that Enter would take.
fn offered(house: &House) -> (Terminal, String) {
    let terminal = interface(house, &[], TerminalSetup::USUAL);
    terminal.wait_text(MARKED);
    let screen = terminal.screen();
    assert!(screen.contains("new session"), "{screen}");
    let marked = screen.lines().find(|row| row.starts_with(MARKED));
    (terminal, marked.expect("a marked row").to_owned())
}

/// The interface, once it has a line for prompts; it has offered nothing before.
fn not_offered(house: &House, directory: &std::path::Path) -> Terminal {
    let mut command = house.command(&[]);
    command.current_dir(directory).env("REASONIX_LANG", "en");
    let terminal = Terminal::start(command, 80, 24);
    terminal.wait_for("a line for prompts", has_composer);
    let written = String::from_utf8_lossy(&terminal.raw_bytes()).into_owned();
    assert!(!written.contains(MARKED), "{}", terminal.scrollback());
    terminal
}

fn pids(house: &House) -> Vec<Pid> {
    house.logs().iter().map(|log| log.pid()).collect()
}

#[test]
fn a_session_that_waits_for_an_answer_is_offered_and_enter_takes_it() {
    let scene = scenes::approval();
    let (terminal, row) = offered(&scene.house);
    assert!(
        row.contains("?1") && row.contains("Double the total."),
        "{row}"
    );
    terminal.press("enter");
    terminal.wait_text("Change this file?");
    terminal.wait_scrolled("Double the total.");
    assert_eq!(pids(&scene.house), [scene.pid], "none was begun");
    // It is the session itself: keys count once the question has been there for a moment.
    assert!(terminal.quiet(GUARD));
    terminal.press("esc");
    terminal.wait_for("a line for prompts", has_composer);
    terminal.press("ctrl-q");
    terminal.wait_text("Change this file?");
}

#[test]
fn escape_begins_a_new_session_and_leaves_the_one_that_waits_alone() {
    let scene = scenes::question();
    let (terminal, row) = offered(&scene.house);
    assert!(row.contains("?1"), "{row}");
    terminal.press("esc");
    terminal.wait_for("a line for prompts", has_composer);
    assert_eq!(pids(&scene.house), [scene.pid], "not before a prompt");
    terminal.type_text("Begin something else.\n");
    // The next that the model says.
    terminal.wait_scrolled("So be it.");
    assert!(!terminal.scrollback().contains("Paint it."));
    let all = pids(&scene.house);
    assert_eq!(all.len(), 2, "{all:?}");
    scene.assert_alive();
    assert_eq!(scene.house.log(scene.pid).count("interaction.resolved"), 0);
}

#[test]
fn a_session_that_works_is_offered_and_one_that_waits_comes_before_it() {
    let scene = scenes::tool();
    let (terminal, row) = offered(&scene.house);
    assert!(row.contains("▶"), "{row}");
    terminal.press("enter");
    terminal.wait_text("gate.here");
    drop(terminal);
    // The mark is not on newer idle sessions, nor on one that only works.
    let several = scenes::several();
    let (terminal, row) = offered(&several.house);
    assert!(row.contains("?1") && row.contains("Make the file"), "{row}");
    terminal.press("enter");
    terminal.wait_text("touch made");
    scene.gate.open();
}

#[test]
fn session_with_open_question_is_offered_despite_21_newer_sessions() {
    let scene = scenes::approval();
    for _ in 0..21 {
        let mut params = scene.house.create("");
        params.prompt = None;
        scene.create(&params);
    }
    let (terminal, row) = offered(&scene.house);
    assert!(row.contains("?1"), "{row}");
    terminal.press("enter");
    terminal.wait_text("Change this file?");
}

#[test]
fn idle_session_and_session_of_another_directory_are_not_offered() {
    let scene = scenes::idle();
    drop(not_offered(&scene.house, &scene.house.project()));
    let waiting = scenes::approval();
    let elsewhere = waiting.house.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("make a directory");
    drop(not_offered(&waiting.house, &elsewhere));
}

#[test]
fn a_new_session_plans_or_only_reads_where_that_was_said() {
    let house = House::playing(&testkit::Script::new().says("Seen."));
    for (pid, option) in [(1, "--plan"), (2, "--read-only")] {
        let mut command = house.command(&[option]);
        command.env("REASONIX_LANG", "en");
        let terminal = Terminal::start(command, 80, 24);
        terminal.wait_for("a line for prompts", has_composer);
        terminal.type_text("Look at it.\n");
        terminal.wait_text("Seen.");
        let created = house.log(Pid(pid)).created();
        let plans = created.options.mode == Some(proto::state::Mode::Plan);
        let reads = created.options.read_only == Some(true);
        assert_eq!((plans, reads), (pid == 1, pid == 2), "{option}");
        terminal.press("ctrl-d");
    }
}
