//! Variables of a line that hold nothing but numbers, such as `n` in `n=0; while [ $n -lt 3 ]; do n=$((n+1)); done`.
//!
//! Arithmetic evaluates the values of its variables as code, except where they are numbers. A name counts only if every place
//! of the line where it stands is known: it reads the variable, stands in arithmetic, or sets it to a number; and if the
//! first of them sets it, whatever happens before. Everything else about the name, also in quotes, makes it an ordinary variable. Called by
//! `parse`, and asked by `expansion`, `conditions` and `words`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::evaluating::set_names;
use super::types::{Part, Word};
use crate::tables::tables;
use crate::variables;

/// Signs of arithmetic other than names, numbers and parentheses. `;` parts the three of a `for`.
const SIGNS: &str = " \t+-*/%<>=!&|^~?:,;$";

/// The names of such variables, if nothing but the line's own text sets them: see `sets_others`.
pub(super) fn counters(text: &str) -> Vec<&str> {
    if !text.contains('=') && !text.contains("for ") || splits_a_name(text) {
        return Vec::new();
    }
    let line = Line {
        text,
        arithmetic: arithmetic_ranges(text),
    };
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, name) in names(text) {
        places.entry(name).or_default().push(at);
    }
    let counts = |(name, places): &(&str, Vec<usize>)| {
        let first = places.first();
        may_count(name)
            && first.is_some_and(|at| line.surely_sets(*at, name))
            && places.iter().all(|at| line.is_known_use(*at, name))
    };
    places
        .into_iter()
        .filter(counts)
        .map(|(name, _)| name)
        .collect()
}

/// Whether a part may set one of these variables, or one of an unknown name, where the text alone does not show it.
pub(super) fn sets_others(part: &Part, counters: &[&str]) -> bool {
    let Some(program) = part.program() else {
        return false;
    };
    let names_variables = match program {
        "eval" | "source" | "." | "trap" => return true,
        "set" | "[" | "[[" | "test" | "let" => false,
        "printf" => !set_names(part).is_empty(),
        _ if tables().changing_builtins.contains(program) => return true,
        _ => tables().evaluating_builtins.contains(program),
    };
    // An option may have a name at its end: `read -rat`.
    let names_one = |word: &Word| counters.iter().any(|name| word.text.contains(name));
    let mut words = part.words.iter().skip(1);
    names_variables && words.any(|word| !word.is_known() || names_one(word))
}

/// Whether arithmetic has no variables but these: then it runs nothing.
pub(super) fn only_counts(expression: &str, counters: &[&str]) -> bool {
    let is_sign =
        |c: char| c.is_ascii_alphanumeric() || c == '_' || "()".contains(c) || SIGNS.contains(c);
    let reads_only = |part: &str| part.starts_with(|c: char| c.is_ascii_lowercase());
    expression.chars().all(is_sign)
        && expression.split('$').skip(1).all(reads_only)
        && names(expression).all(|(_, name)| counters.contains(&name))
}

/// Whether a condition between `[[` and `]]` compares only numbers and these variables.
pub(super) fn compares_counts(condition: &str, counters: &[&str]) -> bool {
    const OPERATORS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "&&", "||", "!"];
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    condition.split_ascii_whitespace().all(|word| {
        let bare = word
            .strip_prefix('"')
            .and_then(|word| word.strip_suffix('"'));
        let bare = bare.unwrap_or(word);
        let name = bare.strip_prefix('$').unwrap_or(bare);
        let braced = name
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'));
        OPERATORS.contains(&word) || is_number(bare) || counters.contains(&braced.unwrap_or(name))
    })
}

/// Names that no shell and no program sets or reads by itself: those of shells have capital letters.
fn may_count(name: &str) -> bool {
    let is_small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(is_small)
        && variables::is_plain_loop_variable(name)
}

/// Whether a line break between two letters that the shell takes out may hide a name.
fn splits_a_name(text: &str) -> bool {
    let mut ends = text.match_indices("\\\n");
    ends.any(|(at, _)| {
        text[..at].ends_with(is_name_char)
            && text[at + 2..].starts_with(|c| is_name_char(c) || c == '\\')
    })
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The names in a text, with their positions. A number has none.
fn names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let start = at + rest.find(is_name_char)?;
            let rest = &text[start..];
            let length = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
            at = start + length;
            if !rest[..length].bytes().all(|byte| byte.is_ascii_digit()) {
                return Some((start, &rest[..length]));
            }
        }
    })
}

/// The expressions between `((` and `))`. Shells decide by the parentheses alone whether it is one.
fn arithmetic_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find("((") {
        let start = from + open + 2;
        let before = &text[..start - 2];
        let begins = before.is_empty()
            || before.ends_with(['$', ' ', '\t', '\n', ';', '&', '|'])
            || before.ends_with("for");
        // Not `<((a))`, which is a subshell.
        let end = arithmetic_end(&text[start..]).filter(|_| begins);
        from = end.map_or(start, |end| start + end + 2);
        ranges.extend(end.map(|end| start..start + end));
    }
    ranges
}

/// The length of the expression at the start of a text, if it is one.
fn arithmetic_end(text: &str) -> Option<usize> {
    let mut open = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            ')' => return text[at..].starts_with("))").then_some(at),
            c if is_name_char(c) || SIGNS.contains(c) => {}
            _ => return None,
        }
    }
    None
}

