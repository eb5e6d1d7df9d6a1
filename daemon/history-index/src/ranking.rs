//! Orders what was found, and leaves out what is of no use. Pure.

use std::collections::HashMap;

/// Hits below this share of the best score are dropped if they have common words only.
const FLOOR: f64 = 0.15;
/// A word is common if more than one of so many messages has it.
const COMMON: u64 = 20;
/// A word that fewer messages have is never common.
const COMMON_MIN: u64 = 20;
/// Tool results are many and long: what people and models said counts more.
const TOOL_WEIGHT: f64 = 0.5;

/// A message that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its row in the index.
    pub row: i64,
    pub pid: u64,
    pub seq: u64,
    pub at: i64,
    /// Whether it is the result of a tool.
    pub is_tool: bool,
    /// Messages with the same number are copies of one: a fork has those of its origin.
    pub same: i64,
    /// BM25: higher is better.
    pub relevance: f64,
    /// Terms of the query that it has, a bit each.
    pub terms: u32,
}

/// Whether a word that so many messages have is common.
#[must_use]
pub fn is_common(messages: u64, all: u64) -> bool {
    messages > COMMON_MIN && messages > all / COMMON
}

/// Leaves copies out, and orders the rest: best first, then the newest. `common` has a bit for each common term, `count`
/// is the number of all terms.
#[must_use]
pub fn rank(found: Vec<Candidate>, common: u32, count: u32) -> Vec<Candidate> {
    let score = |found: &Candidate| {
        let share = f64::from(found.terms.count_ones()) / f64::from(count.max(1));
        let weight = if found.is_tool { TOOL_WEIGHT } else { 1.0 };
        found.relevance.max(f64::MIN_POSITIVE) * share * weight
    };
    let mut ranked: Vec<(f64, Candidate)> = without_copies(found)
        .into_iter()
        .map(|found| (score(&found), found))
        .collect();
    ranked.sort_by(|(one_score, one), (other_score, other)| {
        other_score
            .total_cmp(one_score)
            .then_with(|| other.at.cmp(&one.at))
            .then_with(|| (one.pid, one.seq).cmp(&(other.pid, other.seq)))
    });
    let best = ranked.first().map_or(0.0, |(score, _)| *score);
    ranked.retain(|(score, found)| *score >= best * FLOOR || found.terms & !common != 0);
    ranked.into_iter().map(|(_, found)| found).collect()
}

/// Keeps the one of the oldest session.
fn without_copies(found: Vec<Candidate>) -> Vec<Candidate> {
    let mut oldest: HashMap<i64, u64> = HashMap::new();
    for found in &found {
        let pid = oldest.entry(found.same).or_insert(found.pid);
        *pid = (*pid).min(found.pid);
    }
    let mut kept = found;
    kept.retain(|found| oldest.get(&found.same) == Some(&found.pid));
    kept
}

#[cfg(test)]
mod tests;
