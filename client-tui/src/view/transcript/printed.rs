//! Decides which entries go into the terminal's scrollback, and which are printed again after a change of width or
//! look.
//!
//! Reprinting begins with a part that is whole on the screen. A part whose beginning is in the scrollback has other
//! rows in another look, so some would be lost and others doubled.

use ratatui::text::Line;

use super::ink::{EntryRenderer, parts};
use crate::model::ViewOptions;
use crate::model::transcript::{Entry, EntryKind, Transcript};
use crate::render::Cache;

/// How much of the transcript is in the terminal's scrollback.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    pub generation: u64,
    /// Entries that are printed whole.
    pub entries: usize,
    /// Blocks of the next one that are.
    pub blocks: usize,
    /// Reasoning is printed open.
    reasoning: bool,
}

/// A part of the transcript: the index of its entry, and which of its parts it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartIndex {
    pub entry: usize,
    pub part: usize,
}

/// A row for the scrollback.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedLine {
    pub line: Line<'static>,
    /// The part that begins with it.
    pub begins: Option<PartIndex>,
}

/// Rows that have their code in colours where many are printed at once. Colours take a hundred times as long as the
/// words, and nobody reads a long session from its beginning to see them.
pub(super) const COLOURED: usize = 500;

/// The entries that have settled since, for the scrollback; advances `printed`. Returns no more parts than make
/// `most` rows, as keys wait meanwhile: if more [`waits`], the next call returns it.
pub fn settled(
    transcript: &Transcript,
    printed: &mut Printed,
    look: &ViewOptions,
    cache: &mut Cache,
    most: usize,
) -> Vec<PrintedLine> {
    *printed = Printed {
        reasoning: look.reasoning,
        ..since(transcript, printed)
    };
    let mut rows = Vec::new();
    let mut ink = EntryRenderer::new(transcript, look, cache);
    let coloured = newest(transcript, printed, &mut ink, COLOURED);
    while let Some(entry) = transcript.entries.get(printed.entries) {
        let upto = whole(entry);
        for part in printed.blocks..upto {
            if rows.len() >= most {
                printed.blocks = part;
                return rows;
            }
            let place = PartIndex {
                entry: printed.entries,
                part,
            };
            let plain = (printed.entries, part) < coloured;
            print_part(&mut ink, entry, place, plain, &mut rows);
        }
        if !entry.settled() {
            printed.blocks = printed.blocks.max(upto);
            break;
        }
        printed.entries += 1;
        printed.blocks = 0;
    }
    rows
}

/// Adds the rows of a part, before them the blank one that parts it from the entry before.
fn print_part(
    ink: &mut EntryRenderer<'_>,
    entry: &Entry,
    place: PartIndex,
    plain: bool,
    rows: &mut Vec<PrintedLine>,
) {
    let first = rows.len();
    let mut add = |line| rows.push(PrintedLine { line, begins: None });
    if ink.leads(place.entry, place.part) {
        add(Line::default());
    }
    match plain {
        true => ink.plain(entry, place.part).into_iter().for_each(&mut add),
        false => (ink.lines(entry, place.part).iter().cloned()).for_each(&mut add),
    }
    if let Some(row) = rows.get_mut(first) {
        row.begins = Some(place);
    }
}

/// The printed entries once more, in the current look, from the first of these parts that can begin a reprint.
pub fn again(
    transcript: &Transcript,
    printed: &Printed,
    look: &ViewOptions,
    cache: &mut Cache,
    parts_on_screen: &[PartIndex],
) -> Option<(PartIndex, Vec<PrintedLine>)> {
    let printed = since(transcript, printed);
    // Folded, all reasoning is one line, its first part.
    let refolded = printed.reasoning != look.reasoning;
    let mut can_begin = parts_on_screen.iter().filter(|place| {
        let entry = transcript.entries.get(place.entry);
        let thought = |entry: &Entry| matches!(entry.kind, EntryKind::Reasoning { .. });
        entry.is_some_and(|entry| place.part == 0 || !(refolded && thought(entry)))
    });
    let from = *can_begin.next()?;
    let mut ink = EntryRenderer::new(transcript, look, cache);
    let mut rows = Vec::new();
    for (index, entry) in transcript.entries.iter().enumerate().skip(from.entry) {
        let upto = match index.cmp(&printed.entries) {
            std::cmp::Ordering::Less => parts(entry),
            std::cmp::Ordering::Equal => printed.blocks,
            std::cmp::Ordering::Greater => break,
        };
        let first = if index == from.entry { from.part } else { 0 };
        for part in first..upto {
            let place = PartIndex { entry: index, part };
            print_part(&mut ink, entry, place, false, &mut rows);
        }
    }
    Some((from, rows))
}

/// Whether something has settled that is not printed yet.
pub fn waits(transcript: &Transcript, printed: &Printed) -> bool {
    let printed = since(transcript, printed);
    let next = transcript.entries.get(printed.entries);
    next.is_some_and(|entry| entry.settled() || printed.blocks < whole(entry))
}

/// Parts of an entry that stay as they are.
fn whole(entry: &Entry) -> usize {
    match (&entry.kind, entry.settled()) {
        (_, true) => parts(entry),
        (EntryKind::Answer { text: markdown, .. }, false) => markdown.whole(),
        (_, false) => 0,
    }
}

/// Entry and part from which on the last `rows` rows come of all that can be printed.
fn newest(
    transcript: &Transcript,
    printed: &Printed,
    ink: &mut EntryRenderer<'_>,
    rows: usize,
) -> (usize, usize) {
    let mut counted = 0;
    for (index, entry) in transcript.entries.iter().enumerate().rev() {
        let from = match index.cmp(&printed.entries) {
            std::cmp::Ordering::Less => break,
            std::cmp::Ordering::Equal => printed.blocks,
            std::cmp::Ordering::Greater => 0,
        };
        for part in (from..whole(entry)).rev() {
            counted += ink.count(entry, part);
            if counted >= rows {
                return (index, part);
            }
        }
    }
    (printed.entries, printed.blocks)
}

/// How far these entries are printed: not at all, if the transcript has been rebuilt.
pub(super) fn since(transcript: &Transcript, printed: &Printed) -> Printed {
    match printed.generation == transcript.generation {
        true => printed.clone(),
        false => Printed {
            generation: transcript.generation,
            ..Printed::default()
        },
    }
}
