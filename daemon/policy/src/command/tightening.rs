//! Deny and ask rules over the text of a line's commands.

use contract::Basis;
use proto::record::Verdict;

use super::names::{CommandName, OPTIONS_MAX, options_before};
use super::{CommandForms, quoted, target};
use crate::budget::Budget;
use crate::call::Access;
use crate::decide::{Finding, JudgeContext};
use crate::git;
use crate::programs;
use crate::ruleset::TighteningRules;
use crate::shell::{self, Doubt, Part, Word};
use crate::started;
use crate::textrules::{Anchor, RuleMatch};

impl CommandForms<'_> {
    /// Applies rules to the line as text, and to the text in it that is not understood.
    pub(super) fn rough_findings(&self, case: &mut JudgeContext<'_>) -> Vec<Finding> {
        let rules = case.rules;
        let mut findings = Vec::new();
        // A rule may name a whole line, including its operators.
        let whole = shell::join(self.command.split_whitespace());
        let rough = without_globals(self.rough.clone());
        for (list, verdict) in [(&rules.deny, Verdict::Deny), (&rules.ask, Verdict::Ask)] {
            let found = list.texts.find(&whole, Anchor::Start, &mut case.budget);
            let found = first_of(found, || find_rough(list, &rough, &mut case.budget));
            findings.extend(found.map(|found| finding(case, verdict, found)));
        }
        if let Some(doubt) = self.script.any_doubt()
            && rules.tightens_commands()
        {
            findings.push(unchecked(doubt));
        }
        findings
    }

    /// Applies rules to one part.
    pub(super) fn tightened(&self, case: &mut JudgeContext<'_>, part: &Part) -> Vec<Finding> {
        let rules = case.rules;
        let mut findings = Vec::new();
        if part.words.is_empty() && part.redirections.is_empty() {
            return findings;
        }
        // Awk, sed and make run lines that no rule is tried against.
        if part.doubt.is_none() && rules.tightens_commands() && started::may_run_code(part) {
            findings.push(unchecked(Doubt::Code));
        }
        let forms = Forms::of(self, part);
        for (list, verdict) in [(&rules.deny, Verdict::Deny), (&rules.ask, Verdict::Ask)] {
            let found = forms.find(list, &mut case.budget);
            findings.extend(found.map(|found| finding(case, verdict, found)));
            // Only a rule with a `*` before other text can be about the files of redirections.
            let file = forms
                .open_file
                .as_ref()
                .filter(|_| list.texts.looks_into_lines());
            if let Some(word) = forms.open.as_ref().or(file)
                && list.texts.speaks_of(forms.program, &mut case.budget)
            {
                findings.push(unknown_word(word, forms.program, verdict));
            }
        }
        findings
    }
}

/// The finding about a word of unknown value, if a rule of this kind is about its program.
fn unknown_word(word: &str, program: &str, verdict: Verdict) -> Finding {
    let word = quoted(word);
    let reason = match verdict {
        Verdict::Deny => format!(
            "the value of {word} is only known at run time, and a deny rule names `{program}`"
        ),
        Verdict::Ask | Verdict::Allow => format!(
            "the value of {word} is only known at run time, and an ask rule names `{program}`"
        ),
    };
    Finding::built_in(Verdict::Ask, Basis::NotAnalysed, reason).firm()
}

fn unchecked(doubt: Doubt) -> Finding {
    let reason = format!(
        "the deny and ask rules cannot be fully checked: {}",
        doubt.words()
    );
    Finding::built_in(Verdict::Ask, Basis::NotAnalysed, reason).firm()
}

fn finding(case: &JudgeContext<'_>, verdict: Verdict, found: RuleMatch) -> Finding {
    match found {
        RuleMatch::Rule(index) => Finding::rule(verdict, case.rules, index),
        RuleMatch::Maybe(index) => {
            let mut finding = Finding::rule(Verdict::Ask, case.rules, index).firm();
            finding.rule = format!("this may be another spelling of `{}`", finding.rule);
            finding
        }
        RuleMatch::Exhausted => {
            let reason = match verdict {
                Verdict::Deny => "the command is too long to check against all deny rules",
                Verdict::Ask | Verdict::Allow => {
                    "the command is too long to check against all ask rules"
                }
            };
            Finding::built_in(verdict, Basis::NotAnalysed, reason).firm()
        }
    }
}

/// Prefers a certain match to an uncertain one.
fn first_of(
    found: Option<RuleMatch>,
    next: impl FnOnce() -> Option<RuleMatch>,
) -> Option<RuleMatch> {
    match found {
        None => next(),
        Some(RuleMatch::Maybe(index)) => match next() {
            Some(sure @ (RuleMatch::Rule(_) | RuleMatch::Exhausted)) => Some(sure),
            _ => Some(RuleMatch::Maybe(index)),
        },
        found => found,
    }
}

