//! The document laid out for a screen: only visible parts are rendered, all others are measured once or estimated.

use std::rc::Rc;

use ratatui::text::{Line, Span};

use super::found;
use super::parts::{self, DocumentPart};
use crate::model::pager::{At, Pager, PagerContent, PartId};
use crate::model::{Model, ViewOptions};
use crate::render::sheet::Height;
use crate::render::wrap;
use crate::theme::TextRole;

/// Cells at the left for the mark of the selected part.
const GUTTER: usize = 2;
/// Narrower screens have none.
const GUTTER_FROM: usize = 16;

/// A row of the text: a part, and a row of it.
pub type RowIndex = (usize, usize);

/// A document on a screen with this many rows of text.
pub struct Document<'a> {
    pub pager: &'a Pager,
    pub model: &'a Model,
    pub rows: usize,
    /// With the columns that the text has.
    look: ViewOptions,
    gutter: usize,
    count: usize,
}

impl<'a> Document<'a> {
    /// For a screen of `width` cells and `rows` rows of text.
    pub fn new(pager: &'a Pager, model: &'a Model, width: usize, rows: usize) -> Self {
        let marked = matches!(
            pager.what,
            PagerContent::Transcript | PagerContent::Diff { .. }
        );
        let gutter = match marked && width >= GUTTER_FROM {
            true => GUTTER,
            false => 0,
        };
        let columns = u16::try_from(width.saturating_sub(gutter)).unwrap_or(u16::MAX);
        let look = ViewOptions {
            columns,
            // Nothing is printed, so folded parts can be opened here.
            fullscreen: true,
            ..model.look.clone()
        };
        let mut sheet = pager.sheet.borrow_mut();
        sheet.prepare(&look, pager.raw);
        drop(sheet);
        Self {
            count: parts::count(pager, model),
            pager,
            model,
            rows: rows.max(1),
            look,
            gutter,
        }
    }

