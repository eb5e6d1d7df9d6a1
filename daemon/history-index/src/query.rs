//! Reads what a user searches for, and writes it as expressions of FTS5. Pure.
//!
//! Words are separated by blanks, `"…"` is a phrase. Nothing else is syntax: every word is quoted, so that no text of a
//! user is an operator of FTS5.

use crate::words::{WordKind, is_unspaced, words};

/// Maximum number of terms.
pub const TERMS_MAX: usize = 32;
/// A run of a script without blanks is searched as one phrase up to this many characters; a longer one is a sentence,
/// of which each pair is a term.
const RUN_MAX: usize = 4;

/// Why a query cannot be searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("No search words were given.")]
    Empty,
    #[error("There are more than {TERMS_MAX} search words.")]
    TooLong,
}

/// One thing to find: a word, or words that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// As the index has them. Not empty.
    pub words: Vec<String>,
    /// The last word is the beginning of one: a single character of a script that is indexed in pairs.
    pub prefix: bool,
    /// The user wants these words next to each other: they are between quotation marks.
    pub quoted: bool,
}

impl Term {
    /// The term of a text. `None`: it has no words.
    fn new(text: &str, quoted: bool) -> Option<Self> {
        let mut found = words(text);
        let mut prefix = false;
        match found.last().map(|word| word.kind) {
            // The pairs before it say the same, and in messages it may be followed by others.
            Some(WordKind::Last { alone: false }) => drop(found.pop()),
            Some(WordKind::Last { alone: true }) => prefix = true,
            _ => {}
        }
        let words: Vec<String> = found.into_iter().map(|word| word.text).collect();
        (!words.is_empty()).then_some(Self {
            words,
            prefix,
            quoted,
        })
    }

    /// Its words apart, unless the user wants them next to each other: each pair of a script without blanks, and what is
    /// between such runs.
    fn parts(&self) -> Vec<Self> {
        if self.quoted {
            return vec![self.clone()];
        }
        let in_pairs = |word: &String| word.starts_with(is_unspaced);
        let runs = self
            .words
            .chunk_by(|one, other| !in_pairs(one) && !in_pairs(other));
        let terms = runs.map(|words| Self {
            words: words.to_vec(),
            prefix: self.prefix && words.len() == self.words.len(),
            quoted: false,
        });
        terms.collect()
    }

    /// Whether it is one word, which is found without looking at the words beside it.
    #[must_use]
    pub fn is_word(&self) -> bool {
        self.words.len() == 1
    }

    /// As an expression of FTS5.
    #[must_use]
    pub fn expression(&self) -> String {
        // Words are letters and digits, so there is no quotation mark in them to double.
        let star = if self.prefix { "*" } else { "" };
        format!("\"{}\"{star}", self.words.join(" "))
    }
}

/// The terms of a query, each once.
///
/// # Errors
/// There are none, or too many.
pub fn parse(text: &str) -> Result<Vec<Term>, QueryError> {
    let mut terms: Vec<Term> = Vec::new();
    let mut add = |term: Option<Term>| {
        if let Some(term) = term
            && !terms.contains(&term)
        {
            terms.push(term);
        }
    };
    for (index, part) in text.split('"').enumerate() {
        // Parts with odd numbers are between quotation marks. The last one may lack its end.
        if index % 2 == 1 {
            add(Term::new(part, true));
            continue;
        }
        for word in part.split_whitespace() {
            for piece in pieces(word) {
                add(Term::new(&piece, false));
            }
        }
    }
    match terms.len() {
        0 => Err(QueryError::Empty),
        count if count > TERMS_MAX => Err(QueryError::TooLong),
        _ => Ok(terms),
    }
}

/// The terms with the words of each apart, for a query that finds nothing: a script without blanks does not say where its
/// words end. `None`: all are apart already.
#[must_use]
pub fn apart(terms: &[Term]) -> Option<Vec<Term>> {
    let mut found: Vec<Term> = Vec::new();
    for term in terms.iter().flat_map(Term::parts) {
        if !found.contains(&term) && found.len() < TERMS_MAX {
            found.push(term);
        }
    }
    (found != terms).then_some(found)
}

/// A word as it is; of one with a long run of a script without blanks, the pairs of the run.
fn pieces(word: &str) -> Vec<String> {
    let longest = word
        .split(|letter: char| !is_unspaced(letter))
        .map(|run| run.chars().count())
        .max();
    if longest.is_none_or(|longest| longest <= RUN_MAX) {
        return vec![word.to_owned()];
    }
    let of_run = words(word).into_iter();
    of_run
        .filter(|word| word.kind != WordKind::Last { alone: false })
        .map(|word| word.text)
        .collect()
}

/// The words of terms.
pub fn words_of(terms: &[Term]) -> impl Iterator<Item = &str> {
    let words = terms.iter().flat_map(|term| &term.words);
    words.map(String::as_str)
}

/// Any of these terms.
#[must_use]
pub fn any_of<'a>(terms: impl Iterator<Item = &'a Term>) -> String {
    joined(terms, " OR ")
}

/// All of these terms.
#[must_use]
pub fn all_of<'a>(terms: impl Iterator<Item = &'a Term>) -> String {
    joined(terms, " AND ")
}

fn joined<'a>(terms: impl Iterator<Item = &'a Term>, operator: &str) -> String {
    let terms: Vec<String> = terms.map(Term::expression).collect();
    terms.join(operator)
}

#[cfg(test)]
mod tests;
