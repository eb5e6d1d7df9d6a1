//! The question about a command in a pseudo-terminal: its choices, and the command edited before it runs.

use std::time::Duration;

use serde_json::json;
use testkit::model::{Answer, Gate as Pause};
use tests::Terminal;

use super::goldens::compare;
use super::scenes::{self, Scene, TerminalSetup, has_composer, interface, scene};

/// A little more than keys count for nothing.
const GUARD: Duration = Duration::from_millis(350);

/// A command of the model's waits for approval.
fn command() -> Scene {
    let call = Answer::call("bash", json!({"command": "touch original # and more"}));
    let answers = [call, Answer::text("It is made.")];
    let scene = scene("", answers, Pause::new(), "Make it.", |_| {});
    scene.wait("interaction.opened", 1);
    scene
}

fn looks() -> impl Iterator<Item = TerminalSetup> {
    [(80, 24), (40, 12)]
        .into_iter()
        .flat_map(|(columns, rows)| {
            ["en", "zh"].map(|language| TerminalSetup {
                columns,
                rows,
                language,
                theme: "none",
            })
        })
}

/// Opens the box below the question that is on the screen.
fn edits(terminal: &Terminal, look: TerminalSetup) {
    assert!(terminal.quiet(GUARD), "an open question is at rest");
    terminal.press("e");
    let title = match look.language {
        "zh" => "修改命令",
        _ => "Edit the command",
    };
    terminal.wait_text(title);
    assert!(terminal.quiet(GUARD));
}

#[test]
fn the_choices_about_a_command_and_its_edit_in_every_size_and_language() {
    let scene = command();
    for look in looks() {
        let terminal = scene.attach_with(look, &[]);
        let title = match look.language {
            "zh" => "运行这条命令？",
            _ => "Run this command?",
        };
        terminal.wait_text(title);
        compare("command", look, &terminal);
        edits(&terminal, look);
        terminal.press_all(&["ctrl-w", "ctrl-w", "ctrl-w", "ctrl-w"]);
        terminal.type_text("edited 中文");
        terminal.wait_text("edited 中文");
        compare("command-edited", look, &terminal);
        terminal.press("esc");
        terminal.wait_gone("edited 中文");
        terminal.wait_text(title);
    }
    assert_eq!(scene.house.log(scene.pid).count("interaction.resolved"), 0);
}

#[test]
fn a_command_is_edited_in_the_dialog_and_runs_so() {
    let scene = command();
    let pid = scene.pid.to_string();
    let look = TerminalSetup::USUAL;
    let terminal = interface(&scene.house, &["attach", &pid], look);
    terminal.wait_text("e edit the command first");
    // Neither pasted text nor a letter of further typing answers.
    terminal.paste("y\n");
    assert!(terminal.quiet(GUARD));
    edits(&terminal, look);
    terminal.press("ctrl-u");
    terminal.paste("touch \u{1b}[31medited\n");
    terminal.type_text("echo two lines");
    terminal.wait_text("echo two lines");
    assert_eq!(scene.house.log(scene.pid).count("interaction.resolved"), 0);
    terminal.press("enter");
    terminal.wait_scrolled("It is made.");
    terminal.wait_for("the composer", has_composer);
    let text = terminal.scrollback() + &terminal.screen();
    assert!(text.contains("changed bash touch original"), "{text}");
    let project = scene.house.project();
    assert!(project.join("edited").exists() && !project.join("original").exists());
    let resolved = scene.house.log(scene.pid).resolved().remove(0);
    let edit = resolved.edit.expect("a change");
    assert_eq!(edit.command, "touch edited\necho two lines");
    scenes::wait(&scene.house, scene.pid, "turn.ended", 1);
}
