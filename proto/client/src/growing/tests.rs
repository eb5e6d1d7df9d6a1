use proptest::prelude::*;

use super::*;

fn delta(offset: usize, text: &str) -> Delta {
    Delta {
        item: "m1.1".into(),
        call: None,
        offset: u64::try_from(offset).unwrap(),
        text: text.to_owned(),
    }
}

fn grown(from: usize, text: &str) -> TextGrowth {
    TextGrowth {
        item: "m1.1".into(),
        from,
        text: text.to_owned(),
    }
}

#[test]
fn pieces_that_overlap_come_once_and_a_jump_waits_for_the_end() {
    let mut growing = PartialTexts::default();
    assert_eq!(growing.grow(delta(0, "Hel")), Some(grown(0, "Hel")));
    assert_eq!(growing.grow(delta(0, "Hel")), None);
    assert_eq!(growing.grow(delta(1, "ello")), Some(grown(3, "lo")));
    assert_eq!(growing.grow(delta(9, "zzz")), None);
    let finished = growing.finish(&"m1.1".into(), "Hello, you");
    assert_eq!(finished.rest, TextRemainder::More(", you"));
    assert!(finished.open);
}

#[test]
fn sync_with_another_text_restarts_it_from_offset_0() {
    let mut growing = PartialTexts::default();
    growing.grow(delta(0, "Hal"));
    assert_eq!(
        growing.synced(vec![delta(0, "Other")]),
        [
            SyncChange::Anew("m1.1".into()),
            SyncChange::TextGrowth(grown(0, "Other"))
        ]
    );
    assert_eq!(
        growing.synced(Vec::new()),
        [SyncChange::Broken(vec!["m1.1".into()])]
    );
    // It continues at the same place, after all.
    assert_eq!(
        growing.synced(vec![delta(0, "Others")]),
        [SyncChange::TextGrowth(grown(5, "s"))]
    );
    assert_eq!(
        growing.finish(&"m1.1".into(), "Oth").rest,
        TextRemainder::Less
    );
}

proptest! {
    /// Whatever comes of a text, and in what pieces: what grew and the rest are the text.
    #[test]
    fn growing_text_equals_the_final_text_for_any_pieces(text in "[a-zä\u{4e2d}]{0,40}", cuts in proptest::collection::vec((0usize..60, 0usize..60), 0..12)) {
        let mut growing = PartialTexts::default();
        let mut all = String::new();
        for (from, to) in cuts {
            let (from, to) = (from.min(to), from.max(to));
            if let Some(part) = text.get(from..to)
                && let Some(grown) = growing.grow(delta(from, part))
            {
                prop_assert_eq!(grown.from, all.len());
                all.push_str(&grown.text);
            }
        }
        match growing.finish(&"m1.1".into(), &text).rest {
            TextRemainder::More(rest) => all.push_str(rest),
            other => prop_assert!(false, "{:?}", other),
        }
        prop_assert_eq!(all, text);
    }
}
