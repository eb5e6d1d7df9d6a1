//! Numbers, times, money and names as short as they can be read.

use std::path::Path;
use std::time::Duration;

use proto::outcome::{Cost, UsageTotals};

use super::wrap;

/// A count: `999`, `1.2k`, `34k`, `1.2M`. Never more than there are.
#[must_use]
pub fn count(number: u64) -> String {
    let (unit, letter) = match number {
        0..1_000 => return number.to_string(),
        1_000..1_000_000 => (1_000, 'k'),
        1_000_000..1_000_000_000 => (1_000_000, 'M'),
        _ => (1_000_000_000, 'G'),
    };
    let (whole, tenth) = (number / unit, number % unit * 10 / unit);
    match (whole, tenth) {
        (0..10, 1..) => format!("{whole}.{tenth}{letter}"),
        _ => format!("{whole}{letter}"),
    }
}

/// A number of bytes: `812 B`, `34 kB`, `1.2 MB`.
#[must_use]
pub fn bytes(number: u64) -> String {
    let short = count(number);
    match short.strip_suffix(['k', 'M', 'G']) {
        Some(digits) => format!("{digits} {}B", &short[digits.len()..]),
        None => format!("{short} B"),
    }
}

/// A time: `12 s`, `1m 12s`, `2h 5m`, `3d 4h`.
#[must_use]
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, _, _) => format!("{hours}h {}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

/// A duration in milliseconds, with tenths if it is short: `3.4 s`.
#[must_use]
pub fn elapsed(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => duration(Duration::from_millis(ms)),
    }
}

/// The cost, as far as it is known: `$0.12`, with a trailing `+` if some requests have no known price. `None`: no
/// cost is known, or there were no requests.
#[must_use]
pub fn cost(cost: impl Into<Cost>) -> Option<String> {
    let cost = cost.into();
    if cost.requests == 0 || cost.requests <= cost.unpriced && cost.micros == 0 {
        return None;
    }
    let more = match cost.unpriced {
        0 => "",
        _ => "+",
    };
    Some(format!("{}{more}", money(cost.micros)))
}

/// Tokens in and out.
#[must_use]
pub fn tokens(usage: &UsageTotals) -> u64 {
    usage.prompt_tokens.saturating_add(usage.output_tokens)
}

/// Millionths of a dollar: `$0.0042`, `$0.12`, `$120`.
#[must_use]
pub fn money(micros: u64) -> String {
    let dollars = micros / 1_000_000;
    let rest = micros % 1_000_000;
    match micros {
        1..10_000 => format!("${dollars}.{:04}", rest / 100),
        0..100_000_000 => format!("${dollars}.{:02}", rest / 10_000),
        _ => format!("${dollars}"),
    }
}

/// How much of a whole a part is, in hundredths; `None`: the whole is not known.
#[must_use]
pub fn percent(part: u64, whole: u64) -> Option<u64> {
    let hundredfold = u128::from(part) * 100;
    let share = hundredfold.checked_div(u128::from(whole))?;
    u64::try_from(share).ok()
}

/// A model's name without its provider.
#[must_use]
pub fn model(name: &str) -> &str {
    match name.rsplit('/').next() {
        Some(last) if !last.is_empty() => last,
        _ => name,
    }
}

/// A path with `~` for the user's home.
#[must_use]
pub fn path(path: &str, home: Option<&Path>) -> String {
    let inside = home
        .filter(|home| home.parent().is_some())
        .and_then(|home| Path::new(path).strip_prefix(home).ok());
    match inside {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.to_owned(),
    }
}

/// A path in at most `width` cells: components in its middle become `…`; the last one stays as far as it fits.
#[must_use]
pub fn path_within(path: &str, width: usize) -> String {
    if wrap::width(path) <= width {
        return path.to_owned();
    }
    let parts: Vec<&str> = path.split('/').collect();
    let first = parts.first().copied().unwrap_or_default();
    // The more of the end is kept, the better.
    let shortened = (2..parts.len()).find_map(|from| {
        let end = parts.get(from..)?.join("/");
        let whole = format!("{first}/…/{end}");
        (wrap::width(&whole) <= width).then_some(whole)
    });
    shortened.unwrap_or_else(|| wrap::cut(parts.last().copied().unwrap_or(path), width))
}

#[cfg(test)]
mod tests;
