//! The terminal of these tests is one: sizes, keys, signals, job control; and the scenes look as described, seen through
//! the line mode that needs no interface.

use std::time::Duration;

use rustix::process::Signal;
use tests::terminal::golden::{GoldenContent, golden};
use tests::terminal::{Modes, TerminalFeatures};
use tests::{House, Terminal, until};

use super::scenes;

/// A command of the shell in a terminal of 40 x 10.
fn sh(house: &House, command: &str) -> Terminal {
    sh_in(house, command, TerminalFeatures::default())
}

fn sh_in(house: &House, command: &str, nature: TerminalFeatures) -> Terminal {
    let mut program = house.program(std::path::Path::new("/bin/sh"));
    program.args(["-c", command]);
    Terminal::start_in(program, 40, 10, nature)
}

#[test]
fn a_program_sees_a_terminal_of_its_size_and_that_it_changes() {
    let house = House::new();
    let command = "trap 'stty size' WINCH; stty size; echo there; while :; do sleep 0.02; done";
    let terminal = sh(&house, command);
    terminal.wait_text("there");
    assert!(
        terminal.screen().starts_with("10 40\n"),
        "{}",
        terminal.screen()
    );
    terminal.resize(60, 20);
    terminal.wait_text("20 60");
    assert_eq!(terminal.size(), (60, 20));
    // The end of its line may come a moment later.
    until("the next line", || {
        (terminal.cursor() == Some((3, 0))).then_some(())
    });
}

#[test]
fn a_terminal_that_reflows_breaks_rows_at_its_edge_and_joins_them_again() {
    let house = House::new();
    let nature = TerminalFeatures {
        reflows: true,
        ..TerminalFeatures::default()
    };
    let words = "0123456789abcdefghijklmnopqrstuvwxyz";
    let terminal = sh_in(
        &house,
        &format!("echo {words}; printf end; read line"),
        nature,
    );
    terminal.wait_text("end");
    for (columns, shown) in [
        (20, "0123456789abcdefghij\nklmnopqrstuvwxyz\nend"),
        (40, words),
    ] {
        terminal.resize(columns, 10);
        assert!(
            terminal.screen().starts_with(shown),
            "{}",
            terminal.screen()
        );
    }
    assert_eq!(terminal.cursor(), Some((1, 3)));
}

#[test]
fn what_scrolls_off_is_kept_in_order() {
    let house = House::new();
    let mut terminal = sh(&house, "seq 1 500");
    terminal.wait_text("500");
    assert_eq!(terminal.exit_code(), 0);
    let all: Vec<String> = terminal.scrollback().lines().map(str::to_owned).collect();
    let wanted: Vec<String> = (1..=500).map(|number| number.to_string()).collect();
    assert_eq!(all[..500], wanted);
    assert!(!terminal.screen().contains("400"));
}

#[test]
fn a_terminal_that_is_left_raw_is_found_out_and_one_that_is_given_back_is_not() {
    let house = House::new();
    let raw = "stty raw -echo; printf '\\033[?1049h\\033[?2004h\\033[?25l\\033[?1004h\\033[>1u'; echo on; read line; ";
    let back =
        "printf '\\033[<u\\033[?1004l\\033[?25h\\033[?2004l\\033[?1049l'; stty sane; echo off";
    let mut terminal = sh(&house, &format!("{raw}{back}"));
    terminal.wait_text("on");
    assert!(terminal.is_raw());
    let modes = Modes {
        alternate_screen: true,
        hidden_cursor: true,
        bracketed_paste: true,
        focus: true,
        keyboard: vec![1],
        ..Modes::default()
    };
    assert_eq!(terminal.modes(), modes);
    terminal.send(b"\n");
    terminal.wait_text("off");
    assert_eq!(terminal.exit_code(), 0);
    assert!(!terminal.is_raw());
    assert_eq!(terminal.modes(), Modes::default());
    assert_eq!(terminal.unknown(), Vec::<String>::new());
    let mut untouched = sh(&house, "echo hello");
    assert_eq!(untouched.exit_code(), 0);
    untouched.assert_restored();
}

#[test]
fn a_terminal_answers_queries_and_records_bells_and_notifications() {
    let house = House::new();
    let ask = "stty raw -echo; printf 'ab\\033[6n\\033]11;?\\033\\\\\\033[?u'; dd bs=1 count=36 2>/dev/null | od -An -c | tr -d ' \\n\\r'; \
               printf '\\a\\033]0;a title\\007\\033]9;look here\\007\\033]52;c;aGVsbG8=\\007\\033]777;x\\007'; stty sane";
    let nature = TerminalFeatures {
        keyboard: true,
        ..TerminalFeatures::default()
    };
    let mut terminal = sh_in(&house, ask, nature);
    assert_eq!(terminal.exit_code(), 0);
    terminal.wait_for("the end", |_| terminal.bells() == 1);
    let said = terminal.screen().replace('\n', "");
    assert!(said.contains("033[1;3R"), "{said}");
    assert!(said.contains("]11;rgb:0d0d/1111/1717"), "{said}");
    assert!(said.contains("[?0u"), "{said}");
    assert_eq!(terminal.titles(), ["a title"]);
    assert_eq!(terminal.notes(), ["look here"]);
    assert_eq!(terminal.copied(), ["aGVsbG8="]);
    assert_eq!(terminal.unknown(), ["OSC 777;x"]);
}

