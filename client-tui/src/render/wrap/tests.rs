use proptest::prelude::*;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::{beginning, cells, clip, cut, hanging, hard, line, untabbed, whole, width};

fn words(rows: &[Line<'static>]) -> Vec<String> {
    rows.iter().map(ToString::to_string).collect()
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    words(&line(&Line::from(text.to_owned()), width))
}

#[test]
fn a_row_ends_at_a_blank_which_goes() {
    assert_eq!(wrapped("one two  three", 8), ["one two", "three"]);
    assert_eq!(wrapped("one", 8), ["one"]);
    assert_eq!(wrapped("", 8), [""]);
    assert_eq!(wrapped("  indented words", 12), ["  indented", "words"]);
    assert_eq!(wrapped("abc   ", 4), ["abc "]);
}

#[test]
fn a_long_word_is_cut_at_the_edge() {
    assert_eq!(wrapped("a abcdefghij", 4), ["a", "abcd", "efgh", "ij"]);
    assert_eq!(wrapped("👨‍👩‍👧👨‍👩‍👧", 3), ["👨‍👩‍👧", "👨‍👩‍👧"]);
    assert_eq!(
        wrapped("e\u{301}e\u{301}e\u{301}", 2),
        ["e\u{301}e\u{301}", "e\u{301}"]
    );
}

#[test]
fn chinese_breaks_anywhere_but_before_what_closes() {
    assert_eq!(wrapped("你好世界", 5), ["你好", "世界"]);
    assert_eq!(wrapped("你好，世界", 4), ["你", "好，", "世界"]);
    assert_eq!(wrapped("用（世界）吧", 4), ["用", "（世", "界）", "吧"]);
    assert_eq!(wrapped("使用rust语言", 6), ["使用", "rust语", "言"]);
}

#[test]
fn a_prefix_of_rows_takes_its_cells() {
    let rows = hanging(
        &Line::from("one two three"),
        9,
        &Line::from("• "),
        &Line::from("  "),
    );
    assert_eq!(words(&rows), ["• one two", "  three"]);
}

#[test]
fn code_keeps_its_blanks() {
    assert_eq!(words(&hard(&Line::from("ab  cd"), 3)), ["ab ", " cd"]);
    assert_eq!(words(&hard(&Line::from("你好"), 3)), ["你", "好"]);
}

#[test]
fn tabs_go_to_the_next_stop_and_controls_go() {
    assert_eq!(untabbed("a\tb\u{1b}[0m\tc"), "a   b[0m    c");
    assert_eq!(wrapped("a\tb", 10), ["a   b"]);
}

#[test]
fn cut_text_ends_with_an_ellipsis() {
    assert_eq!(cut("abcdef", 4), "abc…");
    assert_eq!(cut("abcd", 4), "abcd");
    assert_eq!(cut("你好世界", 6), "你好…");
    assert_eq!(cut("abc", 0), "");
    assert_eq!(cut("abc", 1), "…");
    assert_eq!(width("é你👨‍👩‍👧"), 5);
}

/// Words of all kinds that terminals know.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ a-z,.-]{0,9}",
        "[你好世界，。！（）「」]{0,5}",
        Just("👨‍👩‍👧".to_owned()),
        Just("e\u{301}\u{302}".to_owned()),
        Just("\u{200b}".to_owned()),
        Just("\t".to_owned()),
        Just("   ".to_owned()),
        Just("🎉".to_owned()),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn solid(text: &str) -> String {
    text.chars()
        .filter(|character| !matches!(character, ' ' | '\t' | '\u{3000}'))
        .collect()
}

proptest! {
    #[test]
    fn a_beginning_is_cut_as_the_whole(text in text(), more in 0usize..40, cells in 0usize..20) {
        let text = text.replace('\u{200b}', "").repeat(more);
        prop_assert_eq!(cut(beginning(&text, cells), cells), cut(&text, cells));
    }

    #[test]
    fn rows_fit_and_lose_only_blanks(pieces in prop::collection::vec(text(), 1..4), width in 0usize..24) {
        let spans = pieces.iter().zip([Color::Red, Color::Green, Color::Blue]);
        let whole = Line::from(
            spans.map(|(text, colour)| Span::styled(text.clone(), Style::new().fg(colour))).collect::<Vec<_>>(),
        );
        let rows = line(&whole, width);
        let text = whole.to_string();
        prop_assert!(!rows.is_empty());
        if width >= 2 {
            prop_assert!(rows.iter().all(|row| cells(row) <= width), "{:?}", words(&rows));
            let cut = hard(&whole, width);
            prop_assert!(cut.iter().all(|row| cells(row) <= width));
            prop_assert_eq!(words(&cut).concat(), untabbed(&text));
        }
        prop_assert_eq!(solid(&words(&rows).concat()), solid(&text));
        for colour in [Color::Red, Color::Green, Color::Blue] {
            let of = |line: &Line<'static>| -> String {
                let spans = line.spans.iter().filter(|span| span.style.fg == Some(colour));
                solid(&spans.map(|span| &*span.content).collect::<String>())
            };
            prop_assert_eq!(rows.iter().map(of).collect::<String>(), of(&whole));
        }
        let clusters: Vec<String> = untabbed(&text).graphemes(true).map(str::to_owned).filter(|cluster| !solid(cluster).is_empty()).collect();
        let found: Vec<String> = rows.iter().flat_map(|row| row.to_string().graphemes(true).map(str::to_owned).collect::<Vec<_>>()).filter(|cluster| !solid(cluster).is_empty()).collect();
        prop_assert_eq!(found, clusters);
    }

    #[test]
    fn a_cut_text_fits(text in text(), cells in 0usize..20) {
        prop_assert!(width(&cut(&text, cells)) <= cells);
    }
}

#[test]
fn styled_words_are_cut_within_the_part_that_does_not_fit() {
    let clipped = |parts: &[&'static str], width| -> String {
        let parts = parts.iter().map(|part| Span::raw(*part)).collect();
        let spans = clip(parts, width);
        spans.iter().map(|span| span.content.as_ref()).collect()
    };
    assert_eq!(clipped(&["ab", "cd"], 4), "abcd");
    assert_eq!(clipped(&["ab", "cd"], 3), "ab…");
    assert_eq!(clipped(&["ab", "cd", "e"], 4), "abc…");
    assert_eq!(clipped(&["中文", "字"], 4), "中…");
    assert_eq!(clipped(&["ab"], 0), "");
}

#[test]
fn hard_wrapping_breaks_after_blanks_and_keeps_them() {
    assert_eq!(whole("cargo test  --all", 12), ["cargo test  ", "--all"]);
    assert_eq!(whole("a xxxxxxxxxx", 8), ["a xxxxxx", "xxxx"]);
    assert_eq!(whole("", 8), [""]);
}
