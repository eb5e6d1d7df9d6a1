//! Markdown that grows: finished blocks never change, whatever text follows.
//!
//! Lines are parsed one by one, as soon as they are complete. Which blocks are finished after a line depends only on
//! the lines so far, never on how the text was split into chunks. A block is drawn from its own part of the text,
//! with the link targets defined in it or before it, so it always looks the same. Within an open code fence a block
//! is a few lines, because the whole fence may be long.

mod code;
mod links;
mod prose;
mod settle;
mod table;

use std::cell::RefCell;
use std::ops::Range;

use client::text::Cleaner;
use ratatui::text::Line;

use crate::model::ViewOptions;

/// A text in Markdown, in blocks.
#[derive(Debug, Default)]
pub struct Markdown {
    cleaner: Cleaner,
    /// Without what terminals obey: the ranges are of this.
    cleaned: String,
    /// The whole ones.
    blocks: Vec<Block>,
    /// The first block that has any lines: none has a blank line before it up to there.
    first: Option<usize>,
    links: links::Links,
    fences: Vec<code::Fence>,
    settling: settle::Settling,
    colours: RefCell<code::Colours>,
}

/// A block that is whole.
#[derive(Clone, Debug)]
struct Block {
    range: Range<usize>,
    what: BlockKind,
}

#[derive(Clone, Copy, Debug)]
enum BlockKind {
    /// `links`: how many link targets stood in it and before it.
    Prose { links: usize },
    /// Lines of the code in that fence.
    Code { fence: usize, first: bool },
}

impl Markdown {
    /// More of it.
    pub fn push(&mut self, text: &str) {
        let cleaned = self.cleaner.push(text);
        self.cleaned.push_str(&cleaned);
        self.settle(false);
    }

    /// No more comes.
    pub fn finish(&mut self) {
        self.settle(true);
    }

    /// The whole source text, without control characters.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.cleaned
    }

    /// Blocks that are whole: their lines stay as they are.
    #[must_use]
    pub fn whole(&self) -> usize {
        self.blocks.len()
    }

    /// Blocks in all: the whole ones and, last, the one that grows, if any.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks.len() + usize::from(self.growing().is_some())
    }

    /// The lines of a block, with the blank line before it that belongs to it.
    #[must_use]
    pub fn lines(&self, block: usize, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
        self.made(block, look, width, true)
    }

    /// The same with code as plain as where its language is not known: colours take longest by far, and no line is broken
    /// by them.
    #[must_use]
    pub fn plain(&self, block: usize, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
        self.made(block, look, width, false)
    }

    fn made(
        &self,
        block: usize,
        look: &ViewOptions,
        width: usize,
        coloured: bool,
    ) -> Vec<Line<'static>> {
        let growing = (block == self.blocks.len()).then(|| self.growing());
        let Some(found) = self.blocks.get(block).cloned().or(growing.flatten()) else {
            return Vec::new();
        };
        let rows = self.rows(block, &found, look, width, coloured);
        let apart = match found.what {
            BlockKind::Prose { .. } => true,
            BlockKind::Code { first, .. } => first,
        };
        let follows = self.first.is_some_and(|first| first < block);
        let before = (apart && follows && !rows.is_empty()).then(Line::default);
        before.into_iter().chain(rows).collect()
    }

    fn rows(
        &self,
        index: usize,
        block: &Block,
        look: &ViewOptions,
        width: usize,
        coloured: bool,
    ) -> Vec<Line<'static>> {
        let text = self.cleaned.get(block.range.clone()).unwrap_or_default();
        match block.what {
            BlockKind::Prose { links } => {
                prose::rows(text, &self.links.up_to(links), look, width, coloured)
            }
            BlockKind::Code { fence, first } => {
                let fence = self.fences.get(fence);
                fence.map_or_else(Vec::new, |fence| {
                    let colours = coloured && look.theme.highlights();
                    let state = colours.then(|| self.colours_at(index, fence)).flatten();
                    code::part(fence, first, text, state, look, width)
                })
            }
        }
    }

    /// Another block is whole.
    fn add(&mut self, block: Block) {
        let index = self.blocks.len();
        if self.first.is_none()
            && !self
                .rows(index, &block, &ViewOptions::default(), 80, false)
                .is_empty()
        {
            self.first = Some(index);
        }
        self.blocks.push(block);
    }
}

#[cfg(test)]
mod tests;
