//! Waits as vendors request them.

use std::time::UNIX_EPOCH;

use super::*;

fn seconds(headers: &[(&'static str, &str)]) -> Option<f64> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.parse().expect("a value"));
    }
    // 1994-11-06T08:49:37Z.
    let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
    read(&map, now).map(|wait| wait.as_secs_f64())
}

#[test]
fn seconds_and_dates_are_read() {
    assert_eq!(seconds(&[]), None);
    assert_eq!(seconds(&[("retry-after", "7")]), Some(7.0));
    assert_eq!(seconds(&[("retry-after", " 1.5 ")]), Some(1.5));
    assert_eq!(
        seconds(&[("retry-after", "9"), ("retry-after-ms", "250")]),
        Some(0.25)
    );
    assert_eq!(
        seconds(&[("retry-after", "Sun, 06 Nov 1994 08:50:00 GMT")]),
        Some(23.0)
    );
    assert_eq!(
        seconds(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]),
        Some(0.0),
        "past"
    );
}

#[test]
fn a_retry_date_is_compared_with_the_responses_own_date() {
    let headers = [
        ("date", "Thu, 29 Feb 2024 23:59:50 GMT"),
        ("retry-after", "Fri, 01 Mar 2024 00:00:10 GMT"),
    ];
    assert_eq!(seconds(&headers), Some(20.0));
}

#[test]
fn the_renewal_of_a_limit_that_is_used_up_is_a_wait() {
    let waits = |left: [&str; 2], reset: [&str; 2]| {
        seconds(&[
            ("x-ratelimit-remaining-requests", left[0]),
            ("x-ratelimit-reset-requests", reset[0]),
            ("x-ratelimit-remaining-tokens", left[1]),
            ("x-ratelimit-reset-tokens", reset[1]),
        ])
    };
    assert_eq!(waits(["59", "149984"], ["1s", "6m0s"]), None);
    assert_eq!(waits(["0", "149984"], ["2m59.56s", "6ms"]), Some(179.56));
    assert_eq!(waits(["0", "0"], ["1s", "6m0s"]), Some(360.0));
    assert_eq!(waits(["0", "9"], ["soon", "1s"]), None);
    let named = [
        ("retry-after", "3"),
        ("x-ratelimit-remaining-tokens", "0"),
        ("x-ratelimit-reset-tokens", "6m0s"),
    ];
    assert_eq!(seconds(&named), Some(3.0));
}

#[test]
fn the_time_at_which_the_only_limit_is_renewed_is_a_wait() {
    let waits = |remaining, reset| {
        seconds(&[
            ("x-ratelimit-remaining", remaining),
            ("x-ratelimit-reset", reset),
        ])
    };
    assert_eq!(waits("0", "784111790"), Some(13.0));
    assert_eq!(waits("0", "784111790500"), Some(13.5));
    assert_eq!(waits("0", "784111000"), Some(0.0), "past");
    assert_eq!(waits("1", "784111790"), None);
    assert_eq!(waits("0", "soon"), None);
}

#[test]
fn subscription_names_the_seconds_until_it_is_renewed() {
    let error = serde_json::json!({"type": "usage_limit_reached", "resets_in_seconds": 8899});
    assert_eq!(in_details(&error), Some(Duration::from_secs(8899)));
}

#[test]
fn an_invalid_retry_after_is_ignored() {
    for value in [
        "-3",
        "NaN",
        "inf",
        "soon",
        "1e300",
        "Sun, 06 Nov 1994 25:00:00 GMT",
        "Sun, 31 Foo 1994 08:00:00 GMT",
    ] {
        assert_eq!(seconds(&[("retry-after", value)]), None, "{value}");
    }
}

#[test]
fn days_are_counted_over_leap_years() {
    let wait = |from: &str, to: &str| seconds(&[("date", from), ("retry-after", to)]);
    assert_eq!(
        wait(
            "Thu, 01 Jan 1970 00:00:00 GMT",
            "Wed, 01 Mar 2000 00:00:00 GMT"
        ),
        Some(11_017.0 * 86_400.0)
    );
    assert_eq!(
        wait(
            "Sun, 28 Feb 2100 00:00:00 GMT",
            "Mon, 01 Mar 2100 00:00:00 GMT"
        ),
        Some(86_400.0),
        "2100 has no leap day"
    );
}

#[test]
fn waits_in_words_are_read_in_plain_forms_only() {
    for (words, seconds) in [
        (
            "Please try again in 7m12.5s. Need more tokens?",
            Some(432.5),
        ),
        ("Please try again in 6ms.", Some(0.006)),
        ("try again in 1h2m3s", Some(3_723.0)),
        ("Please retry in 3s.", Some(3.0)),
        ("please try again after 3 seconds", Some(3.0)),
        ("Please retry after 1 minute.", Some(60.0)),
        (
            "Please retry after 2 seconds. Limit 500 a minute",
            Some(2.0),
        ),
        ("Please wait 46 seconds before retrying.", Some(46.0)),
        ("Please retry after 7 days.", Some(604_800.0)),
        ("Too many tokens, please wait before trying again.", None),
        ("try again in 3 500 tokens", None),
        ("try again in 3", None),
        ("try again in 1.2.3s", None),
        ("try again in -3s", None),
        ("try again in a few seconds", None),
        ("try again in 3 sheets", None),
        ("limit 30 seconds, try again later", None),
        ("try again in 9é", None),
        ("try again in ", None),
    ] {
        let wait = in_words(words).map(|wait| wait.as_secs_f64());
        assert_eq!(wait, seconds, "{words}");
    }
    let endless = format!("try again in {}s", "9".repeat(400));
    assert_eq!(in_words(&endless), None);
}