    /// How many parts there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The part at a place.
    pub fn part(&self, index: usize) -> Option<DocumentPart<'a>> {
        parts::part(self.pager, self.model, index)
    }

    /// Where a part is.
    pub fn index(&self, id: PartId) -> Option<usize> {
        (0..self.count).find(|index| self.part(*index).is_some_and(|part| part.id() == id))
    }

    fn made(&self, part: &DocumentPart<'_>, open: bool) -> Rc<Vec<Line<'static>>> {
        let mut sheet = self.pager.sheet.borrow_mut();
        if let Some(rows) = sheet.rows(part.id(), open).filter(|_| part.settled()) {
            return rows;
        }
        let rows = part.rows(&mut sheet.cache, &self.look, self.pager.raw, open);
        let rows = Rc::new(rows);
        if part.settled() {
            sheet.keep(part.id(), open, rows.clone());
        }
        rows
    }

    /// The rows of a part, as they are shown or would be.
    pub fn lines(&self, index: usize, open: Option<bool>) -> Rc<Vec<Line<'static>>> {
        let Some(part) = self.part(index) else {
            return Rc::default();
        };
        let open = open.unwrap_or_else(|| self.pager.is_open(part.id()));
        self.made(&part, open)
    }

    /// Rows of a part; renders it if it is not cached.
    pub fn height(&self, index: usize) -> usize {
        let Some(part) = self.part(index) else {
            return 0;
        };
        let open = self.pager.is_open(part.id());
        let known = self.pager.sheet.borrow().height(part.id(), open);
        match known {
            Some(Height::Known(rows)) => rows,
            Some(Height::About(_)) | None => self.made(&part, open).len(),
        }
    }

    /// The first row of the screen.
    pub fn top(&self) -> RowIndex {
        let At::Row { part, row } = self.pager.at else {
            return self.end();
        };
        if part >= self.count {
            return self.end();
        }
        let place = (part, row.min(self.height(part).saturating_sub(1)));
        match self.holds(place) {
            true => place,
            false => self.end(),
        }
    }

    /// Whether there are rows enough from here on to fill the screen.
    fn holds(&self, (part, row): RowIndex) -> bool {
        let mut left = self.rows + row;
        for index in part..self.count {
            let height = self.height(index);
            if height >= left {
                return true;
            }
            left -= height;
        }
        false
    }

    /// The first row of the screen that shows the end.
    pub fn end(&self) -> RowIndex {
        let mut left = self.rows;
        for index in (0..self.count).rev() {
            let height = self.height(index);
            if height >= left {
                return (index, height - left);
            }
            left -= height;
        }
        (0, 0)
    }

    /// This many rows further down, or up if negative; stops at the end.
    pub fn moved(&self, by: isize) -> At {
        let (mut part, mut row) = self.top();
        let mut left = by.unsigned_abs();
        if by < 0 {
            while left > row {
                let Some(above) = part.checked_sub(1) else {
                    return At::Row { part: 0, row: 0 };
                };
                left -= row + 1;
                part = above;
                // The last row of the part above, or its start if it has no rows.
                let height = self.height(part);
                row = height.saturating_sub(1);
                left += usize::from(height == 0);
            }
            return At::Row {
                part,
                row: row - left,
            };
        }
        row += left;
        while part < self.count {
            let height = self.height(part);
            if row < height {
                break;
            }
            row -= height;
            part += 1;
        }
        match part < self.count && self.holds((part, row)) && (part, row) != self.end() {
            true => At::Row { part, row },
            false => At::End,
        }
    }

    /// Rows before a place, rows in all, and whether that is exact.
    pub fn measure(&self, (top, row): RowIndex) -> (usize, usize, bool) {
        let (mut before, mut all, mut exact) = (row, 0, true);
        let width = usize::from(self.look.columns);
        for index in 0..self.count {
            let Some(part) = self.part(index) else { break };
            let open = self.pager.is_open(part.id());
            let known = self.pager.sheet.borrow().height(part.id(), open);
            let height = known.unwrap_or_else(|| {
                let Some(guess) = part.guess(width, open) else {
                    return Height::Known(self.made(&part, open).len());
                };
                if part.settled() {
                    let mut sheet = self.pager.sheet.borrow_mut();
                    sheet.measured(part.id(), open, guess);
                }
                guess
            });
            exact &= matches!(height, Height::Known(_));
            all += height.rows();
            if index < top {
                before += height.rows();
            }
        }
        (before, all, exact)
    }

    /// Parts on the screen: the first, and the one after the last.
    pub fn visible(&self, (top, row): RowIndex) -> (usize, usize) {
        let mut left = self.rows + row;
        for index in top..self.count {
            let height = self.height(index);
            if height >= left {
                return (top, index + 1);
            }
            left -= height;
        }
        (top, self.count)
    }

    /// The rows of the screen from a place on, at most as many as there is room for.
    pub fn screen(&self, (top, row): RowIndex) -> Vec<Line<'static>> {
        let mut out = Vec::new();
        let mut skipped = row;
        for index in top..self.count {
            if out.len() >= self.rows {
                break;
            }
            let Some(part) = self.part(index) else { break };
            let lines = self.lines(index, None);
            let room = self.rows - out.len();
            let shown = lines.iter().enumerate().skip(skipped).take(room);
            out.extend(shown.map(|(row, line)| self.row(part.id(), row, line.clone())));
            skipped = 0;
        }
        out
    }

    /// A row with its mark at the left, and the matches in it highlighted.
    fn row(&self, id: PartId, row: usize, line: Line<'static>) -> Line<'static> {
        let theme = self.look.theme;
        let width = usize::from(self.look.columns);
        let mut line = match line.width() > width {
            true => wrap::line(&line, width)
                .into_iter()
                .next()
                .unwrap_or_default(),
            false => line,
        };
        let search = &self.pager.search;
        if !search.query.is_empty() {
            let here = search.found == Some((id, row));
            line = found::mark(line, &search.query, theme.style(TextRole::Selected), here);
        }
        if self.gutter > 0 {
            // The blank row before a part is between two of them.
            let between = row == 0 && line.width() == 0;
            let mark = match self.pager.selected == Some(id) && !between {
                true => "▌ ",
                false => "  ",
            };
            line.spans
                .insert(0, Span::styled(mark, theme.style(TextRole::Accent)));
        }
        line
    }
}