/// Tries rules at every word of text that is not understood.
fn find_rough(list: &TighteningRules, texts: &[String], budget: &mut Budget) -> Option<RuleMatch> {
    let mut found = None;
    for text in texts {
        found = first_of(found, || list.texts.find(text, Anchor::AnyWord, budget));
        found = first_of(found, || {
            let words: Vec<&str> = text.split(' ').collect();
            list.texts.find_spelling(&words, false, budget)
        });
    }
    found
}

/// One command in all its spellings.
struct Forms<'p> {
    program: &'p str,
    /// The command by all its names, with and without the options before its subcommand.
    names: Vec<CommandName<'p>>,
    /// Further texts that certainly are this command.
    texts: Vec<String>,
    /// Texts that may contain further commands.
    rough: Vec<String>,
    /// A word whose value is unknown.
    open: Option<String>,
    /// The name of a file, given to the shell, whose value is unknown.
    open_file: Option<String>,
}

impl<'p> Forms<'p> {
    fn of(line: &CommandForms<'_>, part: &'p Part) -> Self {
        let program = part.words.first();
        let program = program.map_or("", |program| programs::base(&program.text));
        let mut names = CommandName::all(&part.words);
        names.extend(CommandName::with_files(part));
        let rough = if programs::holds_commands(&part.words) {
            let raw = line
                .command
                .get(part.span.start..part.span.end)
                .unwrap_or_default();
            let mut rough = shell::readings(raw);
            for name in &names {
                rough.extend(shell::readings(&name.text()));
            }
            rough.dedup();
            without_globals(rough)
        } else {
            Vec::new()
        };
        // The body of a loop may have changed the loop's variable.
        let unknown =
            |word: &&Word| !matches!(word.value, shell::Value::Known | shell::Value::Listed);
        let open = part.words.iter().find(unknown);
        let open_file = files_of(part).map(|(word, _)| word).find(unknown);
        let many = options_before(&part.words) > OPTIONS_MAX;
        Self {
            program,
            open: open
                .map(|word| word.text.clone())
                .or_else(|| many.then(|| "…".to_owned())),
            open_file: open_file.map(|word| word.text.clone()),
            texts: with_redirections(part).into_iter().collect(),
            names,
            rough,
        }
    }

    fn find(&self, list: &TighteningRules, budget: &mut Budget) -> Option<RuleMatch> {
        let mut found = None;
        let texts = self.texts.iter().map(|text| (text.clone(), true));
        let names = self.names.iter().map(|name| (name.text(), name.certain));
        for (text, certain) in texts.chain(names) {
            found = first_of(found, || {
                let found = list.texts.find(&text, Anchor::Start, budget);
                if_certain(found, certain)
            });
        }
        // The order of options does not matter here, so those before a subcommand need not be left out.
        for name in self.names.iter().filter(|name| name.is_whole) {
            found = first_of(found, || {
                let found = list.texts.find_spelling(&name.words(), true, budget);
                if_certain(found, name.certain)
            });
        }
        for name in self.names.iter().filter(|name| name.may_differ()) {
            found = first_of(found, || name.find_inserted(list, budget));
        }
        first_of(found, || find_rough(list, &self.rough, budget))
    }
}

fn if_certain(found: Option<RuleMatch>, certain: bool) -> Option<RuleMatch> {
    match found {
        Some(RuleMatch::Rule(index)) if !certain => Some(RuleMatch::Maybe(index)),
        found => found,
    }
}

/// The files that the shell opens for a part.
fn files_of(part: &Part) -> impl Iterator<Item = (&Word, Access)> {
    part.redirections.iter().filter_map(target)
}

/// A part with the files that the shell opens for it, without quotes: `cat < a`.
fn with_redirections(part: &Part) -> Option<String> {
    let mut words: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
    let own = words.len();
    for (word, access) in files_of(part) {
        words.push(match access {
            Access::Read => "<",
            Access::Edit => ">",
        });
        words.push(&word.text);
    }
    (words.len() > own).then(|| shell::join(words.into_iter()))
}

/// Adds each text again without the global options of `git`, if it has any.
fn without_globals(mut texts: Vec<String>) -> Vec<String> {
    let mut more = Vec::new();
    for text in &texts {
        let mut kept = Vec::new();
        let mut left_out = false;
        let mut words = text.split(' ').peekable();
        while let Some(word) = words.next() {
            kept.push(word);
            if programs::base(word) != "git" {
                continue;
            }
            while let Some(valued) = words.peek().and_then(|word| git::global(word)) {
                words.next();
                if valued {
                    words.next();
                }
                left_out = true;
            }
        }
        if left_out {
            more.push(shell::join(kept.into_iter()));
        }
    }
    texts.append(&mut more);
    texts
}
