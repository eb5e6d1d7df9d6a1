//! Columns: the width of each, and which are left out if there is no room.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::messages::lists::Msg;
use crate::model::Model;
use crate::model::list::rows::{Cell, Row};
use crate::model::list::{ListDialog, ListOf};
use crate::render::wrap::{clip, width};
use crate::theme::TextRole;

/// A column of a list.
struct Column {
    /// Cells at most.
    max: usize,
    /// Right-aligned, for numbers.
    right: bool,
    /// The column with the largest value is dropped first; 0 is never dropped.
    drop: u8,
}

const fn left(max: usize, drop: u8) -> Column {
    Column {
        max,
        right: false,
        drop,
    }
}

const fn right(max: usize, drop: u8) -> Column {
    Column {
        max,
        right: true,
        drop,
    }
}

/// The minimum width of the column that takes the remaining room.
const GROWS: usize = 18;

/// The mark of the chosen row, the row's own mark, and blanks.
const MARKS: usize = 4;

/// The columns of a list, and which of them grows.
fn columns(dialog: &ListDialog) -> (&'static [Column], usize) {
    if dialog.restore.is_some() {
        return (const { &[left(0, 0)] }, 0);
    }
    match dialog.what {
        ListOf::Sessions { .. } => (
            const {
                &[
                    left(4, 0),
                    right(6, 1),
                    left(0, 0),
                    left(20, 3),
                    right(10, 4),
                    left(28, 2),
                    right(6, 0),
                ]
            },
            2,
        ),
        ListOf::Turns => (
            const { &[right(5, 0), left(0, 0), left(24, 2), right(6, 1)] },
            1,
        ),
        ListOf::Queue => (
            const { &[right(3, 0), left(0, 0), left(12, 1), left(24, 2)] },
            1,
        ),
        ListOf::Processes => (
            const {
                &[
                    left(9, 0),
                    left(22, 0),
                    right(6, 2),
                    right(6, 3),
                    left(20, 5),
                    right(6, 4),
                    right(7, 6),
                    right(9, 8),
                    left(28, 7),
                    left(0, 0),
                ]
            },
            9,
        ),
        ListOf::Agents => (
            const {
                &[
                    left(12, 0),
                    left(14, 0),
                    left(22, 2),
                    right(6, 1),
                    right(9, 3),
                    right(9, 4),
                    left(0, 0),
                ]
            },
            6,
        ),
        ListOf::Models => (
            const { &[left(0, 0), right(16, 2), right(6, 3), left(8, 1)] },
            0,
        ),
        ListOf::Skills => (const { &[left(18, 0), left(0, 0), left(9, 1)] }, 1),
        ListOf::Search => (
            const { &[right(6, 0), left(0, 0), left(9, 2), right(6, 1)] },
            1,
        ),
        ListOf::Inbox => (
            const { &[right(6, 0), left(14, 2), left(0, 0), right(6, 1)] },
            2,
        ),
    }
}

const HEADS: &[Msg] = &[
    Msg::HeadPid,
    Msg::HeadState,
    Msg::HeadAge,
    Msg::HeadSteps,
    Msg::HeadModel,
    Msg::HeadContext,
    Msg::HeadTokens,
    Msg::HeadCost,
    Msg::HeadDirectory,
    Msg::HeadDoes,
];

/// How a list's rows are laid out.
pub struct Table {
    columns: &'static [Column],
    /// Of each column; 0: it is left out.
    widths: Vec<usize>,
    width: usize,
}

