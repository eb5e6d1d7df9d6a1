//! Standard output for results, standard error for everything else; tables that fit the terminal.
//!
//! A reader that has had enough (`| head`) ends the command quietly, by [`Error::Closed`].

mod wrap;

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use proto::Stamp;
use proto::outcome::Cost;
use serde::Serialize;

use crate::exit::Error;
use crate::messages::{Head, Label, Thing, common::Msg, language};
use crate::{terminal, text};
use client::messages::Language;

/// Prints one line of result.
pub fn line(line: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    written(
        out.write_all(line.as_bytes())
            .and_then(|()| out.write_all(b"\n")),
    )
}

/// Prints a part of a line of result, at once.
pub fn part(part: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    written(out.write_all(part.as_bytes()).and_then(|()| out.flush()))
}

/// Prints a value as one line of JSON, without anything that a terminal would obey.
pub fn json<T: Serialize>(value: &T) -> Result<(), Error> {
    let text = serde_json::to_string(value)
        .map_err(|source| Error::io(say!(Msg::DoJson), source.into()))?;
    line(&text::json(&text))
}

/// Prints names, one per line.
pub fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
    let mut names = names.into_iter();
    names.try_for_each(|name| line(&text::line(name)))
}

/// Whatever was printed is out.
pub fn flush() -> Result<(), Error> {
    written(io::stdout().lock().flush())
}

/// Prints a line to standard error. If that is closed, nobody reads it.
pub fn progress(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// The same, broken between words where the terminal is too narrow.
pub fn progress_wrapped(line: &str) {
    match terminal::columns_of(&io::stderr()) {
        Some(columns) => {
            let lines = wrap::wrap(line, columns, wrap::hanging(line));
            lines.iter().for_each(|line| progress(line));
        }
        None => progress(line),
    }
}

/// Prints a line of result that is broken between words where the terminal is too narrow. `indent`: columns before what
/// continues.
pub fn line_wrapped(line: &str, indent: usize) -> Result<(), Error> {
    let lines = match terminal::columns() {
        Some(columns) => wrap::wrap(line, columns, indent),
        None => vec![line.to_owned()],
    };
    lines.iter().try_for_each(|line| self::line(line))
}

/// Prints a question to standard error, which its answer follows in the same line; broken between words where the
/// terminal is too narrow.
pub fn question(question: &str) {
    let lines = match terminal::columns_of(&io::stderr()) {
        Some(columns) => wrap::wrap(question, columns, 0),
        None => vec![question.to_owned()],
    };
    progress_part(&lines.join("\n"));
}

/// Prints a part of a line to standard error.
pub fn progress_part(part: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(part.as_bytes()).and_then(|()| err.flush());
}

fn written(result: io::Result<()>) -> Result<(), Error> {
    result.map_err(|source| match source.kind() {
        io::ErrorKind::BrokenPipe => Error::Closed,
        _ => Error::io(say!(Msg::DoStdout), source),
    })
}

/// Whether colours are wanted on a stream: it is a terminal that knows them, and `NO_COLOR` is not set.
pub fn colour(stream: &impl IsTerminal) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    stream.is_terminal()
        && set("NO_COLOR").is_none()
        && set("TERM").is_some_and(|term| term != "dumb")
}

/// Prints rows under their heads. Cells are cleaned; on a terminal the last column is cut to fit.
pub fn table<const N: usize>(heads: [Head; N], rows: &[[String; N]]) -> Result<(), Error> {
    let columns = terminal::columns();
    for line in lay_out(heads.map(|head| say!(head)), rows, columns) {
        self::line(&line)?;
    }
    Ok(())
}

