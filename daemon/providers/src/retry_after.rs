//! How long a vendor asks us to wait.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
    let from = match text("date").and_then(date) {
        Some(from) => from,
        None => i64::try_from(now.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()?,
    };
    Some(Duration::from_secs(
        u64::try_from(until - from).unwrap_or(0),
    ))
}

/// Seconds since 1970 of an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, rest) = text.split_once(", ")?;
    let words: Vec<&str> = rest.split(' ').collect();
    let [day, month, year, time, "GMT"] = words[..] else {
        return None;
    };
    let day: i64 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = MONTHS
        .iter()
        .zip(1..)
        .find_map(|(name, number)| (*name == month).then_some(number))?;
    let year: i64 = year
        .parse()
        .ok()
        .filter(|year| (1970..=9999).contains(year))?;
    let mut seconds = 0;
    let mut fields = time.split(':');
    for limit in [24, 60, 61] {
        let field: i64 = fields
            .next()?
            .parse()
            .ok()
            .filter(|field| (0..limit).contains(field))?;
        seconds = seconds * 60 + field;
    }
    if fields.next().is_some() {
        return None;
    }
    Some(days(year, month, day) * 86_400 + seconds)
}

/// Days from 1970-01-01 to a Gregorian date. Years start in March, so that the leap day is last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests;
