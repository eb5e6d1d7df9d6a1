//! Deny or ask rules over the text of commands, matched many at once.
//!
//! A byte trie over the fixed starts of all patterns: the work grows with the line, hardly with the number of rules. If
//! in doubt, matches too much; never used for allow rules. Called by `ruleset`.

mod inserted;

use std::collections::{HashMap, HashSet};

use crate::budget::Budget;

/// How a pattern ends after its last fixed piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternEnd {
    /// Anything may follow, even in the same word: `rm -rf*`.
    Open,
    /// The word must end there: `git push:*`.
    Word,
    /// Nothing may follow.
    Text,
}

/// One rule: `head`, then `pieces` in this order with anything in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) head: String,
    pub(crate) pieces: Vec<String>,
    pub(crate) end: PatternEnd,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleMatch {
    Rule(usize),
    /// Another spelling of the rule's command, or a text that may be one.
    Maybe(usize),
    /// The line is too long for so many rules.
    Exhausted,
}

/// Where in a text a pattern may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The text is one command.
    Start,
    /// The text contains commands at unknown positions.
    AnyWord,
}

#[derive(Debug)]
struct Node {
    byte: u8,
    child: Option<u32>,
    sibling: Option<u32>,
    /// Patterns whose head ends here.
    here: Vec<u32>,
}

/// The options that a rule names, to find other spellings of them.
#[derive(Debug)]
struct Spelling {
    rule: usize,
    /// Letters of its short options, in lower case.
    letters: Vec<char>,
    /// Names of its long options.
    longs: Vec<String>,
    operands: Vec<(String, bool)>,
}

/// A set of patterns with the indices of their rules.
#[derive(Debug)]
pub(crate) struct TextRules {
    patterns: Vec<(Pattern, usize)>,
    nodes: Vec<Node>,
    spellings: HashMap<String, Vec<Spelling>>,
}

