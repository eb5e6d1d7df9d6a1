//! Keys as terminals send them do what the key table says.

use client_tui::keymap::{self, BINDINGS, Context};
use proto::hello::Role;
use proto::methods::SessionGet;
use proto::params::session::OneParams;
use tests::terminal::{TerminalFeatures, keys};
use tests::{Terminal, until};

use super::scenes::{self, Scene, TerminalSetup, has_composer};

#[test]
fn every_key_of_the_table_can_be_sent_by_a_terminal() {
    for name in BINDINGS.iter().flat_map(|row| row.keys) {
        assert!(keymap::key(name).is_some(), "{name}");
        for disambiguated in [false, true] {
            assert!(keys::bytes(name, disambiguated).is_some(), "{name}");
        }
    }
}

fn begun() -> (Scene, Terminal) {
    let scene = scenes::idle();
    let terminal = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    (scene, terminal)
}

fn prompts(scene: &Scene) -> usize {
    // Asked of the daemon: the log may be in the middle of a line.
    let params = OneParams {
        session: scene.pid.to_string(),
    };
    let summary = scene.house.block_on(async {
        let client = scene.house.client("test", Role::Watch).await;
        let got = client.call::<SessionGet>(&params).await;
        got.expect("the session")
    });
    usize::try_from(summary.turns + summary.queued).expect("a few")
}

#[test]
fn lines_are_written_edited_and_sent_together() {
    let (scene, terminal) = begun();
    scene.answers("Two lines came.");
    terminal.type_text("first lime");
    terminal.press_all(&["backspace", "backspace"]);
    terminal.type_text("ne");
    terminal.press("shift-enter");
    terminal.type_text("second 中文");
    terminal.press("alt-enter");
    terminal.type_text("third word");
    terminal.press_all(&["ctrl-w", "ctrl-a"]);
    terminal.type_text("the ");
    terminal.wait_text("the third");
    assert_eq!(prompts(&scene), 1, "nothing was sent yet");
    terminal.press("enter");
    terminal.wait_scrolled("Two lines came.");
    let request = scene.model.requests().pop().expect("a request");
    assert!(
        request
            .last_text()
            .contains("first line\nsecond 中文\nthe third"),
        "{}",
        request.last_text()
    );
}

#[test]
fn pasted_lines_are_not_sent_as_a_prompt() {
    let (scene, terminal) = begun();
    terminal.paste("one\ntwo\nthree");
    terminal.wait_text("three");
    assert_eq!(prompts(&scene), 1);
    terminal.press("ctrl-c");
    terminal.wait_for("an empty line", has_composer);
}

#[test]
fn a_long_paste_is_one_thing() {
    let (scene, terminal) = begun();
    scene.answers("All of it came.");
    let long: String = (1..=3000)
        .map(|number| format!("line {number}\n"))
        .collect();
    terminal.type_text("look: ");
    terminal.paste(&long);
    terminal.wait_text("look: [");
    terminal.press("enter");
    terminal.wait_scrolled("All of it came.");
    let request = scene.model.requests().pop().expect("a request");
    assert!(request.last_text().contains("line 2999\nline 3000"));
}

#[test]
fn the_cursor_follows_typed_text_including_wide_characters() {
    let (_scene, terminal) = begun();
    terminal.type_text("中文e\u{301}👍");
    terminal.wait_text("👍");
    // The mark and its blank, four and one and two cells.
    until("the cursor after it", || {
        (terminal.cursor()?.1 == 2 + 4 + 1 + 2).then_some(())
    });
    terminal.press("left");
    until("the cursor before the thumb", || {
        (terminal.cursor()?.1 == 2 + 4 + 1).then_some(())
    });
}

#[test]
fn escape_closes_help_and_lists_and_keeps_the_draft() {
    let (_scene, terminal) = begun();
    terminal.type_text("a draft");
    terminal.wait_text("> a draft");
    for key in ["f1", "ctrl-p", "ctrl-q"] {
        let before = terminal.screen();
        terminal.press(key);
        terminal.wait_for(key, |screen| screen != before);
        assert!(terminal.quiet(std::time::Duration::from_millis(100)));
        terminal.press("esc");
        terminal.wait_for("the draft", |screen| {
            screen.lines().any(|row| row == "> a draft")
        });
    }
}

#[test]
fn a_terminal_that_disambiguates_keys_works_the_same() {
    let scene = scenes::idle();
    let command = scene.house.command(&["attach", &scene.pid.to_string()]);
    let nature = TerminalFeatures {
        keyboard: true,
        ..TerminalFeatures::default()
    };
    let mut terminal = Terminal::start_in(command, 80, 24, nature);
    terminal.wait_scrolled("That is all.");
    terminal.wait_for("a line for prompts", has_composer);
    terminal.type_text("ab");
    terminal.press("shift-enter");
    terminal.type_text("cd");
    terminal.wait_text("cd");
    terminal.press("ctrl-c");
    terminal.wait_for("an empty line", has_composer);
    terminal.press("ctrl-d");
    assert_eq!(terminal.exit_code(), 0);
    terminal.assert_restored();
}

#[test]
fn interface_starts_without_queries_on_a_terminal_that_answers_none() {
    let scene = scenes::idle();
    let command = scene.house.command(&["attach", &scene.pid.to_string()]);
    let nature = TerminalFeatures {
        keyboard: false,
        background: None,
        answers: false,
        ..TerminalFeatures::default()
    };
    let terminal = Terminal::start_in(command, 80, 24, nature);
    terminal.wait_for("a line for prompts", has_composer);
    terminal.type_text("words");
    terminal.wait_text("> words");
    // There is nothing to wait for: it asks nothing.
    let written = String::from_utf8_lossy(&terminal.raw_bytes()).into_owned();
    for question in [
        "\u{1b}[6n",
        "\u{1b}[c",
        "\u{1b}[>c",
        "\u{1b}[?u",
        "\u{1b}[>q",
        ";?",
        "$p",
    ] {
        assert!(!written.contains(question), "{question:?}");
    }
}

#[test]
fn composer_keys_other_than_leave_suspend_and_editor_do_not_exit() {
    let (scene, terminal) = begun();
    let ends = [
        keymap::Action::Leave,
        keymap::Action::Suspend,
        keymap::Action::Editor,
    ];
    let rows = BINDINGS.iter().filter(|row| {
        matches!(row.context, Context::Composer | Context::Everywhere)
            && !ends.contains(&row.action)
    });
    for name in rows.flat_map(|row| row.keys) {
        // The second within two seconds would end it.
        if *name == "ctrl-c" {
            continue;
        }
        terminal.type_text("x");
        terminal.press(name);
        terminal.press_all(&["esc", "esc", "esc"]);
        terminal.press("ctrl-u");
    }
    terminal.wait_taken();
    assert!(!terminal.closed());
    scene.assert_alive();
}
