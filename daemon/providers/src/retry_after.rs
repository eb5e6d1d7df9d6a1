//! How long a vendor asks us to wait: by headers, by a member of its error, or in words.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// The limits of OpenAI, Groq and those that copy them: the header of what is left of a limit, and of when it is renewed.
const LIMITS: [[&str; 2]; 2] = [
    [
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
    ],
    ["x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
];

/// A time of today is larger in milliseconds, and smaller in seconds.
const MILLISECONDS_MIN: i64 = 100_000_000_000;

/// Parses `Retry-After` (seconds or a date) or `retry-after-ms`. Compares a date with the
/// response's own `Date`, so that a wrong local clock does not matter. Without one, uses `now`.
/// Without these headers, it is the time until the limits are renewed of which nothing is left.
pub(crate) fn read(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    let renewal = |[remaining, reset]: [&str; 2]| {
        let is_used_up = text(remaining)?.parse::<f64>().ok()? <= 0.0;
        is_used_up.then(|| leading_wait(text(reset)?))?
    };
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let from = text("date").and_then(date);
    let from = from.or_else(|| Timestamp::try_from(now).ok())?;
    let until = |until: Timestamp| {
        let wait = until.duration_since(from);
        Duration::try_from(wait).unwrap_or(Duration::ZERO)
    };
    // Perplexity and OpenRouter have one limit, and name the second or the millisecond at which it is renewed.
    let renewed_at = || {
        let is_used_up = text("x-ratelimit-remaining")?.parse::<f64>().ok()? <= 0.0;
        let at = text("x-ratelimit-reset")?.parse::<i64>().ok()?;
        let at = match at < MILLISECONDS_MIN {
            true => Timestamp::from_second(at),
            false => Timestamp::from_millisecond(at),
        };
        is_used_up.then(|| at.ok().map(until))?
    };
    let Some(wanted) = text("retry-after") else {
        return LIMITS
            .into_iter()
            .filter_map(renewal)
            .chain(renewed_at())
            .max();
    };
    if let Ok(seconds) = wanted.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    date(wanted).map(until)
}

/// The wait that an error names in a member: Google among its details, `{"@type": "…RetryInfo", "retryDelay": "3.5s"}`, and
/// ChatGPT of a used-up subscription, `"resets_in_seconds": 8899`.
pub(crate) fn in_details(error: &Value) -> Option<Duration> {
    if let Some(seconds) = error.get("resets_in_seconds").and_then(Value::as_f64) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let mut details = error.get("details")?.as_array()?.iter();
    let delay = details.find_map(|detail| detail.get("retryDelay")?.as_str())?;
    leading_wait(delay)
}

/// The wait that an error names in words, in one of the forms that vendors use: `try again in 7m12.5s`, `retry after 3 seconds`.
pub(crate) fn in_words(message: &str) -> Option<Duration> {
    const BEFORE_WAIT: &[&str] = &[
        "try again in ",
        "try again after ",
        "retry in ",
        "retry after ",
        // GitHub.
        "please wait ",
    ];
    let message = message.to_lowercase();
    let mut waits = BEFORE_WAIT.iter().filter_map(|before| {
        let (_, after) = message.split_once(before)?;
        leading_wait(after)
    });
    waits.next()
}

/// The time that a text begins with: numbers, each with its unit.
fn leading_wait(text: &str) -> Option<Duration> {
    let (mut seconds, mut rest) = leading_part(text)?;
    while let Some((more, after)) = leading_part(rest) {
        seconds += more;
        rest = after;
    }
    Duration::try_from_secs_f64(seconds).ok()
}

/// The seconds of a number with its unit, and what follows.
fn leading_part(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let (number, rest) = split_after(text, |c| c.is_ascii_digit() || c == '.');
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let (unit, rest) = split_after(rest, char::is_alphabetic);
    let unit_seconds = match unit {
        "ms" => 0.001,
        "s" | "second" | "seconds" => 1.0,
        "m" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    };
    Some((number.parse::<f64>().ok()? * unit_seconds, rest))
}

/// Splits a text after the characters of a kind that it begins with.
fn split_after(text: &str, is_part: fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// The time of an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests;
