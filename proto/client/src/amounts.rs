//! How users write budgets, and how budgets are shown: `0.5` dollars, `100k` tokens, `90` minutes.

use proto::budget::{Budget, BudgetNode, Dimension, Spent};

/// The most dollars that a limit may be.
const DOLLARS_MAX: f64 = 1e9;
/// The most minutes: a thousand years.
const MINUTES_MAX: f64 = 525_600_000.0;

/// Dollars, `0.5` or `$0.5`, in millionths. Less than a millionth counts as one.
///
/// # Errors
/// The error, for people.
pub fn usd(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix('$').unwrap_or(text);
    scaled(number, DOLLARS_MAX, 1e6)
        .ok_or_else(|| format!("`{text}` is not an amount in dollars such as `0.50` or `20`"))
}

/// A count: `100000`, `100k`, `2M`, `1.5M`.
///
/// # Errors
/// As [`usd`].
pub fn count(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a number such as `100000`, `100k` or `2M`");
    let (number, scale) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (text.get(..text.len() - 1), 1e3),
        Some(b'm' | b'M') => (text.get(..text.len() - 1), 1e6),
        _ => return text.parse().map_err(|_| wrong()),
    };
    number
        .and_then(|number| scaled(number, 1e9, scale))
        .ok_or_else(wrong)
}

/// Minutes, with a fraction or without, in milliseconds.
///
/// # Errors
/// As [`usd`].
pub fn minutes(text: &str) -> Result<u64, String> {
    scaled(text, MINUTES_MAX, 60_000.0)
        .ok_or_else(|| format!("`{text}` is not a number of minutes such as `90` or `1.5`"))
}

/// A number from 0 to `max`, times `scale`, rounded up.
fn scaled(text: &str, max: f64, scale: f64) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    let fits = (0.0..=max).contains(&number);
    // Not below 0, and far below the largest whole number. What the fraction's binary form adds is not meant.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fits.then(|| (number * scale - 1e-6).ceil().max(0.0) as u64)
}

/// A change of one limit in words, as `usd 2`, `tokens 100k`, `steps 50` or `minutes 90`.
///
/// # Errors
/// As [`usd`].
pub fn change(name: &str, value: &str) -> Result<Budget, String> {
    let mut budget = Budget::default();
    match name {
        "usd" => budget.cost_micros = Some(usd(value)?),
        "tokens" => budget.tokens = Some(count(value)?),
        "steps" => budget.steps = Some(count(value)?),
        "minutes" => budget.ms = Some(minutes(value)?),
        other => {
            return Err(format!(
                "unknown limit `{other}`; a budget has `usd`, `tokens`, `steps` and `minutes`"
            ));
        }
    }
    Ok(budget)
}

/// Dollars for people: two places, or as many as it takes.
#[must_use]
pub fn dollars(micros: u64) -> String {
    let whole = micros / 1_000_000;
    let parts = format!("{:06}", micros % 1_000_000);
    let parts = match parts.trim_end_matches('0') {
        short if short.len() < 2 => parts.get(..2).unwrap_or_default(),
        long => long,
    };
    format!("${whole}.{parts}")
}

/// An amount of this for people.
#[must_use]
pub fn amount(dimension: Dimension, amount: u64) -> String {
    match dimension {
        Dimension::Money => dollars(amount),
        Dimension::Tokens | Dimension::Steps => amount.to_string(),
        // To a tenth of a minute.
        Dimension::Time => match amount / 6_000 {
            tenths if tenths % 10 == 0 => (tenths / 10).to_string(),
            tenths => format!("{}.{}", tenths / 10, tenths % 10),
        },
    }
}

/// The usage of this in a node, and its limit: `80 of 100`. A day and a project have no time.
#[must_use]
pub fn used(node: &BudgetNode, dimension: Dimension) -> String {
    use proto::budget::BudgetNodeKind::Session;
    if dimension == Dimension::Time && node.kind != Session {
        return "-".to_owned();
    }
    let Spent { unpriced, .. } = node.spent;
    let spent = amount(dimension, node.spent.of(dimension));
    let more = match (dimension, unpriced) {
        (Dimension::Money, 1..) => "+",
        _ => "",
    };
    match node.limit.limit(dimension) {
        Some(limit) => format!("{spent}{more} of {}", amount(dimension, limit)),
        None => format!("{spent}{more}"),
    }
}

#[cfg(test)]
mod tests {
    //! Amounts as people write them, and as they read them.

    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        assert_eq!(usd("0.5"), Ok(500_000));
        assert_eq!(usd("$2"), Ok(2_000_000));
        assert_eq!(usd("0.1"), Ok(100_000));
        assert_eq!(usd("0.0000001"), Ok(1), "0 would be no limit at all");
        assert_eq!(count("100k"), Ok(100_000));
        assert_eq!(count("1.5M"), Ok(1_500_000));
        assert_eq!(count("0"), Ok(0));
        assert_eq!(minutes("0.5"), Ok(30_000));
        for wrong in ["", "-1", "k", "nan", "inf", "1e99", "two", "1.5", "é"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "-1", "nan", "inf", "1e99", "$"] {
            assert!(usd(wrong).is_err() && minutes(wrong).is_err(), "{wrong}");
        }
        assert!(change("days", "1").is_err());
        assert_eq!(
            change("steps", "2k").map(|budget| budget.steps),
            Ok(Some(2_000))
        );
    }

    #[test]
    fn amounts_are_written_so_that_nothing_is_lost() {
        let sums = [0, 1, 500_000, 2_000_000, 1_230_000, 1_234_567];
        let shown = sums.map(dollars);
        assert_eq!(
            shown,
            ["$0.00", "$0.000001", "$0.50", "$2.00", "$1.23", "$1.234567"]
        );
        assert!(
            sums.iter()
                .zip(&shown)
                .all(|(sum, text)| usd(text) == Ok(*sum))
        );
        assert_eq!(amount(Dimension::Time, 90_000), "1.5");
    }
}