impl TextRules {
    pub(crate) fn new() -> Self {
        let root = Node {
            byte: 0,
            child: None,
            sibling: None,
            here: Vec::new(),
        };
        Self {
            patterns: Vec::new(),
            nodes: vec![root],
            spellings: HashMap::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    pub(crate) fn add(&mut self, pattern: Pattern, rule: usize) {
        let mut at = 0_usize;
        for byte in pattern.head.bytes() {
            at = self.child_or_new(at, byte);
        }
        let index = self.patterns.len() as u32;
        self.nodes[at].here.push(index);
        self.add_spelling(&pattern, rule);
        self.patterns.push((pattern, rule));
    }

    fn child(&self, at: usize, byte: u8, budget: &mut Budget) -> Option<usize> {
        let mut next = self.nodes[at].child;
        while let Some(child) = next {
            if !budget.take(1) {
                return None;
            }
            let node = &self.nodes[child as usize];
            if node.byte == byte {
                return Some(child as usize);
            }
            next = node.sibling;
        }
        None
    }

    fn child_or_new(&mut self, at: usize, byte: u8) -> usize {
        if let Some(child) = self.child(at, byte, &mut Budget::new()) {
            return child;
        }
        let index = self.nodes.len();
        let sibling = self.nodes[at].child;
        self.nodes.push(Node {
            byte,
            child: None,
            sibling,
            here: Vec::new(),
        });
        self.nodes[at].child = Some(index as u32);
        index
    }

    fn add_spelling(&mut self, pattern: &Pattern, rule: usize) {
        let mut words = pattern.head.split(' ');
        let Some(program) = words.next().filter(|program| !program.is_empty()) else {
            return;
        };
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let last = words.len().saturating_sub(1);
        let mut spelling = Spelling {
            rule,
            letters: Vec::new(),
            longs: Vec::new(),
            operands: Vec::new(),
        };
        for (index, word) in words.iter().enumerate() {
            match word.strip_prefix("--") {
                Some(name) if !name.is_empty() => spelling.longs.push(name.to_ascii_lowercase()),
                _ => match word.strip_prefix('-') {
                    Some(letters) if !letters.is_empty() => {
                        spelling
                            .letters
                            .extend(letters.chars().map(|c| c.to_ascii_lowercase()));
                    }
                    _ => spelling.operands.push((
                        (*word).to_owned(),
                        index == last && pattern.end == PatternEnd::Open,
                    )),
                },
            }
        }
        for piece in &pattern.pieces {
            spelling.operands.extend(
                piece
                    .split(' ')
                    .filter(|part| !part.is_empty())
                    .map(|part| (part.to_owned(), true)),
            );
        }
        if !spelling.letters.is_empty() || !spelling.longs.is_empty() {
            self.spellings
                .entry(program.to_owned())
                .or_default()
                .push(spelling);
        }
    }

    /// Whether a rule has a `*` before other text, so that it may match any word of a line.
    pub(crate) fn looks_into_lines(&self) -> bool {
        self.patterns
            .iter()
            .any(|(pattern, _)| !pattern.pieces.is_empty())
    }

    /// Whether a rule may match a command of this program, whatever its other words are.
    pub(crate) fn speaks_of(&self, program: &str, budget: &mut Budget) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut at = 0_usize;
        for byte in program.bytes() {
            // A rule whose fixed part ends inside the name matches any continuation.
            if self.opens(at, budget) {
                return true;
            }
            match self.child(at, byte, budget) {
                Some(child) => at = child,
                // Out of steps: it may match.
                None => return !budget.take(1),
            }
        }
        let here = self.nodes.get(at).is_some_and(|node| !node.here.is_empty());
        here || self.child(at, b' ', budget).is_some() || !budget.take(1)
    }

    fn opens(&self, at: usize, budget: &mut Budget) -> bool {
        let here = self
            .nodes
            .get(at)
            .map_or(&[][..], |node| node.here.as_slice());
        here.iter().any(|index| {
            let pattern = self.patterns.get(*index as usize);
            let open = pattern.is_none_or(|(pattern, _)| {
                !pattern.pieces.is_empty() || pattern.end == PatternEnd::Open
            });
            open || !budget.take(1)
        })
    }

    /// The first rule that matches the text. Words in `text` are separated by one blank.
    pub(crate) fn find(
        &self,
        text: &str,
        anchor: Anchor,
        budget: &mut Budget,
    ) -> Option<RuleMatch> {
        if self.is_empty() {
            return None;
        }
        let mut tried = HashSet::new();
        let mut word = 0;
        loop {
            let end = text[word..]
                .find(' ')
                .map_or(text.len(), |length| word + length);
            // The program's directory does not matter: `/bin/rm` is `rm`.
            let base = text[word..end].rfind('/').map(|slash| word + slash + 1);
            for start in std::iter::once(word).chain(base) {
                if let Some(found) = self.find_at(text, start, anchor, &mut tried, budget) {
                    return Some(found);
                }
            }
            if anchor == Anchor::Start || end == text.len() {
                return None;
            }
            word = end + 1;
        }
    }

    fn find_at(
        &self,
        text: &str,
        start: usize,
        anchor: Anchor,
        tried: &mut HashSet<u32>,
        budget: &mut Budget,
    ) -> Option<RuleMatch> {
        let mut at = 0_usize;
        let mut position = start;
        loop {
            for index in &self.nodes[at].here {
                let (pattern, rule) = &self.patterns[*index as usize];
                // If pieces follow, the earliest head is as good as any later one.
                if !pattern.pieces.is_empty() && anchor == Anchor::AnyWord && !tried.insert(*index)
                {
                    continue;
                }
                let cost = if pattern.pieces.is_empty() {
                    1
                } else {
                    1 + (text.len() - position) as u64 / 8
                };
                if !budget.take(cost) {
                    return Some(RuleMatch::Exhausted);
                }
                if pattern.fits(text, position, anchor) {
                    return Some(RuleMatch::Rule(*rule));
                }
            }
            let byte = *text.as_bytes().get(position)?;
            match self.child(at, byte, budget) {
                Some(child) => at = child,
                None if budget.take(1) => return None,
                None => return Some(RuleMatch::Exhausted),
            }
            position += 1;
        }
    }

    /// Rules whose options occur in the words in another spelling or order. `certain`: the words are one command.
    pub(crate) fn find_spelling(
        &self,
        words: &[&str],
        certain: bool,
        budget: &mut Budget,
    ) -> Option<RuleMatch> {
        if self.spellings.is_empty() {
            return None;
        }
        let mut seen = HashSet::new();
        let count = if certain {
            words.len().min(1)
        } else {
            words.len()
        };
        let mut maybe = None;
        for (index, word) in words.iter().take(count).enumerate() {
            let program = word.rsplit('/').next().unwrap_or(word);
            let Some(spellings) = self.spellings.get(program) else {
                continue;
            };
            // The text after the first occurrence includes the text after later ones.
            if !seen.insert(program) {
                continue;
            }
            let given = GivenOptions::of(&words[index + 1..]);
            for spelling in spellings {
                if !budget
                    .take(4 + spelling.operands.len() as u64 * (1 + given.operands.len() as u64))
                {
                    return Some(RuleMatch::Exhausted);
                }
                match given.spells(spelling) {
                    Some(true) if certain => return Some(RuleMatch::Rule(spelling.rule)),
                    Some(_) => maybe = maybe.or(Some(RuleMatch::Maybe(spelling.rule))),
                    None => {}
                }
            }
        }
        maybe
    }
}

impl Pattern {
    /// Whether the rest of the pattern matches, if the head ended at `position`.
    fn fits(&self, text: &str, position: usize, anchor: Anchor) -> bool {
        // A head can end inside a character only if the pattern did; then it does not match.
        let Some(mut rest) = text.get(position..) else {
            return false;
        };
        let last = self.pieces.len().saturating_sub(1);
        for (index, piece) in self.pieces.iter().enumerate() {
            if index == last && self.end == PatternEnd::Text && anchor == Anchor::Start {
                return rest.ends_with(piece.as_str());
            }
            let Some(found) = rest.find(piece.as_str()) else {
                return false;
            };
            rest = &rest[found + piece.len()..];
        }
        match self.end {
            PatternEnd::Open => true,
            PatternEnd::Word => rest.is_empty() || rest.starts_with(' '),
            // The end of the command inside a longer line is unknown here.
            PatternEnd::Text => match anchor {
                Anchor::Start => rest.is_empty(),
                Anchor::AnyWord => rest.is_empty() || rest.starts_with(' '),
            },
        }
    }
}

/// The options of a command, in any order.
struct GivenOptions<'a> {
    letters: HashSet<char>,
    longs: Vec<String>,
    operands: Vec<&'a str>,
}

