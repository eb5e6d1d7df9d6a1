//! Scenes.

use std::time::{Duration, Instant};

use super::*;

fn applied(pattern: &str, pieces: TextPieces<'_>) -> (String, String, u64) {
    let filtered = Filter::new(pattern).unwrap().apply(pieces).unwrap();
    (filtered.head, filtered.tail, filtered.skipped)
}

#[test]
fn whole_lines_that_match_are_kept() {
    let text = "GET /a 200\nGET /b 500\nwarn: é\nlast 500";
    assert_eq!(
        applied(" 500$", TextPieces::whole(text)),
        ("GET /b 500\nlast 500".into(), String::new(), 2)
    );
    assert_eq!(applied("é", TextPieces::whole(text)).0, "warn: é\n");
    // The two pieces of a text that is all there are one.
    let pieces = TextPieces {
        head: "err",
        missing: 0,
        tail: "or 1\nok\n",
    };
    assert_eq!(
        applied("error", pieces),
        ("error 1\n".into(), String::new(), 1)
    );
    let pieces = TextPieces {
        missing: 9,
        ..pieces
    };
    assert_eq!(applied("err|ok", pieces), ("err".into(), "ok\n".into(), 1));
}

#[test]
fn a_bad_or_huge_pattern_is_refused() {
    assert!(Filter::new("(").is_err_and(|reason| reason.contains("unclosed group")));
    assert!(Filter::new(r"(\w{100}){100}").is_err());
    assert!(Filter::new(&"(".repeat(100_000)).is_err());
}

#[test]
fn no_pattern_takes_more_than_linear_time() {
    let text = "a".repeat(100_000);
    let before = Instant::now();
    assert_eq!(applied("(a|a)*(a|aa)+$", TextPieces::whole(&text)).2, 0);
    assert_eq!(applied("(a*)*(a*)*b", TextPieces::whole(&text)).2, 1);
    assert!(
        before.elapsed() < Duration::from_secs(20),
        "{:?}",
        before.elapsed()
    );
}

#[test]
fn a_pattern_that_takes_long_is_given_up() {
    let mut filter = Filter::new("(?s)(?:\\b|a?){50}b\\b").unwrap();
    filter.patience = Duration::ZERO;
    let pieces = TextPieces::whole("aé\n");
    assert_eq!(filter.apply(pieces), None);
}

#[test]
fn long_line_matches_if_one_of_its_pieces_does() {
    let filter = Filter::new("needle").unwrap();
    let line = format!("{}needle\n", "中".repeat(PIECE_MAX));
    let text = format!("{line}hay\n");
    let found = filter.apply(TextPieces::whole(&text)).unwrap();
    assert_eq!((found.head == line, found.skipped), (true, 1));
}
