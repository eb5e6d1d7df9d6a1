//! Pieces are joined to the text they were cut from, or to nothing.

use proptest::prelude::*;
use proto::{Pid, Stamp};
use serde_json::json;

use super::*;

fn event(seq: Option<u64>, data: &serde_json::Value) -> Event {
    Event {
        seq: seq.map(Seq),
        session: Pid(3),
        at: Stamp(0),
        turn: None,
        kind: "notice".into(),
        data: serde_json::value::to_raw_value(data).unwrap(),
    }
}

#[test]
fn only_a_durable_event_that_says_so_and_nothing_else_came_without_its_data() {
    assert_eq!(
        oversized(&event(Some(1), &json!({"oversized_bytes": 9}))),
        Some(9)
    );
    for whole in [
        event(None, &json!({"oversized_bytes": 9})),
        event(Some(1), &json!({"oversized_bytes": 9, "text": "x"})),
        event(Some(1), &json!({"oversized_bytes": "9"})),
        event(Some(1), &json!({})),
    ] {
        assert_eq!(oversized(&whole), None, "{whole:?}");
    }
}

#[test]
fn pieces_that_do_not_fit_are_broken() {
    let piece = |text: &str, total, next| PieceOutput {
        text: text.into(),
        total,
        next,
    };
    for wrong in [
        // It would never end.
        piece("", 5, Some(0)),
        // A hole, an overlap.
        piece("abc", 5, Some(4)),
        piece("abc", 5, Some(2)),
        // An end before the end, more than the whole.
        piece("abc", 5, None),
        piece("abcdef", 5, None),
        piece("a", WHOLE_MAX + 1, Some(1)),
    ] {
        assert_eq!(Pieces::default().take(&wrong), Fetched::Broken, "{wrong:?}");
    }
}

proptest! {
    #[test]
    fn pieces_cut_anywhere_are_joined_to_the_whole_event(text in "\\PC{0,60}", cuts in prop::collection::vec(1usize..9, 1..30)) {
        let data = json!({"level": "info", "text": text});
        let raw = data.to_string();
        let mut pieces = Pieces::default();
        let mut cuts = cuts.into_iter().cycle();
        let mut start = 0;
        loop {
            let mut end = (start + cuts.next().unwrap()).min(raw.len());
            while !raw.is_char_boundary(end) {
                end += 1;
            }
            let next = (end < raw.len()).then_some(end as u64);
            let piece = PieceOutput { text: raw[start..end].into(), total: raw.len() as u64, next };
            let fetched = pieces.take(&piece);
            start = end;
            if next.is_none() {
                prop_assert_eq!(fetched, Fetched::Whole);
                break;
            }
            prop_assert_eq!(fetched, Fetched::Part);
        }
        let came = event(Some(1), &json!({"oversized_bytes": 9}));
        let whole = pieces.fill(&came).unwrap();
        prop_assert_eq!((whole.data.get(), whole.seq), (raw.as_str(), came.seq));
    }
}
