//! The transcript in the terminal's own scrollback after resizes in the middle of an answer and changes of the view:
//! every word of it is there once and in order, as a client that opens the session then prints it.

use testkit::Script;
use testkit::model::{Answer, Gate as Pause, Place};
use tests::terminal::TerminalFeatures;
use tests::{House, Terminal, until};

use super::scenes::{Scene, has_composer, scene};

/// What an answer is in the middle of when the window changes.
#[derive(Clone, Copy, Debug)]
enum Middle {
    Table,
    Code,
}

const ROWS: usize = 30;

/// An answer that is half there in the middle of a table or of code. Every paragraph, row and line of it has a mark of
/// its own at its beginning and at its end: `a07.` and `b07.`.
fn answer(middle: Middle) -> String {
    let words = "some words that are longer than a narrow window is wide, so that they go on in the next row";
    let paragraphs = |from: usize| -> String {
        let numbers = from..from + 8;
        numbers
            .map(|number| format!("a{number:02}. {words} b{number:02}.\n\n"))
            .collect()
    };
    let inner: String = match middle {
        Middle::Table => {
            let rows = (10..10 + ROWS).map(|number| {
                format!(
                    "| a{number:02}. | a cell with several words | and one more, b{number:02}. |\n"
                )
            });
            format!(
                "| first | second | third |\n|---|---|---|\n{}\n",
                rows.collect::<String>()
            )
        }
        Middle::Code => {
            let lines = (10..10 + ROWS).map(|number| {
                format!("    work({number}, \"a{number:02}. and more\"); // what it does, and why: b{number:02}.\n")
            });
            format!("```rust\n{}```\n\n", lines.collect::<String>())
        }
    };
    paragraphs(1) + &inner + &paragraphs(50)
}

/// The marks in the order in which they are there, however the rows between them are broken.
fn marks(all: &str) -> Vec<String> {
    let solid: Vec<char> = all
        .chars()
        .filter(|letter| !letter.is_whitespace() && *letter != '↪')
        .collect();
    let marks = solid.windows(4).filter(|four| {
        matches!(four, ['a' | 'b', tens, ones, '.'] if tens.is_ascii_digit() && ones.is_ascii_digit())
    });
    marks.map(|four| four.iter().collect()).collect()
}

fn attach(scene: &Scene, (columns, rows): (u16, u16), reflows: bool) -> Terminal {
    let pid = scene.pid.to_string();
    let mut command = scene.house.command(&["attach", &pid]);
    if reflows {
        command.env("VTE_VERSION", "7200");
    }
    let nature = TerminalFeatures {
        reflows,
        ..TerminalFeatures::default()
    };
    Terminal::start_in(command, columns, rows, nature)
}

/// Changes the width at least, and waits until the interface has drawn for it: its last row reaches to the edge.
fn resize(terminal: &Terminal, (columns, rows): (u16, u16)) {
    terminal.resize(columns, rows);
    terminal.wait_for("a frame for the new size", |screen| {
        let last = screen.lines().rfind(|row| !row.is_empty());
        last.is_some_and(|row| row.chars().count() == usize::from(columns))
    });
}

fn at_rest(terminal: &Terminal) {
    terminal.wait_scrolled("b57.");
    terminal.wait_for("a line for prompts, at rest", |screen| {
        has_composer(screen) && screen.contains("idle")
    });
}

/// Resizes the window to each of these sizes in the middle of an answer, and to each of the others when it is there.
fn check(middle: Middle, reflows: bool, sizes: &[(u16, u16)], after: &[(u16, u16)]) {
    let pause = Pause::new();
    let answers = [Answer::text(answer(middle)).held(Place::Middle, &pause)];
    let scene = scene("", answers, pause.clone(), "Tell me slowly.", |_| {});
    scene.house.block_on(pause.reached());
    let terminal = attach(&scene, (100, 24), reflows);
    terminal.wait_for("half of the answer", |screen| {
        let row = |number: usize| screen.contains(&format!("a{number}."));
        has_composer(screen) && (20..30).any(row)
    });
    for size in sizes {
        // Right after a frame: one that is under way finds another size than it was drawn for.
        let written = terminal.written();
        terminal.wait_for("the next frame", |_| terminal.written() > written);
        resize(&terminal, *size);
    }
    pause.open();
    at_rest(&terminal);
    for size in after {
        resize(&terminal, *size);
    }
    let fresh = attach(&scene, terminal.size(), reflows);
    at_rest(&fresh);
    let (all, wanted) = (terminal.scrollback(), fresh.scrollback());
    let words = format!("{middle:?}, reflows: {reflows}, {sizes:?}, {after:?}:\n{all}\n");
    assert_eq!(marks(&all), marks(&wanted), "{words}");
    assert_eq!(marks(&wanted).len(), 2 * (ROWS + 16), "{wanted}");
    assert_eq!(terminal.unknown(), Vec::<String>::new());
}

fn check_all(sizes: &[(u16, u16)], after: &[(u16, u16)]) {
    for middle in [Middle::Table, Middle::Code] {
        for reflows in [false, true] {
            check(middle, reflows, sizes, after);
        }
    }
}

