//! Where a text stands in the line that is shown.

use super::types::Span;

/// A text that is parsed: the line itself, or one that was taken out of it.
pub(super) struct ParsedText<'a> {
    pub(super) text: &'a str,
    pub(super) origin: Origin,
    /// It goes to a shell that may know no more than POSIX.
    pub(super) posix: bool,
}

/// How bytes of a text are bytes of the line.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// They begin there.
    At(usize),
    /// Somewhere within: quotes stood between them.
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

    /// A part of the text; empty where there is none.
    pub(super) fn part(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }
}
