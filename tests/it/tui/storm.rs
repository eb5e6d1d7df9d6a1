//! Stress: a pasted megabyte, an answer of megabytes in one line, and a window that is resized repeatedly.

use std::time::Duration;

use testkit::model::{Answer, Gate as Pause, Place};
use tests::terminal::golden::steady;
use tests::{BOUND, Terminal, within};

use super::scenes::{self, Scene, TerminalSetup, has_composer, scene};

/// Sequences that a terminal obeys, and the two that mark a paste.
const OBEYED: [&str; 8] = [
    "\u{1b}[2J",
    "\u{1b}]0;pwned\u{7}",
    "\u{1b}]52;c;cHduZWQ=\u{7}",
    "\u{1b}[?1049h",
    "\u{1b}[31m",
    "\u{1b}[200~",
    "\u{9b}6n",
    "\u{7}",
];

#[test]
fn a_megabyte_with_escape_sequences_is_pasted_as_words() {
    let scene = scenes::idle();
    scene.answers("All of it came.");
    let mut terminal = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    let (bells, titles) = (terminal.bells(), terminal.titles().len());
    let before = terminal.written();
    let mut long = String::new();
    for number in 0.. {
        if long.len() >= 1_000_000 {
            break;
        }
        let obeyed = OBEYED[number % OBEYED.len()];
        long.push_str(&format!("line {number} {obeyed}of a paste\n"));
    }
    let count = long.lines().count();
    terminal.paste(&long);
    terminal.wait_text(&format!("> [pasted {count} lines #1]"));
    terminal.type_text(" what is it?");
    terminal.wait_text("what is it?");
    assert_eq!(scene.model.count(), 1, "nothing is sent by it");
    terminal.press("enter");
    terminal.wait_scrolled("All of it came.");
    let request = scene.model.requests().pop().expect("a request");
    let said = request.last_text();
    for number in [0, 1, count / 2, count - 1] {
        assert!(
            said.contains(&format!("line {number} of a paste")),
            "line {number}"
        );
    }
    assert!(said.ends_with("what is it?"));
    assert!(!said.contains('\u{1b}'), "it contains no control sequence");
    let raw = terminal.raw_bytes().split_off(before);
    assert!(
        raw.len() < 200_000,
        "{} bytes for a row of words",
        raw.len()
    );
    let raw = String::from_utf8_lossy(&raw).into_owned();
    for obeyed in OBEYED
        .iter()
        .filter(|obeyed| **obeyed != "\u{7}" && **obeyed != "\u{1b}[31m")
    {
        assert!(!raw.contains(obeyed), "{obeyed:?}");
    }
    assert_eq!(terminal.bells(), bells);
    assert!(
        !terminal.titles()[titles..]
            .iter()
            .any(|title| title.contains("pwned"))
    );
    assert_eq!(terminal.copied(), Vec::<String>::new());
    assert_eq!(terminal.unknown(), Vec::<String>::new());
    terminal.press("ctrl-d");
    assert_eq!(terminal.exit_code(), 0);
    terminal.assert_restored();
}

#[test]
fn an_answer_of_one_line_of_3_mb_is_shown_and_the_next_prompt_goes_on() {
    let scene = scenes::idle();
    let mut terminal = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    scene.answers(&format!(
        "{} and that was it.",
        "abcdefghij".repeat(300_000)
    ));
    terminal.type_text("Say it in one line.");
    terminal.press("enter");
    terminal.wait_scrolled("and that was it.");
    scene.answers("Of another one.");
    terminal.type_text("Say more.");
    terminal.wait_text("Say more.");
    terminal.press("enter");
    terminal.wait_scrolled("Of another one.");
    let another = scene.at_rest(TerminalSetup::USUAL, "Of another one.");
    assert_eq!(another.unknown(), Vec::<String>::new());
    terminal.press("ctrl-d");
    assert_eq!(terminal.exit_code(), 0);
    terminal.assert_restored();
}