/// A path for people: relative if it is below the current directory.
pub fn relative_to_current_dir(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let below = Path::new(path).strip_prefix(&here);
    below.map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

/// Characters of a name before its value.
const NAME: usize = 12;

/// Prints a fact: its name, and its value.
pub fn fact(name: Label, value: &str) -> Result<(), Error> {
    named(say!(name), value)
}

/// The same with a name that is not one of ours.
pub fn named(name: &str, value: &str) -> Result<(), Error> {
    line(&format!(
        "{} {}",
        padded(&text::line(name), NAME),
        text::line(value)
    ))
}

/// A cell as wide as so many characters, or as it is.
pub fn padded(cell: &str, columns: usize) -> String {
    format!("{cell}{}", " ".repeat(columns.saturating_sub(width(cell))))
}

/// Colour of search matches: bold, yellow.
const MARK: &str = "\u{1b}[1;33m";
const MARK_END: &str = "\u{1b}[0m";

/// Prints one line of a listing; on a terminal it is cut to fit.
pub fn fitted(line: &str) -> Result<(), Error> {
    match terminal::columns() {
        Some(columns) => self::line(&cut(line, columns)),
        None => self::line(line),
    }
}

/// As `fitted`, with parts of the line (first character, and the one after the last) in another colour.
pub fn marked(line: &str, marks: &[(usize, usize)], colour: bool) -> Result<(), Error> {
    let line = match terminal::columns() {
        Some(columns) => cut(line, columns),
        None => line.to_owned(),
    };
    if !colour {
        return self::line(&line);
    }
    let mut painted = String::with_capacity(line.len() + marks.len() * 12);
    for (place, letter) in line.chars().enumerate() {
        if marks.iter().any(|(first, _)| *first == place) {
            painted.push_str(MARK);
        }
        painted.push(letter);
        if marks.iter().any(|(_, end)| *end == place + 1) {
            painted.push_str(MARK_END);
        }
    }
    // A mark may have been cut.
    painted.push_str(MARK_END);
    self::line(&painted)
}

/// A cell that other columns follow; on a terminal it is cut to half of the width.
pub fn half_line(cell: &str) -> String {
    let cell = text::line(cell);
    match terminal::columns() {
        Some(columns) => cut(&cell, columns / 2),
        None => cell,
    }
}

/// The lines of a table; `columns`: the width to fit into, if there is one.
fn lay_out<const N: usize>(
    heads: [&str; N],
    rows: &[[String; N]],
    columns: Option<usize>,
) -> Vec<String> {
    let head = heads.map(str::to_owned);
    let rows: Vec<[String; N]> = std::iter::once(head)
        .chain(
            rows.iter()
                .map(|row| std::array::from_fn(|column| text::line(&row[column]))),
        )
        .collect();
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter()
            .map(|row| width(&row[column]))
            .max()
            .unwrap_or(0)
    });
    rows.iter()
        .map(|row| {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                line.push_str(cell);
                if column + 1 < N {
                    line.extend(std::iter::repeat_n(' ', widths[column] - width(cell) + 2));
                }
            }
            let line = line.trim_end();
            columns.map_or_else(|| line.to_owned(), |columns| cut(line, columns))
        })
        .collect()
}

fn width(text: &str) -> usize {
    text.chars().map(text::width).sum()
}

/// The start of a line that fits into so many columns, with an ellipsis where something is left out.
/// The end of a text that is wider than so many columns, behind a mark.
pub fn end_of(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let starts = text.char_indices().map(|(at, _)| &text[at..]);
    let mut ends = starts.filter(|end| width(end) < columns);
    format!("…{}", ends.next().unwrap_or_default())
}

fn cut(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let mut used = 0;
    let mut out = String::new();
    for character in line.chars() {
        used += text::width(character);
        if used > columns.saturating_sub(1) {
            break;
        }
        out.push(character);
    }
    out.push('…');
    out
}

/// A number of tokens or bytes, short: `950`, `12k`, `3.4M`.
pub fn short(number: u64) -> String {
    match number {
        0..=9_999 => number.to_string(),
        10_000..=999_999 => format!("{}k", number / 1000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// Some of a thing: `1 turn`, `3 turns`.
pub fn counted(count: u64, thing: Thing) -> String {
    let end = match (language(), count) {
        (Language::English, 1) | (Language::Chinese, _) => "",
        (Language::English, _) => "s",
    };
    format!("{count} {}{end}", say!(thing))
}

/// A number of bytes, short: `950 B`, `12 kB`, `3.4 MB`.
pub fn bytes(number: u64) -> String {
    match number {
        0..=9_999 => format!("{number} B"),
        10_000..=999_999 => format!("{} kB", number / 1000),
        _ => format!("{}.{} MB", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// What provider calls cost, as far as it is known: `$0.0123`, with how many calls have no known price.
pub fn cost(cost: impl Into<Cost>) -> String {
    let cost = cost.into();
    let micros = cost.micros;
    let dollars = match micros {
        // Little is not nothing.
        1..=99 => say!(Msg::LessThan).to_owned(),
        _ => format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100),
    };
    match cost.unpriced {
        0 => dollars,
        _ if micros == 0 => say!(Msg::CostUnknown).to_owned(),
        1 => say!(Msg::CostOneMore, dollars),
        count => say!(Msg::CostMore, dollars, count),
    }
}

/// How long ago a moment was, by the system clock, in words.
pub fn ago(at: Stamp) -> String {
    lasted(u64::try_from(Stamp::now().0.saturating_sub(at.0)).unwrap_or(0))
}

/// Whole seconds, however many.
pub fn seconds(count: u64) -> String {
    say!(Msg::SecondsExact, count)
}

/// Milliseconds in words: `0.4 s`, `45 s`, `12 min`, `3 h 5 min`, `2 d 1 h`.
pub fn lasted(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..=9 => say!(Msg::Tenths, seconds, ms % 1000 / 100),
        10..=119 => say!(Msg::Seconds, seconds),
        120..=3_599 => say!(Msg::Minutes, seconds / 60),
        3_600..=86_399 => say!(Msg::Hours, seconds / 3_600, seconds % 3_600 / 60),
        _ => say!(Msg::Days, seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests;
