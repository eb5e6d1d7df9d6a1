//! Markdown that grows: blocks that are whole never change again, whatever comes behind them.

use ratatui::text::Line;

use crate::model::Look;

/// A text in Markdown, in blocks.
#[derive(Debug, Default)]
pub struct Markdown {
    text: String,
}

impl Markdown {
    /// More of it.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// No more comes.
    pub fn finish(&mut self) {}

    /// All of it, as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Blocks that are whole: their lines stay as they are.
    #[must_use]
    pub fn whole(&self) -> usize {
        0
    }

    /// Blocks in all: the whole ones and, last, the one that grows, if any.
    #[must_use]
    pub fn blocks(&self) -> usize {
        1
    }

    /// The lines of a block, with the blank line before it that belongs to it.
    #[must_use]
    pub fn lines(&self, block: usize, look: &Look, width: usize) -> Vec<Line<'static>> {
        let _ = (block, look, width);
        self.text
            .lines()
            .map(|line| Line::from(line.to_owned()))
            .collect()
    }
}
