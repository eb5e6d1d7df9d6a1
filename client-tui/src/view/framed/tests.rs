use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn no_character_of_the_body_is_lost_and_no_row_is_too_wide(
        text in "([a \u{301}中\u{1b}\u{202e}\t\n🇩🇪éx]{0,12}\n{0,5}){0,5}",
        width in 4_usize..40,
    ) {
        let (mut theirs, mut ours) = (String::new(), Vec::new());
        for row in judged(&text, TextRole::Text, &ViewOptions::default(), width) {
            let row = row.to_string();
            prop_assert!(wrap::width(&row) <= width && !row.contains(char::is_control));
            if let Some(begins) = row.strip_prefix(MARKS.0) {
                theirs.push('\n');
                theirs.push_str(begins);
            } else if let Some(goes_on) = row.strip_prefix(MARKS.1) {
                theirs.push_str(goes_on);
            } else {
                ours.push(row);
            }
        }
        let (mut lines, mut counts) = (String::new(), Vec::new());
        for stretch in blank::fold_blank_lines(&text) {
            match stretch {
                FoldedLine::Line(line) => lines.push_str(&format!("\n{}", client::text::exact(line))),
                FoldedLine::Blank(_) => {
                    let count = stretch.folded(ViewOptions::default().language).unwrap();
                    let rows = words(&count, TextRole::Warning, &ViewOptions::default(), width);
                    counts.extend(rows.iter().map(ToString::to_string));
                }
            }
        }
        prop_assert_eq!((theirs, ours), (lines, counts));
    }

    #[test]
    fn words_keep_within_the_width(text in "[a 中🇩🇪éx]{0,60}", width in 2_usize..30) {
        let rows = words(&text, TextRole::Text, &ViewOptions::default(), width);
        prop_assert!(rows.iter().all(|row| wrap::cells(row) <= width));
        let bare = |text: &str| text.replace(' ', "");
        let all: String = rows.iter().map(ToString::to_string).collect();
        prop_assert_eq!(bare(&all), bare(&text));
    }
}
