use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn no_character_of_the_body_is_lost_and_no_row_is_too_wide(
        text in "[a \u{301}中\u{1b}\u{202e}\t\n🇩🇪éx]{0,60}",
        width in 4_usize..40,
    ) {
        let rows = judged(&text, Ink::Text, &Look::default(), width);
        let mut all = String::new();
        for (index, row) in rows.iter().enumerate() {
            let row = row.to_string();
            prop_assert!(wrap::width(&row) <= width && !row.contains(char::is_control));
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
        let rows = words(&text, Ink::Text, &Look::default(), width);
        prop_assert!(rows.iter().all(|row| wrap::cells(row) <= width));
        let bare = |text: &str| text.replace(' ', "");
        let all: String = rows.iter().map(ToString::to_string).collect();
        prop_assert_eq!(bare(&all), bare(&text));
    }
}
