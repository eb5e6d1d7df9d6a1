use std::num::NonZeroU16;

use proptest::prelude::*;
use ratatui::style::Stylize;
use ratatui::text::Line;

use super::*;

/// A terminal, and a screen on it that has not drawn yet.
struct Scene {
    screen: Screen<Vec<u8>>,
    parser: vt100::Parser,
    /// All bytes written so far.
    tape: Vec<u8>,
    /// Lines that were printed: each is a part by itself.
    count: usize,
}

fn non_zero(value: u16) -> NonZeroU16 {
    NonZeroU16::new(value).unwrap()
}

impl Scene {
    /// The shell has written these lines before.
    fn new(columns: u16, rows: u16, shell: &[&str]) -> Self {
        let mut scene = Self {
            screen: Screen::new(Vec::new(), columns, rows),
            parser: vt100::Parser::new(non_zero(rows), non_zero(columns), 100_000),
            tape: Vec::new(),
            count: 0,
        };
        let shell: String = shell.iter().map(|line| format!("{line}\r\n")).collect();
        scene.parser.process(shell.as_bytes());
        scene.tape.extend(shell.as_bytes());
        scene
    }

    /// Feeds the terminal the bytes written since.
    fn settle(&mut self) -> String {
        let bytes = std::mem::take(self.screen.out());
        self.parser.process(&bytes);
        self.tape.extend_from_slice(&bytes);
        String::from_utf8(bytes).unwrap()
    }

    fn draw(&mut self, above: &[&str], panel: &Panel) -> String {
        let first = self.count;
        self.count += above.len();
        self.screen.draw(parts(first, above), panel).unwrap();
        self.settle()
    }

    /// Prints again: all lines as they look now are these, the newest last.
    fn reprint(&mut self, all: &[&str], panel: &Panel) -> String {
        let from = self.screen.parts().first().copied();
        let skipped = self.count.saturating_sub(all.len());
        let again = from.map_or_else(Vec::new, |from| {
            let index = from.entry - skipped;
            parts(from.entry, &all[index..])
        });
        self.screen.reprint(from, again);
        self.draw(&[], panel)
    }

    /// The window has another size, in a terminal that cuts rows.
    fn resize(&mut self, columns: u16, rows: u16) {
        (self.parser).set_size(non_zero(rows), non_zero(columns));
        self.screen.resize(columns, rows);
    }

    /// The same in a terminal that breaks rows at the new edge. Whoever wraps while it writes at the new width has what
    /// such a terminal makes of rows that were written at the old one.
    fn reflow(&mut self, columns: u16, rows: u16) {
        self.parser = vt100::Parser::new(non_zero(rows), non_zero(columns), 100_000);
        let tape = self.tape.clone();
        self.parser.process(&tape);
        self.screen.resize(columns, rows);
    }

    /// The visible rows, without blank rows at the end.
    fn visible(&self) -> Vec<String> {
        trimmed(rows(self.parser.screen()))
    }

    /// Scrollback and screen.
    fn all(&mut self) -> Vec<String> {
        let screen = self.parser.screen_mut();
        let page = usize::from(screen.size().0.get());
        let mut back = screen.scrollback_len();
        let mut all = Vec::new();
        while back > 0 {
            screen.set_scrollback(back);
            all.extend(rows(screen).into_iter().take(back));
            back = back.saturating_sub(page);
        }
        screen.set_scrollback(0);
        all.extend(rows(screen));
        trimmed(all)
    }

    /// The cursor: its row, counted from the end of the printed rows, its column, and whether it is visible.
    fn cursor(&self) -> (u16, u16, bool) {
        let (row, column) = self.parser.screen().cursor_position();
        (row, column, !self.parser.screen().hide_cursor())
    }
}

fn rows(screen: &vt100::Screen) -> Vec<String> {
    let rows = screen.rows(0, u16::MAX);
    rows.map(|row| row.trim_end().to_owned()).collect()
}

fn trimmed(mut rows: Vec<String>) -> Vec<String> {
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

fn lines(texts: &[&str]) -> Vec<Line<'static>> {
    texts
        .iter()
        .map(|text| Line::from((*text).to_owned()))
        .collect()
}

