//! Unified diffs, with numbers of lines, and the changed part of changed lines marked.
//!
//! Diffs are judged before they are applied, so what cannot be seen in a line is written out. Which line was added or
//! removed is shown by its mark; colours only repeat it.

mod changed;
mod code;
mod ground;
mod parse;

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::messages::text::Msg;
use crate::model::ViewOptions;
use crate::render::wrap;
use crate::theme::TextRole;
use parse::{Kind, Row};

/// Below it there is one column of numbers.
const BOTH_NUMBERS: usize = 60;

/// Cells that the words of a line have at least, or the numbers go.
const WORDS_MIN: usize = 12;

/// The note in diffs about a missing newline at the end of a file.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// The lines of a unified diff of the file at this path, with the colours of its language where the theme has them.
#[must_use]
pub fn lines(path: &str, diff: &str, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    let rows = parse::rows(diff);
    let parts = changed::parts(&rows);
    let gutter = Gutter::of(&rows, width);
    let mut code = code::Sides::of(path, look.theme);
    let mut out = Vec::with_capacity(rows.len());
    for (row, parts) in rows.iter().zip(parts) {
        let code = code.line(row);
        out.extend(gutter.lines(row, code, &parts, look, width));
    }
    ground::fill(&mut out);
    out
}

/// Columns before the text of a line: line numbers and marks.
struct Gutter {
    /// Columns of numbers: 0, 1 or 2.
    columns: usize,
    digits: usize,
}

impl Gutter {
    fn of(rows: &[Row], width: usize) -> Self {
        let numbers = rows.iter().flat_map(|row| [row.old, row.new]).flatten();
        let most = numbers.max();
        let digits = most.unwrap_or(0).to_string().len().max(2);
        let fits =
            |columns: usize| most.is_some() && width >= columns * (digits + 1) + 2 + WORDS_MIN;
        let columns = match width >= BOTH_NUMBERS && fits(2) {
            true => 2,
            false => usize::from(fits(1)),
        };
        Self { columns, digits }
    }

    fn width(&self) -> usize {
        self.columns * (self.digits + 1)
    }

    fn numbers(&self, row: &Row) -> String {
        let digits = self.digits;
        let number = |number: Option<u64>| match number {
            Some(number) => format!("{number:>digits$} "),
            None => " ".repeat(digits + 1),
        };
        match self.columns {
            0 => String::new(),
            1 => number(row.new.or(row.old)),
            _ => number(row.old) + &number(row.new),
        }
    }

    fn lines(
        &self,
        row: &Row,
        code: Option<Line<'static>>,
        parts: &[Range<usize>],
        look: &ViewOptions,
        width: usize,
    ) -> Vec<Line<'static>> {
        let theme = look.theme;
        let (mark, ink, part, ground) = match row.kind {
            Kind::Context => (" ", TextRole::Text, TextRole::Text, None),
            Kind::Added => (
                "+",
                TextRole::Added,
                TextRole::AddedPart,
                Some(TextRole::AddedLine),
            ),
            Kind::Removed => (
                "-",
                TextRole::Removed,
                TextRole::RemovedPart,
                Some(TextRole::RemovedLine),
            ),
            Kind::Note => (" ", TextRole::Dim, TextRole::Dim, None),
            Kind::Gap => {
                let gap = format!("{:>1$}", "⋯", self.width().saturating_sub(1).max(1));
                return vec![Line::from(Span::styled(gap, theme.style(TextRole::Dim)))];
            }
        };
        let indent = if width > 2 { 2 } else { 0 };
        let text = match (row.kind, row.text.as_str()) {
            (Kind::Note, NO_NEWLINE) => look.language.say(Msg::NoNewline),
            (_, text) => text,
        };
        // The mark and the ground say which line it is, where the words have the colours of code.
        let code =
            code.unwrap_or_else(|| Line::from(Span::styled(text.to_owned(), theme.style(ink))));
        let words = marked(&code, text, parts, theme.style(part));
        let room = width.saturating_sub(self.width() + indent);
        let wrapped = match row.kind {
            Kind::Note => wrap::line(&words, room),
            _ => wrap::hard(&words, room),
        };
        let mut out = Vec::new();
        for (index, mut line) in wrapped.into_iter().enumerate() {
            let mut spans = match index {
                0 => vec![
                    Span::styled(self.numbers(row), theme.style(TextRole::Dim)),
                    Span::styled(if indent == 0 { "" } else { mark }, theme.style(ink)),
                    Span::raw(" ".repeat(indent.saturating_sub(1))),
                ],
                _ => vec![Span::raw(" ".repeat(self.width() + indent))],
            };
            spans.retain(|span| !span.content.is_empty());
            spans.append(&mut line.spans);
            let ground = ground.map(|ink| theme.style(ink)).unwrap_or_default();
            out.push(ground::under(spans, ground));
        }
        out
    }
}

/// The text with these parts in another style; parts without their own style keep that of the line.
fn marked(code: &Line<'static>, text: &str, parts: &[Range<usize>], part: Style) -> Line<'static> {
    let mut spans = Vec::new();
    let mut at = 0;
    for span in &code.spans {
        let end = at + span.content.len();
        // The borders of parts within this span.
        let borders = parts.iter().flat_map(|range| [range.start, range.end]);
        let inner = borders.filter(|border| (at + 1..end).contains(border));
        let inner: Vec<usize> = inner.chain([end]).collect();
        for until in inner {
            let words = text.get(at..until).unwrap_or_default();
            let style = match parts.iter().any(|range| range.contains(&at)) {
                true => part,
                false => span.style,
            };
            if !words.is_empty() {
                spans.push(Span::styled(words.to_owned(), style));
            }
            at = until;
        }
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests;
