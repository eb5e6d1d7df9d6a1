//! Deny and ask rules over a command with patterns, which the shell replaces by file names (`git pus[h]`) or which stand
//! for an abbreviation, and with options between its subcommands.
//!
//! If in doubt, a rule may match. Called by `command`.

use std::borrow::Cow;

use super::{Pattern, PatternEnd, RuleMatch, Spelling, TextRules};
use crate::budget::{Budget, Exhausted};
use crate::shell::{self, Word};
use crate::tables::tables;
use crate::wildcards::{may_be, may_contain};

/// The words of a command after its program.
type Arguments<'w> = [Cow<'w, Word>];

impl TextRules {
    /// A rule that may match if the shell inserts the right file names into a command.
    pub(crate) fn find_inserted(
        &self,
        program: &str,
        arguments: &Arguments<'_>,
        budget: &mut Budget,
    ) -> Option<RuleMatch> {
        if !self.speaks_of(program, budget) {
            return None;
        }
        let words = std::iter::once(program).chain(arguments.iter().map(|word| word.text.as_str()));
        let text = shell::join(words);
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
            match pattern.may_fit(program, arguments, &text, budget) {
                Ok(true) => return Some(RuleMatch::Maybe(*rule)),
                Ok(false) => {}
                Err(Exhausted) => return Some(RuleMatch::Exhausted),
            }
        }
        None
    }

    /// A rule about options, if one of the inserted file names may be an option: `rm x [-]rf`, `rm *`.
    pub(crate) fn find_inserted_option(
        &self,
        program: &str,
        arguments: &Arguments<'_>,
        budget: &mut Budget,
    ) -> Option<RuleMatch> {
        let spellings = self.spellings.get(program)?;
        let before_dashes = || arguments.iter().take_while(|word| word.text != "--");
        let mut patterns = before_dashes().filter(|word| word.glob);
        if patterns.any(|word| may_be(&word.text, "-", true)) {
            return spellings
                .first()
                .map(|spelling| RuleMatch::Maybe(spelling.rule));
        }
        let mut stars = before_dashes().filter(|word| word.glob && word.text.starts_with('*'));
        if !stars.any(|word| may_be_option_of(program, &word.text)) {
            return None;
        }
        for spelling in spellings {
            let cost = 1 + spelling.operands.len() * (1 + arguments.len());
            if !budget.take(cost as u64) {
                return Some(RuleMatch::Exhausted);
            }
            if spelling.may_have_operands(arguments) {
                return Some(RuleMatch::Maybe(spelling.rule));
            }
        }
        None
    }
}

/// Whether a file name that replaces a pattern with a star at its start may be an option that the program accepts.
/// Options without values consist of letters, digits and dashes: `*.o` stands for none of `rm`.
fn may_be_option_of(program: &str, pattern: &str) -> bool {
    let may_be_in_option = |c: char| c.is_ascii_alphanumeric() || "-_*?[]".contains(c);
    !tables().flag_only_programs.contains(program) || pattern.chars().all(may_be_in_option)
}

impl Spelling {
    /// Whether the rule's words besides its options may be among the arguments. A pattern of files hardly stands for a
    /// subcommand, unless it is first.
    fn may_have_operands(&self, arguments: &Arguments<'_>) -> bool {
        self.operands.iter().all(|(name, open)| {
            let mut words = arguments.iter().enumerate();
            words.any(|(index, word)| match (word.glob, *open) {
                (true, _) if index > 0 && word.text.starts_with('*') => false,
                (true, _) if name.contains('/') && !word.text.contains('/') => false,
                (true, open) => may_be(&word.text, name, open),
                (false, true) => word.text.starts_with(name.as_str()),
                (false, false) => word.text == *name,
            })
        })
    }
}

impl Pattern {
    /// Whether this matches after the shell has inserted file names, any number of words for each pattern, or without
    /// some options. `text`: the whole command.
    fn may_fit(
        &self,
        program: &str,
        arguments: &Arguments<'_>,
        text: &str,
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        let rule: Vec<&str> = self
            .head
            .split(' ')
            .filter(|word| !word.is_empty())
            .collect();
        let opens = !self.pieces.is_empty() || self.end == PatternEnd::Open;
        let last_is_open = opens && !self.head.ends_with(' ');
        let is_open = |own: usize| last_is_open && own + 1 == rule.len();
        // The numbers of the rule's words that may be matched before the current word of the command.
        let mut matched = vec![false; rule.len() + 1];
        let mut next = matched.clone();
        match rule.first() {
            None => matched[0] = true,
            Some(first) => {
                matched[1] = program == *first || is_open(0) && program.starts_with(first)
            }
        }
        let mut follows_option = false;
        for word in arguments {
            if matched[rule.len()] || !matched.contains(&true) {
                break;
            }
            let length = if word.glob { word.text.len() } else { 0 };
            budget.spend((1 + rule.len() + length) as u64)?;
            let fits = |own: usize| match (word.glob, is_open(own)) {
                (true, open) => may_be(&word.text, rule[own], open),
                (false, true) => word.text.starts_with(rule[own]),
                (false, false) => word.text == rule[own],
            };
            // Options may be between subcommands, perhaps with a value: `gh pr -R a/b merge`.
            let is_option = word.text.starts_with('-');
            if is_option || follows_option {
                next.clone_from(&matched);
            } else {
                next.fill(false);
            }
            follows_option = is_option;
            for own in 0..rule.len() {
                if (matched[own] || word.glob && next[own]) && fits(own) {
                    next[own + 1] = true;
                }
            }
            std::mem::swap(&mut matched, &mut next);
        }
        if !matched[rule.len()] {
            return Ok(false);
        }
        budget.spend((self.pieces.len() * (1 + arguments.len())) as u64)?;
        let has = |piece: &String| {
            let mut patterns = arguments.iter().filter(|word| word.glob);
            text.contains(piece.as_str())
                || patterns.any(|word| may_contain(&word.text, piece.trim()))
        };
        Ok(self.pieces.iter().all(has))
    }
}