impl Table {
    /// For these rows in that width.
    pub fn new(dialog: &ListDialog, model: &Model, rows: &[Row], width: usize) -> Self {
        let (columns, grows) = columns(dialog);
        let mut widths: Vec<usize> = columns
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let cells = rows.iter().filter_map(|row| row.cells.get(index));
                let widest = cells.map(|cell| self::width(&cell.text)).max().unwrap_or(0);
                let head = HEADS.get(index).filter(|_| dialog.covers() && widest > 0);
                let head = head.map_or(0, |head| self::width(model.look.language.say(*head)));
                widest.max(head).min(column.max)
            })
            .collect();
        let room = width.saturating_sub(MARKS);
        loop {
            let fixed: usize = widths
                .iter()
                .filter(|wide| **wide > 0)
                .map(|wide| wide + 2)
                .sum();
            if fixed + GROWS <= room {
                set(&mut widths, grows, room - fixed);
                break;
            }
            let there = columns.iter().enumerate().filter(|(index, column)| {
                column.drop > 0 && widths.get(*index).is_some_and(|wide| *wide > 0)
            });
            match there.max_by_key(|(_, column)| column.drop) {
                Some((index, _)) => set(&mut widths, index, 0),
                None => {
                    set(&mut widths, grows, room.saturating_sub(fixed));
                    break;
                }
            }
        }
        Self {
            columns,
            widths,
            width,
        }
    }

    /// A row, with the mark if it is the chosen one.
    pub fn line(&self, row: &Row, chosen: bool, model: &Model) -> Line<'static> {
        let theme = model.look.theme;
        let mut spans = vec![
            Span::styled(
                if chosen { "▸ " } else { "  " },
                theme.style(TextRole::Accent),
            ),
            Span::styled(row.mark.0, theme.style(row.mark.1)),
            Span::raw(" "),
        ];
        let cells = row.cells.iter();
        let cells = cells.map(|cell| emphasised(cell, model));
        self.cells(&mut spans, cells);
        let mut spans = clip(spans, self.width);
        if chosen {
            spans = pad(spans, self.width);
            for span in &mut spans {
                span.style = span.style.patch(theme.style(TextRole::Selected));
            }
        }
        Line::from(spans)
    }

    /// The headings of the columns.
    pub fn heads(&self, model: &Model) -> Line<'static> {
        let style = model.look.theme.style(TextRole::Dim);
        let mut spans = vec![Span::raw(" ".repeat(MARKS))];
        let heads = HEADS.iter();
        let heads = heads.map(|head| vec![Span::styled(model.look.language.say(*head), style)]);
        self.cells(&mut spans, heads);
        Line::from(clip(spans, self.width))
    }

    fn cells(
        &self,
        spans: &mut Vec<Span<'static>>,
        cells: impl Iterator<Item = Vec<Span<'static>>>,
    ) {
        let mut begun = false;
        let laid_out = cells.zip(self.columns).zip(&self.widths);
        for ((cell, column), wide) in laid_out.filter(|(_, wide)| **wide > 0) {
            if begun {
                spans.push(Span::raw("  "));
            }
            begun = true;
            let style = cell.first().map_or_else(Style::new, |span| span.style);
            let cell = clip(cell, *wide);
            let used: usize = cell.iter().map(|span| width(&span.content)).sum();
            let blank = Span::styled(" ".repeat(wide.saturating_sub(used)), style);
            match column.right {
                true => spans.extend(std::iter::once(blank).chain(cell)),
                false => spans.extend(cell.into_iter().chain(std::iter::once(blank))),
            }
        }
    }
}

/// A cell's text; its marks are bold, and in colours.
fn emphasised(cell: &Cell, model: &Model) -> Vec<Span<'static>> {
    let theme = model.look.theme;
    let mut spans = Vec::new();
    let mut done = 0;
    let mut push = |range: std::ops::Range<usize>, ink| {
        let text = cell.text.get(range).unwrap_or_default().to_owned();
        spans.push(Span::styled(text, theme.style(ink)));
    };
    for (first, end) in &cell.marks {
        push(done..*first, cell.ink);
        push(*first..*end, TextRole::Question);
        done = *end;
    }
    push(done..cell.text.len(), cell.ink);
    spans
}

fn set(widths: &mut [usize], index: usize, width: usize) {
    if let Some(wide) = widths.get_mut(index) {
        *wide = width;
    }
}

/// Filled with blanks to that width.
pub fn pad(mut spans: Vec<Span<'static>>, room: usize) -> Vec<Span<'static>> {
    let used: usize = spans.iter().map(|span| width(&span.content)).sum();
    if used < room {
        spans.push(Span::styled(" ".repeat(room - used), Style::new()));
    }
    spans
}
