//! Entries of the transcript as lines: for the terminal's own scrollback, for the live part, and for the full screen.
//!
//! An entry has parts (the blocks of an answer; others have one), and a part that is printed never changes. A blank line
//! separates entries of different kinds; it belongs to the first row of the later one.

mod ink;
mod notices;
mod printed;
mod said;
mod tool;
mod words;

use ratatui::text::Line;

use crate::model::ViewOptions;
use crate::model::transcript::{Entry, EntryKind, Transcript};
use crate::render::Cache;
use ink::{EntryRenderer, parts};
use printed::since;
pub use printed::{PartIndex, Printed, PrintedLine, again, settled, waits};

/// The last rows of the part that is not printed yet.
pub fn live(
    transcript: &Transcript,
    printed: &Printed,
    look: &ViewOptions,
    cache: &mut Cache,
    rows: usize,
) -> Vec<Line<'static>> {
    let printed = since(transcript, printed);
    let mut ink = EntryRenderer::new(transcript, look, cache);
    let mut back = Back::new(0, rows);
    for (index, entry) in transcript.entries.iter().enumerate().rev() {
        if index < printed.entries || back.full() {
            break;
        }
        let from = match index == printed.entries {
            true => printed.blocks,
            false => 0,
        };
        back.entry(&mut ink, index, entry, from..parts(entry));
    }
    back.rows()
}

/// Rows of the newest entry if it is a call that runs, else 0.
pub fn running_rows(transcript: &Transcript, look: &ViewOptions, cache: &mut Cache) -> usize {
    let newest = transcript.entries.iter().enumerate().next_back();
    let is_running =
        |entry: &Entry| matches!(&entry.kind, EntryKind::Tool(tool) if tool.outcome.is_none());
    newest
        .filter(|(_, entry)| is_running(entry))
        .map_or(0, |(index, entry)| {
            EntryRenderer::new(transcript, look, cache).count_all(index, entry)
        })
}

/// A page of the whole transcript in full screen: exactly `rows` rows, the last of them `scroll` rows above the end.
pub fn page(
    transcript: &Transcript,
    look: &ViewOptions,
    cache: &mut Cache,
    scroll: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let scroll = reached(transcript, look, cache, scroll, rows);
    let found = above(transcript, look, cache, scroll, rows);
    // A short transcript is at the bottom, next to the composer.
    let missing = rows.saturating_sub(found.len());
    let mut page = vec![Line::default(); missing];
    page.extend(found);
    page
}

/// The last `rows` rows before the newest `scroll` ones; fewer if there are no more.
fn above(
    transcript: &Transcript,
    look: &ViewOptions,
    cache: &mut Cache,
    scroll: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let mut ink = EntryRenderer::new(transcript, look, cache);
    let mut back = Back::new(scroll, rows);
    for (index, entry) in transcript.entries.iter().enumerate().rev() {
        if back.full() {
            break;
        }
        if back.skip > 0 {
            let count = ink.count_all(index, entry);
            if count <= back.skip {
                back.skip -= count;
                continue;
            }
        }
        back.entry(&mut ink, index, entry, 0..parts(entry));
    }
    back.rows()
}

/// Limits `scroll` to the position at which `rows` rows show the first one. Does not count rows above the visible
/// ones.
fn reached(
    transcript: &Transcript,
    look: &ViewOptions,
    cache: &mut Cache,
    scroll: usize,
    rows: usize,
) -> usize {
    if scroll == 0 {
        return 0;
    }
    let mut ink = EntryRenderer::new(transcript, look, cache);
    let mut counted = 0_usize;
    for (index, entry) in transcript.entries.iter().enumerate().rev() {
        counted += ink.count_all(index, entry);
        if counted >= scroll.saturating_add(rows) {
            return scroll;
        }
    }
    scroll.min(counted.saturating_sub(rows))
}

/// The end of a transcript that is read further up: it may grow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Below {
    generation: u64,
    /// Entries above it: they stay as they are.
    entries: usize,
    rows: usize,
}

impl Below {
    fn of(transcript: &Transcript, look: &ViewOptions, cache: &mut Cache, entries: usize) -> Self {
        let mut ink = EntryRenderer::new(transcript, look, cache);
        let below = transcript.entries.iter().enumerate().skip(entries);
        let rows = below.map(|(index, entry)| ink.count_all(index, entry));
        Self {
            generation: transcript.generation,
            entries,
            rows: rows.sum(),
        }
    }
}

/// The scroll position after new rows `below` have arrived: the visible rows stay, as far as possible.
pub fn scrolled(
    transcript: &Transcript,
    look: &ViewOptions,
    cache: &mut Cache,
    below: &mut Option<Below>,
    scroll: usize,
    rows: usize,
) -> usize {
    let before = below.take();
    if scroll == 0 {
        return 0;
    }
    let before = before.filter(|before| before.generation == transcript.generation);
    let grown = before.map_or(0, |before| {
        let now = Below::of(transcript, look, cache, before.entries);
        now.rows.saturating_sub(before.rows)
    });
    let scroll = reached(transcript, look, cache, scroll.saturating_add(grown), rows);
    let live = transcript.entries.iter().position(|entry| !entry.settled());
    let settled = live.unwrap_or(transcript.entries.len());
    *below = Some(Below::of(transcript, look, cache, settled));
    scroll
}

/// The lines of one entry. `open`: with all that it holds.
pub fn entry(
    entry: &Entry,
    look: &ViewOptions,
    cache: &mut Cache,
    generation: u64,
    open: bool,
) -> Vec<Line<'static>> {
    let mut ink = EntryRenderer::one(generation, look, cache, open);
    let all = (0..parts(entry)).flat_map(|part| {
        let lines = ink.lines(entry, part);
        lines.iter().cloned().collect::<Vec<_>>()
    });
    all.collect()
}

/// Rows gathered from the end backwards.
struct Back {
    /// Rows that are left out yet.
    skip: usize,
    most: usize,
    /// The last one first.
    rows: Vec<Line<'static>>,
}

impl Back {
    fn new(skip: usize, most: usize) -> Self {
        Self {
            skip,
            most,
            rows: Vec::new(),
        }
    }

    fn full(&self) -> bool {
        self.rows.len() >= self.most
    }

    fn entry(
        &mut self,
        ink: &mut EntryRenderer<'_>,
        index: usize,
        entry: &Entry,
        parts: std::ops::Range<usize>,
    ) {
        for part in parts.rev() {
            if self.full() {
                return;
            }
            let hidden = match self.skip {
                0 => 0,
                _ => ink.count(entry, part).min(self.skip),
            };
            self.skip -= hidden;
            if self.skip == 0 {
                let lines = ink.lines(entry, part);
                let left = self.most - self.rows.len();
                let wanted = lines.iter().rev().skip(hidden).take(left);
                self.rows.extend(wanted.cloned());
            }
            if ink.leads(index, part) {
                match self.skip {
                    0 if self.full() => {}
                    0 => self.rows.push(Line::default()),
                    _ => self.skip -= 1,
                }
            }
        }
    }

    fn rows(mut self) -> Vec<Line<'static>> {
        self.rows.reverse();
        self.rows
    }
}

#[cfg(test)]
mod tests;
