//! A cache for the pager: heights of all parts, rows of those that were on the screen.

use std::collections::HashMap;
use std::rc::Rc;

use ratatui::text::Line;

use super::Cache;
use crate::model::ViewOptions;
use crate::model::pager::PartId;

/// Rows that are kept at most; then all are forgotten, and made again as they are needed.
const ROWS_MAX: usize = 50_000;

/// Rows of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Height {
    /// It was made, and has so many.
    Known(usize),
    /// Nobody has seen it yet: about so many.
    About(usize),
}

impl Height {
    /// The number.
    #[must_use]
    pub fn rows(self) -> usize {
        match self {
            Self::Known(rows) | Self::About(rows) => rows,
        }
    }
}

/// Heights and rows that were made, for one look and width.
#[derive(Debug, Default)]
pub struct Sheet {
    made: Option<(ViewOptions, bool)>,
    heights: HashMap<(PartId, bool), Height>,
    rows: HashMap<(PartId, bool), Rc<Vec<Line<'static>>>>,
    kept: usize,
    pub cache: Cache,
}

impl Sheet {
    /// Drops entries made for another look. `raw`: as written.
    pub fn prepare(&mut self, look: &ViewOptions, raw: bool) {
        let before = self.made.as_ref();
        if !before.is_some_and(|(made, form)| made == look && *form == raw) {
            self.made = Some((look.clone(), raw));
            self.heights.clear();
            self.cache = Cache::default();
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.rows.clear();
        self.kept = 0;
    }

    /// A part's height, open or folded, if known.
    #[must_use]
    pub fn height(&self, part: PartId, open: bool) -> Option<Height> {
        self.heights.get(&(part, open)).copied()
    }

    /// Remembers a height.
    pub fn measured(&mut self, part: PartId, open: bool, height: Height) {
        self.heights.insert((part, open), height);
    }

    /// The rows of a part, if they are cached.
    #[must_use]
    pub fn rows(&self, part: PartId, open: bool) -> Option<Rc<Vec<Line<'static>>>> {
        self.rows.get(&(part, open)).cloned()
    }

    /// Remembers the rows of a part that does not change any more, and its height with them.
    pub fn keep(&mut self, part: PartId, open: bool, rows: Rc<Vec<Line<'static>>>) {
        self.measured(part, open, Height::Known(rows.len()));
        if self.kept > ROWS_MAX {
            self.forget();
        }
        self.kept += rows.len();
        self.rows.insert((part, open), rows);
    }
}
