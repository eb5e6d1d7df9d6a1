//! The rules of a set by their effect, prepared for lookup: those that deny or ask, and those that allow.

use std::collections::HashMap;

use super::{find_domain, find_possible_domain, targets, targets_to_allow};
use crate::budget::Budget;
use crate::call::{Access, Call};
use crate::pathrules::{PathRules, PatternReach};
use crate::rule::{Matcher, Rule, Target};
use crate::shell::Word;
use crate::textrules::TextRules;

/// Rules that deny, or rules that ask.
#[derive(Debug)]
pub(crate) struct TighteningRules {
    pub(super) whole: HashMap<Target, usize>,
    pub(crate) texts: TextRules,
    pub(super) read: PathRules,
    pub(super) edit: PathRules,
    domains: Vec<(String, usize)>,
}

/// Rules that allow.
#[derive(Debug)]
pub(crate) struct AllowRules {
    pub(super) whole: HashMap<Target, usize>,
    lines: HashMap<String, usize>,
    prefixes: HashMap<String, usize>,
    /// Number of words in the longest prefix.
    prefix_words_max: usize,
    pub(super) read: PathRules,
    pub(super) edit: PathRules,
    domains: Vec<(String, usize)>,
}

impl TighteningRules {
    pub(super) fn new() -> Self {
        Self {
            whole: HashMap::new(),
            texts: TextRules::new(),
            read: PathRules::new(PatternReach::Below),
            edit: PathRules::new(PatternReach::Below),
            domains: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, rule: Rule, index: usize) {
        match rule.matcher {
            Matcher::Texts(patterns) => patterns
                .into_iter()
                .for_each(|pattern| self.texts.add(pattern, index)),
            Matcher::Path(pattern) if rule.target == Target::Read => self.read.add(&pattern, index),
            Matcher::Path(pattern) => self.edit.add(&pattern, index),
            Matcher::Domain(domain) => self.domains.push((domain, index)),
            // The forms of allow rules would match the whole family here.
            Matcher::All | Matcher::Line(_) | Matcher::Words(_) => {
                self.whole.entry(rule.target).or_insert(index);
            }
        }
    }

    pub(super) fn finish(&mut self) -> Vec<(usize, Target)> {
        let read = self
            .read
            .finish()
            .into_iter()
            .map(|index| (index, Target::Read));
        let edit = self
            .edit
            .finish()
            .into_iter()
            .map(|index| (index, Target::Edit));
        read.chain(edit).collect()
    }

    /// A rule for all calls of the tool or its family.
    pub(crate) fn whole(&self, call: &Call<'_>) -> Option<usize> {
        let named = targets(call)
            .iter()
            .find_map(|target| self.whole.get(target).copied());
        named.or_else(|| find_possible_domain(&self.domains, call))
    }

    /// A rule that could not be parsed, for calls that change something.
    pub(crate) fn unknown(&self) -> Option<usize> {
        self.whole.get(&Target::Unknown).copied()
    }

    /// A rule for all accesses of this kind, by any tool.
    pub(crate) fn family(&self, access: Access) -> Option<usize> {
        self.whole.get(&Target::of(access)).copied()
    }

    pub(crate) fn paths(&self, access: Access) -> &PathRules {
        match access {
            Access::Read => &self.read,
            Access::Edit => &self.edit,
        }
    }

    /// Whether any rule is about commands.
    pub(crate) fn has_bash(&self) -> bool {
        !self.texts.is_empty() || self.whole.contains_key(&Target::Bash)
    }

    /// Any rule over this access.
    pub(crate) fn any(&self, access: Access) -> Option<usize> {
        self.family(access).or_else(|| self.paths(access).first())
    }
}

impl AllowRules {
    pub(super) fn new() -> Self {
        Self {
            whole: HashMap::new(),
            lines: HashMap::new(),
            prefixes: HashMap::new(),
            prefix_words_max: 0,
            read: PathRules::new(PatternReach::Exact),
            edit: PathRules::new(PatternReach::Exact),
            domains: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, rule: Rule, index: usize) {
        match rule.matcher {
            Matcher::All => {
                self.whole.entry(rule.target).or_insert(index);
            }
            Matcher::Line(line) => {
                self.lines.entry(line).or_insert(index);
            }
            Matcher::Words(words) => {
                self.prefix_words_max = self.prefix_words_max.max(words.len());
                self.prefixes.entry(words.join("\0")).or_insert(index);
            }
            Matcher::Path(pattern) if rule.target == Target::Read => self.read.add(&pattern, index),
            Matcher::Path(pattern) => self.edit.add(&pattern, index),
            Matcher::Domain(domain) => self.domains.push((domain, index)),
            // Text patterns are only for rules that deny or ask: in a rule that allows they match nothing.
            Matcher::Texts(_) => {}
        }
    }

    pub(crate) fn whole(&self, call: &Call<'_>) -> Option<usize> {
        let named = targets_to_allow(call)
            .iter()
            .find_map(|target| self.whole.get(target).copied());
        named.or_else(|| find_domain(&self.domains, call))
    }

    pub(crate) fn line(&self, line: &str) -> Option<usize> {
        self.lines.get(line).copied()
    }

    /// The prefix rules that the words start with: the number of words that each names, and its index.
    pub(crate) fn prefixes(&self, words: &[Word], budget: &mut Budget) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut key = String::new();
        for (count, word) in words.iter().take(self.prefix_words_max).enumerate() {
            if count > 0 {
                key.push('\0');
            }
            key.push_str(&word.text);
            if !budget.take(1 + key.len() as u64 / 8) {
                break;
            }
            if let Some(index) = self.prefixes.get(&key) {
                found.push((count + 1, *index));
            }
        }
        found
    }

    pub(crate) fn paths(&self, access: Access) -> &PathRules {
        match access {
            Access::Read => &self.read,
            Access::Edit => &self.edit,
        }
    }
}
