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

/// Reads the `${` at the position of `scan`, without advancing it.
pub(super) fn braced<'t>(scan: &mut Scan<'_, 't>) -> Option<Braced<'t>> {
    let start = scan.at;
    let close = close(scan, start + 2)?;
    let body = scan.source.part(start + 2, close);
    let length = close + 1 - start;
    let name: String = body
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    let rest = &body[name.len()..];
    let mut found = Braced {
        length,
        plain: None,
        computes: true,
        evaluates: false,
        runs: substitutions(scan, start + 2, close)?,
    };
    if !name.is_empty() && rest.is_empty() {
        found.plain = Some(name);
        found.computes = false;
    } else if name.is_empty() {
        // `${#x}`, `${?}`, `${@}` only query something; `${!x}` reads another variable.
        let counted = body.strip_prefix('#').unwrap_or(body);
        let simple = counted
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '*' | '?' | '$' | '-'));
        found.computes = !simple;
        found.evaluates = !simple;
    } else {
        found.evaluates = evaluates(rest);
        found.computes = found.evaluates || !found.runs.is_empty();
    }
    Some(found)
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

/// The index of the closing brace. `None` if there are single quotes or braces inside, which shells read differently.
fn close(scan: &Scan<'_, '_>, from: usize) -> Option<usize> {
    let text = scan.source.text.as_bytes();
    let mut at = from;
    let mut open = 0_usize;
    while at < scan.end {
        match text.get(at)? {
            b'}' if open == 0 => return Some(at),
            b'}' => open -= 1,
            b'\'' | b'\n' | b'`' | b'<' | b'>' | b'&' | b'|' | b';' => return None,
            b'\\' => {
                if matches!(text.get(at + 1), None | Some(b'\n')) {
                    return None;
                }
                at += 1;
            }
            b'"' => at = quoted_end(text, at + 1)?,
            b'$' => match text.get(at + 1) {
                Some(b'{') => {
                    open += 1;
                    at += 1;
                }
                Some(b'(') => {
                    at = scan.hole_end(at)?;
                    continue;
                }
                _ => {}
            },
            b'{' => return None,
            _ => {}
        }
        at += 1;
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

/// The substitutions between two positions.
fn substitutions<'t>(
    scan: &Scan<'_, 't>,
    from: usize,
    to: usize,
) -> Option<Vec<EmbeddedCommands<'t>>> {
    let mut runs = Vec::new();
    for hole in scan.holes_between(from, to) {
        if hole.kind() == "arithmetic_expansion" {
            runs.extend(arithmetic(scan.source, hole)?.runs);
        } else {
            runs.push(EmbeddedCommands::Statements(
                hole,
                NestingStep::Substitution,
            ));
        }
    }
    Some(runs)
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
    fn hole_end(&self, at: usize) -> Option<usize> {
        self.holes.at(at).map(|hole| hole.end_byte())
    }

    fn holes_between(&self, from: usize, to: usize) -> Vec<Node<'t>> {
        self.holes.between(from, to)
    }
}
