//! Finds facts by words: BM25, with the relevance floor of the history search. Pure.
//!
//! Letters of Chinese, Japanese and Korean have no blanks between words: each pair of neighbours counts as a word.

use std::collections::{HashMap, HashSet};

use super::stores::SavedFact;

/// How fast more of the same word counts less.
const K1: f64 = 1.2;
/// How much longer texts count less.
const B: f64 = 0.75;
/// How often words of name and description count.
const HEAD_WEIGHT: usize = 3;
/// Hits below this part of the best score are dropped, where all their matching words are common.
const FLOOR: f64 = 0.15;

/// A fact that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FactHit<'a> {
    pub saved: &'a SavedFact,
    /// Of the words that were looked for, those that it has.
    pub words: usize,
}

/// The facts that fit best, the best first.
#[must_use]
pub fn search<'a>(facts: &'a [SavedFact], query: &str, limit: usize) -> Vec<FactHit<'a>> {
    let wanted: HashSet<String> = words(query).into_iter().collect();
    let documents: Vec<_> = facts.iter().map(Document::new).collect();
    let count = documents.len() as f64;
    let length = documents
        .iter()
        .map(|document| document.length)
        .sum::<usize>() as f64;
    let average = (length / count.max(1.0)).max(1.0);
    // In how many facts each word is.
    let spread: HashMap<&str, f64> = wanted
        .iter()
        .map(|word| {
            let having = documents.iter().filter(|document| document.has(word));
            (word.as_str(), having.count() as f64)
        })
        .collect();
    let mut hits: Vec<(f64, bool, FactHit<'a>)> = Vec::new();
    for (saved, document) in facts.iter().zip(&documents) {
        let (mut score, mut matching, mut rare) = (0.0, 0, false);
        for (word, &having) in &spread {
            let Some(&times) = document.words.get(*word) else {
                continue;
            };
            let times = times as f64;
            let weight = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
            let long = 1.0 - B + B * document.length as f64 / average;
            score += weight * times * (K1 + 1.0) / (times + K1 * long);
            matching += 1;
            rare |= having * 4.0 <= count.max(4.0);
        }
        if matching > 0 {
            let hit = FactHit {
                saved,
                words: matching,
            };
            hits.push((score, rare, hit));
        }
    }
    hits.sort_by(|(one, _, a), (two, _, b)| {
        let by_name = || a.saved.fact.name.cmp(&b.saved.fact.name);
        two.total_cmp(one).then_with(by_name)
    });
    let best = hits.first().map_or(0.0, |(score, ..)| *score);
    hits.retain(|(score, rare, _)| *rare || *score >= best * FLOOR);
    hits.truncate(limit);
    hits.into_iter().map(|(_, _, hit)| hit).collect()
}

/// The words of a fact, and how often it has each.
struct Document {
    words: HashMap<String, usize>,
    length: usize,
}

impl Document {
    fn new(SavedFact { fact, .. }: &SavedFact) -> Self {
        let mut counts = HashMap::new();
        let mut length = 0;
        let head = format!("{} {}", fact.name, fact.description);
        for (text, weight) in [(head.as_str(), HEAD_WEIGHT), (&fact.content, 1)] {
            for word in words(text) {
                *counts.entry(word).or_insert(0) += weight;
                length += weight;
            }
        }
        Self {
            words: counts,
            length,
        }
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }
}

/// Words in small letters, and pairs of neighbouring letters of scripts without blanks.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in text.split(|letter: char| !letter.is_alphanumeric()) {
        let letters: Vec<char> = part.chars().flat_map(char::to_lowercase).collect();
        for run in letters.chunk_by(|a, b| is_cjk(*a) == is_cjk(*b)) {
            if run.first().copied().is_some_and(is_cjk) && run.len() > 1 {
                words.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
            } else {
                words.push(run.iter().collect());
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_cjk(letter: char) -> bool {
    matches!(letter,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests;