impl<'a> GivenOptions<'a> {
    fn of(words: &[&'a str]) -> Self {
        let mut given = Self {
            letters: HashSet::new(),
            longs: Vec::new(),
            operands: Vec::new(),
        };
        for word in words {
            if let Some(name) = word.strip_prefix("--").filter(|name| !name.is_empty()) {
                given
                    .longs
                    .push(name.split('=').next().unwrap_or(name).to_ascii_lowercase());
            } else if let Some(letters) =
                word.strip_prefix('-').filter(|letters| !letters.is_empty())
            {
                given
                    .letters
                    .extend(letters.chars().map(|c| c.to_ascii_lowercase()));
            } else {
                given.operands.push(word);
            }
        }
        given
    }

    /// `Some(true)`: it matches; `Some(false)`: it may match.
    fn spells(&self, rule: &Spelling) -> Option<bool> {
        let operands = rule.operands.iter().all(|(name, open)| {
            self.operands.iter().any(|word| {
                if *open {
                    word.starts_with(name.as_str())
                } else {
                    word == name
                }
            })
        });
        if !operands {
            return None;
        }
        let mut sure = true;
        for letter in &rule.letters {
            if !self.letters.contains(letter) {
                sure = false;
                if !self.longs.iter().any(|name| name.starts_with(*letter)) {
                    return None;
                }
            }
        }
        for long in &rule.longs {
            let name = long.split('=').next().unwrap_or(long);
            if !self
                .longs
                .iter()
                .any(|given| name.starts_with(given.as_str()) || given.starts_with(name))
            {
                sure = false;
                if !name
                    .chars()
                    .next()
                    .is_some_and(|letter| self.letters.contains(&letter))
                {
                    return None;
                }
            }
        }
        Some(sure)
    }
}
