//! Which part of a changed line is new.

use std::ops::Range;

use similar::{ChangeTag, TextDiff};

use super::parse::{Kind, Row};

/// Ranges of a line.
type Parts = Vec<Range<usize>>;

/// Longer lines are not compared, nor are more lines in one place.
const LINE_MAX: usize = 1_000;
const LINES_MAX: usize = 200;

/// Lines that have less in common are two different lines.
const ALIKE: f32 = 0.5;

/// The changed parts of each row.
pub(super) fn parts(rows: &[Row]) -> Vec<Parts> {
    let mut out = vec![Vec::new(); rows.len()];
    let mut at = 0;
    while at < rows.len() {
        let (removed, end) = run(rows, at, Kind::Removed);
        let (added, end) = run(rows, end, Kind::Added);
        for (old, new) in removed.into_iter().zip(added).take(LINES_MAX) {
            let texts = rows.get(old).zip(rows.get(new));
            let Some((before, after)) = texts.and_then(|(a, b)| compared(&a.text, &b.text)) else {
                continue;
            };
            for (place, ranges) in [(old, before), (new, after)] {
                if let Some(place) = out.get_mut(place) {
                    *place = ranges;
                }
            }
        }
        at = end.max(at + 1);
    }
    out
}

/// The rows of this kind from here on, skipping notes between them, and the index after them.
fn run(rows: &[Row], from: usize, kind: Kind) -> (Vec<usize>, usize) {
    let mut found = Vec::new();
    let mut at = from;
    while let Some(row) = rows.get(at) {
        match row.kind {
            Kind::Note => {}
            other if other == kind => found.push(at),
            _ => break,
        }
        at += 1;
    }
    (found, at)
}

/// The parts that are only in one of the two, by words.
fn compared(old: &str, new: &str) -> Option<(Parts, Parts)> {
    if old.len() > LINE_MAX || new.len() > LINE_MAX {
        return None;
    }
    let diff = TextDiff::from_unicode_words(old, new);
    if diff.ratio() < ALIKE {
        return None;
    }
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let (mut old_at, mut new_at) = (0, 0);
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Equal => {
                old_at += length;
                new_at += length;
            }
            ChangeTag::Delete => {
                grow(&mut before, old_at..old_at + length);
                old_at += length;
            }
            ChangeTag::Insert => {
                grow(&mut after, new_at..new_at + length);
                new_at += length;
            }
        }
    }
    Some((before, after))
}

fn grow(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}
