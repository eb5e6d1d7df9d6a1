//! Who rests writes nothing, whatever goes on in other sessions.

use std::time::{Duration, Instant};

use tests::Terminal;

use super::scenes::{self, Scene, TerminalSetup, has_composer, interface, prompt, wait};

/// Nothing was written for this time: everything is drawn.
const SILENCE: Duration = Duration::from_millis(500);

/// Turns of another session.
const TURNS: usize = 8;

/// What begins a frame.
const FRAME: &[u8] = b"\x1b[?2026h";

fn frames(terminal: &Terminal) -> usize {
    let bytes = terminal.raw_bytes();
    let frames = bytes.windows(FRAME.len());
    frames.filter(|part| *part == FRAME).count()
}

/// The interface on the session of a scene, after these words were said to it, at rest.
fn resting(scene: &Scene, more: &[&str], says: &str, shows: &str) -> Terminal {
    let terminal = scene.attach_with(TerminalSetup::USUAL, more);
    terminal.wait_for("a line for prompts", |screen| {
        has_composer(screen) && screen.contains("That is all.")
    });
    terminal.type_text(says);
    terminal.wait_text(shows);
    terminal
}

/// A session that somebody else talks with; each of its turns brings a dozen of events.
fn turns(scene: &Scene) {
    scene.answers("A first answer.");
    let pid = scene.begin("Something else.");
    wait(&scene.house, pid, "turn.ended", 1);
    for turn in 0..TURNS {
        scene.answers(&format!(
            "Answer {turn}, with some words that come in pieces, one after the other."
        ));
        prompt(&scene.house, pid, &format!("Prompt {turn}."));
        wait(&scene.house, pid, "turn.ended", turn + 2);
    }
}

#[test]
fn nothing_is_written_while_only_others_work() {
    let scene = scenes::several();
    let waiting = scene.pid.0 + 1;
    let approval = interface(
        &scene.house,
        &["attach", &waiting.to_string()],
        TerminalSetup::USUAL,
    );
    approval.wait_text("y yes");
    let all = [
        ("an empty line", resting(&scene, &[], "", "That is all.")),
        ("a draft", resting(&scene, &[], "a draft", "> a draft")),
        ("a menu", resting(&scene, &[], "/the", "/theme")),
        (
            "turns",
            resting(&scene, &[], "/rewind\n", "Rewind to before"),
        ),
        (
            "a queue",
            resting(&scene, &[], "/queue\n", "No prompts are queued"),
        ),
        ("help", resting(&scene, &[], "?", "How to write prompts")),
        (
            "the transcript",
            resting(&scene, &[], "/view\n", "Esc close"),
        ),
        (
            "the whole screen",
            resting(&scene, &["--fullscreen"], "", "That is all."),
        ),
        ("an approval", approval),
    ];
    for (what, terminal) in &all {
        assert!(terminal.quiet(SILENCE), "{what}");
    }
    let before: Vec<usize> = all.iter().map(|(_, one)| one.written()).collect();
    turns(&scene);
    for ((what, terminal), before) in all.iter().zip(before) {
        let written = terminal.raw_bytes().split_off(before);
        let written = String::from_utf8_lossy(&written).into_owned();
        assert!(
            written.is_empty(),
            "{what}: {written:?}\n{}",
            terminal.screen()
        );
        assert!(!terminal.closed(), "{what}");
    }
}

#[test]
fn a_list_of_what_moves_is_drawn_as_often_as_it_is_asked_for() {
    let scene = scenes::several();
    let sessions = resting(&scene, &[], "/sessions\n", "new session");
    let inbox = resting(&scene, &[], "/inbox\n", "Waiting for you");
    let processes = resting(&scene, &["--fullscreen"], "/top\n", "sessions 3");
    // The period of each, and what may come in between: the answer to the first question, a preview.
    let all = [(sessions, 1_000), (inbox, 1_000), (processes, 500)];
    for (terminal, _) in &all {
        terminal.wait_taken();
    }
    let begun = Instant::now();
    let before: Vec<usize> = all.iter().map(|(one, _)| frames(one)).collect();
    turns(&scene);
    // Others may list unchanged sessions, or have no room for it: this one shows the new session.
    all[2].0.wait_text("sessions 4");
    for ((terminal, period), before) in all.iter().zip(before) {
        let drawn = frames(terminal) - before;
        let periods = usize::try_from(begun.elapsed().as_millis() / period).expect("a short test");
        assert!(
            drawn <= periods + 4,
            "{drawn} frames in {periods} periods:\n{}",
            terminal.screen()
        );
    }
}
