//! A goal in the interface: its rows, its mark in the status line, and what `/goal` shows.

use serde_json::json;
use testkit::model::{Answer, Gate as Pause, Place, Request, Script};

use super::scenes::{self, Scene, TerminalSetup};

/// A goal whose first turn claims to be complete without evidence, and whose second one is held.
fn goal() -> Scene {
    let pause = Pause::new();
    let held = pause.clone();
    let script = Script::by(move |request: &Request| {
        // Answers so far: the greeting, the claim, the end of the goal's first turn.
        match request.answered() {
            0 => Answer::text("Hello, Ann."),
            1 => {
                let claim = json!({"status": "complete", "summary": "all is made"});
                Answer::call("update_goal", claim)
            }
            2 => Answer::text("It was refused."),
            _ => Answer::text("I look again.").held(Place::Before, &held),
        }
    });
    let scene = scenes::scene("", script, pause, "Hello", |_| {});
    scene.wait("turn.ended", 1);
    scene
}

#[test]
fn goal_has_rows_a_mark_and_a_page_that_says_what_is_missing() {
    let scene = goal();
    let terminal = scene.at_rest(TerminalSetup::USUAL, "Hello, Ann.");
    terminal.type_text("/goal make all of it\n");
    terminal.wait_for("the rows of the goal", |screen| {
        screen.contains("◎ goal: make all of it · turn 2 of 50")
            && screen.contains("not complete: ")
            && screen.contains("◎ 2/50")
    });
    scene.house.block_on(scene.pause.reached());
    terminal.type_text("/goal\n");
    terminal.wait_for("the page", |screen| {
        screen.contains("the model reports: all is made")
            && screen.contains("not complete: `evidence`")
            && screen.contains("continued: ")
            && screen.contains("tokens")
    });
    terminal.press("esc");
    let narrow = scene.attach(TerminalSetup {
        columns: 40,
        rows: 12,
        language: "zh",
        ..TerminalSetup::USUAL
    });
    narrow.wait_for("the goal on a small screen", |screen| {
        screen.contains("目标：make all of it") && screen.contains("◎ 2/50")
    });
    terminal.type_text("/goal clear\n");
    terminal.wait_gone("◎");
    scene.pause.open();
}
