//! How long a vendor asks us to wait.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::HeaderMap;

/// Parses `Retry-After` (seconds or a date) or `retry-after-ms`. Compares a date with the
/// response's own `Date`, so that a wrong local clock does not matter. Without one, uses `now`.
pub(crate) fn read(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let wanted = text("retry-after")?;
    if let Ok(seconds) = wanted.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = date(wanted)?;
    let from = text("date").and_then(date);
    let wait = until.duration_since(from.or_else(|| Timestamp::try_from(now).ok())?);
    Some(Duration::try_from(wait).unwrap_or(Duration::ZERO))
}

/// The time of an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests;
