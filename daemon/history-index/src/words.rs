//! Splits texts into the words that the index stores. Pure.
//!
//! Messages and queries are split by the same code. A word is a run of letters and digits in lower case, without
//! accents. Scripts without
//! blanks between words (Chinese, Japanese, …) become overlapping pairs of characters, and the last character of a run
//! by itself, so that every word of such a run is a phrase of pairs.

use std::ops::Range;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// Longest word in characters. The rest of a longer one is not indexed.
const WORD_MAX: usize = 48;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// Position in the original text, in bytes.
    pub range: Range<usize>,
    pub kind: WordKind,
}

/// How a word was taken from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// A run of letters and digits.
    Spaced,
    /// Two neighbouring characters of a script without blanks.
    Pair,
    /// The last character of a run of such a script.
    Last {
        /// The run has no other character.
        alone: bool,
    },
}

/// Whether a character belongs to a script that has no blanks between words.
#[must_use]
pub fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0eff}'      // Thai, Lao
        | '\u{1000}'..='\u{109f}'    // Myanmar
        | '\u{1100}'..='\u{11ff}'    // Hangul Jamo
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'    // Hiragana, Katakana
        | '\u{3130}'..='\u{318f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'    // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// The words of a text, in order.
#[must_use]
pub fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    visit(text, &mut |word, range, kind| {
        found.push(Word {
            text: word.to_owned(),
            range,
            kind,
        });
    });
    found
}

/// The words of a text with a blank between each two, as the index stores them.
#[must_use]
pub fn segmented(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + text.len() / 8);
    visit(text, &mut |word, _, _| {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    });
    line
}

/// Calls `take` for each word of a text.
pub(crate) fn visit(text: &str, take: &mut dyn FnMut(&str, Range<usize>, WordKind)) {
    let mut letters = text.char_indices().peekable();
    let mut word = String::new();
    while let Some((start, letter)) = letters.next() {
        if !letter.is_alphanumeric() {
            continue;
        }
        word.clear();
        push_folded(&mut word, letter);
        let mut end = start + letter.len_utf8();
        if !is_unspaced(letter) {
            let mut count = 1;
            while let Some((at, next)) = letters.next_if(|(_, next)| is_of_word(*next)) {
                count += 1;
                if count <= WORD_MAX {
                    push_folded(&mut word, next);
                }
                end = at + next.len_utf8();
            }
            word.truncate(verb_of(&word).len());
            take(&word, start..end, WordKind::Spaced);
            continue;
        }
        let (mut first, mut alone) = (start, true);
        while let Some((at, next)) =
            letters.next_if(|(_, next)| next.is_alphanumeric() && is_unspaced(*next))
        {
            let half = word.len();
            push_folded(&mut word, next);
            end = at + next.len_utf8();
            take(&word, first..end, WordKind::Pair);
            word.drain(..half);
            first = at;
            alone = false;
        }
        take(&word, first..end, WordKind::Last { alone });
    }
}

/// Whether a character continues a word of a script with blanks. An accent may stand behind its letter, as in names of
/// files on macOS.
fn is_of_word(letter: char) -> bool {
    match letter.is_alphanumeric() {
        true => !is_unspaced(letter),
        false => !letter.is_ascii() && is_combining_mark(letter),
    }
}

/// Adds a letter in lower case. One with an accent becomes the one without, a full-width one an ordinary one.
fn push_folded(word: &mut String, letter: char) {
    if letter.is_ascii() {
        word.push(letter.to_ascii_lowercase());
        return;
    }
    let mut push = |part: char| {
        // Accents by themselves are no letters.
        let small = part.to_lowercase();
        word.extend(small.filter(|small| small.is_alphanumeric()));
    };
    match is_unspaced(letter) {
        true => push(letter),
        false => decompose_compatible(letter, push),
    }
}

/// The verb of a noun as `deployment` or `payments`, else the word. Porter's stemmer ends the verb with `i` and the noun
/// with `y`, so that neither would find the other.
fn verb_of(word: &str) -> &str {
    let noun = word.strip_suffix('s').unwrap_or(word);
    let verb = noun.strip_suffix("ment").filter(|verb| {
        let stem = verb.strip_suffix('y');
        stem.is_some_and(|stem| stem.ends_with(['a', 'e', 'o', 'u']))
    });
    verb.unwrap_or(word)
}

#[cfg(test)]
mod tests;
