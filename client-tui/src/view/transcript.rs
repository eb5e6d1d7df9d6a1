//! Entries of the transcript as lines: what goes into the terminal's own scrollback, what is still alive, a page of all.

use ratatui::text::Line;

use crate::model::Look;
use crate::model::transcript::{Entry, Transcript};
use crate::render::Cache;

/// How far the transcript stands in the terminal's scrollback.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    pub generation: u64,
    /// Entries that are printed whole.
    pub entries: usize,
    /// Blocks of the next one that are.
    pub blocks: usize,
}

/// What has settled since, and goes into the scrollback now; `printed` moves on.
pub fn settled(
    transcript: &Transcript,
    printed: &mut Printed,
    look: &Look,
    cache: &mut Cache,
) -> Vec<Line<'static>> {
    let _ = (transcript, printed, look, cache);
    Vec::new()
}

/// What is not printed yet: its last rows.
pub fn live(
    transcript: &Transcript,
    printed: &Printed,
    look: &Look,
    cache: &mut Cache,
    rows: usize,
) -> Vec<Line<'static>> {
    let _ = (transcript, printed, look, cache, rows);
    Vec::new()
}

/// The last rows of what is printed, to be printed again after a change of width or look: at least `rows` of them, from
/// the beginning of an entry, where there are so many.
pub fn last(
    transcript: &Transcript,
    printed: &Printed,
    look: &Look,
    cache: &mut Cache,
    rows: usize,
) -> Vec<Line<'static>> {
    let _ = (transcript, printed, look, cache, rows);
    Vec::new()
}

/// A page of the whole transcript in full screen: exactly `rows` rows, the last of them `scroll` rows above the end.
pub fn page(
    transcript: &Transcript,
    look: &Look,
    cache: &mut Cache,
    scroll: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let _ = (transcript, look, cache, scroll);
    vec![Line::default(); rows]
}

/// The lines of one entry. `open`: with all that it holds.
pub fn entry(
    entry: &Entry,
    look: &Look,
    cache: &mut Cache,
    generation: u64,
    open: bool,
) -> Vec<Line<'static>> {
    let _ = (entry, look, cache, generation, open);
    Vec::new()
}
