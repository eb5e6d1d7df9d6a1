//! Tables: columns as wide as the width lets them be, words wrapped within; row by row where even that is too narrow.

use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

use crate::model::ViewOptions;
use crate::render::wrap;
use crate::theme::TextRole;

/// A column that has more to say is never narrower.
const COLUMN_MIN: usize = 6;

/// The words of a cell, in the lines that their author made.
type Cell = Vec<Line<'static>>;

/// A table; the first row is its head.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        let rows = Vec::new();
        Self { alignments, rows }
    }

    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn cell(&mut self, cell: Cell) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// The table in at most `width` cells.
    pub(super) fn rows(mut self, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
        let strong = look.theme.style(TextRole::Strong);
        for line in self.rows.iter_mut().take(1).flatten().flatten() {
            for span in &mut line.spans {
                span.style = strong.patch(span.style);
            }
        }
        match self.widths(width) {
            Some(widths) => self.grid(&widths, look),
            None => self.records(width),
        }
    }

    /// The width of each column: the natural one, or the widest ones reduced to fit.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let columns = self.alignments.len();
        let wide = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.flatten().map(wrap::cells).max().unwrap_or(0).max(1)
        };
        let natural: Vec<usize> = (0..columns).map(wide).collect();
        let room = width.checked_sub(3 * columns + 1)?;
        let taken = |most: usize| {
            natural
                .iter()
                .map(|column| (*column).min(most))
                .sum::<usize>()
        };
        let widest = natural.iter().copied().max()?;
        if taken(widest) <= room {
            return Some(natural);
        }
        let most = (COLUMN_MIN..widest)
            .rev()
            .find(|most| taken(*most) <= room)?;
        let mut spare = room - taken(most);
        let fit = |column: &usize| match *column > most && spare > 0 {
            true => {
                spare -= 1;
                most + 1
            }
            false => (*column).min(most),
        };
        Some(natural.iter().map(fit).collect())
    }

    fn grid(&self, widths: &[usize], look: &ViewOptions) -> Vec<Line<'static>> {
        let border = look.theme.style(TextRole::Border);
        let rule = |left: &str, between: &str, right: &str| {
            let parts: Vec<String> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
            Line::from(Span::styled(
                format!("{left}{}{right}", parts.join(between)),
                border,
            ))
        };
        let rows: Vec<Vec<Line<'static>>> = self
            .rows
            .iter()
            .map(|row| self.row(row, widths, look))
            .collect();
        // If a row takes more than one line, rules separate the rows.
        let apart = rows.iter().skip(1).any(|row| row.len() > 1);
        let mut out = vec![rule("┌", "┬", "┐")];
        for (index, row) in rows.into_iter().enumerate() {
            if index == 1 || (index > 1 && apart) {
                out.push(rule("├", "┼", "┤"));
            }
            out.extend(row);
        }
        out.push(rule("└", "┴", "┘"));
        out
    }

    /// A row of the table, as many lines as its highest cell.
    fn row(&self, row: &[Cell], widths: &[usize], look: &ViewOptions) -> Vec<Line<'static>> {
        let bar = |text: &'static str| Span::styled(text, look.theme.style(TextRole::Border));
        let cells: Vec<Vec<Line<'static>>> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| wrapped(cell, *width))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let mut out = Vec::with_capacity(height);
        for index in 0..height {
            let mut spans = Vec::new();
            for (column, width) in widths.iter().enumerate() {
                spans.push(bar(if column == 0 { "│ " } else { " │ " }));
                let line = cells.get(column).and_then(|cell| cell.get(index));
                let alignment = self.alignments.get(column).copied();
                spans.extend(aligned(line, alignment.unwrap_or(Alignment::None), *width));
            }
            spans.push(bar(" │"));
            out.push(Line::from(spans));
        }
        out
    }

    /// Each row as a record: lines with the heading of the column and the cell.
    fn records(&self, width: usize) -> Vec<Line<'static>> {
        let Some((head, rows)) = self.rows.split_first() else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                out.push(Line::default());
            }
            for (name, cell) in head.iter().zip(row) {
                record(name, cell, width, &mut out);
            }
        }
        if rows.is_empty() {
            out.extend(head.iter().flat_map(|cell| wrapped(cell, width)));
        }
        out
    }
}

/// `head: cell`.
fn record(name: &Cell, cell: &Cell, width: usize, out: &mut Vec<Line<'static>>) {
    let mut spans: Vec<Span<'static>> = Vec::new();
    for line in name {
        if !spans.is_empty() {
            spans.push(Span::raw(" "));
        }
        spans.extend(line.spans.iter().cloned());
    }
    if !spans.is_empty() {
        spans.push(Span::raw(": "));
    }
    for (index, line) in cell.iter().enumerate() {
        if index > 0 {
            spans.push(Span::raw(" "));
        }
        spans.extend(line.spans.iter().cloned());
    }
    let indent = if width > COLUMN_MIN { "  " } else { "" };
    let rest = Line::from(indent);
    out.extend(wrap::hanging(
        &Line::from(spans),
        width,
        &Line::default(),
        &rest,
    ));
}

fn wrapped(cell: &Cell, width: usize) -> Vec<Line<'static>> {
    let lines = cell.iter();
    lines.flat_map(|line| wrap::line(line, width)).collect()
}

/// A line with the blanks that put it in its place.
fn aligned(line: Option<&Line<'static>>, alignment: Alignment, width: usize) -> Vec<Span<'static>> {
    let room = width.saturating_sub(line.map_or(0, wrap::cells));
    let before = match alignment {
        Alignment::None | Alignment::Left => 0,
        Alignment::Center => room / 2,
        Alignment::Right => room,
    };
    let blanks = |count: usize| (count > 0).then(|| Span::raw(" ".repeat(count)));
    let words = line.map(|line| line.spans.clone()).unwrap_or_default();
    let spans = blanks(before).into_iter().chain(words);
    spans.chain(blanks(room - before)).collect()
}
