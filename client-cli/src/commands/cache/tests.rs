//! Rows and sums in words.

use proto::params::cache::CacheTotals;

use super::*;

fn output(ttl_ms: Option<u64>, expires_at: Option<Stamp>) -> CacheOutput {
    CacheOutput {
        rows: Vec::new(),
        next: None,
        totals: CacheTotals {
            requests: 2,
            reported: 2,
            prompt_tokens: 3_000,
            cached_tokens: 1_000,
            expected_cached: 1_024,
            resets: 1,
            misses: 1,
            rewrites: 0,
        },
        prefix_sha256: "abc".into(),
        prefix_bytes: 12_345,
        ttl_ms,
        expires_at,
    }
}

#[test]
fn the_end_of_the_cache_is_counted_down() {
    let last = |ttl, at| summary(&output(ttl, at), Stamp(1_000_000)).pop();
    let expires = |ms: i64| last(Some(300_000), Some(Stamp(1_000_000 + ms)));
    assert_eq!(expires(192_999).as_deref(), Some("expires in 3:12"));
    assert_eq!(expires(1_000).as_deref(), Some("expires in 0:01"));
    assert!(expires(0).is_some_and(|line| line.starts_with("expired ")));
    assert!(last(Some(300_000), None).is_some_and(|line| line.contains("5 min")));
    assert!(last(None, None).is_some_and(|line| line.contains("unknown")));
}

#[test]
fn sums_and_prefix_stand_below() {
    let lines = summary(&output(None, None), Stamp(0));
    let sums = "2 requests: 1000 of 3000 prompt tokens from the cache (33.3 %); 1 reset, 1 miss, 0 rewrites";
    assert_eq!(lines[0], sums);
    assert_eq!(lines[1], "prefix: 12 kB, sha256 abc");
}

#[test]
fn a_row_says_what_was_served_and_why_not_more() {
    let request = CachedRequest {
        turn: 2,
        step: 1,
        reported: true,
        prompt_tokens: 2_000,
        cached_tokens: 999,
        expected_cached: Some(1_920),
        gap_ms: Some(3_000),
        miss: Some(CacheMiss {
            cause: MissCause::Ours,
            gap_ms: 3_000,
            differs: Some("message 3".into()),
        }),
        ..CachedRequest::default()
    };
    let cells = row(&CacheRow::Request(request.clone()));
    assert_eq!((cells[6].as_str(), cells[7].as_str()), ("49.9 %", "3.0 s"));
    assert_eq!(
        cells[8],
        "Reasonix changed the prompt from message 3 on (a bug)"
    );
    let silent = CachedRequest {
        reported: false,
        prompt_tokens: 0,
        expected_cached: None,
        miss: None,
        ..request
    };
    let cells = row(&CacheRow::Request(silent));
    assert_eq!((cells[3].as_str(), cells[6].as_str()), ("-", "-"));
    assert_eq!(cells[8], "nothing reported");
}