fn parts(first: usize, texts: &[&str]) -> Vec<PrintedLine> {
    let part = |(entry, line)| PrintedLine {
        line,
        begins: Some(PartIndex { entry, part: 0 }),
    };
    (first..).zip(lines(texts)).map(part).collect()
}

fn panel(rows: &[&str], cursor: Option<(u16, u16)>) -> Panel {
    Panel {
        rows: lines(rows),
        cursor,
    }
}

#[test]
fn the_panel_starts_where_the_shell_stopped() {
    let mut scene = Scene::new(20, 6, &["$ reasonix"]);
    scene.draw(&[], &panel(&["> hi", "status"], Some((0, 4))));
    assert_eq!(scene.visible(), ["$ reasonix", "> hi", "status"]);
    assert_eq!(scene.cursor(), (1, 4, true));
    scene.draw(&["one", "two"], &panel(&[">", "status"], Some((0, 2))));
    let shown = ["$ reasonix", "one", "two", ">", "status"];
    assert_eq!(scene.visible(), shown);
    scene.draw(&["three", "four"], &panel(&["status"], None));
    assert!(!scene.cursor().2);
    let shown = ["$ reasonix", "one", "two", "three", "four", "status"];
    assert_eq!(scene.all(), shown);
}

#[test]
fn only_rows_that_changed_are_written() {
    let mut scene = Scene::new(20, 6, &[]);
    let first = panel(&["one", "two", "three"], Some((2, 1)));
    scene.draw(&[], &first);
    assert_eq!(scene.draw(&[], &first), "");
    let written = scene.draw(&[], &panel(&["one", "2", "three"], Some((2, 1))));
    assert!(written.contains('2') && !written.contains("one") && !written.contains("three"));
    assert_eq!(scene.visible(), ["one", "2", "three"]);
    // A live line that settles in place is not written again.
    let written = scene.draw(&["one"], &panel(&["2", "three"], Some((1, 1))));
    assert!(!written.contains("one") && !written.contains("three"));
}

#[test]
fn a_frame_is_drawn_at_once_with_the_cursor_hidden() {
    let mut scene = Scene::new(20, 6, &[]);
    scene.draw(&[], &panel(&["one"], Some((0, 0))));
    let written = scene.draw(&[], &panel(&["two"], Some((0, 3))));
    assert_eq!(
        written.replace('\u{1b}', "^"),
        "^[?2026h^[?7l^[?25l\rtwo\r^[3C^[?25h^[?7h^[?2026l"
    );
}

#[test]
fn a_panel_that_is_too_high_shows_its_end() {
    let mut scene = Scene::new(20, 2, &["$"]);
    scene.draw(&["above"], &panel(&["1", "2", "3"], Some((2, 1))));
    assert_eq!(scene.visible(), ["2", "3"]);
    assert_eq!(scene.cursor(), (1, 1, true));
    assert_eq!(scene.all(), ["$", "above", "2", "3"]);
}

#[test]
fn rows_up_to_the_edge_leave_no_rest() {
    let mut scene = Scene::new(10, 4, &[]);
    scene.draw(
        &[],
        &panel(&["0123456789", "你好你好你", "x"], Some((2, 0))),
    );
    scene.draw(&["abcdefghij"], &panel(&["你好你好你", "y"], Some((0, 9))));
    assert_eq!(scene.visible(), ["abcdefghij", "你好你好你", "y"]);
    scene.draw(&[], &panel(&["你", "y"], Some((0, 200))));
    assert_eq!(scene.visible(), ["abcdefghij", "你", "y"]);
    assert_eq!(scene.cursor(), (1, 9, true));
}

#[test]
fn styles_do_not_leak_and_blanks_are_not_coloured() {
    let mut scene = Scene::new(10, 4, &[]);
    let row = Line::from(vec!["ab".on_red(), "c".bold()]);
    scene
        .screen
        .draw(
            vec![PrintedLine {
                line: row.clone(),
                begins: None,
            }],
            &Panel::of(vec![row]),
        )
        .unwrap();
    scene.settle();
    for row in 0..2 {
        let cell = |column| scene.parser.screen().cell(row, column).unwrap();
        assert_eq!(cell(1).bgcolor(), vt100::Color::Idx(1));
        assert!(cell(2).bold());
        assert_eq!(cell(3).bgcolor(), vt100::Color::Default);
    }
}