/// Whether a loop that begins in this text may run in a process of its own, so that the shell does not see what it sets: it
/// is in the background, or part of a pipeline.
fn may_be_in_subshell(text: &str) -> bool {
    const OTHERS: &[&str] = &["&&", "||", ">&", "<&", "&>"];
    let done = names(text).find(|(_, name)| *name == "done");
    let rest = done.map_or("", |(at, _)| &text[at..]).to_owned();
    let rest = OTHERS
        .iter()
        .fold(rest, |rest, sign| rest.replace(sign, " "));
    rest.contains(['&', '|'])
}

/// Whether the first expression of a counting loop goes on with `=NUMBER;`.
fn begins_with_number(text: &str) -> bool {
    let value = text.trim_start().strip_prefix('=').map(str::trim_start);
    let is_digit = |c: char| c.is_ascii_digit();
    value.is_some_and(|value| {
        let rest = value.trim_start_matches(is_digit).trim_start();
        value.starts_with(is_digit) && rest.starts_with(';')
    })
}

/// A line whose names are looked at.
struct Line<'t> {
    text: &'t str,
    arithmetic: Vec<Range<usize>>,
}

impl Line<'_> {
    /// Whether the variable reads or counts here, or is set to a number.
    fn is_known_use(&self, at: usize, name: &str) -> bool {
        let (before, after) = (&self.text[..at], &self.text[at + name.len()..]);
        self.arithmetic.iter().any(|range| range.contains(&at))
            || before.ends_with('$')
            || before.ends_with("${") && after.starts_with('}')
            || self.number_end(at + name.len()).is_some()
                && (before.is_empty() || before.ends_with([' ', '\t', '\n', ';', '&', '|', '(']))
            || self.loop_end(at, name).is_some()
    }

    /// Whether the variable is set here to a number whatever happens before: no condition, function or other construct begins
    /// earlier, and the assignment is a statement of its own.
    fn surely_sets(&self, at: usize, name: &str) -> bool {
        const KEYWORDS: &[&str] = &[
            "if", "then", "else", "elif", "while", "until", "for", "do", "case", "select",
            "function", "in", "coproc",
        ];
        let end = at + name.len();
        let before = self.text[..at].trim_end();
        let counting = before
            .strip_suffix("((")
            .and_then(|head| head.trim_end().strip_suffix("for"));
        let rest = &self.text[end..];
        let (before, is_set) = if let Some(head) = counting {
            (head, begins_with_number(rest) && !may_be_in_subshell(rest))
        } else if self.loop_end(at, name).is_some() {
            (
                before.strip_suffix("for").unwrap_or("("),
                !may_be_in_subshell(rest),
            )
        } else {
            let value = rest.strip_prefix('=').unwrap_or_default();
            let after = value.trim_start_matches(|c: char| c.is_ascii_digit());
            let after_blanks = after.trim_start_matches([' ', '\t']);
            let is_alone = after_blanks.is_empty() || after_blanks.starts_with([';', '\n']);
            (&self.text[..at], after.len() < value.len() && is_alone)
        };
        let head = before.trim_end_matches([' ', '\t']);
        is_set
            && (head.is_empty() || head.ends_with([';', '\n']))
            && !head.contains([
                '&', '|', '(', ')', '{', '}', '<', '>', '`', '\'', '"', '\\', '#', '!',
            ])
            && !names(head).any(|(_, word)| KEYWORDS.contains(&word))
    }

    /// The end of `=NUMBER` or `+=NUMBER` at this position, where the number is a whole word.
    fn number_end(&self, at: usize) -> Option<usize> {
        let value = self.text[at..]
            .strip_prefix('+')
            .unwrap_or(&self.text[at..]);
        let value = value.strip_prefix('=')?;
        let start = self.text.len() - value.len();
        let digits = value
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(value.len());
        let computed = self
            .arithmetic
            .iter()
            .find(|range| range.start == start + 3 && value.starts_with("$(("));
        let end = match computed {
            Some(range) => range.end + 2,
            None if digits > 0 => start + digits,
            None => return None,
        };
        let rest = &self.text[end..];
        (rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '&', '|', ')'])).then_some(end)
    }

    /// The end of the numbers of a `for NAME in NUMBERS;` whose name stands here. `{1..9}` are numbers too.
    fn loop_end(&self, at: usize, name: &str) -> Option<usize> {
        let blank = [' ', '\t'];
        let before = self.text[..at]
            .strip_suffix(blank)?
            .trim_end_matches(blank)
            .strip_suffix("for")?;
        let list = self.text[at + name.len()..]
            .strip_prefix(blank)?
            .trim_start_matches(blank)
            .strip_prefix("in")?;
        let list = list.strip_prefix(blank)?;
        let start = self.text.len() - list.len();
        let length = list.find([';', '\n'])?;
        let is_number = |c: char| c.is_ascii_digit() || blank.contains(&c) || "{}.".contains(c);
        (!before.ends_with(is_name_char)
            && list[..length].chars().all(is_number)
            && list.starts_with(|c: char| c.is_ascii_digit() || c == '{'))
        .then_some(start + length)
    }
}

#[cfg(test)]
mod tests;
