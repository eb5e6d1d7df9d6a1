//! Here-documents: where the text ends, and what runs in it. Called by `commands`.
//!
//! The grammar finds the end in its own way; this finds it as the shell does, and both must agree.

use tree_sitter::Node;

use super::expansion;
use super::holes::Substitutions;
use super::parse::Reader;
use super::place::ParsedText;
use super::types::NestingStep;
use super::words::{Inner, Inside, Scan};

/// A here-document that was read.
pub(super) struct Read<'t> {
    /// What the command gets, where nothing is put in by the shell.
    pub(super) text: Option<String>,
    pub(super) inner: Inner<'t>,
    /// Where the `<<WORD` ends.
    pub(super) head_end: usize,
    /// What stands behind it on its line.
    pub(super) behind: Vec<Node<'t>>,
}

impl Reader {
    pub(super) fn heredoc_text<'t>(
        &mut self,
        source: &ParsedText<'_>,
        kids: &[Node<'t>],
    ) -> Option<Read<'t>> {
        let find = |kind: &str| kids.iter().find(|kid| kid.kind() == kind).copied();
        let start = find("heredoc_start")?;
        let body = find("heredoc_body")?;
        let end = find("heredoc_end")?;
        let strips = kids.iter().any(|kid| kid.kind() == "<<-");
        let raw = source.part(start.start_byte(), start.end_byte());
        let (word, quoted) = delimiter(raw)?;
        // The text begins on the next line, and one line holds one here-document.
        let line_end = start.end_byte()
            + source
                .part(start.end_byte(), source.text.len())
                .find('\n')?;
        let text_start = line_end + 1;
        let (text_end, behind_end) = find_end(source, text_start, &word, strips)?;
        let agrees = end.end_byte() == behind_end
            && body.start_byte() >= text_start
            && body.end_byte() <= end.start_byte()
            && end.start_byte() >= text_end;
        if !agrees || source.part(start.end_byte(), line_end).contains("<<") {
            return None;
        }
        let text = source.part(text_start, text_end);
        let live = !quoted && text.contains(['$', '`', '\\']);
        let inner = if live {
            expanded(source, text_start, text_end, body)?
        } else {
            Inner::default()
        };
        let behind = kids
            .iter()
            .copied()
            .filter(|kid| kid.start_byte() >= start.end_byte() && kid.end_byte() <= line_end)
            .collect();
        Some(Read {
            text: (!live && !strips).then(|| text.to_owned()),
            inner,
            head_end: start.end_byte(),
            behind,
        })
    }
}

/// The word that ends it, and whether it was quoted. Only plain ones.
fn delimiter(raw: &str) -> Option<(String, bool)> {
    let plain = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    for quote in ['\'', '"'] {
        if let Some(inner) = raw
            .strip_prefix(quote)
            .and_then(|raw| raw.strip_suffix(quote))
        {
            return plain(inner).then(|| (inner.to_owned(), true));
        }
    }
    plain(raw).then(|| (raw.to_owned(), false))
}

/// Where the text ends, and where the line that ends it does.
fn find_end(
    source: &ParsedText<'_>,
    from: usize,
    word: &str,
    strips: bool,
) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let rest = source.text.get(at..)?;
        let length = rest.find('\n').unwrap_or(rest.len());
        let line = &rest[..length];
        let bare = if strips {
            line.trim_start_matches('\t')
        } else {
            line
        };
        if bare == word {
            return Some((at, at + length));
        }
        if length == rest.len() {
            return None;
        }
        at += length + 1;
    }
}

/// What the shell runs to make the text.
fn expanded<'t>(
    source: &ParsedText<'_>,
    from: usize,
    to: usize,
    body: Node<'t>,
) -> Option<Inner<'t>> {
    let mut scan = Scan::new(source, Substitutions::of(&[body]), from, to, &[]);
    while scan.at < scan.end {
        match scan.byte() {
            b'\\' => {
                // A line that goes on could hide the end from the grammar, or from the shell.
                if scan.peek(1) == b'\n' {
                    return None;
                }
                scan.at += 1 + source
                    .part(scan.at + 1, to)
                    .chars()
                    .next()
                    .map_or(0, char::len_utf8);
            }
            b'$' if scan.peek(1) == b'(' && scan.peek(2) == b'(' => {
                let hole = scan.holes.at(scan.at)?;
                let inner = expansion::arithmetic(source, hole)?;
                scan.inner.evaluates |= inner.evaluates;
                scan.inner.runs.extend(inner.runs);
                scan.at = hole.end_byte();
            }
            b'$' if scan.peek(1) == b'(' => {
                let hole = scan.holes.at(scan.at)?;
                scan.inner
                    .runs
                    .push(Inside::Statements(hole, NestingStep::Inside));
                scan.at = hole.end_byte();
            }
            b'$' => scan.dollar(true),
            b'`' => scan.backticks(false),
            _ => scan.at += 1,
        }
        if scan.misread {
            return None;
        }
    }
    Some(scan.inner)
}