#[test]
fn a_covering_screen_leaves_the_rest_unchanged() {
    let mut scene = Scene::new(20, 4, &["$"]);
    scene.draw(&["one"], &panel(&[">", "status"], Some((0, 2))));
    scene.screen.cover(true);
    let whole = panel(&["a", "b", "c", "d"], None);
    scene.draw(&[], &whole);
    assert_eq!(scene.visible(), ["a", "b", "c", "d"]);
    assert!(scene.parser.screen().alternate_screen());
    assert_eq!(scene.draw(&[], &whole), "");
    scene.draw(&[], &panel(&["A", "b", "c", "D"], Some((3, 1))));
    assert_eq!(scene.visible(), ["A", "b", "c", "D"]);
    assert_eq!(scene.cursor(), (3, 1, true));
    scene.screen.cover(false);
    // Lines that came meanwhile.
    let came = ["two", "three", "four"];
    scene.draw(&came, &panel(&[">", "status"], Some((0, 2))));
    assert!(!scene.parser.screen().alternate_screen());
    let shown = ["$", "one", "two", "three", "four", ">", "status"];
    assert_eq!(scene.all(), shown);
    let (row, column, shown) = scene.cursor();
    assert_eq!((row, column, shown), (2, 2, true));
}

#[test]
fn a_terminal_that_knows_little_is_not_asked_about_keys() {
    for plain in [false, true] {
        let mut scene = Scene::new(20, 4, &["$"]);
        scene.screen.plain = plain;
        scene.screen.cover(true);
        let on = scene.draw(&[], &panel(&["a"], None));
        scene.screen.cover(false);
        let off = scene.draw(&[], &panel(&["b"], None));
        assert_eq!(
            (on.contains(KEYS_ON), off.contains(KEYS_OFF)),
            (!plain, !plain)
        );
    }
}

#[test]
fn full_screen_restores_the_earlier_screen() {
    let mut scene = Scene::new(20, 4, &["$ ls", "$ reasonix"]);
    scene.screen.cover(true);
    scene.draw(&[], &panel(&["a", "b", "c", "d"], Some((3, 0))));
    scene.screen.leave(Vec::new()).unwrap();
    scene.settle();
    assert_eq!(scene.visible(), ["$ ls", "$ reasonix"]);
    assert_eq!(scene.cursor(), (2, 0, true));
}

#[test]
fn leaving_erases_the_panel_and_ends_below_the_transcript() {
    let mut scene = Scene::new(20, 6, &["$ reasonix"]);
    scene.draw(&["one"], &panel(&["menu", ">", "status"], Some((1, 1))));
    scene.screen.leave(parts(1, &["two"])).unwrap();
    scene.settle();
    assert_eq!(scene.visible(), ["$ reasonix", "one", "two"]);
    assert_eq!(scene.cursor(), (3, 0, true));
    // After the shell continues it, it starts again below the shell's output.
    scene.parser.process(b"$ fg\r\n");
    scene.draw(&[], &panel(&[">", "status"], Some((0, 1))));
    assert_eq!(
        scene.visible(),
        ["$ reasonix", "one", "two", "$ fg", ">", "status"]
    );
}

#[test]
fn whatever_was_written_there_a_redraw_shows_the_screen_again() {
    let mut scene = Scene::new(20, 5, &["$"]);
    let bottom = panel(&[">", "status"], Some((0, 1)));
    scene.draw(&["one", "two", "three", "four"], &bottom);
    scene
        .parser
        .process(b"\r\nBroadcast message\r\nfrom root\x1b[2;3H");
    scene.screen.redraw();
    assert!(scene.screen.stale());
    assert_eq!(scene.screen.parts().len(), 3);
    let written = scene.reprint(&["zero", "one", "two", "three", "four"], &bottom);
    // Erased from the first row on, the screen would go into the scrollback of tmux.
    assert!(written.find("\x1b[J") > written.find("four"));
    assert_eq!(scene.visible(), ["two", "three", "four", ">", "status"]);
    assert!(!scene.screen.stale());
}

