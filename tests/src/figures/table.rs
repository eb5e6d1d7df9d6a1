//! A figure, and its table. Pure.

use std::time::Duration;

/// One row of a table.
#[derive(Clone, Debug)]
pub struct Figure {
    pub what: &'static str,
    /// As measured, with its unit.
    pub value: String,
    pub floor: String,
    /// Value over floor; `None` if they cannot be compared.
    pub ratio: Option<f64>,
    pub budget: &'static str,
}

/// A time beside its floor.
pub fn row(what: &'static str, value: Duration, floor: Duration, budget: &'static str) -> Figure {
    let seconds = [value, floor].map(|time| time.as_secs_f64());
    compared(what, seconds, ms, budget)
}

/// A value beside its floor, both written by `show`.
pub fn compared(
    what: &'static str,
    [value, floor]: [f64; 2],
    show: impl Fn(f64) -> String,
    budget: &'static str,
) -> Figure {
    Figure {
        what,
        value: show(value),
        floor: show(floor),
        ratio: (floor > 0.0).then(|| value / floor),
        budget,
    }
}

/// A value that has no floor.
pub fn plain(what: &'static str, value: String, budget: &'static str) -> Figure {
    Figure {
        what,
        value,
        floor: "–".to_owned(),
        ratio: None,
        budget,
    }
}

/// Seconds, as milliseconds.
pub fn ms(seconds: f64) -> String {
    format!("{:.2} ms", seconds * 1e3)
}

/// Bytes, as megabytes of a million.
pub fn mb(bytes: f64) -> String {
    format!("{:.1} MB", bytes / 1e6)
}

/// Bytes, as kilobytes of a thousand.
pub fn kb(bytes: f64) -> String {
    format!("{:.1} KB", bytes / 1e3)
}

/// The value in the middle.
///
/// # Panics
/// There is none.
pub fn median<T: Ord + Copy>(values: Vec<T>) -> T {
    quantile(values, 50)
}

/// The value below which 95 of a hundred are.
///
/// # Panics
/// There is none.
pub fn p95<T: Ord + Copy>(values: Vec<T>) -> T {
    quantile(values, 95)
}

/// The value below which so many of a hundred are.
///
/// # Panics
/// There is none.
pub fn quantile<T: Ord + Copy>(mut values: Vec<T>, percent: usize) -> T {
    values.sort_unstable();
    values[values.len() * percent / 100]
}

/// The table, as Markdown.
#[must_use]
pub fn table(figures: &[Figure]) -> String {
    let mut text =
        String::from("| what | figure | floor | ratio | budget |\n|---|---|---|---|---|\n");
    for Figure {
        what,
        value,
        floor,
        ratio,
        budget,
    } in figures
    {
        let ratio = ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.1}"));
        text.push_str(&format!(
            "| {what} | {value} | {floor} | {ratio} | {budget} |\n"
        ));
    }
    text
}