/// Sizes of a window that is pulled about, the smallest and the usual among them.
fn sizes() -> impl Iterator<Item = (u16, u16)> {
    let widths = [80, 79, 40, 120, 61, 200, 83];
    let heights = [24, 12, 40, 7, 60];
    (0..49)
        .map(move |step| (widths[step % widths.len()], heights[step % heights.len()]))
        .chain([(80, 24)])
}

/// Rows of the screen as they are compared, without empty ones above.
fn rows(terminal: &Terminal) -> Vec<String> {
    let screen = terminal.screen();
    let rows = screen.lines().map(steady);
    rows.skip_while(String::is_empty).collect()
}

/// A session whose second answer is held in its middle, long enough to fill a screen.
fn held() -> (Scene, Pause) {
    let pause = Pause::new();
    let words: String = (0..60)
        .map(|number| {
            format!("Paragraph {number} of a **long** answer, with 中文 in it, that goes on.\n\n")
        })
        .collect();
    let answers = [Answer::text(words).held(Place::Middle, &pause)];
    let scene = scene("", answers, pause.clone(), "Tell me slowly.", |_| {});
    scene.house.block_on(pause.reached());
    (scene, pause)
}

/// Resizes the window repeatedly while the answer comes. Returns the rows that it shows afterwards and those that a new client
/// shows: the rows that both have, from the last one up.
///
/// A frame that is under way while the window changes is drawn for another size than it finds, and may leave a row too
/// many: the next change of width draws it over. So the window is changed once more when all is at rest.
fn resize_repeatedly(more: &[&str]) -> (Vec<String>, Vec<String>) {
    let (scene, pause) = held();
    let terminal = scene.attach_with(TerminalSetup::USUAL, more);
    terminal.wait_text("Paragraph 2");
    for (step, (columns, rows)) in sizes().enumerate() {
        if step == 25 {
            pause.open();
        }
        terminal.resize(columns, rows);
    }
    scene.wait("turn.ended", 1);
    let at_rest = |screen: &str| has_composer(screen) && screen.contains("Paragraph 59");
    terminal.wait_for("the end of the answer", at_rest);
    let fresh = scene.attach_with(TerminalSetup::USUAL, more);
    fresh.wait_for("the end of the answer", at_rest);
    for columns in [81, 80] {
        assert!(terminal.quiet(Duration::from_millis(500)));
        terminal.resize(columns, 24);
    }
    let shown = || {
        let quiet = [&terminal, &fresh].map(|one| one.quiet(Duration::from_millis(500)));
        assert_eq!(quiet, [true, true]);
        let (mut pulled, mut fresh) = (rows(&terminal), rows(&fresh));
        let both = pulled.len().min(fresh.len());
        assert!(both >= 20, "the screen is full: {pulled:?} {fresh:?}");
        for shown in [&mut pulled, &mut fresh] {
            // At the top of the screen one of them may have an older row.
            shown.drain(..shown.len() - both + 2);
        }
        (pulled, fresh)
    };
    // However long the one that was pulled about takes to come to rest.
    within(BOUND, &mut || {
        let (pulled, fresh) = shown();
        (pulled == fresh).then_some(())
    });
    for terminal in [&terminal, &fresh] {
        assert_eq!(terminal.unknown(), Vec::<String>::new());
    }
    shown()
}

#[test]
fn a_window_that_is_pulled_about_while_an_answer_comes_ends_as_a_fresh_one_in_full_screen() {
    let (pulled, fresh) = resize_repeatedly(&["--fullscreen"]);
    assert_eq!(pulled, fresh);
}

#[test]
fn a_window_that_is_pulled_about_while_an_answer_comes_ends_as_a_fresh_one() {
    let (pulled, fresh) = resize_repeatedly(&[]);
    assert_eq!(pulled, fresh);
}

#[test]
fn keys_that_come_with_the_pulling_are_all_taken() {
    let scene = scenes::idle();
    let terminal = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    let mut typed = String::new();
    for ((columns, rows), letter) in sizes().zip(('a'..='y').cycle()) {
        terminal.resize(columns, rows);
        terminal.type_text(&letter.to_string());
        typed.push(letter);
    }
    terminal.wait_for("every letter", |screen| {
        screen.lines().any(|row| row == format!("> {typed}"))
    });
}
