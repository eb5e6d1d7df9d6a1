//! Usage sums in the catalog.

use super::*;
use crate::log::LogPosition;

fn used(session: SessionId, quarter: i64, requests: u64) -> UsageRow {
    UsageRow {
        session,
        at: Stamp(quarter),
        model: "vendor/m".into(),
        purpose: proto::record::Purpose::Answer,
        turns: requests,
        usage: UsageTotals {
            requests,
            prompt_tokens: u64::MAX,
            ..UsageTotals::default()
        },
    }
}

fn at(seq: u64) -> LogPosition {
    LogPosition {
        seq: Seq(seq),
        end: seq * 100,
    }
}

#[test]
fn later_usage_is_added_and_nothing_is_counted_twice() {
    let (_dir, home) = home();
    let catalog = catalog(&home);
    let summary = session(1, None);
    let id = summary.session;
    catalog.put(&summary).unwrap();
    let count = |from, upto, rows: &[UsageRow]| catalog.count_usage(id, from, upto, rows).unwrap();
    assert!(count(at(0), at(5), &[used(id, 0, 1), used(id, 900_000, 2)]));
    assert!(count(at(5), at(9), &[used(id, 900_000, 4)]));
    // Another caller counted first.
    assert!(!count(at(5), at(9), &[used(id, 900_000, 4)]));
    let read = catalog.used().unwrap();
    let requests: Vec<_> = read.iter().map(|used| used.usage.requests).collect();
    assert_eq!(requests, [1, 6]);
    let turns: Vec<_> = read.iter().map(|used| used.turns).collect();
    assert_eq!(turns, [1, 6]);
    assert_eq!(catalog.counted_sessions().unwrap()[0].counted, at(9));
    // Counting from the start drops what was counted before.
    assert!(count(at(0), at(2), &[used(id, 0, 7)]));
    assert_eq!(catalog.used().unwrap().len(), 1);
}

#[test]
fn removed_sessions_are_not_counted() {
    let (_dir, home) = home();
    let catalog = catalog(&home);
    let (one, other) = (session(1, None), session(2, None));
    for summary in [&one, &other] {
        catalog.put(summary).unwrap();
        let rows = [used(summary.session, 0, 1)];
        catalog
            .count_usage(summary.session, at(0), at(3), &rows)
            .unwrap();
    }
    catalog.remove(one.session).unwrap();
    let left: Vec<_> = catalog
        .used()
        .unwrap()
        .iter()
        .map(|used| used.session)
        .collect();
    assert_eq!(left, [other.session]);
    catalog.clear().unwrap();
    assert!(catalog.used().unwrap().is_empty());
    catalog.put(&other).unwrap();
    assert_eq!(catalog.counted_sessions().unwrap()[0].counted, at(0));
}
