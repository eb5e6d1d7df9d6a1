use proptest::prelude::*;
use ratatui::text::Line;

use super::lines;
use crate::model::ViewOptions;
use crate::render::wrap;
use crate::theme::{TextRole, Theme};

const DIFF: &str = "--- a/src/a.rs
+++ b/src/a.rs
@@ -9,3 +9,4 @@ fn main
 fn a() {
-    let one = 1;
+    let one = 2;
+\tnew();
 }
@@ -40 +41 @@
-old
\\ No newline at end of file
+new
";

fn rows(diff: &str, width: usize) -> Vec<String> {
    let rows = lines("a.txt", diff, &ViewOptions::default(), width);
    rows.iter()
        .map(|row| row.to_string().trim_end().to_owned())
        .collect()
}

#[test]
fn a_diff_has_numbers_marks_and_gaps() {
    assert_eq!(
        rows(DIFF, 80),
        [
            " 9  9   fn a() {",
            "10    -     let one = 1;",
            "   10 +     let one = 2;",
            "   11 +     new();",
            "11 12   }",
            "    ⋯",
            "40    - old",
            "        no newline at the end of the file",
            "   41 + new",
        ]
    );
}

#[test]
fn a_narrow_diff_has_one_column_and_wraps() {
    assert_eq!(
        rows(DIFF, 20),
        [
            " 9   fn a() {",
            "10 -     let one = 1",
            "     ;",
            "10 +     let one = 2",
            "     ;",
            "11 +     new();",
            "12   }",
            " ⋯",
            "40 - old",
            "     no newline at",
            "     the end of the",
            "     file",
            "41 + new",
        ]
    );
    assert_eq!(rows(DIFF, 40)[1], "10 -     let one = 1;");
    assert_eq!(rows("@@ -1 +1 @@\n-你好\n+你们\n", 6), ["- 你好", "+ 你们"]);
}

#[test]
fn the_changed_part_is_marked() {
    let style = |theme: Theme, ink| theme.style(ink);
    let rows = lines("a.txt", DIFF, &ViewOptions::default(), 80);
    let part = |row: &Line<'static>, ink| {
        let spans = row
            .spans
            .iter()
            .filter(|span| span.style.fg == style(Theme::Dark, ink).fg);
        spans
            .map(|span| span.content.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(part(&rows[1], TextRole::RemovedPart), ["1"]);
    assert_eq!(part(&rows[2], TextRole::AddedPart), ["2"]);
    assert_eq!(
        part(&rows[2], TextRole::Added),
        ["+", "    let one = ", ";"]
    );
    assert_eq!(part(&rows[3], TextRole::AddedPart), Vec::<String>::new());
}

#[test]
fn changed_lines_have_the_colours_of_their_language_on_a_ground_of_their_own() {
    let long = format!(
        "@@ -1 +1,2 @@\n-fn a() {{}}\n+fn b() {{}}\n+// {}\n",
        "x".repeat(3_000)
    );
    let look = |theme| ViewOptions {
        theme,
        ..ViewOptions::default()
    };
    let grounds = |rows: &[Line<'static>]| -> Vec<_> {
        let mut all: Vec<_> = rows
            .iter()
            .flat_map(|row| &row.spans)
            .map(|span| span.style.bg)
            .collect();
        all.dedup();
        all
    };
    for theme in [Theme::Dark, Theme::Light] {
        let rows = lines("src/a.rs", &long, &look(theme), 60);
        let plain = lines("src/a", &long, &look(theme), 60);
        let first = &rows[0];
        let added = theme.style(TextRole::Added).fg;
        let keyword = |row: &Line<'static>| {
            let mut spans = row.spans.iter();
            let style = spans
                .find(|span| span.content.starts_with("fn"))
                .map(|span| span.style);
            style.map(|style| (style.fg == added, style.bg))
        };
        let ground = theme.style(TextRole::AddedLine).bg;
        assert_eq!(keyword(&rows[1]), Some((false, ground)));
        assert_eq!(keyword(&plain[1]), Some((true, ground)));
        assert!(
            rows.iter()
                .all(|row| wrap::cells(row) == wrap::cells(first)),
            "one block"
        );
        // Too long for colours: plain, as in a block of code.
        let last = rows.last().unwrap();
        assert!(
            last.spans
                .iter()
                .any(|span| span.style.fg == theme.style(TextRole::Added).fg)
        );
    }
    for theme in [Theme::Sixteen, Theme::None] {
        let rows = lines("src/a.rs", &long, &look(theme), 60);
        assert_eq!(grounds(&rows), [None], "{theme:?}");
    }
}

#[test]
fn invisible_characters_are_spelled_out() {
    let diff = "@@ -1,2 +1,2 @@\n-a\u{1b}[31m\r\n+a\u{202e}b\n c\n";
    assert_eq!(
        rows(diff, 80),
        [" 1    - a\\u{1b}[31m␍", "    1 + a\\u{202e}b", " 2  2   c"]
    );
    assert_eq!(
        rows("@@ -1 +1 @@\r\n-a\r\n+b\r\n", 80),
        [" 1    - a", "    1 + b"]
    );
    assert_eq!(
        rows("Binary files a and b differ", 80),
        ["  Binary files a and b differ"]
    );
    let dashes = "@@ -1,2 +1 @@\n--- x\n y\n";
    assert_eq!(rows(dashes, 80), [" 1    - -- x", " 2  1   y"]);
}

proptest! {
    #[test]
    fn any_text_fits_and_holds_no_control(
        pieces in prop::collection::vec(prop_oneof![
            Just("@@ -1,3 +1,4 @@\n".to_owned()), Just("@@ -99999999999999999999 +1 @@\n".to_owned()),
            "[-+ \\\\]\\PC{0,30}\n", "[-+ ]a\t.{0,9}", Just("--- a\n".to_owned()), Just("\r\n".to_owned()),
        ], 0..12),
        width in 0usize..90,
    ) {
        let rows = lines("a.rs", &pieces.concat(), &ViewOptions::default(), width);
        for row in rows {
            prop_assert!(!row.to_string().contains(char::is_control));
            prop_assert!(width < 20 || wrap::cells(&row) <= width, "{}", row);
        }
    }
}
