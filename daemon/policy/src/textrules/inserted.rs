//! Deny and ask rules over a command with patterns, which the shell replaces by file names (`git pus[h]`) or which stand
//! for an abbreviation, and with options between its subcommands.
//!
//! If in doubt, a rule may match. Called by `command`.

use super::{Pattern, PatternEnd, RuleMatch, TextRules};
use crate::budget::Budget;
use crate::shell::{self, Word};
use crate::wildcards::{may_be, may_contain};

impl TextRules {
    /// A rule that may match if the shell inserts the right file names into a command.
    pub(crate) fn find_inserted(
        &self,
        words: &[Word],
        program: &str,
        budget: &mut Budget,
    ) -> Option<RuleMatch> {
        if !self.speaks_of(program, budget) {
            return None;
        }
        for (pattern, rule) in &self.patterns {
            if !budget.take(1) {
                return Some(RuleMatch::Exhausted);
            }
            let mut rule_words = pattern.head.split(' ').filter(|word| !word.is_empty());
            let is_of_program = match rule_words.next() {
                Some(first) => program.starts_with(first),
                None => true,
            };
            if !is_of_program {
                continue;
            }
            if !budget.take(pattern.cost(words.len())) {
                return Some(RuleMatch::Exhausted);
            }
            if pattern.may_fit(words, program) {
                return Some(RuleMatch::Maybe(*rule));
            }
        }
        self.find_inserted_option(words, program)
    }

    /// A rule about options, if one of the inserted file names may be an option: `rm x [-]rf`.
    fn find_inserted_option(&self, words: &[Word], program: &str) -> Option<RuleMatch> {
        let spelling = self.spellings.get(program)?.first()?;
        let mut patterns = words.iter().skip(1).filter(|word| word.glob);
        let may_be_option = patterns.any(|word| may_be(&word.text, "-", true));
        may_be_option.then_some(RuleMatch::Maybe(spelling.rule))
    }
}

impl Pattern {
    /// How many comparisons `may_fit` makes at most.
    fn cost(&self, words: usize) -> u64 {
        let own = self.head.split(' ').count() + self.pieces.len();
        (own * words) as u64
    }

    /// Whether this matches after the shell has inserted file names, any number of words for each pattern, or without
    /// some options.
    fn may_fit(&self, words: &[Word], program: &str) -> bool {
        let rule: Vec<&str> = self
            .head
            .split(' ')
            .filter(|word| !word.is_empty())
            .collect();
        let opens = !self.pieces.is_empty() || self.end == PatternEnd::Open;
        let last_is_open = opens && !self.head.ends_with(' ');
        // The numbers of the rule's words that may be matched before the current word of the command.
        let mut matched = vec![false; rule.len() + 1];
        matched[0] = true;
        for (index, word) in words.iter().enumerate() {
            if matched[rule.len()] {
                break;
            }
            let fits = |own: usize| {
                let open = last_is_open && own + 1 == rule.len();
                let text = match index {
                    0 => program,
                    _ => word.text.as_str(),
                };
                match (word.glob, open) {
                    (true, _) => may_be(text, rule[own], open),
                    (false, true) => text.starts_with(rule[own]),
                    (false, false) => text == rule[own],
                }
            };
            let mut next = vec![false; rule.len() + 1];
            // Options may be between subcommands, perhaps with a value: `gh pr -R a/b merge`.
            let before = index.checked_sub(1).and_then(|before| words.get(before));
            let is_option = |word: &Word| word.text.starts_with('-');
            if index > 0 && (is_option(word) || before.is_some_and(is_option)) {
                next.clone_from(&matched);
            }
            for own in 0..rule.len() {
                if (matched[own] || word.glob && next[own]) && fits(own) {
                    next[own + 1] = true;
                }
            }
            matched = next;
        }
        let text = shell::join(words.iter().map(|word| word.text.as_str()));
        let has = |piece: &String| {
            let mut patterns = words.iter().filter(|word| word.glob);
            text.contains(piece.as_str())
                || patterns.any(|word| may_contain(&word.text, piece.trim()))
        };
        matched[rule.len()] && self.pieces.iter().all(has)
    }
}
