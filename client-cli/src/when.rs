//! Moments as people write them: `10m` ago, a day of their calendar, an exact time.
//!
//! Pure: the moment that is now and the time zone are arguments.

use crate::messages::common::Msg;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use proto::Stamp;

/// How moments may be written, for hints.
pub const FORMS: Msg = Msg::TimeForms;

/// The time zone of this machine, or of `TZ`.
pub fn zone() -> TimeZone {
    TimeZone::system()
}

/// A moment that was written so; `None`: an unknown format.
pub fn moment(text: &str, now: Stamp, zone: &TimeZone) -> Option<Stamp> {
    if let Some(ms) = span(text) {
        return Some(Stamp(now.0.saturating_sub(ms).max(0)));
    }
    let civil = |at: DateTime| {
        let at = at.to_zoned(zone.clone()).ok()?;
        Some(at.timestamp().as_millisecond())
    };
    // A clock that was put forward has days without a midnight: `to_zoned` takes the first moment after the gap.
    let ms = if let Ok(exact) = text.parse::<Timestamp>() {
        exact.as_millisecond()
    } else if text.contains(['T', ' ', ':']) {
        civil(text.parse::<DateTime>().ok()?)?
    } else {
        civil(
            text.parse::<Date>()
                .ok()?
                .to_datetime(jiff::civil::Time::midnight()),
        )?
    };
    (ms >= 0).then_some(Stamp(ms))
}

/// Milliseconds of `45s`, `10m`, `2h`, `7d`, `2w`.
fn span(text: &str) -> Option<i64> {
    let unit = text.chars().next_back()?;
    let number = text.strip_suffix(unit)?;
    if number.is_empty() || !number.chars().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(seconds * 1000)
}

/// When the day began in which `now` is.
pub fn today(now: Stamp, zone: &TimeZone) -> Stamp {
    let begin = Timestamp::from_millisecond(now.0)
        .ok()
        .and_then(|at| at.to_zoned(zone.clone()).start_of_day().ok());
    // A clock that is beyond all calendars has no days.
    begin.map_or(now, |begin| {
        Stamp(begin.timestamp().as_millisecond().max(0))
    })
}

/// Minutes that clocks are ahead of UTC at that moment.
pub fn offset_minutes(now: Stamp, zone: &TimeZone) -> i32 {
    Timestamp::from_millisecond(now.0).map_or(0, |at| zone.to_offset(at).seconds() / 60)
}

/// Reads seconds, whole or not, as milliseconds.
///
/// # Errors
/// It is not a number above 0.
pub fn seconds(text: &str) -> Result<u64, String> {
    let wrong = || say!(Msg::NotSeconds).to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if !(seconds > 0.0 && seconds <= 1e9) {
        return Err(wrong());
    }
    let duration = std::time::Duration::from_secs_f64(seconds);
    u64::try_from(duration.as_millis())
        .map(|ms| ms.max(1))
        .map_err(|_| wrong())
}

#[cfg(test)]
mod tests;
