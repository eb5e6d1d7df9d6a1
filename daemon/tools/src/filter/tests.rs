//! Scenes.

use std::time::{Duration, Instant};

use super::*;

fn applied(pattern: &str, pieces: Pieces<'_>) -> (String, String, u64) {
    let filtered = Filter::new(pattern).unwrap().apply(pieces);
    (filtered.head, filtered.tail, filtered.skipped)
}

#[test]
fn whole_lines_that_match_are_kept() {
    let text = "GET /a 200\nGET /b 500\nwarn: é\nlast 500";
    assert_eq!(
        applied(" 500$", Pieces::whole(text)),
        ("GET /b 500\nlast 500".into(), String::new(), 2)
    );
    assert_eq!(applied("é", Pieces::whole(text)).0, "warn: é\n");
    // The two pieces of a text that is all there are one.
    let pieces = Pieces {
        head: "err",
        missing: 0,
        tail: "or 1\nok\n",
    };
    assert_eq!(
        applied("error", pieces),
        ("error 1\n".into(), String::new(), 1)
    );
    let pieces = Pieces {
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
    assert_eq!(applied("(a|a)*(a|aa)+$", Pieces::whole(&text)).2, 0);
    assert_eq!(applied("(a*)*(a*)*b", Pieces::whole(&text)).2, 1);
    assert!(
        before.elapsed() < Duration::from_secs(20),
        "{:?}",
        before.elapsed()
    );
}

#[test]
fn scratch_time() {
    for pattern in [
        r"(a|b|ab)*c\d{3}".to_owned(),
        "(x+x+)+y".to_owned(),
        "(a?){3000}b".to_owned(),
        r"(.{0,100}){20}q".to_owned(),
        r"\w{0,60}z.{0,90}\w{0,60}z.{0,3}!".to_owned(),
        "(?:a.{0,1000}){3}b".to_owned(),
        "[a-z]*a.{400}b".to_owned(),
        r"(?s)(?:\b|a?){400}b\b".to_owned(),
    ] {
        let Ok(filter) = Filter::new(&pattern) else { eprintln!("{pattern}: refused"); continue };
        let mut text = "a".repeat(64 * 1024); text.push('é');
        text.push_str(&"abx".repeat(20000));
        let began = std::time::Instant::now();
        filter.apply(Pieces { head: &text, missing: 0, tail: &text });
        eprintln!("{pattern}: {:?}", began.elapsed());
    }
}
