//! Lines above the viewport that may be printed again.

use ratatui::text::Line;

use crate::render::wrap;
use crate::view::transcript::{PartIndex, PrintedLine};

/// A row above the viewport.
#[derive(Clone, Debug)]
pub(super) struct PrintedRow {
    pub(super) line: Line<'static>,
    pub(super) cells: usize,
    /// The part of the transcript that begins with it.
    pub(super) begins: Option<PartIndex>,
    /// Broken at the edge: the next row continues it.
    goes_on: bool,
}

impl From<PrintedLine> for PrintedRow {
    fn from(PrintedLine { line, begins }: PrintedLine) -> Self {
        Self {
            line,
            cells: 0,
            begins,
            goes_on: false,
        }
    }
}

/// These rows broken at another edge. None of them counts as the beginning of a part any more, so they are never
/// printed again in another look.
pub(super) fn broken<'a>(
    rows: impl Iterator<Item = &'a PrintedRow>,
    columns: usize,
) -> Vec<PrintedRow> {
    let mut whole: Vec<Line<'static>> = Vec::new();
    let mut goes_on = false;
    for row in rows {
        match whole.last_mut().filter(|_| goes_on) {
            Some(line) => line.spans.extend(row.line.spans.iter().cloned()),
            None => whole.push(row.line.clone()),
        }
        goes_on = row.goes_on;
    }
    let pieces = whole.iter().map(|line| wrap::hard(line, columns));
    let rows = pieces.flat_map(|pieces| {
        let last = pieces.len();
        (1..).zip(pieces).map(move |(number, line)| PrintedRow {
            line,
            cells: 0,
            begins: None,
            goes_on: number < last,
        })
    });
    rows.collect()
}
