//! `${…}` and `$((…))`: where they end, and whether they run something. Called by `words`.
//!
//! Plain forms are read. If shells may disagree about the end of a form, it is refused, and the line becomes doubtful.

use tree_sitter::Node;

use super::holes::Substitutions;
use super::place::ParsedText;
use super::types::NestingStep;
use super::words::{EmbeddedCommands, Scan, ScannedText};

/// A `${…}`.
pub(super) struct Braced<'t> {
    /// Number of bytes, including the `$` and the closing brace.
    pub(super) length: usize,
    /// The variable, if there is nothing else.
    pub(super) plain: Option<String>,
    /// Its value is more than a variable's value.
    pub(super) computes: bool,
    pub(super) evaluates: bool,
    pub(super) runs: Vec<EmbeddedCommands<'t>>,
}

/// Levels of `${…}` inside each other that are read.
const LEVELS_MAX: usize = 16;

/// Reads the `${` at the position of `scan`, without advancing it.
pub(super) fn braced<'t>(scan: &Scan<'_, 't>) -> Option<Braced<'t>> {
    braced_at(scan, scan.at, LEVELS_MAX)
}

/// Reads the `${` at this position, with at most so many levels inside.
fn braced_at<'t>(scan: &Scan<'_, 't>, start: usize, levels: usize) -> Option<Braced<'t>> {
    let (close, inner) = body(scan, start + 2, levels.checked_sub(1)?)?;
    let body = scan.source.part(start + 2, close);
    let name: String = body
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    let rest = &body[name.len()..];
    let is_plain = !name.is_empty() && rest.is_empty();
    let operator_evaluates = if name.is_empty() {
        // `${#x}`, `${?}`, `${@}` only query something; `${!x}` reads another variable.
        let counted = body.strip_prefix('#').unwrap_or(body);
        let is_special = matches!(counted, "" | "@" | "*" | "?" | "$" | "-" | "#");
        !is_special
            && !counted
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_')
    } else {
        evaluates(rest)
    };
    let evaluates = operator_evaluates || inner.evaluates;
    Some(Braced {
        length: close + 1 - start,
        plain: is_plain.then_some(name),
        computes: evaluates || !inner.runs.is_empty(),
        evaluates,
        runs: inner.runs,
    })
}

/// Whether the operator after the name evaluates values as code.
fn evaluates(rest: &str) -> bool {
    let numeric = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_digit() || "-: ".contains(c))
    };
    let rest = match rest.strip_prefix('[') {
        // The index of an array is an arithmetic expression.
        Some(indexed) => match indexed.split_once(']') {
            Some((index, rest)) if matches!(index, "@" | "*") || numeric(index) => rest,
            Some(_) | None => return true,
        },
        None => rest,
    };
    match rest.chars().next() {
        None | Some('%' | '#' | '/' | '^' | ',' | '-' | '+' | '?') => false,
        Some(':') => {
            let rest = &rest[1..];
            !(rest.starts_with(['-', '+', '?']) || numeric(rest))
        }
        Some(_) => true,
    }
}

/// The index of the closing brace, and what is embedded before it. `None` if there are single quotes or braces inside, which
/// shells read differently.
fn body<'t>(scan: &Scan<'_, 't>, from: usize, levels: usize) -> Option<(usize, ScannedText<'t>)> {
    let text = scan.source.text.as_bytes();
    let mut at = from;
    let mut inner = ScannedText::default();
    while at < scan.end {
        match text.get(at)? {
            b'}' => return Some((at, inner)),
            b'\'' | b'\n' | b'`' | b'<' | b'>' | b'&' | b'|' | b';' | b'{' => return None,
            b'\\' => {
                if matches!(text.get(at + 1), None | Some(b'\n')) {
                    return None;
                }
                at += 2;
            }
            b'"' => at = quoted_end(text, at + 1)? + 1,
            b'$' => match text.get(at + 1) {
                Some(b'{') => {
                    let nested = braced_at(scan, at, levels)?;
                    inner.evaluates |= nested.evaluates;
                    inner.runs.extend(nested.runs);
                    at += nested.length;
                }
                Some(b'(') => at = substitution(scan, at, &mut inner)?,
                // The older arithmetic syntax.
                Some(b'[') => return None,
                _ => at += 1,
            },
            _ => at += 1,
        }
    }
    None
}

/// The end of plain double quotes.
fn quoted_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'$' | b'`' | b'\n' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Adds the substitution at this position; returns its end.
fn substitution<'t>(scan: &Scan<'_, 't>, at: usize, inner: &mut ScannedText<'t>) -> Option<usize> {
    let hole = scan.hole_at(at)?;
    if hole.kind() == "arithmetic_expansion" {
        let read = arithmetic(scan.source, hole)?;
        inner.evaluates |= read.evaluates;
        inner.runs.extend(read.runs);
    } else {
        inner.evaluates |= may_be_arithmetic(scan.source, hole);
        let step = NestingStep::Substitution;
        inner.runs.push(EmbeddedCommands::Statements(hole, step));
    }
    Some(hole.end_byte())
}

/// Whether shells try to read these commands as arithmetic first: `$((a))`, which the grammar takes for a subshell in places.
pub(super) fn may_be_arithmetic(source: &ParsedText<'_>, hole: Node<'_>) -> bool {
    let raw = source.part(hole.start_byte(), hole.end_byte());
    raw.starts_with("$((") && raw.ends_with("))")
}

/// An arithmetic expression, from its first to its last byte. `None`: it may be something else.
pub(super) fn arithmetic<'t>(source: &ParsedText<'_>, node: Node<'t>) -> Option<ScannedText<'t>> {
    let raw = source.part(node.start_byte(), node.end_byte());
    let body = raw.strip_prefix("$((")?.strip_suffix("))")?;
    let start = node.start_byte() + 3;
    let mut cursor = node.walk();
    let nodes: Vec<Node<'t>> = node.children(&mut cursor).collect();
    let mut scan = Scan::new(
        source,
        Substitutions::of(&nodes),
        start,
        start + body.len(),
        &[],
    );
    let mut open = 0_i32;
    while scan.at < scan.end {
        match scan.byte() {
            b'$' => {
                scan.inner.evaluates = true;
                scan.dollar(true);
            }
            b'(' => {
                open += 1;
                scan.at += 1;
            }
            b')' => {
                open -= 1;
                scan.at += 1;
            }
            // A word would be the name of a variable, whose value is again evaluated as arithmetic.
            byte if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'[' | b']') => {
                scan.inner.evaluates = true;
                scan.at += 1;
            }
            byte if byte.is_ascii_digit() || b" \t+-*/%<>=!&|^~?:,".contains(&byte) => scan.at += 1,
            _ => return None,
        }
        if scan.misread || open < 0 {
            return None;
        }
    }
    (open == 0).then_some(scan.inner)
}

impl<'t> Scan<'_, 't> {
    fn hole_at(&self, at: usize) -> Option<Node<'t>> {
        self.holes.at(at)
    }
}
