//! Logs as sessions write them, and the cache report made from them.

use proptest::prelude::*;
use proto::record::CacheMiss;
use proto::reset::CacheReset;

use super::*;

fn usage(prompt_tokens: u64, cached_tokens: u64) -> Usage {
    serde_json::from_value(serde_json::json!({
        "item": "m1.2", "step": 1, "attempt": 1, "prompt_tokens": prompt_tokens, "cached_tokens": cached_tokens,
        "output_tokens": 3, "reasoning_tokens": 0, "reported": true, "request_bytes": 0, "first_token_ms": 0,
        "duration_ms": 400,
    }))
    .expect("a usage record")
}

fn reset() -> Body {
    Body::CacheReset(CacheReset {
        reason: "rewind".into(),
        ..CacheReset::default()
    })
}

/// A log with these bodies, each a second after the one before.
fn log(bodies: Vec<Body>) -> Vec<Record> {
    let records = bodies.into_iter().zip(1..).map(|(body, seq)| Record {
        seq: Seq(seq),
        at: Stamp(1_000 * seq.cast_signed()),
        turn: Some(1),
        body,
    });
    records.collect()
}

fn page(log: &[Record], after: Seq, limit: u64, ttl_ms: u64) -> CacheOutput {
    let mut cached = Cached::new(after, limit);
    log.iter().for_each(|record| cached.take(record));
    cached.finish("abc".into(), 7, ttl_ms)
}

#[test]
fn requests_and_resets_stand_in_their_order_with_sums() {
    let mut missed = usage(2_000, 0);
    missed.expected_cached = Some(1_024);
    missed.cache_miss = Some(CacheMiss {
        cause: MissCause::Vendor,
        gap_ms: 1_000,
        differs: None,
    });
    let mut summary = usage(500, 0);
    summary.purpose = Purpose::Summary;
    let reported = page(
        &log(vec![
            Body::Usage(usage(1_100, 0)),
            Body::Usage(missed.clone()),
            reset(),
            Body::Usage(summary),
            Body::Usage(usage(900, 128)),
        ]),
        Seq(0),
        0,
        60_000,
    );
    let [
        CacheRow::Request(first),
        CacheRow::Request(second),
        CacheRow::Reset { reason, .. },
        CacheRow::Request(beside),
        CacheRow::Request(last),
    ] = &reported.rows[..]
    else {
        panic!("other rows: {:?}", reported.rows);
    };
    assert_eq!((first.gap_ms, second.gap_ms), (None, Some(1_000)));
    assert_eq!((beside.gap_ms, last.gap_ms), (None, Some(3_000)));
    assert_eq!(second.miss, missed.cache_miss);
    assert_eq!(reason, "rewind");
    assert_eq!(
        reported.totals,
        CacheTotals {
            requests: 4,
            reported: 4,
            prompt_tokens: 4_500,
            cached_tokens: 128,
            expected_cached: 1_024,
            resets: 1,
            misses: 1,
            rewrites: 0,
        }
    );
    assert_eq!(
        (reported.prefix_sha256.as_str(), reported.prefix_bytes),
        ("abc", 7)
    );
    // The answer took 400 ms: the cached prefix was used then.
    assert_eq!(reported.expires_at, Some(Stamp(5_000 - 400 + 60_000)));
}

#[test]
fn cache_expiry_is_unknown_without_a_ttl_or_usage_or_after_a_reset() {
    let ran = log(vec![Body::Usage(usage(1_100, 0))]);
    assert_eq!(page(&ran, Seq(0), 0, 0).expires_at, None);
    assert_eq!(page(&ran, Seq(0), 0, 0).ttl_ms, None);
    let went_back = log(vec![Body::Usage(usage(1_100, 0)), reset()]);
    assert_eq!(page(&went_back, Seq(0), 0, 60_000).expires_at, None);
    assert_eq!(page(&[], Seq(0), 0, 60_000).expires_at, None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_join_to_the_whole(resets in prop::collection::vec(any::<bool>(), 0..40), limit in 1_u64..9) {
        let bodies = resets.iter().map(|is_reset| match is_reset {
            true => reset(),
            false => Body::Usage(usage(1_000, 100)),
        });
        let log = log(bodies.collect());
        let whole = page(&log, Seq(0), 0, 0);
        prop_assert_eq!(whole.rows.len(), resets.len());
        let (mut rows, mut at) = (Vec::new(), Some(Seq(0)));
        while let Some(after) = at {
            let page = page(&log, after, limit, 0);
            prop_assert_eq!(&page.totals, &whole.totals);
            rows.extend(page.rows);
            at = page.next;
        }
        prop_assert_eq!(rows, whole.rows);
    }
}