#[test]
fn a_change_of_look_reprints_the_visible_part_once() {
    let mut scene = Scene::new(20, 5, &["$"]);
    let bottom = panel(&[">", "status"], Some((0, 1)));
    scene.draw(&["one", "two", "three", "four"], &bottom);
    assert_eq!(scene.screen.parts().len(), 3);
    scene.reprint(&["ONE", "TWO", "THREE", "FOUR"], &bottom);
    let shown = ["$", "one", "TWO", "THREE", "FOUR", ">", "status"];
    assert_eq!(scene.all(), shown);
}

#[test]
fn rows_that_cannot_be_reprinted_stay_unchanged() {
    let mut scene = Scene::new(20, 8, &["$"]);
    let bottom = panel(&[">", "status"], Some((0, 1)));
    scene.draw(&["old one", "old two"], &bottom);
    scene.screen.forget();
    scene.screen.outdated();
    assert_eq!(scene.screen.parts().len(), 0);
    scene.reprint(&[], &bottom);
    let kept = ["$", "old one", "old two", ">", "status"];
    assert_eq!(scene.all(), kept);
    // Only new lines are ours, and only they are printed again.
    scene.draw(&["new"], &bottom);
    scene.resize(30, 8);
    assert_eq!(scene.screen.parts().len(), 1);
    scene.reprint(&["NEW"], &bottom);
    let kept = ["$", "old one", "old two", "NEW", ">", "status"];
    assert_eq!(scene.all(), kept);
}

#[test]
fn a_change_of_look_together_with_a_cover_waits_until_that_goes() {
    let mut scene = Scene::new(20, 5, &["$"]);
    let bottom = panel(&[">", "status"], Some((0, 1)));
    scene.draw(&["one", "two"], &bottom);
    scene.screen.outdated();
    assert!(scene.screen.stale());
    scene.screen.cover(true);
    assert!(!scene.screen.stale(), "what covers is drawn, not printed");
    scene.draw(&[], &panel(&["a", "b", "c", "d", "e"], None));
    assert!(scene.parser.screen().alternate_screen());
    scene.screen.cover(false);
    assert!(scene.screen.stale());
    scene.reprint(&["ONE", "TWO"], &bottom);
    let visible = scene.visible();
    assert!(visible.ends_with(&["ONE", "TWO", ">", "status"].map(str::to_owned)));
    assert_eq!(
        scene.all().iter().filter(|row| row.contains('>')).count(),
        1
    );
}

