//! Deny and ask rules over the text of a line's commands.

use contract::Basis;
use proto::record::Verdict;

use super::{CommandForms, quoted};
use crate::budget::Budget;
use crate::decide::{Finding, JudgeContext};
use crate::git;
use crate::programs;
use crate::ruleset::TighteningRules;
use crate::shell::{self, Doubt, Part, Word};
use crate::started;
use crate::tables::tables;
use crate::textrules::{Anchor, RuleMatch};

/// Maximum options before a subcommand to skip.
const OPTIONS_MAX: usize = 32;
/// Maximum words of a command in which options between subcommands are skipped.
const SKIPPED_MAX: usize = 64;

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
        if part.words.is_empty() {
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
            if let Some(word) = &forms.open
                && list.texts.speaks_of(forms.program, &mut case.budget)
            {
                let (word, program) = (quoted(word), forms.program);
                let reason = match verdict {
                    Verdict::Deny => format!(
                        "the value of {word} is only known at run time, and a deny rule names `{program}`"
                    ),
                    Verdict::Ask | Verdict::Allow => format!(
                        "the value of {word} is only known at run time, and an ask rule names `{program}`"
                    ),
                };
                let ask = Finding::built_in(Verdict::Ask, Basis::NotAnalysed, reason);
                findings.push(ask.firm());
            }
        }
        findings
    }
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
    words: Vec<&'p str>,
    /// Each text, and whether it is certainly the same command.
    texts: Vec<(String, bool)>,
    /// The words of each text, if some of them may stand for others (patterns) or be skipped (options).
    inserted: Vec<Vec<Word>>,
    /// Texts that may contain further commands.
    rough: Vec<String>,
    /// A word whose value is unknown.
    open: Option<String>,
}

impl<'p> Forms<'p> {
    fn of(line: &CommandForms<'_>, part: &'p Part) -> Self {
        let words: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
        let mut texts = vec![(part.text(), true)];
        let variants = variants(&part.words);
        texts.extend(variants.iter().map(|(from, certain)| {
            let words = without(&part.words, *from);
            (shell::join(words.map(|word| word.text.as_str())), *certain)
        }));
        let program = words.first().map_or("", |program| programs::base(program));
        let starts = std::iter::once(0).chain(variants.iter().map(|(from, _)| *from));
        let inserted =
            starts.map(|from| with_short_subcommand(program, without(&part.words, from)));
        let may_differ = |words: &Vec<Word>| {
            let is_option = |word: &Word| word.text.starts_with('-');
            words.iter().any(|word| word.glob)
                || words.len() <= SKIPPED_MAX && words.iter().skip(2).any(is_option)
        };
        let inserted = inserted.filter(may_differ).collect();
        texts.extend(other_names(program, &words));
        let rough = if programs::holds_commands(&part.words) {
            let raw = line
                .command
                .get(part.span.start..part.span.end)
                .unwrap_or_default();
            let mut rough = shell::readings(raw);
            for (text, _) in &texts {
                rough.extend(shell::readings(text));
            }
            rough.dedup();
            without_globals(rough)
        } else {
            Vec::new()
        };
        // The body of a loop may have changed the loop's variable.
        let open = part
            .words
            .iter()
            .find(|word| word.value != shell::Value::Known);
        let many = options_before(&part.words) > OPTIONS_MAX;
        Self {
            program,
            open: open
                .map(|word| word.text.clone())
                .or_else(|| many.then(|| "…".to_owned())),
            words,
            texts,
            inserted,
            rough,
        }
    }

    fn find(&self, list: &TighteningRules, budget: &mut Budget) -> Option<RuleMatch> {
        let mut found = None;
        for (text, certain) in &self.texts {
            found = first_of(found, || {
                let found = list.texts.find(text, Anchor::Start, budget);
                found.map(|found| match found {
                    RuleMatch::Rule(index) if !certain => RuleMatch::Maybe(index),
                    found => found,
                })
            });
        }
        found = first_of(found, || {
            list.texts.find_spelling(&self.words, true, budget)
        });
        for words in &self.inserted {
            found = first_of(found, || {
                list.texts.find_inserted(words, self.program, budget)
            });
        }
        first_of(found, || find_rough(list, &self.rough, budget))
    }
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

fn options_before(words: &[Word]) -> usize {
    words
        .iter()
        .skip(1)
        .take_while(|word| word.text.starts_with(['-', '+']))
        .count()
}

/// The command by other names of its program or subcommand: `git-push` is `git push`, `pip3` may be `pip`, and
/// `docker container run` is `docker run`.
fn other_names(program: &str, words: &[&str]) -> Vec<(String, bool)> {
    let Some((_, rest)) = words.split_first() else {
        return Vec::new();
    };
    let joined = |first: &[&str], rest: &[&str]| {
        let words = first.iter().chain(rest).copied();
        (shell::join(words), false)
    };
    let mut found = Vec::new();
    if let Some(subcommand) = program.strip_prefix("git-") {
        found.push(joined(&["git", subcommand], rest));
    }
    let plain = programs::unversioned(program);
    if plain != program && !plain.is_empty() {
        found.push(joined(&[plain], rest));
    }
    let is_client = matches!(program, "docker" | "nerdctl" | "podman");
    if let Some(("builder" | "buildx" | "container" | "image" | "system", rest)) =
        rest.split_first().map(|(kind, rest)| (*kind, rest))
        && is_client
    {
        found.push(joined(&[program], rest));
    }
    found
}

/// The words, with a pattern for a subcommand that may be short for others: `npm pub` is `npm pub*`.
fn with_short_subcommand<'w>(program: &str, words: impl Iterator<Item = &'w Word>) -> Vec<Word> {
    let mut words: Vec<Word> = words.cloned().collect();
    let is_short = tables().shortened_subcommands.contains_key(program);
    if let Some(subcommand) = words.get_mut(1).filter(|word| is_short && word.is_known())
        && !subcommand.text.starts_with('-')
    {
        subcommand.text.push('*');
        subcommand.glob = true;
    }
    words
}

/// The program, and its words without the first `from` ones.
fn without(words: &[Word], from: usize) -> impl Iterator<Item = &Word> {
    let rest = words.iter().skip(1 + from);
    words.iter().take(1).chain(rest)
}

/// How many words after the program to leave out, to get the command without the options before its subcommand. `true`:
/// certainly the same command; `false`: only if a removed word was an option's value.
fn variants(words: &[Word]) -> Vec<(usize, bool)> {
    let Some((program, rest)) = words.split_first() else {
        return Vec::new();
    };
    if programs::base(&program.text) == "git" {
        let from = git::globals(words) - 1;
        return if from == 0 {
            Vec::new()
        } else {
            vec![(from, true)]
        };
    }
    let mut found = Vec::new();
    let mut certain = true;
    let mut after_option = false;
    for (index, word) in rest.iter().enumerate().take(OPTIONS_MAX) {
        let text = word.text.as_str();
        let is_option = text.starts_with(['-', '+']);
        if !is_option && !after_option {
            break;
        }
        certain &= is_option;
        after_option = is_option && !text.contains('=');
        found.push((index + 1, certain));
    }
    found
}
