//! Decides whether a line is allowed: by a rule for all commands or for exactly this line, or part by part, by a rule
//! or because the part is harmless.

use contract::Basis;
use proto::record::Verdict;

use super::{CommandForms, quoted, unknown, unknown_part};
use crate::decide::{Finding, JudgeContext};
use crate::options;
use crate::ruleset::Layer;
use crate::shell::{self, Doubt, NestingStep, Part, Redirection, Value};

/// The finding that allows a line, or that nothing does.
pub(super) struct AllowFindings {
    pub(super) whole: Finding,
    /// For each part. If the line is allowed as a whole, so is each part.
    pub(super) of_parts: Vec<Finding>,
}

/// A part covered by a prefix rule.
#[derive(Clone, Copy)]
struct Cover {
    rule: usize,
    /// Number of words that the rule names.
    named: usize,
}

impl CommandForms<'_> {
    /// Applies allow rules, built-in read-only programs and the fallback.
    pub(super) fn allowed(&self, case: &mut JudgeContext<'_>) -> AllowFindings {
        let count = self.script.parts.len();
        let all = |whole: Finding| AllowFindings {
            of_parts: vec![whole.clone(); count],
            whole,
        };
        let hard = self.script.is_hard();
        let rules = case.rules;
        let covers_all = rules.allow.whole(case.call);
        if let Some(name) = self.changed {
            // Only a rule for all commands applies, because the effect of this line is unknown.
            return all(match covers_all.filter(|_| !hard) {
                Some(index) => Finding::rule(Verdict::Allow, rules, index),
                None => changed_before(name, hard),
            });
        }
        let line = || rules.allow.line(shell::trim(self.command));
        if let Some(index) = covers_all.or_else(line).filter(|_| !hard) {
            return all(Finding::rule(Verdict::Allow, rules, index));
        }
        if let Some(doubt) = self.script.doubt {
            return all(unknown(doubt));
        }
        let mut covers: Vec<Option<Cover>> = Vec::with_capacity(count);
        let mut of_parts = Vec::with_capacity(count);
        for (index, part) in self.script.parts.iter().enumerate() {
            let (finding, cover) = self.part(case, index, part, &covers);
            covers.push(cover);
            of_parts.push(finding);
        }
        let asked = of_parts
            .iter()
            .find(|finding| finding.verdict != Verdict::Allow);
        let ruled = of_parts.iter().find(|finding| finding.basis == Basis::Rule);
        let whole = asked.or(ruled).or_else(|| of_parts.first());
        AllowFindings {
            whole: whole.cloned().unwrap_or_else(|| unknown(Doubt::Empty)),
            of_parts,
        }
    }

    /// The finding for one part: allowed, or not.
    fn part(
        &self,
        case: &mut JudgeContext<'_>,
        index: usize,
        part: &Part,
        covers: &[Option<Cover>],
    ) -> (Finding, Option<Cover>) {
        let rules = case.rules;
        let reads = self.reading(index).is_some();
        let above = part
            .parent
            .and_then(|parent| covers.get(parent).copied().flatten());
        // The rule names both the launcher and the launched program.
        if let (Some(cover), Some(offset)) = (above, part.offset)
            && cover.named > offset
        {
            let own = Cover {
                named: cover.named - offset,
                ..cover
            };
            return (Finding::rule(Verdict::Allow, rules, cover.rule), Some(own));
        }
        if let Some(doubt) = part.doubt {
            return (unknown_part(doubt, part), None);
        }
        let why = match self.not_plain(part) {
            Some(why) => Some(why),
            None => match self.covered(case, part) {
                Ok(cover) => {
                    let finding = Finding::rule(Verdict::Allow, rules, cover.rule);
                    return (finding, Some(cover));
                }
                Err(why) => why,
            },
        };
        if reads {
            let finding = Finding::built_in(Verdict::Allow, Basis::Fallback, "only reads");
            return (finding, None);
        }
        let mut finding = JudgeContext::writer_fallback();
        // If a launcher is not allowed itself, the reason is usually the launched program.
        let mut launched = self.script.parts.iter().skip(index);
        let below = |other: &&Part| other.parent == Some(index);
        let beside = self
            .program_run_by_git(part)
            .or_else(|| {
                launched
                    .find(below)
                    .and_then(|part| self.program_run_by_git(part))
            })
            .map(beside);
        if let Some(why) = beside.or(why) {
            finding.rule = format!("{}: {why}", finding.rule);
        }
        if part.words.iter().any(|word| !word.is_known()) {
            finding.basis = Basis::NotAnalysed;
        }
        (finding, None)
    }

    /// The prefix rule that covers a part, or why none does.
    fn covered(&self, case: &mut JudgeContext<'_>, part: &Part) -> Result<Cover, Option<String>> {
        let mut why = None;
        let words = part.words.as_slice();
        let rules = case.rules;
        let found = rules.allow.prefixes(words, &mut case.budget);
        // A user who allowed `git diff` everywhere has not seen what it runs in this directory.
        let beside = self.program_run_by_git(part);
        // The longest first: it leaves the fewest words to the caller.
        for (named, rule) in found.into_iter().rev() {
            if !case.budget.take(words.len() as u64 * 64) {
                break;
            }
            let general = matches!(rules.source(rule).layer, Layer::User | Layer::Project);
            let risk = match beside.filter(|_| general) {
                Some(program) => Some(self::beside(program)),
                None => options::risk(words, named),
            };
            match risk {
                None => return Ok(Cover { rule, named }),
                Some(risk) => why = why.or(Some(risk)),
            }
        }
        Err(why)
    }

    /// Why no prefix rule covers a part, whatever its words are.
    fn not_plain(&self, part: &Part) -> Option<String> {
        let said = |why: &str| Some(why.to_owned());
        if !part.assignments.is_empty() {
            return said("it sets a variable");
        }
        let copies = |redirection: &Redirection| *redirection == Redirection::Copy;
        if !part.redirections.iter().all(copies) {
            return said("it has a redirection");
        }
        if let Some(word) = part.words.iter().find(|word| word.coded) {
            return Some(format!("{} is written in escape codes", quoted(&word.text)));
        }
        let unknown = part.words.iter().find(|word| word.value != Value::Known);
        if let Some(word) = unknown.filter(|word| word.value == Value::Listed) {
            return Some(format!(
                "{} comes from a list in braces",
                quoted(&word.text)
            ));
        }
        if let Some(word) = unknown {
            return Some(format!(
                "the value of {} is only known at run time",
                quoted(&word.text)
            ));
        }
        let via = part
            .via
            .iter()
            .find(|via| !matches!(via, NestingStep::Launched(_)))?;
        said(match via {
            NestingStep::Background => "it runs in the background",
            NestingStep::PipeBoth => "`|&` is a redirection",
            NestingStep::Negated => "it is negated with `!`",
            NestingStep::Subshell | NestingStep::Group => "it is in a group",
            NestingStep::Loop => "it is in a loop",
            NestingStep::Condition | NestingStep::Case => "it is in a condition",
            NestingStep::Function(_) => "it is in a function",
            NestingStep::Substitution | NestingStep::ProcessSubstitution | NestingStep::Inside => {
                "it is in a substitution"
            }
            NestingStep::Launched(_) | NestingStep::Line(_) => "another command runs it",
        })
    }
}

fn beside(program: &str) -> String {
    format!("the repository's git config may run another program: {program}")
}

fn changed_before(name: &str, hard: bool) -> Finding {
    let why = format!("an earlier command changed `{name}`, so the effect of this one is unknown");
    let finding = Finding::built_in(Verdict::Ask, Basis::NotAnalysed, why);
    if hard { finding.firm() } else { finding }
}
