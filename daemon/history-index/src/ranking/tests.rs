use proptest::prelude::*;

use super::*;

fn hit(pid: u64, seq: u64, relevance: f64, terms: u32) -> Candidate {
    Candidate {
        row: i64::try_from(pid * 1000 + seq).unwrap(),
        pid,
        seq,
        at: i64::try_from(seq).unwrap(),
        is_tool: false,
        same: i64::try_from(pid * 1000 + seq).unwrap(),
        relevance,
        terms,
    }
}

fn places(ranked: &[Candidate]) -> Vec<(u64, u64)> {
    ranked.iter().map(|found| (found.pid, found.seq)).collect()
}

#[test]
fn weak_hits_with_common_words_only_are_dropped() {
    let found = vec![
        hit(1, 1, 10.0, 0b11),
        hit(1, 2, 0.5, 0b01),
        hit(1, 3, 0.5, 0b10),
    ];
    assert_eq!(places(&rank(found.clone(), 0b10, 2)), [(1, 1), (1, 2)]);
    assert_eq!(rank(found, 0b00, 2).len(), 3);
    // The best one stays, whatever its words.
    assert_eq!(rank(vec![hit(1, 1, 0.0, 0b1)], 0b1, 1).len(), 1);
}

#[test]
fn more_terms_count_more_and_tools_less() {
    let mut tool = hit(1, 3, 4.0, 0b11);
    tool.is_tool = true;
    let found = vec![hit(1, 1, 4.5, 0b01), hit(1, 2, 4.0, 0b11), tool];
    assert_eq!(
        places(&rank(found, 0, 2)),
        [(1, 2), (1, 1), (1, 3)].map(|place| place)
    );
}

#[test]
fn ranking_keeps_only_the_oldest_sessions_copy_of_a_message() {
    let mut copy = hit(2, 1, 1.0, 1);
    copy.same = hit(1, 1, 1.0, 1).same;
    assert_eq!(
        places(&rank(vec![copy.clone(), hit(1, 1, 1.0, 1)], 0, 1)),
        [(1, 1)]
    );
    // Its origin is not among the hits: deleted, or not looked at.
    assert_eq!(places(&rank(vec![copy], 0, 1)), [(2, 1)]);
}

proptest! {
    #[test]
    fn only_copies_and_weak_hits_are_left_out(
        found in prop::collection::vec((1..4u64, 1..50u64, 0.0..10.0f64, 1..8u32), 0..40),
        common in 0..8u32,
    ) {
        let mut found: Vec<Candidate> = found.into_iter().map(|(pid, seq, relevance, terms)| hit(pid, seq, relevance, terms)).collect();
        found.sort_by_key(|found| found.row);
        found.dedup_by_key(|found| found.row);
        let all = rank(found.clone(), 0, 3);
        prop_assert_eq!(all.len(), found.len());
        let ranked = rank(found.clone(), common, 3);
        prop_assert_eq!(ranked.is_empty(), found.is_empty());
        for left in found.iter().filter(|left| !ranked.contains(left)) {
            prop_assert_eq!(left.terms & !common, 0);
        }
        let mut turned = found;
        turned.reverse();
        prop_assert_eq!(rank(turned, common, 3), ranked);
    }
}