#[test]
fn keys_signals_and_the_loss_of_the_terminal_reach_the_program() {
    let house = House::new();
    // One process: a shell may miss a signal while it starts another process.
    let mut interrupted = sh(&house, "echo there; exec sleep 1000");
    interrupted.wait_text("there");
    interrupted.press("ctrl-c");
    assert_eq!(interrupted.exit_code(), 128 + 2);
    let mut killed = sh(&house, "echo there; exec sleep 1000");
    killed.wait_text("there");
    killed.kill(Signal::TERM);
    assert_eq!(killed.exit_code(), 128 + 15);
    let mut lost = sh(
        &house,
        // No command that it would wait for when the signal comes after the end of its input.
        "trap 'touch gone; exit 9' HUP; echo there; while :; do read line; done",
    );
    lost.wait_text("there");
    lost.hang_up();
    assert_eq!(lost.exit_code(), 9);
    assert!(house.project().join("gone").exists());
}

#[test]
fn a_shell_stops_a_program_and_goes_on_with_it() {
    let house = House::new();
    let shell = Terminal::shell(&house, 60, 20);
    shell.type_text("cat\n");
    shell.type_text("one\n");
    // Once as it is typed, once by the program.
    shell.wait_for("the program's word", |screen| {
        screen.matches("one").count() == 2
    });
    shell.press("ctrl-z");
    shell.wait_text("Stopped");
    shell.type_text("fg\n");
    shell.type_text("two\n");
    shell.wait_for("the program's word", |screen| {
        screen.matches("two").count() == 2
    });
    shell.press("ctrl-d");
    shell.type_text("echo left $?\n");
    shell.wait_text("left 0");
}

#[test]
fn a_screen_is_as_its_file_says_with_colours_and_without_what_differs() {
    let house = House::new();
    let draw = "printf '\\033[1mbold\\033[0m plain \\033[38;2;255;123;114mred\\033[0m\\r\\n中文 \\033[7m反白\\033[0m⠹ 12s \\033[44m  \\033[0m\\r\\n'; \
                pwd; read line";
    let terminal = sh(&house, draw);
    terminal.wait_text("/project");
    golden("harness", GoldenContent::Colours, &terminal);
    assert!(terminal.cell(0, 0).is_some_and(|cell| cell.bold()));
    assert!(terminal.quiet(Duration::from_millis(50)));
}

#[test]
fn every_test_scene_shows_its_expected_text() {
    for (scene, words) in [
        (scenes::idle(), "Hello, Ann."),
        (scenes::streaming(), "The first half"),
        (scenes::tool(), "gate.here"),
        (scenes::approval(), "+    let total: u32"),
        (scenes::question(), "Which colour shall it have?"),
        (scenes::failing(), "add credit to the account"),
        (scenes::several(), "Hello, Ann."),
    ] {
        let pid = scene.pid.to_string();
        let terminal = Terminal::reasonix(&scene.house, &["attach", "--plain", &pid], 80, 24);
        terminal.wait_scrolled(words);
        assert_eq!(terminal.unknown(), Vec::<String>::new());
    }
}

#[test]
fn a_prompt_typed_in_a_terminal_is_answered_there_and_leaving_keeps_the_session() {
    let scene = scenes::idle();
    scene.answers("And **again**.");
    let pid = scene.pid.to_string();
    let mut terminal = Terminal::reasonix(&scene.house, &["attach", "--plain", &pid], 80, 24);
    terminal.wait_scrolled("Hello, Ann.");
    terminal.type_text("once more\n");
    terminal.wait_scrolled("And **again**.");
    terminal.type_text("/quit\n");
    assert_eq!(terminal.exit_code(), 0, "{}", terminal.scrollback());
    terminal.assert_restored();
    scene.assert_alive();
}

#[test]
fn the_end_of_typed_input_leaves_also_while_a_question_is_open() {
    let scene = scenes::approval();
    let pid = scene.pid.to_string();
    let mut terminal = Terminal::reasonix(&scene.house, &["attach", "--plain", &pid], 80, 24);
    terminal.wait_scrolled("gives the model a reaso");
    // What is typed before the question is drawn does not count, and its last line is on the screen a moment earlier.
    until("the end of the input to be heard", || {
        let _ = terminal.offer(b"\x04");
        terminal.closed().then_some(())
    });
    assert_eq!(terminal.exit_code(), 0, "{}", terminal.scrollback());
    let said = terminal.scrollback();
    assert!(said.contains(&format!("reasonix attach {pid}")), "{said}");
    terminal.assert_restored();
    scene.assert_alive();
}

#[test]
fn client_of_a_silent_daemon_keeps_reconnecting_and_starts_no_daemon() {
    let scene = scenes::idle();
    let pid = scene.pid.to_string();
    let terminal = Terminal::reasonix(&scene.house, &["attach", "--plain", &pid], 80, 24);
    terminal.wait_scrolled("That is all.");
    scene.house.kill_daemon_and_parent();
    let mute = scenes::mute(&scene.house);
    terminal.wait_scrolled("connection lost, reconnecting");
    // Longer than a client waits until it starts a daemon itself.
    let _ = terminal.quiet(Duration::from_millis(2500));
    assert!(!terminal.scrollback().contains("· reconnected"));
    drop(terminal);
    drop(mute);
    assert_eq!(scene.house.processes().len(), 0, "nobody started one");
}
