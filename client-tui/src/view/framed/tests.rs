use proptest::prelude::*;

use super::*;

fn cells(text: &str) -> usize {
    text.graphemes(true).map(wrap::width).sum()
}

#[test]
fn a_long_line_breaks_behind_blanks_and_keeps_them() {
    assert_eq!(whole("cargo test  --all", 12), ["cargo test  ", "--all"]);
    assert_eq!(whole("a xxxxxxxxxx", 8), ["a xxxxxx", "xxxx"]);
    assert_eq!(whole("", 8), [""]);
}

#[test]
fn words_break_at_blanks_and_between_wide_characters() {
    assert_eq!(broken("one two three", 8), ["one two", "three"]);
    assert_eq!(broken("one 中文字", 7), ["one 中", "文字"]);
    assert_eq!(broken("abcdefgh", 3), ["abc", "def", "gh"]);
}

proptest! {
    #[test]
    fn nothing_of_what_is_judged_is_lost_and_no_row_is_too_wide(
        text in "[a \u{301}中\u{1b}\u{202e}\t\n🇩🇪éx]{0,60}",
        width in 4_usize..40,
    ) {
        let rows = judged(&text, Ink::Text, &Look::default(), width);
        let mut all = String::new();
        for (index, row) in rows.iter().enumerate() {
            let row = row.to_string();
            prop_assert!(cells(&row) <= width && !row.contains(char::is_control));
            let begins = row.strip_prefix(MARKS.0);
            if begins.is_some() && index > 0 {
                all.push('\n');
            }
            all.push_str(begins.or(row.strip_prefix(MARKS.1)).unwrap());
        }
        prop_assert_eq!(all, client::text::exact(&text));
    }

    #[test]
    fn words_keep_within_the_width(text in "[a 中🇩🇪éx]{0,60}", width in 2_usize..30) {
        let rows = broken(&text, width);
        prop_assert!(rows.iter().all(|row| cells(row) <= width));
        let bare = |text: &str| text.replace(' ', "");
        prop_assert_eq!(bare(&rows.concat()), bare(&text));
    }
}
