//! The position of a text in the displayed line.

use super::types::Span;

/// A text to parse: the line itself, or one extracted from it.
pub(super) struct ParsedText<'a> {
    pub(super) text: &'a str,
    pub(super) origin: Origin,
    /// The text goes to a shell that may support only POSIX.
    pub(super) posix: bool,
}

/// How bytes of the text map to bytes of the line.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// The text starts at this byte of the line.
    At(usize),
    /// Somewhere within this span: there were quotes in between.
    Within(Span),
}

impl ParsedText<'_> {
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        match self.origin {
            Origin::At(offset) => Span {
                start: offset + start,
                end: offset + end,
            },
            Origin::Within(span) => span,
        }
    }

    /// A part of the text; empty if the range is invalid.
    pub(super) fn part(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }
}
