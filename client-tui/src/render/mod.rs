//! Text to lines: pure, by width and theme. What models and tools wrote is cleaned before it becomes a line.

pub mod diff;
pub mod highlight;
pub mod markdown;
pub mod sheet;
pub mod short;
pub mod wrap;

use std::collections::HashMap;
use std::rc::Rc;

use ratatui::text::Line;

use crate::messages::Language;
use crate::model::ViewOptions;
use crate::theme::Theme;

/// A cache of rendered lines, valid while their inputs and look stay the same.
#[derive(Debug, Default)]
pub struct Cache {
    kept: HashMap<Key, (RenderInputs, Rc<Vec<Line<'static>>>)>,
    /// Lines in all that are kept.
    lines: usize,
    /// Line counts, also of entries whose lines are not cached.
    counts: HashMap<Key, (RenderInputs, usize)>,
    /// The transcript and look that the cache is for.
    made_for: Option<(u64, RenderInputs)>,
}

/// The source of the lines: a transcript entry (generation and id) and a part of it.
pub type Key = (u64, u64, usize);

/// How they were made: another look, another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderInputs {
    pub theme: Theme,
    pub language: Language,
    pub width: usize,
    /// Anything else that the lines depend on: which parts are open, how long the text is.
    pub version: u64,
}

impl RenderInputs {
    /// For this look.
    #[must_use]
    pub fn of(look: &ViewOptions, width: usize, version: u64) -> Self {
        Self {
            theme: look.theme,
            language: look.language,
            width,
            version,
        }
    }
}

/// Lines kept at most; then all are forgotten, and made again as they are needed.
const KEPT_MAX: usize = 50_000;

/// Numbers of lines kept at most.
const COUNTS_MAX: usize = 500_000;

impl Cache {
    /// Sets the transcript and look. Drops lines made for others.
    pub fn prepare(&mut self, generation: u64, look: &ViewOptions) {
        let made_for = Some((
            generation,
            RenderInputs::of(look, usize::from(look.columns), 0),
        ));
        if self.made_for != made_for {
            *self = Self {
                made_for,
                ..Self::default()
            };
        }
    }

    /// The lines: cached ones if they were made with the same inputs, else new ones.
    pub fn lines(
        &mut self,
        key: Key,
        made: RenderInputs,
        make: impl FnOnce() -> Vec<Line<'static>>,
    ) -> Rc<Vec<Line<'static>>> {
        if let Some((before, lines)) = self.kept.get(&key)
            && *before == made
        {
            return lines.clone();
        }
        let lines = Rc::new(make());
        // One that has no lines takes room too.
        let room = |lines: &[Line<'static>]| lines.len().max(1);
        if self.lines >= KEPT_MAX {
            self.kept.clear();
            self.lines = 0;
        }
        self.lines += room(&lines);
        if let Some((_, before)) = self.kept.insert(key, (made, lines.clone())) {
            self.lines = self.lines.saturating_sub(room(&before));
        }
        lines
    }

    /// The number of lines, counted if it is unknown. The lines themselves are not cached for that.
    pub fn count(
        &mut self,
        key: Key,
        made: RenderInputs,
        count: impl FnOnce(&mut Self) -> usize,
    ) -> usize {
        if let Some((before, count)) = self.counts.get(&key)
            && *before == made
        {
            return *count;
        }
        let kept = self.kept.get(&key).filter(|kept| kept.0 == made);
        let count = match kept.map(|kept| kept.1.len()) {
            Some(count) => count,
            None => count(self),
        };
        if self.counts.len() >= COUNTS_MAX {
            self.counts.clear();
        }
        self.counts.insert(key, (made, count));
        count
    }

    /// How many parts are kept as lines.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// How many parts were counted.
    #[cfg(test)]
    pub fn counted(&self) -> usize {
        self.counts.len()
    }
}

#[cfg(test)]
mod tests;
