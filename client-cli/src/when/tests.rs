use proptest::prelude::*;

use super::*;

fn at(text: &str) -> Stamp {
    text.parse().unwrap()
}

fn zone(posix: &str) -> TimeZone {
    TimeZone::posix(posix).unwrap()
}

#[test]
fn times_ago_are_counted_back_from_now() {
    let now = at("2026-11-21T12:00:00.000Z");
    let utc = TimeZone::UTC;
    for (text, expected) in [
        ("30s", "2026-11-21T11:59:30.000Z"),
        ("10m", "2026-11-21T11:50:00.000Z"),
        ("2h", "2026-11-21T10:00:00.000Z"),
        ("7d", "2026-11-14T12:00:00.000Z"),
        ("1w", "2026-11-14T12:00:00.000Z"),
    ] {
        assert_eq!(moment(text, now, &utc), Some(at(expected)), "{text}");
    }
    assert_eq!(
        moment("9999999d", now, &utc),
        Some(Stamp(0)),
        "before all times is all"
    );
}

#[test]
fn days_begin_where_the_person_is() {
    let now = at("2026-11-20T20:00:00.000Z");
    let india = zone("IST-5:30");
    // There it is the 21st already.
    assert_eq!(today(now, &india), at("2026-11-20T18:30:00.000Z"));
    assert_eq!(today(now, &TimeZone::UTC), at("2026-11-20T00:00:00.000Z"));
    assert_eq!(offset_minutes(now, &india), 330);
    assert_eq!(
        moment("2026-11-01", now, &india),
        Some(at("2026-10-31T18:30:00.000Z"))
    );
    assert_eq!(
        moment("2026-11-01T09:30", now, &india),
        Some(at("2026-11-01T04:00:00.000Z"))
    );
    assert_eq!(
        moment("2026-11-01T09:30:00Z", now, &india),
        Some(at("2026-11-01T09:30:00.000Z"))
    );
}

#[test]
fn the_offset_is_that_of_the_season() {
    let berlin = zone("CET-1CEST,M3.5.0,M10.5.0/3");
    assert_eq!(offset_minutes(at("2026-07-01T00:00:00.000Z"), &berlin), 120);
    assert_eq!(offset_minutes(at("2026-12-01T00:00:00.000Z"), &berlin), 60);
}

#[test]
fn invalid_times_are_rejected() {
    for text in [
        "",
        "m",
        "10",
        "10x",
        "-3m",
        "1.5h",
        "yesterday",
        "2026-13-01",
        "2026-11-01T",
        "999999999999999999999d",
        "ä",
    ] {
        assert_eq!(moment(text, Stamp(0), &TimeZone::UTC), None, "{text}");
    }
}

proptest! {
    #[test]
    fn parsing_any_text_does_not_panic(text in ".{0,40}", now in 0_i64..253_402_300_799_999) {
        let _ = moment(&text, Stamp(now), &TimeZone::UTC);
        let begun = today(Stamp(now), &TimeZone::UTC);
        prop_assert!(begun <= Stamp(now) && now - begun.0 < 86_400_000);
    }
}

#[test]
fn seconds_are_above_nothing() {
    assert_eq!(seconds("1.5"), Ok(1500));
    assert_eq!(seconds("0.0001"), Ok(1));
    for wrong in ["0", "-1", "nan", "inf", "1e99", "x", ""] {
        assert!(seconds(wrong).is_err(), "{wrong}");
    }
}