#[test]
fn a_narrower_window_in_the_middle_of_a_table_or_code_loses_and_doubles_nothing() {
    check_all(&[(60, 24)], &[]);
    check_all(&[(40, 24)], &[]);
}

#[test]
fn a_wider_window_in_the_middle_of_a_table_or_code_loses_and_doubles_nothing() {
    check_all(&[(140, 24)], &[]);
}

#[test]
fn several_resizes_in_a_row_lose_and_double_nothing() {
    check_all(
        &[(70, 24), (45, 24), (120, 24), (80, 24)],
        &[(50, 24), (110, 24)],
    );
}

#[test]
fn lower_and_higher_windows_lose_and_double_nothing() {
    check_all(&[(90, 15), (64, 14), (70, 30)], &[(95, 20)]);
}

#[test]
fn windows_that_are_narrower_and_lower_at_once_lose_and_double_nothing() {
    check_all(&[(60, 16)], &[]);
    check_all(&[(50, 15)], &[]);
    let many = [(60, 20), (90, 12), (40, 30), (110, 24), (75, 15), (100, 24)];
    for middle in [Middle::Table, Middle::Code] {
        check(middle, true, &many, &[]);
    }
}

/// Rows of the terminal that begin with the words of a call.
fn calls(all: &str) -> Vec<String> {
    let calls = all
        .lines()
        .filter_map(|row| row.split_once(" bash echo call"));
    let number =
        |(_, rest): (&str, &str)| rest.split([' ', ';']).nth(1).unwrap_or_default().to_owned();
    calls.map(number).collect()
}

#[test]
fn outputs_that_are_shown_and_hidden_again_lose_and_double_no_call() {
    const CALLS: usize = 8;
    let mut script = Script::new();
    for call in 0..CALLS {
        script = script.runs(&format!("echo call {call}; seq -f 'a{call}%g.' 0 9"));
    }
    let house = House::playing(&script.says("All of them ran."));
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "run them"])
        .expect_code(0);
    for (columns, rows) in [(100, 24), (60, 12), (80, 60)] {
        for times in 1..=3 {
            let terminal = Terminal::start(house.command(&["attach", "1"]), columns, rows);
            terminal.wait_scrolled("All of them ran.");
            terminal.wait_for("a line for prompts", has_composer);
            for _ in 0..times {
                let written = terminal.written();
                terminal.press("ctrl-b");
                until("a frame", || (terminal.written() > written).then_some(()));
                terminal.wait_for("a line for prompts", has_composer);
            }
            let all = terminal.scrollback();
            let words = format!("{columns}x{rows}, {times} times:\n{all}\n");
            let wanted: Vec<String> = (0..CALLS).map(|call| call.to_string()).collect();
            assert_eq!(calls(&all), wanted, "{words}");
            assert_eq!(all.matches("All of them ran.").count(), 1, "{words}");
            let found = marks(&all);
            let mut once = found.clone();
            once.sort();
            once.dedup();
            assert_eq!(found, once, "{words}");
        }
    }
}

#[test]
fn an_open_list_leaves_no_rows_behind_in_narrower_and_lower_windows() {
    let long = |number: usize| -> String {
        let lines = (0..12).map(|line| format!("{number}, line {line}\n\n"));
        lines.collect()
    };
    let script = Script::new().says(&long(1)).says(&long(2)).says(&long(3));
    let house = House::playing(&script);
    for (number, session) in [(1, None), (2, Some("1")), (3, Some("1"))] {
        let prompt = format!("prompt {number}");
        let mut arguments = vec!["run"];
        arguments.extend(session.iter().flat_map(|session| ["-s", session]));
        arguments.push(&prompt);
        let _ = house.reasonix(&arguments).expect_code(0);
    }
    let sizes = [(60, 24), (50, 30), (50, 18)];
    for (size, known) in sizes
        .into_iter()
        .flat_map(|size| [(size, true), (size, false)])
    {
        let mut command = house.command(&["attach", "1"]);
        if known {
            command.env("VTE_VERSION", "7200");
        }
        let reflows = TerminalFeatures {
            reflows: true,
            ..TerminalFeatures::default()
        };
        let terminal = Terminal::start_in(command, 100, 30, reflows);
        terminal.wait_scrolled("3, line 11");
        terminal.wait_for("a line for prompts", has_composer);
        terminal.press("ctrl-l");
        terminal.wait_for("a line for prompts", has_composer);
        terminal.type_text("/rewind");
        terminal.press("enter");
        terminal.wait_for("the turns", |screen| screen.contains("  prompt 1"));
        terminal.wait_text("Rewind to before a prompt");
        for size in [size, (100, 30)] {
            resize(&terminal, size);
        }
        terminal.press("esc");
        terminal.wait_for("a line for prompts", has_composer);
        let all = terminal.scrollback();
        assert!(!all.contains("Rewind to before"), "{size:?}:\n{all}");
        assert!(!all.contains('▸'), "{size:?}:\n{all}");
    }
}
