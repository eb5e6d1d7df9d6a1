//! Here-documents: where the text ends, and what runs in it. Called by `commands` and `statements`.
//!
//! The grammar finds the end in its own way; this module finds it as the shell does, and both must agree.

use tree_sitter::Node;

use super::expansion;
use super::holes::Substitutions;
use super::parse::Reader;
use super::place::ParsedText;
use super::statements::children;
use super::types::NestingStep;
use super::words::{EmbeddedCommands, Scan, ScannedText};

/// A parsed here-document.
pub(super) struct HereDocument<'t> {
    /// The input of the command, if the shell expands nothing in it.
    pub(super) text: Option<String>,
    pub(super) inner: ScannedText<'t>,
    /// The end of `<<WORD`.
    pub(super) head_end: usize,
    /// The nodes after it on the same line.
    pub(super) following: Vec<Node<'t>>,
}

impl Reader {
    pub(super) fn heredoc_text<'t>(
        &mut self,
        source: &ParsedText<'_>,
        kids: &[Node<'t>],
    ) -> Option<HereDocument<'t>> {
        let find = |kind: &str| kids.iter().find(|kid| kid.kind() == kind).copied();
        let start = find("heredoc_start")?;
        let body = find("heredoc_body")?;
        let end = find("heredoc_end")?;
        let strips = kids.iter().any(|kid| kid.kind() == "<<-");
        let raw = source.part(start.start_byte(), start.end_byte());
        let (word, quoted) = delimiter(raw)?;
        // The text starts on the next line, and one line has at most one here-document.
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
            ScannedText::default()
        };
        let is_text = |kid: &Node<'_>| matches!(kid.kind(), "heredoc_body" | "heredoc_end");
        let following: Vec<Node<'t>> = kids
            .iter()
            .copied()
            .filter(|kid| kid.start_byte() >= start.end_byte() && !is_text(kid))
            .collect();
        // The grammar joins a text that begins with a backslash to the last command of this line.
        if following.iter().any(|kid| kid.end_byte() > line_end) {
            return None;
        }
        Some(HereDocument {
            text: (!live && !strips).then(|| text.to_owned()),
            inner,
            head_end: start.end_byte(),
            following,
        })
    }
}

/// Whether commands follow a here-document inside of this substitution. Bash 5.2 prints the commands of a substitution back to
/// text and runs that text, and after a here-document it leaves out a `;`: `a; b` becomes `a b`.
pub(super) fn has_commands_after_heredoc(source: &ParsedText<'_>, substitution: Node<'_>) -> bool {
    let mut waiting = children(substitution);
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "command_substitution" | "process_substitution" => {}
            "heredoc_start" => {
                let rest = source.part(node.end_byte(), substitution.end_byte());
                let line = rest.split('\n').next().unwrap_or_default();
                if line.contains(';') {
                    return true;
                }
            }
            "heredoc_end" => {
                let rest = source.part(node.end_byte(), substitution.end_byte());
                if !rest.chars().all(|c| c.is_ascii_whitespace() || c == ')') {
                    return true;
                }
            }
            _ => waiting.extend(children(node)),
        }
    }
    false
}

/// The delimiter word, and whether it was quoted. Accepts only plain ones.
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

/// The end of the text, and the end of the delimiter's line.
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

/// The commands that the shell runs to expand the text.
fn expanded<'t>(
    source: &ParsedText<'_>,
    from: usize,
    to: usize,
    body: Node<'t>,
) -> Option<ScannedText<'t>> {
    let mut scan = Scan::new(source, Substitutions::of(&[body]), from, to, &[]);
    while scan.at < scan.end {
        match scan.byte() {
            b'\\' => {
                // A line continuation could hide the end from the grammar, or from the shell.
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
                    .push(EmbeddedCommands::Statements(hole, NestingStep::Inside));
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
