use proptest::prelude::*;
use ratatui::style::Stylize;
use ratatui::text::Span;

use super::*;

fn drawn(line: &Line<'_>) -> String {
    Row::of(line, 20, Depth::True).bytes.replace('\u{1b}', "^")
}

#[test]
fn only_style_differences_are_written() {
    let line = Line::from(vec![
        "a".into(),
        "b".red(),
        "c".red().bold(),
        "d".red(),
        "e".into(),
        Span::raw("f"),
    ]);
    assert_eq!(drawn(&line), "a^[31mb^[1mc^[0;31md^[mef");
    let line = Line::from(vec![
        Span::styled(
            "x",
            Style::new().fg(Color::Rgb(1, 2, 3)).bg(Color::Indexed(200)),
        ),
        Span::styled("y", Style::new().fg(Color::LightRed)),
    ]);
    assert_eq!(drawn(&line), "^[38;2;1;2;3;48;5;200mx^[91;49my^[m");
}

#[test]
fn a_lines_own_background_reaches_to_the_edge() {
    let line = Line::from("ab").on_blue();
    let row = Row::of(&line, 4, Depth::True);
    assert_eq!((row.bytes.as_str(), row.cells), ("\x1b[44mab  \x1b[m", 4));
}

#[test]
fn colours_are_reduced_to_the_terminals_depth() {
    let orange = Color::Rgb(255, 135, 0);
    assert_eq!(lower(orange, Depth::True), orange);
    assert_eq!(lower(orange, Depth::Ansi256), Color::Indexed(208));
    assert_eq!(
        lower(Color::Rgb(250, 10, 10), Depth::Ansi16),
        Color::Indexed(9)
    );
    assert_eq!(lower(Color::Indexed(244), Depth::Ansi16), Color::Indexed(8));
    assert_eq!(lower(Color::Red, Depth::Ansi16), Color::Red);
    assert_eq!(lower(Color::Red, Depth::None), Color::Reset);
}

#[test]
fn a_row_is_cut_at_the_edge_between_characters() {
    for (text, columns, cut) in [
        ("abcdef", 4, "abcd"),
        ("你好吗", 5, "你好"),
        ("ab👍", 3, "ab"),
        ("e\u{301}e\u{301}", 1, "e\u{301}"),
    ] {
        assert_eq!(Row::of(&Line::from(text), columns, Depth::True).bytes, cut);
    }
}

proptest! {
    #[test]
    fn nothing_in_a_span_is_obeyed(text in any::<String>(), columns in 1_usize..30) {
        let row = Row::of(&Line::from(text), columns, Depth::True);
        prop_assert!(row.cells <= columns);
        prop_assert!(!row.bytes.chars().any(char::is_control), "{:?}", row.bytes);
    }
}

#[test]
fn dark_green_and_dark_red_stay_what_they_are() {
    assert_eq!(nearest_of_256([0x00, 0x32, 0x0a]), 22);
    assert_eq!(nearest_of_256([0x3c, 0x0a, 0x0a]), 52);
}

proptest! {
    #[test]
    fn nearest_of_256_colours_matches_a_full_search(wanted: [u8; 3]) {
        let among = if is_greyish(wanted) { 16..=255 } else { 16..=231 };
        prop_assert_eq!(nearest_of_256(wanted), nearest(wanted, among));
    }

    #[test]
    fn nearest_of_256_greys_matches_a_full_search(grey: u8, red in 0..4u8) {
        let wanted = [grey.saturating_add(red), grey, grey];
        prop_assert_eq!(nearest_of_256(wanted), nearest(wanted, 16..=255));
    }
}
