//! Plan mode at the keyboard: Shift-Tab, a plan, and its answers.

use std::time::Duration;

use serde_json::json;
use testkit::model::Answer;

use super::scenes::{self, TerminalSetup, has_composer};

/// Longer than the delay of keys that were typed before a question was drawn.
const GUARD: Duration = Duration::from_millis(400);

#[test]
fn a_plan_is_asked_for_by_a_key_sent_back_and_approved() {
    let scene = scenes::idle();
    let terminal = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    let plan = |what: &str| Answer::call("exit_plan_mode", json!({"plan": what}));
    scene.model.push([
        plan("1. write the file"),
        plan("1. test it\n2. write the file"),
        Answer::call("write_file", json!({"path": "planned.txt", "content": "x"})),
        Answer::text("The plan is carried out."),
    ]);
    terminal.press("shift-tab");
    terminal.wait_for("the mode in the status line", |screen| {
        screen
            .lines()
            .last()
            .is_some_and(|line| line.contains("plan mode"))
    });
    terminal.type_text("write it");
    terminal.press("enter");
    terminal.wait_text("Carry out this plan?");
    // Keys typed before the plan came do not approve it.
    assert!(terminal.quiet(GUARD));
    terminal.press("n");
    terminal.wait_text("Keep planning. What is missing?");
    terminal.type_text("tests");
    terminal.press("enter");
    terminal.wait_text("2. write the file");
    terminal.wait_text("Carry out this plan?");
    assert!(!scene.house.project().join("planned.txt").exists());
    assert!(terminal.quiet(GUARD));
    terminal.press("y");
    terminal.wait_scrolled("The plan is carried out.");
    assert_eq!(scene.house.read("planned.txt"), "x");
    terminal.wait_for("a line for prompts", has_composer);
    terminal.wait_for("no mode in the status line", |screen| {
        screen
            .lines()
            .last()
            .is_some_and(|line| !line.contains("plan mode"))
    });
    let log = scene.house.log(scene.pid);
    let opened = log.opened();
    let kinds: Vec<_> = opened
        .iter()
        .map(|open| open.request.kind().as_str())
        .collect();
    assert_eq!(kinds, ["plan", "plan"]);
    assert_eq!(log.count("interaction.resolved"), 2);
}
