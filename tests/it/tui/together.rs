//! Several terminals on one session: everybody sees the same, an answer of one is everybody's, and the death of the daemon
//! is a line and nothing else.

use std::time::Duration;

use testkit::Script;
use tests::{House, Proxy, Terminal, until};

use super::scenes::{self, MARK, Scene, TerminalSetup, has_composer, times};

/// Keys count so long after a question has appeared.
const GUARD: Duration = Duration::from_millis(350);

/// How long nothing must be written until it counts as nothing.
const SILENCE: Duration = Duration::from_millis(500);

const ELSEWHERE: &str = "Change this file?";

/// Words of the scene `idle` with a second turn, in their order.
const SAID: [&str; 5] = [
    "Hello, Ann.",
    "That is all.",
    "once more",
    "And again",
    "the end of it",
];

fn plain(scene: &Scene) -> Terminal {
    let pid = scene.pid.to_string();
    Terminal::reasonix(&scene.house, &["attach", "--plain", &pid], 80, 24)
}

/// Checks that each of these words is there once, in this order.
fn assert_once(what: &str, terminal: &Terminal, words: &[&str]) {
    let all = terminal.scrollback();
    let mut places = Vec::new();
    for one in words {
        assert_eq!(
            all.matches(one).count(),
            1,
            "{what}: `{one}` once in\n{all}"
        );
        places.extend(all.find(one));
    }
    assert!(places.is_sorted(), "{what}: {words:?} in order in\n{all}");
}

/// The rows above the composer, without empty rows and differences.
fn transcript(terminal: &Terminal) -> Vec<String> {
    let all = terminal.scrollback();
    let rows: Vec<&str> = all.lines().collect();
    let composer = rows
        .iter()
        .rposition(|row| row.starts_with("> "))
        .unwrap_or(rows.len());
    rows[..composer]
        .iter()
        .filter(|row| !row.trim().is_empty())
        .map(|row| tests::terminal::golden::steady(row))
        .collect()
}

#[test]
fn two_interfaces_and_the_line_mode_show_the_same() {
    let scene = scenes::idle();
    scene.answers("And again: **words**, until\n\nthe end of it.");
    let one = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    let two = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    let lines = plain(&scene);
    lines.wait_scrolled("That is all.");
    one.type_text("once more\n");
    for terminal in [&one, &two, &lines] {
        terminal.wait_scrolled("the end of it");
    }
    for terminal in [&one, &two] {
        terminal.wait_for("rest", has_composer);
    }
    assert_once("one", &one, &SAID);
    assert_once("two", &two, &SAID);
    assert_once("lines", &lines, &SAID);
    // Only the author mark may differ.
    until("both to show the same", || {
        (transcript(&one) == transcript(&two)).then_some(())
    });
}

#[test]
fn interface_attached_later_shows_the_same_transcript_also_after_a_restart() {
    let scene = scenes::streaming();
    let one = scene.attach(TerminalSetup::USUAL);
    one.wait_text("one po");
    let two = scene.attach(TerminalSetup::USUAL);
    two.wait_text("one po");
    scene.pause.open();
    for terminal in [&one, &two] {
        terminal.wait_scrolled("until the very end");
        terminal.wait_for("rest", has_composer);
    }
    let three = scene.at_rest(TerminalSetup::USUAL, "until the very end");
    for terminal in [&one, &two, &three] {
        let words = [
            "Tell me slowly.",
            "The first half",
            "one point",
            "until the very end",
        ];
        assert_once("an answer", terminal, &words);
    }
    // Row by row: in the next life of the daemon as well.
    let was = until("both to show the same", || {
        (transcript(&one) == transcript(&two)).then(|| transcript(&one))
    });
    assert_eq!(transcript(&three), was, "who came after the end");
    drop((one, two, three));
    scene.house.stop_daemon();
    scene.house.daemon();
    let four = scene.at_rest(TerminalSetup::USUAL, "until the very end");
    assert_eq!(transcript(&four), was, "who came after a restart");
}

#[test]
fn an_answer_in_one_closes_the_question_in_the_other_which_does_not_ask() {
    let scene = scenes::approval();
    let proxy = Proxy::start(&scene.house.root().join("p"), &scene.house.socket());
    let one = scene.attach(TerminalSetup::USUAL);
    let mut through = scene.house.command(&["attach", &scene.pid.to_string()]);
    through
        .env("REASONIX_SOCKET", proxy.path())
        .env("REASONIX_LANG", "en");
    let two = Terminal::start(through, 80, 24);
    one.wait_text(ELSEWHERE);
    two.wait_text(ELSEWHERE);
    assert!(
        one.quiet(GUARD) && two.quiet(GUARD),
        "an open question is at rest"
    );
    // How long it takes is measured by the bench. That it cannot take long follows from the notification to the other client: it would
    // have to ask, each time, in place of that.
    let said = proxy.said();
    one.press("y");
    two.wait_gone(ELSEWHERE);
    let asked = proxy.said() - said;
    assert_eq!(asked, 0, "bytes that the other one said to the daemon");
    for terminal in [&one, &two] {
        terminal.wait_scrolled("It is changed.");
    }
    assert!(scene.house.read("src/main.rs").contains("合计"));
    assert_eq!(scene.house.log(scene.pid).count("interaction.resolved"), 1);
}

