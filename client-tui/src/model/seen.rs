//! Tracks how much of a dialog was on the screen: a yes counts only if all of it was shown (I24). Pure.

/// The rows of a dialog's body that are on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisibleRows {
    /// The first row, and the row after the last one.
    pub rows: (usize, usize),
    /// All rows of the body.
    pub count: usize,
    /// Columns that the rows were made for: with others they are other rows.
    pub width: usize,
    /// False: the window is too small to read the body in.
    pub is_readable: bool,
}

/// The rows that were on the screen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadProgress {
    /// Rows from the first one without a gap.
    rows: usize,
    width: usize,
    all: bool,
}

impl ReadProgress {
    /// Records the rows on the screen now.
    pub fn note(&mut self, visible: &VisibleRows) {
        if self.width != visible.width {
            self.rows = 0;
            self.width = visible.width;
        }
        let (first, end) = visible.rows;
        if visible.is_readable && first <= self.rows {
            self.rows = self.rows.max(end);
        }
        self.all |= visible.is_readable && self.rows >= visible.count;
    }

    /// All of it was read elsewhere.
    pub fn read_all(&mut self) {
        self.all = true;
    }

    #[must_use]
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// Rows that were not on the screen yet.
    #[must_use]
    pub fn left(&self, visible: &VisibleRows) -> usize {
        visible.count.saturating_sub(self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(first: usize, end: usize) -> VisibleRows {
        VisibleRows {
            rows: (first, end),
            count: 20,
            width: 80,
            is_readable: true,
        }
    }

    #[test]
    fn read_progress_is_complete_only_without_gaps_and_at_one_width() {
        let mut seen = ReadProgress::default();
        seen.note(&rows(0, 8));
        seen.note(&rows(12, 20));
        assert!(!seen.is_all());
        assert_eq!(seen.left(&rows(12, 20)), 12);
        seen.note(&rows(8, 16));
        let narrow = VisibleRows {
            width: 40,
            ..rows(16, 20)
        };
        let mut pulled = seen;
        pulled.note(&narrow);
        assert!(!pulled.is_all());
        seen.note(&rows(16, 20));
        assert!(seen.is_all());
    }

    #[test]
    fn a_window_that_is_too_small_shows_nothing() {
        let mut seen = ReadProgress::default();
        seen.note(&VisibleRows {
            is_readable: false,
            ..rows(0, 20)
        });
        assert!(!seen.is_all());
    }
}
