//! What goes into the terminal's scrollback, and what of it is printed again after a change of width or look.
//!
//! What is printed again begins with a part that is whole on the screen: of a part whose beginning is in the scrollback
//! already, another look has other rows, so some would be lost and others doubled.

use ratatui::text::Line;

use super::ink::{Inked, parts};
use crate::model::Look;
use crate::model::transcript::{Entry, EntryKind, Transcript};
use crate::render::Cache;

/// How far the transcript stands in the terminal's scrollback.
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
pub struct Place {
    pub entry: usize,
    pub part: usize,
}

/// A row for the scrollback.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedLine {
    pub line: Line<'static>,
    /// The part that begins with it.
    pub begins: Option<Place>,
}

/// Rows that have their code in colours where many are printed at once. Colours take a hundred times as long as the
/// words, and nobody reads a long session from its beginning to see them.
pub(super) const COLOURED: usize = 500;

/// What has settled since, and goes into the scrollback now; `printed` moves on. No more parts than make `most` rows, as
/// keys wait meanwhile: where more [`waits`], it comes with the next call.
pub fn settled(
    transcript: &Transcript,
    printed: &mut Printed,
    look: &Look,
    cache: &mut Cache,
    most: usize,
) -> Vec<PrintedLine> {
    *printed = Printed {
        reasoning: look.reasoning,
        ..since(transcript, printed)
    };
    let mut rows = Vec::new();
    let mut ink = Inked::new(transcript, look, cache);
    let coloured = newest(transcript, printed, &mut ink, COLOURED);
    while let Some(entry) = transcript.entries.get(printed.entries) {
        let upto = whole(entry);
        for part in printed.blocks..upto {
            if rows.len() >= most {
                printed.blocks = part;
                return rows;
            }
            let place = Place {
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
    ink: &mut Inked<'_>,
    entry: &Entry,
    place: Place,
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

/// What is printed, once more from the first of these parts on that can be: as it looks now.
pub fn again(
    transcript: &Transcript,
    printed: &Printed,
    look: &Look,
    cache: &mut Cache,
    parts_on_screen: &[Place],
) -> Option<(Place, Vec<PrintedLine>)> {
    let printed = since(transcript, printed);
    // Folded, all reasoning is one line, its first part.
    let refolded = printed.reasoning != look.reasoning;
    let mut can_begin = parts_on_screen.iter().filter(|place| {
        let entry = transcript.entries.get(place.entry);
        let thought = |entry: &Entry| matches!(entry.kind, EntryKind::Reasoning { .. });
        entry.is_some_and(|entry| place.part == 0 || !(refolded && thought(entry)))
    });
    let from = *can_begin.next()?;
    let mut ink = Inked::new(transcript, look, cache);
    let mut rows = Vec::new();
    for (index, entry) in transcript.entries.iter().enumerate().skip(from.entry) {
        let upto = match index.cmp(&printed.entries) {
            std::cmp::Ordering::Less => parts(entry),
            std::cmp::Ordering::Equal => printed.blocks,
            std::cmp::Ordering::Greater => break,
        };
        let first = if index == from.entry { from.part } else { 0 };
        for part in first..upto {
            let place = Place { entry: index, part };
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
    ink: &mut Inked<'_>,
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

/// How far it is printed of these entries: nothing, where they have begun anew.
pub(super) fn since(transcript: &Transcript, printed: &Printed) -> Printed {
    match printed.generation == transcript.generation {
        true => printed.clone(),
        false => Printed {
            generation: transcript.generation,
            ..Printed::default()
        },
    }
}
