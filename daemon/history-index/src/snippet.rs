//! One line of a message around the words that were found, with the places of those words. Pure.

use std::ops::Range;

use crate::query::Term;
use crate::stems::Stemmer;
use crate::words::{WordKind, visit};

/// Characters of a snippet.
const LENGTH: usize = 200;
/// Characters before the first word that was found.
const BEFORE: usize = 50;
/// Matches that are looked at. A text full of a word needs no more.
const MATCHES_MAX: usize = 500;

/// A line of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Has no control characters.
    pub text: String,
    /// Words that were found: first character and the one after the last, in order, without overlap.
    pub marks: Vec<(u64, u64)>,
}

/// The line of a text where most terms are, the first of them where several are as good.
/// The stemmer knows the words of the terms.
pub fn snippet(text: &str, terms: &[Term], stemmer: &mut Stemmer) -> Snippet {
    stemmer.learn_text(text);
    let found = matches(text, terms, stemmer);
    let best = found
        .iter()
        .enumerate()
        .map(|(index, (range, _))| {
            let near = |(other, _): &&(Range<usize>, usize)| other.end <= range.start + LENGTH;
            let near = found.iter().skip(index).take_while(near);
            let terms = near.fold(0_u32, |terms, (_, term)| terms | bit(*term));
            (terms.count_ones(), std::cmp::Reverse(index))
        })
        .max();
    let first = best.and_then(|(_, index)| found.get(index.0));
    let start = first.map_or(0, |(range, _)| range.start);
    let ranges: Vec<Range<usize>> = found.into_iter().map(|(range, _)| range).collect();
    line(text, start, &ranges)
}

fn bit(term: usize) -> u32 {
    1_u32
        .checked_shl(u32::try_from(term).unwrap_or(u32::MAX))
        .unwrap_or(0)
}

/// Where terms are, with the number of the term; in order.
fn matches(text: &str, terms: &[Term], stemmer: &Stemmer) -> Vec<(Range<usize>, usize)> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    // Of each term: how many of its words were read in a row, and where the first of them is.
    let mut read: Vec<(usize, usize)> = vec![(0, 0); terms.len()];
    visit(text, &mut |word, range, kind| {
        if found.len() >= MATCHES_MAX {
            return;
        }
        for (number, (term, (count, start))) in terms.iter().zip(&mut read).enumerate() {
            let fits = |at: usize| fits(term, at, word, kind, stemmer);
            if !fits(*count) {
                *count = 0;
            }
            if !fits(*count) {
                continue;
            }
            if *count == 0 {
                *start = range.start;
            }
            *count += 1;
            if *count == term.words.len() {
                *count = 0;
                let first = word_end(text, term, &range);
                found.push((*start..first, number));
            }
        }
    });
    found.sort_by_key(|(range, _)| (range.start, range.end));
    found
}

/// Whether a word of the text is the one at this place of the term.
fn fits(term: &Term, at: usize, word: &str, kind: WordKind, stemmer: &Stemmer) -> bool {
    let Some(wanted) = term.words.get(at) else {
        return false;
    };
    if term.prefix && at + 1 == term.words.len() {
        return word.starts_with(wanted.as_str());
    }
    let is_spaced = kind == WordKind::Spaced;
    word == wanted || is_spaced && stemmer.stem(word) == stemmer.stem(wanted)
}

/// The end of a match: of a pair that a single character has found, the first character.
fn word_end(text: &str, term: &Term, last: &Range<usize>) -> usize {
    let first = text.get(last.clone()).and_then(|word| word.chars().next());
    match first {
        Some(letter) if term.prefix => last.start + letter.len_utf8(),
        _ => last.end,
    }
}

/// A line from before `start` on, with the marks that are in it.
fn line(text: &str, start: usize, ranges: &[Range<usize>]) -> Snippet {
    let before = text.get(..start).unwrap_or_default();
    let from = before.char_indices().rev().take(BEFORE).last();
    let from = from.map_or(start, |(at, _)| at);
    let mut line = String::new();
    let mut marks: Vec<(u64, u64)> = Vec::new();
    let (mut count, mut blank, mut next) = (0_u64, true, 0);
    if from > 0 {
        line.push('…');
        count = 1;
    }
    let mut letters = text.get(from..).unwrap_or_default().char_indices();
    let mut is_cut = false;
    for (at, letter) in letters.by_ref() {
        let at = from + at;
        let is_gap = letter.is_control() || letter.is_whitespace() || is_invisible(letter);
        if is_gap && blank {
            continue;
        }
        if count + 1 >= LENGTH as u64 {
            is_cut = true;
            break;
        }
        while ranges.get(next).is_some_and(|range| range.end <= at) {
            next += 1;
        }
        let later = ranges.get(next..).unwrap_or_default();
        let marked = later
            .iter()
            .take_while(|range| range.start <= at)
            .any(|range| range.contains(&at));
        line.push(if is_gap { ' ' } else { letter });
        if marked {
            match marks.last_mut() {
                Some((_, end)) if *end == count => *end += 1,
                _ => marks.push((count, count + 1)),
            }
        }
        count += 1;
        blank = is_gap;
    }
    let rest = text.get(from..).unwrap_or_default();
    let line = line.trim_end();
    let has_more = is_cut && !rest.trim().is_empty();
    let tail = if has_more { "…" } else { "" };
    let length = line.chars().count() as u64;
    marks.retain_mut(|(first, end)| {
        *end = (*end).min(length);
        first < end
    });
    Snippet {
        text: format!("{line}{tail}"),
        marks,
    }
}

/// Characters that show nothing and turn the direction of the text around them.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
