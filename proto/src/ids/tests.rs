//! Stamps as they are written and read.

use proptest::prelude::*;

use super::*;

#[test]
fn stamps_are_rfc_3339_in_utc_with_milliseconds() {
    let printed = |ms| Stamp(ms).to_string();
    assert_eq!(printed(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(printed(1_790_000_000_000), "2026-09-21T14:13:20.000Z");
    assert_eq!(printed(951_827_696_007), "2000-02-29T12:34:56.007Z");
    assert_eq!(printed(i64::MIN), printed(0), "a clock before 1970");
    assert_eq!(printed(i64::MAX), "9999-12-30T22:00:00.000Z");
}

#[test]
fn other_forms_of_rfc_3339_are_read() {
    let read = |text: &str| text.parse::<Stamp>().map(|stamp| stamp.0).ok();
    assert_eq!(read("2026-09-21T14:13:20Z"), Some(1_790_000_000_000));
    assert_eq!(read("2026-09-21 14:13:20.5Z"), Some(1_790_000_000_500));
    assert_eq!(read("2026-09-21T16:13:20+02:00"), Some(1_790_000_000_000));
    assert_eq!(read("1969-12-31T23:59:59Z"), Some(0));
    assert_eq!(read("2026-02-30T00:00:00Z"), None);
    assert_eq!(read("yesterday"), None);
}

proptest! {
    #[test]
    fn printed_stamps_parse_back(ms in any::<i64>()) {
        let text = Stamp(ms).to_string();
        let kept = Stamp(ms.clamp(0, STAMP_MAX));
        prop_assert_eq!(text.parse::<Stamp>().unwrap(), kept);
    }

    #[test]
    fn printed_stamps_sort_by_time(one in 0..=STAMP_MAX, two in 0..=STAMP_MAX) {
        let (first, second) = (Stamp(one).to_string(), Stamp(two).to_string());
        prop_assert_eq!(first.cmp(&second), one.cmp(&two));
    }

    #[test]
    fn no_text_makes_parsing_panic(text in ".*") {
        let _ = text.parse::<Stamp>();
    }
}
