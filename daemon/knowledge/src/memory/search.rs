//! Finds facts by words: BM25, with the relevance floor of the history search. Pure.
//!
//! Words are those of the history index, and match whatever their English ending (their stems).

use std::collections::{HashMap, HashSet};

use history_index::stems::Stemmer;
use history_index::words::WordKind;

use super::stores::SavedFact;

/// How fast more of the same word counts less.
const K1: f64 = 1.2;
/// How much longer texts count less.
const B: f64 = 0.75;
/// How often words of name and description count.
const HEAD_WEIGHT: usize = 3;
/// Hits below this part of the best score are dropped, where all their matching words are common.
const FLOOR: f64 = 0.15;
/// English words that say nothing of what a message is about.
const COMMON: [&str; 76] = [
    "about", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "did", "do", "does", "for", "from", "get", "had", "has", "have", "how", "if", "in",
    "into", "is", "it", "its", "just", "let", "like", "make", "may", "me", "my", "no", "not",
    "now", "of", "on", "one", "or", "our", "out", "please", "should", "so", "some", "than", "that",
    "the", "them", "then", "there", "these", "they", "this", "those", "to", "use", "us", "was",
    "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you",
];

/// A fact that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FactHit<'a> {
    pub saved: &'a SavedFact,
    /// Of the words that were looked for, those that it has.
    pub words: usize,
    /// Its name or description has one of them.
    pub in_head: bool,
}

/// The facts that fit best, the best first.
#[must_use]
pub fn search<'a>(facts: &'a [SavedFact], query: &str, limit: usize) -> Vec<FactHit<'a>> {
    let facts: Vec<&SavedFact> = facts.iter().collect();
    let mut hits = ranked(&facts, words(query));
    hits.truncate(limit);
    hits
}

/// The facts that fit a message, the best first. Words that most messages have do not count, nor do single letters.
pub(super) fn matching<'a>(facts: &[&'a SavedFact], message: &str) -> Vec<FactHit<'a>> {
    let mut wanted = words(message);
    wanted.retain(|word| {
        let is_short = word.len() < 2;
        !is_short && !COMMON.contains(&word.as_str())
    });
    ranked(facts, wanted)
}

fn ranked<'a>(facts: &[&'a SavedFact], wanted: Vec<String>) -> Vec<FactHit<'a>> {
    let wanted: HashSet<String> = wanted.into_iter().collect();
    let mut documents: Vec<_> = facts.iter().map(|saved| Document::new(saved)).collect();
    let mut stemmer = Stemmer::new(wanted.iter().map(String::as_str));
    let of_facts = documents.iter().flat_map(|document| document.words.keys());
    stemmer.learn(of_facts.map(String::as_str));
    let stem = |word: String| stemmer.stem(&word).to_owned();
    for document in &mut documents {
        document.replace_words(&stem);
    }
    let wanted: HashSet<String> = wanted.into_iter().map(&stem).collect();
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
    for (&saved, document) in facts.iter().zip(&documents) {
        let (mut score, mut matching, mut rare, mut in_head) = (0.0, 0, false, false);
        for (word, &having) in &spread {
            let Some(&times) = document.words.get(*word) else {
                continue;
            };
            in_head |= document.head.contains(*word);
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
                in_head,
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
    hits.into_iter().map(|(_, _, hit)| hit).collect()
}

/// The words of a fact, and how often it has each.
struct Document {
    words: HashMap<String, usize>,
    /// Those of name and description.
    head: HashSet<String>,
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
            head: words(&head).into_iter().collect(),
            length,
        }
    }

    /// Puts other words in the place of its words. What were two words may be one then.
    fn replace_words(&mut self, replace: &dyn Fn(String) -> String) {
        let mut counts = HashMap::with_capacity(self.words.len());
        for (word, times) in self.words.drain() {
            *counts.entry(replace(word)).or_insert(0) += times;
        }
        self.words = counts;
        self.head = self.head.drain().map(replace).collect();
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }
}

/// The words of a text, as the history index has them.
fn words(text: &str) -> Vec<String> {
    let mut words = history_index::words::words(text);
    // It is part of the pair before it.
    words.retain(|word| word.kind != WordKind::Last { alone: false });
    words.into_iter().map(|word| word.text).collect()
}

#[cfg(test)]
mod tests;
