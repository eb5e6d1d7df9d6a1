//! However the interface ends, the terminal is as it was, and the session is there.

use rustix::process::Signal;
use tests::Terminal;

use super::scenes::{self, Scene, TerminalSetup, has_composer};

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
    let terminal = scene.at_rest(TerminalSetup::USUAL, "That is all.");
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
    // As of who interrupts any command.
    assert_eq!(over(terminal, &scene), 130);
}

#[test]
fn ctrl_c_twice_in_a_turn_leaves_and_the_session_stays() {
    let scene = scenes::streaming();
    let mut terminal = scene.attach(TerminalSetup::USUAL);
    terminal.wait_text("The first half");
    // It waits for nothing of the turn, whose answer is held; how long it takes is a figure.
    terminal.press_all(&["ctrl-c", "ctrl-c"]);
    assert_eq!(terminal.exit_code(), 130);
    terminal.assert_restored();
    scene.assert_alive();
    scene.pause.open();
    // It leaves a valid session, which answers the next prompt.
    scene.wait("turn.ended", 1);
    scene.answers("Here it goes on.");
    scenes::prompt(&scene.house, scene.pid, "Go on.");
    scene.wait("turn.ended", 2);
    scene.house.log(scene.pid).check();
}

#[test]
fn detach_leaves_a_turn_at_work() {
    let scene = scenes::tool();
    let mut terminal = scene.attach(TerminalSetup::USUAL);
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
    let mut terminal = scene.attach(TerminalSetup::USUAL);
    terminal.wait_text("gate.here");
    terminal.hang_up();
    let code = terminal.exit_code();
    assert!(matches!(code, 0 | 129), "{code}");
    scene.gate.open();
    scene.wait("turn.ended", 1);
    scene.assert_alive();
}

#[test]
fn sigterm_with_help_open_exits_with_143_and_restores_the_terminal() {
    let (scene, terminal) = begun();
    terminal.press("f1");
    terminal.wait_for("help", |_| terminal.modes().alternate_screen);
    terminal.kill(Signal::TERM);
    assert_eq!(over(terminal, &scene), 143);
}

#[test]
fn a_signal_gives_the_terminal_back_wherever_it_comes() {
    for (scene, shows) in [
        (scenes::streaming(), "one po"),
        (scenes::tool(), "gate.here"),
        (scenes::approval(), "Change this file?"),
        (scenes::question(), "Colour"),
    ] {
        for signal in [Signal::TERM, Signal::HUP] {
            for mode in ["--inline", "--fullscreen"] {
                let mut terminal = scene.attach_with(TerminalSetup::USUAL, &[mode]);
                terminal.wait_text(shows);
                terminal.kill(signal);
                let code = terminal.exit_code();
                match signal {
                    Signal::TERM => assert_eq!(code, 143, "{shows} {mode}"),
                    _ => assert!(matches!(code, 0 | 129), "{shows} {mode}: {code}"),
                }
                terminal.assert_restored();
                assert_eq!(terminal.unknown(), Vec::<String>::new());
            }
        }
        scene.assert_alive();
        scene.pause.open();
        scene.gate.open();
    }
}

/// Says to [`panicking_terminal_program`] that it is the program in a terminal, not a test.
const PANICS: &str = "PANICS_IN_A_TERMINAL";

/// What [`a_panic_restores_the_terminal_and_is_printed_below`] runs: takes its terminal, covers it, and panics.
#[test]
fn panicking_terminal_program() {
    if std::env::var_os(PANICS).is_none() {
        return;
    }
    let options = client_tui::terminal::Options::default();
    let terminal = client_tui::terminal::Terminal::enter(options).expect("a terminal");
    let surroundings = client_tui::terminal::TerminalEnvironment::read();
    let mut screen = terminal.screen(&surroundings).expect("its size");
    screen.cover(std::env::var_os(PANICS).is_some_and(|how| how == "covered"));
    let panel = client_tui::Panel::of(vec!["something is shown".into()]);
    screen.draw(Vec::new(), &panel).expect("draw");
    let mut key = [0];
    std::io::Read::read_exact(&mut std::io::stdin(), &mut key).expect("a key");
    panic!("this is a panic\nof two lines");
}

#[test]
fn a_panic_restores_the_terminal_and_is_printed_below() {
    let house = tests::House::new();
    let itself = std::env::current_exe().expect("the program of the tests");
    for how in ["inline", "covered"] {
        let mut command = house.program(&itself);
        let name = "tui::endings::panicking_terminal_program";
        command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
        command.env(PANICS, how);
        let mut terminal = Terminal::start(command, 80, 24);
        terminal.wait_text("something is shown");
        assert!(terminal.is_raw());
        assert_eq!(terminal.modes().alternate_screen, how == "covered");
        terminal.type_text("x");
        terminal.wait_text("this is a panic");
        assert_eq!(terminal.exit_code(), 101);
        terminal.assert_restored();
        let screen = terminal.screen();
        assert!(
            screen.lines().any(|row| row == "this is a panic"),
            "{screen}"
        );
        assert!(screen.lines().any(|row| row == "of two lines"), "{screen}");
    }
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
