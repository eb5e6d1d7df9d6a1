//! Prompts of earlier sessions in the composer's history, in a pseudo-terminal.

use proto::hello::Role;
use serde_json::json;
use testkit::Script;
use tests::House;

use super::scenes::{TerminalSetup, has_composer, interface};

/// A session of the interface with one prompt, left when that is answered.
fn ask(house: &House, prompt: &str) {
    let mut terminal = interface(house, &[], TerminalSetup::USUAL);
    terminal.wait_for("the composer", has_composer);
    terminal.type_text(prompt);
    terminal.wait_text(prompt);
    terminal.press("enter");
    terminal.wait_scrolled("It is done.");
    terminal.wait_for("the composer", has_composer);
    terminal.press("ctrl-d");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn prompts_of_earlier_sessions_of_the_directory_come_back_until_they_are_deleted() {
    let house = House::playing(&Script::new().says("It is done."));
    let headless = house.reasonix(&["run", "A script asks."]);
    let _ = headless.expect_code(0);
    ask(&house, "Tidy up the shed.");
    ask(&house, "Paint the fence.");
    let newest = |draft: &str, expected: &[&str]| {
        let terminal = interface(&house, &[], TerminalSetup::USUAL);
        terminal.wait_for("the composer", has_composer);
        terminal.type_text(draft);
        for prompt in expected {
            terminal.press("up");
            terminal.wait_text(prompt);
        }
        // There is no older one.
        terminal.press_all(&["up", "down"]);
        for prompt in expected.iter().rev().skip(1) {
            terminal.wait_text(prompt);
            terminal.press("down");
        }
        if !draft.is_empty() {
            terminal.wait_text(draft);
        }
    };
    newest("", &["Paint the fence.", "Tidy up the shed."]);
    newest("A draft.", &["Paint the fence.", "Tidy up the shed."]);
    let mut raw = house.raw_as(Role::Drive);
    let listed = raw.call("session.list", &json!({})).expect("sessions");
    let fence = &listed["sessions"][0]["session"];
    raw.call(
        "session.delete",
        &json!({"session": fence, "confirm": true}),
    )
    .expect("deleted");
    newest("", &["Tidy up the shed."]);
}
