//! However the interface ends, the terminal is as it was, and the session is there.

use rustix::process::Signal;
use tests::Terminal;

use super::scenes::{self, Look, Scene, has_composer};

/// What the terminal and the session are to be after the end; the exit code.
fn over(mut terminal: Terminal, scene: &Scene) -> i32 {
    let code = terminal.exit_code();
    terminal.assert_restored();
    assert!(terminal.closed() || terminal.quiet(std::time::Duration::from_millis(50)));
    assert_eq!(terminal.unknown(), Vec::<String>::new());
    let all = terminal.scrollback();
    assert_eq!(
        all.matches("That is all.").count(),
        1,
        "the transcript stays:\n{all}"
    );
    let left = all
        .lines()
        .any(|row| row.starts_with("> ") && row.contains("`/`"));
    assert!(!left, "the line for prompts does not:\n{all}");
    scene.assert_alive();
    code
}

fn begun() -> (Scene, Terminal) {
    let scene = scenes::idle();
    let terminal = scene.at_rest(Look::USUAL, "That is all.");
    assert!(terminal.is_raw(), "keys come one by one");
    assert!(terminal.modes().bracketed_paste);
    (scene, terminal)
}

#[test]
fn ctrl_d_on_an_empty_line_leaves() {
    let (scene, terminal) = begun();
    terminal.press("ctrl-d");
    assert_eq!(over(terminal, &scene), 0);
}

#[test]
fn ctrl_c_twice_leaves() {
    let (scene, terminal) = begun();
    terminal.press_all(&["ctrl-c", "ctrl-c"]);
    let code = over(terminal, &scene);
    assert!(matches!(code, 0 | 130), "{code}");
}

#[test]
fn ctrl_c_twice_in_a_turn_leaves_at_once_and_the_session_stays() {
    let scene = scenes::streaming();
    let mut terminal = scene.attach(Look::USUAL);
    terminal.wait_text("The first half");
    terminal.press_all(&["ctrl-c", "ctrl-c"]);
    assert_eq!(terminal.exit_code(), 130);
    terminal.assert_restored();
    scene.assert_alive();
    scene.pause.open();
}

#[test]
fn detach_leaves_a_turn_at_work() {
    let scene = scenes::tool();
    let mut terminal = scene.attach(Look::USUAL);
    terminal.wait_text("gate.here");
    terminal.type_text("/detach\n");
    assert_eq!(terminal.exit_code(), 0, "{}", terminal.screen());
    terminal.assert_restored();
    scene.gate.open();
    scene.wait("turn.ended", 1);
    assert_eq!(scene.house.log(scene.pid).check().count("turn.ended"), 1);
}

#[test]
fn sigterm_leaves() {
    let (scene, terminal) = begun();
    terminal.kill(Signal::TERM);
    assert_eq!(over(terminal, &scene), 143);
}

#[test]
fn sighup_leaves() {
    let (scene, terminal) = begun();
    terminal.kill(Signal::HUP);
    let code = over(terminal, &scene);
    assert!(matches!(code, 0 | 129), "{code}");
}

#[test]
fn a_window_that_is_closed_detaches() {
    let (scene, mut terminal) = begun();
    terminal.hang_up();
    let code = terminal.exit_code();
    assert!(matches!(code, 0 | 129), "{code}");
    scene.assert_alive();
}

#[test]
fn a_window_that_is_closed_leaves_a_turn_at_work() {
    let scene = scenes::tool();
    let mut terminal = scene.attach(Look::USUAL);
    terminal.wait_text("gate.here");
    terminal.hang_up();
    let _ = terminal.exit_code();
    scene.gate.open();
    scene.wait("turn.ended", 1);
    scene.assert_alive();
}

#[test]
fn what_covers_the_screen_is_taken_away_by_a_signal_too() {
    let (scene, terminal) = begun();
    terminal.press("f1");
    terminal.wait_for("help", |_| terminal.modes().alternate_screen);
    terminal.kill(Signal::TERM);
    assert_eq!(over(terminal, &scene), 143);
}

#[test]
fn the_daemon_that_is_killed_takes_no_interface_with_it() {
    let (scene, terminal) = begun();
    scene.house.kill_daemon();
    scene.house.wait_for_daemon();
    terminal.wait_scrolled(scenes::MARK);
    terminal.press("ctrl-d");
    assert_eq!(over(terminal, &scene), 0);
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_takes_it_again() {
    let scene = scenes::idle();
    let mut shell = Terminal::shell(&scene.house, 80, 24);
    let program = tests::house::client_program();
    shell.type_text(&format!("{} attach {}\n", program.display(), scene.pid));
    shell.wait_scrolled("That is all.");
    shell.wait_for("a line for prompts", has_composer);
    assert!(shell.is_raw());
    shell.type_text("a draft");
    shell.wait_text("> a draft");
    for _ in 0..2 {
        shell.press("ctrl-z");
        shell.wait_text("Stopped");
        shell.wait_for("the shell's prompt", has_prompt);
        shell.assert_restored();
        shell.type_text("clear; fg\n");
        shell.wait_text("> a draft");
        shell.wait_for("single keys", |_| shell.is_raw());
    }
    // The draft goes first, then the interface.
    shell.press("ctrl-u");
    shell.wait_for("an empty line", has_composer);
    shell.press("ctrl-d");
    shell.wait_for("the shell's prompt", has_prompt);
    shell.type_text("echo left $?\n");
    shell.wait_text("left 0");
    shell.assert_restored();
    shell.type_text("exit\n");
    assert_eq!(shell.exit_code(), 0);
    scene.assert_alive();
}

/// Whether the shell waits for a command.
fn has_prompt(screen: &str) -> bool {
    let last = screen.lines().rfind(|row| !row.is_empty());
    last.is_some_and(|row| row.trim_end() == "$")
}