#[test]
fn a_key_that_was_typed_before_the_question_was_read_is_no_answer() {
    let scene = scenes::approval_later();
    let terminal = scene.attach(TerminalSetup::USUAL);
    terminal.wait_for("a line for prompts", has_composer);
    terminal.type_text("yyy");
    terminal.wait_text("> yyy");
    // These may be read before the question is there, or just when it is.
    terminal.type_text("yyy");
    scene.pause.open();
    terminal.wait_text(ELSEWHERE);
    terminal.paste("y");
    assert!(terminal.quiet(GUARD));
    assert!(
        terminal.screen().contains(ELSEWHERE),
        "neither that nor pasted text answers anything"
    );
    assert_eq!(scene.house.log(scene.pid).count("interaction.resolved"), 0);
    terminal.press("y");
    terminal.wait_scrolled("It is changed.");
}

#[test]
fn resizing_one_interface_does_not_redraw_the_other() {
    let scene = scenes::idle();
    let one = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    let two = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    assert!(
        one.quiet(SILENCE) && two.quiet(SILENCE),
        "who rests writes nothing"
    );
    let (before, others) = (one.written(), two.written());
    one.resize(60, 20);
    one.wait_for("the new size", |screen| {
        one.written() > before && has_composer(screen)
    });
    assert!(one.quiet(SILENCE));
    assert_eq!(two.written(), others, "{}", two.screen());
    assert_eq!(times(&two, "That is all."), 1);
}

#[test]
fn resized_terminal_keeps_the_answer_and_shows_one_composer() {
    let scene = scenes::idle();
    let terminal = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    for (columns, rows) in [(100, 30), (60, 20), (80, 10), (120, 40), (80, 24)] {
        let before = terminal.written();
        terminal.resize(columns, rows);
        terminal.wait_for("the new size", |screen| {
            terminal.written() > before && has_composer(screen)
        });
        assert!(terminal.quiet(SILENCE));
        let screen = terminal.screen();
        assert!(
            screen.contains("That is all."),
            "{columns} x {rows}:\n{screen}"
        );
        let composers = screen
            .lines()
            .filter(|row| row.starts_with("> ") && row.contains("`/`"));
        assert_eq!(composers.count(), 1, "{columns} x {rows}:\n{screen}");
    }
}

#[test]
fn daemon_kill_prints_one_line_and_loses_or_duplicates_no_output() {
    let scene = scenes::idle();
    let one = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    let two = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    let lines = plain(&scene);
    lines.wait_scrolled("That is all.");
    scene.house.kill_daemon();
    scene.house.wait_for_daemon();
    for terminal in [&one, &two] {
        terminal.wait_scrolled(MARK);
        terminal.wait_for("rest", has_composer);
    }
    scene.answers("And again: **words**, until\n\nthe end of it.");
    one.type_text("once more\n");
    for terminal in [&one, &two, &lines] {
        terminal.wait_scrolled("the end of it");
    }
    for (what, terminal) in [("one", &one), ("two", &two)] {
        terminal.wait_for("rest", has_composer);
        assert_once(what, terminal, &SAID);
        assert_eq!(
            times(terminal, MARK),
            1,
            "{what}:\n{}",
            terminal.scrollback()
        );
    }
    assert_once("lines", &lines, &SAID);
}

#[test]
fn open_question_survives_a_daemon_kill_in_two_attached_interfaces() {
    let scene = scenes::approval();
    let (one, two) = (
        scene.attach(TerminalSetup::USUAL),
        scene.attach(TerminalSetup::USUAL),
    );
    one.wait_text(ELSEWHERE);
    two.wait_text(ELSEWHERE);
    scene.house.kill_daemon();
    scene.house.wait_for_daemon();
    for terminal in [&one, &two] {
        terminal.wait_scrolled(MARK);
        terminal.wait_text(ELSEWHERE);
    }
    assert!(two.quiet(GUARD));
    two.press("y");
    for terminal in [&one, &two] {
        terminal.wait_gone(ELSEWHERE);
        terminal.wait_scrolled("It is changed.");
    }
    let log = scene.house.log(scene.pid);
    assert_eq!(log.check().count("interaction.opened"), 1);
    assert_eq!(log.count("interaction.resolved"), 1);
}

#[test]
fn an_answer_that_the_death_of_the_daemon_cut_off_is_not_doubled() {
    let scene = scenes::streaming();
    let (one, two) = (
        scene.attach(TerminalSetup::USUAL),
        scene.attach(TerminalSetup::USUAL),
    );
    one.wait_text("The first half");
    two.wait_text("The first half");
    scene.house.kill_daemon();
    scene.house.wait_for_daemon();
    for terminal in [&one, &two] {
        terminal.wait_scrolled(MARK);
        terminal.wait_for("rest", has_composer);
        assert_eq!(
            times(terminal, "Tell me slowly."),
            1,
            "{}",
            terminal.scrollback()
        );
        assert!(
            times(terminal, "The first half") <= 1,
            "{}",
            terminal.scrollback()
        );
        assert_eq!(times(terminal, MARK), 1);
    }
    scene.pause.open();
}

#[test]
fn a_run_is_followed_and_answered_in_another_terminal() {
    let house = House::playing(&Script::new().runs("touch made").says("It is made."));
    house.turn_off_sandbox();
    house.daemon();
    let running = house.start(&["run", "--on-ask", "wait", "Make it."]);
    until("the run to wait", || {
        let waiting = house.reasonix(&["inbox", "-q"]).expect_code(0).out;
        (waiting.trim() == "1.1").then_some(())
    });
    let other = scenes::interface(&house, &["attach", "1"], TerminalSetup::USUAL);
    other.wait_text("touch made");
    other.wait_scrolled("Make it.");
    assert!(other.quiet(GUARD));
    other.press("y");
    assert_eq!(running.done().expect_code(0).out, "It is made.\n");
    other.wait_scrolled("It is made.");
    assert!(house.project().join("made").exists());
}
