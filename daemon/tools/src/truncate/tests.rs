//! Scenes.

use proptest::prelude::*;

use super::*;

#[test]
fn text_within_the_limit_is_unchanged() {
    let cut = cut(
        TextPieces {
            head: "one\n",
            missing: 0,
            tail: "two\n",
        },
        2,
        "",
    );
    assert_eq!(
        cut,
        TruncatedText {
            text: "one\ntwo\n".into(),
            cut: false
        }
    );
    assert_eq!(
        (tokens("abcd"), tokens("abcde"), tokens("中文"), tokens("")),
        (1, 2, 2, 0)
    );
}

#[test]
fn head_and_tail_are_kept_at_line_ends() {
    let text: String = (0..1000).map(|number| format!("line {number}\n")).collect();
    let cut = cut(TextPieces::whole(&text), 60, "see f");
    assert!(cut.text.starts_with("line 0\nline 1\n"), "{}", cut.text);
    assert!(cut.text.ends_with("line 998\nline 999\n"), "{}", cut.text);
    let note = cut
        .text
        .lines()
        .find(|line| line.starts_with("[…"))
        .unwrap();
    assert!(note.ends_with("bytes left out; see f]"), "{note}");
    let kept = cut.text.lines().count() - 1;
    assert!(
        note.starts_with(&format!("[… {} lines, ", 1000 - kept)),
        "{note}, {kept} kept"
    );
}

#[test]
fn truncation_reports_the_number_of_missing_bytes() {
    let cut = cut(
        TextPieces {
            head: "head\n",
            missing: 1_000_000,
            tail: "tail\n",
        },
        100,
        "see f",
    );
    assert_eq!(cut.text, "head\n[… 1000000 bytes left out; see f]\ntail\n");
}

proptest! {
    /// Whatever the text: within the limit, both ends kept, never inside a character.
    #[test]
    fn truncated_text_is_within_the_limit_and_keeps_both_ends(head in "[a-z\n中é🦀]{0,300}", tail in "[a-z\n中é🦀]{0,300}", missing in 0_u64..3, max in 0_usize..120) {
        let cut = cut(TextPieces { head: &head, missing, tail: &tail }, max, "all of it is in /tmp/x");
        prop_assert!(tokens(&cut.text) <= max.max(tokens(&head) * usize::from(!cut.cut)), "{} > {max}", tokens(&cut.text));
        let whole = format!("{head}{tail}");
        if cut.cut && max > 40 {
            let (front, rest) = cut.text.split_once("[…").unwrap();
            let (_, back) = rest.split_once("]\n").unwrap();
            prop_assert!(head.starts_with(front) || head.starts_with(front.strip_suffix('\n').unwrap_or(front)));
            prop_assert!(whole.ends_with(back));
            prop_assert!(head.len() < 40 || !front.is_empty());
            prop_assert!(whole.len() < 40 || missing > 0 || !back.is_empty() || whole.ends_with('\n'));
        }
        if !cut.cut {
            prop_assert_eq!(cut.text, whole);
        }
    }
}