#[test]
fn another_height_loses_nothing_of_the_transcript() {
    let texts: Vec<String> = (0..9).map(|index| format!("line {index}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let bottom = panel(&["menu", ">", "status", "hint"], Some((1, 1)));
    for rows in [4, 5, 8, 15] {
        let mut scene = Scene::new(20, 10, &["$"]);
        scene.draw(&texts, &bottom);
        scene.resize(20, rows);
        assert!(!scene.screen.stale());
        scene.draw(&["new"], &bottom);
        let mut shown = vec!["$"];
        shown.extend(&texts);
        shown.extend(["new", "menu", ">", "status", "hint"]);
        assert_eq!(scene.all(), shown, "{rows} rows");
    }
}

/// Makes the window another width, in both kinds of terminal: nothing of the old panel may remain on the screen, and
/// the whole transcript is on it.
fn check_width(columns: u16, rows: u16, reflow: bool) {
    let wide = "W".repeat(40);
    let old = panel(&["old menu", &wide, "old status"], Some((1, 39)));
    let mut scene = Scene::new(40, 12, &["$"]);
    let texts: Vec<String> = (0..20).map(|index| format!("line {index}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    scene.draw(&texts, &old);
    match reflow {
        true => {
            scene.screen.reflows = true;
            scene.reflow(columns, rows);
        }
        false => scene.resize(columns, rows),
    }
    assert!(scene.screen.stale());
    let new = panel(&["new", "status"], Some((0, 3)));
    scene.reprint(&texts, &new);
    let what = format!("{columns}x{rows}, reflow: {reflow}");
    let visible = scene.visible();
    let remains = |row: &String| row.contains("old") || row.contains('W');
    assert!(!visible.iter().any(remains), "{what}: {visible:#?}");
    let all = scene.all();
    let mut wanted = vec!["$"];
    wanted.extend(&texts);
    wanted.extend(["new", "status"]);
    if reflow {
        return assert_eq!(all, wanted, "{what}");
    }
    // As much of it as there is place for is visible, and all of it can be read back.
    let shown = usize::from(rows).min(11);
    let end = &wanted[wanted.len() - shown..];
    assert_eq!(visible[visible.len() - shown..], *end, "{what}");
    let mut rest = all.iter();
    for text in &texts {
        assert!(rest.any(|row| row == text), "{what}: {text} of {all:#?}");
    }
}

#[test]
fn another_width_leaves_nothing_of_the_old_panel() {
    for (columns, rows) in [
        (20, 12),
        (13, 12),
        (39, 12),
        (41, 12),
        (80, 12),
        (20, 8),
        (80, 24),
    ] {
        check_width(columns, rows, false);
        check_width(columns, rows, true);
    }
}

#[test]
fn shell_output_stays_if_our_rows_are_known_exactly() {
    let mut scene = Scene::new(40, 12, &["$ one", "$ two"]);
    scene.draw(&["line"], &panel(&["old"], Some((0, 0))));
    scene.reflow(20, 12);
    scene.reprint(&["line"], &panel(&["new"], Some((0, 0))));
    assert_eq!(scene.visible(), ["$ one", "$ two", "line", "new"]);
}

#[test]
fn a_brief_resize_redraws_the_covering_screen() {
    let mut scene = Scene::new(20, 5, &[]);
    scene.screen.cover(true);
    let panel = Panel::of(lines(&["one", "two", "three", "four", "five"]));
    scene.draw(&[], &panel);
    // The window was small before anybody looked at its size.
    (scene.parser).set_size(non_zero(2), non_zero(3));
    (scene.parser).set_size(non_zero(5), non_zero(20));
    scene.screen.resize(20, 5);
    scene.reprint(&[], &panel);
    assert_eq!(scene.visible(), ["one", "two", "three", "four", "five"]);
}

#[test]
fn another_size_while_covered_is_made_up_for_afterwards() {
    let mut scene = Scene::new(40, 8, &["$"]);
    let bottom = panel(&[">", "status"], Some((0, 1)));
    scene.draw(&["one", "two"], &bottom);
    scene.screen.cover(true);
    scene.draw(&[], &panel(&["whole"], None));
    scene.resize(20, 8);
    assert!(!scene.screen.stale());
    scene.draw(&[], &panel(&["narrow"], None));
    assert_eq!(scene.visible(), ["narrow"]);
    scene.screen.cover(false);
    assert!(scene.screen.stale());
    assert!(scene.screen.parts().len() >= 2);
    scene.reprint(&["one", "two"], &bottom);
    scene.draw(&["three"], &bottom);
    assert_eq!(scene.visible(), ["one", "two", "three", ">", "status"]);
}

#[test]
fn nothing_is_doubled_where_rows_are_broken_at_the_edge() {
    let texts: Vec<String> = (0..20)
        .map(|index| format!("{index:<2}{}", "x".repeat(30)))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let bottom = panel(&[">", "status"], Some((0, 1)));
    let mut scene = Scene::new(40, 12, &[]);
    scene.screen.reflows = true;
    scene.draw(&texts, &bottom);
    scene.reflow(20, 12);
    // Two rows each.
    assert_eq!(scene.screen.parts().len(), 5);
    let wrapped: Vec<&str> = texts
        .iter()
        .flat_map(|text| [&text[..20], &text[20..]])
        .collect();
    let from = scene.screen.parts()[0];
    let mut again = parts(from.entry * 2, &wrapped[from.entry * 2..]);
    for (index, row) in again.iter_mut().enumerate() {
        let entry = from.entry + index / 2;
        row.begins = (index % 2 == 0).then_some(PartIndex { entry, part: 0 });
    }
    scene.screen.reprint(Some(from), again);
    scene.draw(&[], &bottom);
    let mut all = wrapped.clone();
    all.extend([">", "status"]);
    assert_eq!(scene.all(), all);
}

/// A part of three rows, the first of which is in the scrollback, and one of two rows.
fn straddling() -> (Scene, Panel) {
    let bottom = panel(&[">", "status"], Some((0, 1)));
    let mut scene = Scene::new(20, 6, &["$"]);
    let mut rows = parts(
        0,
        &["one 0123456789", "two 0123456789", "three", "four", "five"],
    );
    for (row, begins) in rows.iter_mut().zip([Some(0), None, None, Some(1), None]) {
        row.begins = begins.map(|part| PartIndex { entry: 0, part });
    }
    scene.screen.draw(rows, &bottom).unwrap();
    scene.settle();
    (scene, bottom)
}

#[test]
fn rows_of_a_part_begun_in_the_scrollback_stay_unchanged() {
    let (mut scene, bottom) = straddling();
    let second = PartIndex { entry: 0, part: 1 };
    assert_eq!(scene.screen.parts(), [second]);
    scene.screen.outdated();
    let again = parts(1, &["FOUR", "FIVE", "SIX"]);
    scene.screen.reprint(Some(second), again);
    scene.draw(&[], &bottom);
    let shown = [
        "$",
        "one 0123456789",
        "two 0123456789",
        "three",
        "FOUR",
        "FIVE",
        "SIX",
        ">",
        "status",
    ];
    assert_eq!(scene.all(), shown);
}

#[test]
fn rows_that_stay_are_broken_at_a_new_edge_and_joined_at_the_next() {
    let (mut scene, bottom) = straddling();
    let second = PartIndex { entry: 0, part: 1 };
    let mut again = parts(1, &["BOTH"]);
    again[0].begins = Some(second);
    for (columns, rows, two) in [(10, 6, "two 012345|6789"), (30, 6, "two 0123456789")] {
        scene.resize(columns, rows);
        assert_eq!(scene.screen.parts().first(), Some(&second));
        scene.screen.reprint(Some(second), again.clone());
        scene.draw(&[], &bottom);
        let all = scene.all().join("|");
        assert!(
            all.ends_with(&format!("{two}|three|BOTH|>|status")),
            "{all}"
        );
        assert_eq!(all.matches("two").count(), 1, "{all}");
    }
}

#[test]
fn after_a_high_panel_only_the_visible_rest_is_reprinted() {
    let mut scene = Scene::new(20, 10, &["$"]);
    let bottom = panel(&[">", "status"], Some((0, 1)));
    let texts = ["1", "2", "3", "4", "5", "6", "7", "8"];
    scene.draw(&texts, &bottom);
    let high = panel(&["a", "b", "c", "d", "e", "f", "g"], None);
    scene.draw(&[], &high);
    scene.draw(&[], &bottom);
    scene.screen.outdated();
    assert_eq!(scene.screen.parts().len(), 3);
    scene.reprint(&texts, &bottom);
    let mut shown = vec!["$"];
    shown.extend(texts);
    shown.extend([">", "status"]);
    assert_eq!(scene.all(), shown);
}

/// Texts of one row at 40 columns. Characters whose cells every terminal counts alike.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,12}( [a-z]{1,6}){0,3}[a-z]",
        "[你好世界。]{0,19}[a-z]",
        "[🎉🚀👍]{0,9}x",
        Just("=".repeat(40)),
        Just("满".repeat(20)),
        Just(String::new()),
    ]
}

/// Lines above, rows, cursor, and whether the covering begins or ends.
type Frame = (Vec<String>, Vec<String>, Option<(u16, u16)>, bool);

fn frame() -> impl Strategy<Value = Frame> {
    let above = prop_oneof![
        3 => Just(Vec::new()),
        2 => prop::collection::vec(text(), 1..4),
        1 => prop::collection::vec(text(), 10..40),
    ];
    let panel = prop::collection::vec(text(), 1..12);
    let cursor = prop::option::of((0_u16..12, 0_u16..40));
    (above, panel, cursor, prop::bool::weighted(0.1))
}

fn check_frames((columns, rows): (u16, u16), frames: &[Frame]) {
    let mut scene = Scene::new(columns, rows, &["$ reasonix"]);
    let mut printed = vec!["$ reasonix".to_owned()];
    let mut covered = false;
    let mut scrolled = 0;
    let mut waiting: Vec<&str> = Vec::new();
    for (above, panel, cursor, switch) in frames {
        covered ^= switch;
        scene.screen.cover(covered);
        let panel = Panel {
            rows: panel.iter().map(|text| Line::from(text.clone())).collect(),
            cursor: cursor.filter(|(row, _)| usize::from(*row) < panel.len()),
        };
        waiting.extend(above.iter().map(String::as_str));
        let above = match scene.screen.is_covered() {
            true => Vec::new(),
            false => std::mem::take(&mut waiting),
        };
        scene.draw(&above, &panel);
        printed.extend(above.iter().map(|text| (*text).to_owned()));
        let mut wanted = if covered { Vec::new() } else { printed.clone() };
        let from = wanted.len();
        wanted.extend(panel.rows.iter().map(ToString::to_string));
        let over = wanted.len().saturating_sub(usize::from(rows));
        if !covered {
            scrolled = scrolled.max(over);
        }
        // Lines that went into the scrollback do not come back.
        let top = if covered { 0 } else { scrolled };
        assert_eq!(scene.visible(), trimmed(wanted[top..].to_vec()));
        if !covered {
            assert_eq!(scene.all(), trimmed(wanted));
        }
        let (row, column, shown) = scene.cursor();
        assert_eq!(shown, panel.cursor.is_some());
        if let Some((panel_row, panel_column)) = panel.cursor {
            let place = (from + usize::from(panel_row) - top, panel_column);
            assert_eq!((usize::from(row), column), place);
        }
        assert_eq!(scene.draw(&[], &panel), "", "nothing changed");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_panel_is_always_at_the_end_of_all_that_was_printed(
        frames in prop::collection::vec(frame(), 1..20),
        large in any::<bool>(),
    ) {
        check_frames(if large { (80, 24) } else { (40, 12) }, &frames);
    }
    #[test]
    fn whatever_sizes_the_window_takes_nothing_old_is_seen_and_nothing_is_lost(
        steps in prop::collection::vec((0_usize..9, 1_usize..7, 0_u16..6, 15_u16..60, 8_u16..30), 1..25),
    ) {
        let mut scene = Scene::new(40, 12, &[]);
        let mut printed: Vec<String> = Vec::new();
        for (frame, (above, height, cursor, columns, rows)) in steps.into_iter().enumerate() {
            // Some steps leave the size as it is, or change the height only.
            match columns % 3 {
                0 => scene.resize(columns, rows),
                1 => scene.resize(u16::try_from(scene.screen.columns).unwrap(), rows),
                _ => {}
            }
            let from = printed.len();
            printed.extend((0..above).map(|line| format!("{frame}.{line}")));
            let panel = Panel {
                rows: (0..height).map(|row| Line::from(format!("P{frame} {row} {}", "=".repeat(50)))).collect(),
                cursor: Some((cursor, columns)).filter(|_| usize::from(cursor) < height),
            };
            let texts: Vec<&str> = printed.iter().map(String::as_str).collect();
            if scene.screen.stale() {
                scene.reprint(&texts[..from], &panel);
            }
            scene.draw(&texts[from..], &panel);
            let visible = scene.visible();
            let (mine, old): (Vec<&String>, Vec<&String>) = visible
                .iter()
                .filter(|row| row.starts_with('P'))
                .partition(|row| row.starts_with(&format!("P{frame} ")));
            prop_assert!(old.is_empty(), "frame {}: {:#?}", frame, visible);
            prop_assert_eq!(mine.len(), height);
            prop_assert!(visible[visible.len() - height..].iter().all(|row| row.starts_with('P')));
            let all = scene.all();
            let mut rest = all.iter();
            for text in &printed {
                prop_assert!(rest.any(|row| row == text), "frame {}: {} of {:#?}", frame, text, all);
                let times = all.iter().filter(|row| *row == text).count();
                prop_assert_eq!(times, 1, "frame {}: {} of {:#?}", frame, text, all);
            }
        }
    }
}
