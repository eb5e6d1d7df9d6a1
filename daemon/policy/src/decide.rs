//! The decision: what the rules, the posture and the list of what is always asked make of one call.
//!
//! Pure and total. Here are the order of the checks and what a posture lifts; what a command is about stands
//! in `command`, what a file tool is about in `files`.

use contract::{Basis, Confinement, Decision, Family};
use proto::params::approval::Scope;
use proto::record::Verdict;
use proto::state::Posture;

use crate::budget::Budget;
use crate::call::{Call, Subjects, is_mcp, subjects};
use crate::command;
use crate::context::{Context, Sandbox};
use crate::files;
use crate::grants;
use crate::ruleset::{Layer, RuleSet};

/// Tools whose question only a person answers.
const PERSONS_OWN: &[&str] = &["remember", "forget", "exit_plan_mode"];

/// One reason for a verdict. The strictest of all reasons decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    pub(crate) basis: Basis,
    pub(crate) rule: String,
    pub(crate) layer: Layer,
    /// Not lifted by any posture, though no rule says so: what is not known must not run unseen.
    pub(crate) firm: bool,
}

impl Finding {
    pub(crate) fn rule(verdict: Verdict, rules: &RuleSet, index: usize) -> Self {
        let source = rules.source(index);
        Self {
            verdict,
            basis: Basis::Rule,
            rule: source.text.clone(),
            layer: source.layer,
            firm: false,
        }
    }

    pub(crate) fn built_in(verdict: Verdict, basis: Basis, rule: impl Into<String>) -> Self {
        Self {
            verdict,
            basis,
            rule: rule.into(),
            layer: Layer::BuiltIn,
            firm: false,
        }
    }

    pub(crate) fn firm(mut self) -> Self {
        self.firm = true;
        self
    }

    /// Which of two findings decides: the stricter verdict, then the reason that is harder to lift.
    fn rank(&self) -> (u8, bool, u8) {
        let verdict = match self.verdict {
            Verdict::Allow => 0,
            Verdict::Ask => 1,
            Verdict::Deny => 2,
        };
        let basis = match (self.verdict, self.basis) {
            (Verdict::Deny, Basis::Rule) => 4,
            (_, Basis::AlwaysAsked) => 3,
            (_, Basis::Rule) => 2,
            (_, Basis::NotAnalysed) => 1,
            (_, Basis::Fallback) => 0,
        };
        (
            verdict,
            self.basis == Basis::AlwaysAsked || self.firm,
            basis,
        )
    }

    /// The finding that decides among several.
    pub(crate) fn strictest(findings: Vec<Self>) -> Option<Self> {
        // The first of equals, so that the order of subjects and rules is the order of reasons.
        findings.into_iter().reduce(|first, next| {
            if next.rank() > first.rank() {
                next
            } else {
                first
            }
        })
    }
}

/// What the judging of a call came to, before the posture.
pub(crate) struct Judged {
    pub(crate) finding: Finding,
    pub(crate) parts: Vec<String>,
    pub(crate) read_only: bool,
    pub(crate) scopes: Vec<Scope>,
}

/// What all judging needs.
pub(crate) struct Case<'a> {
    pub(crate) rules: &'a RuleSet,
    pub(crate) context: &'a Context,
    pub(crate) call: &'a Call<'a>,
    pub(crate) budget: Budget,
}

impl Case<'_> {
    /// What becomes of a writer that no rule speaks of, before the posture.
    pub(crate) fn writer_fallback() -> Finding {
        Finding::built_in(Verdict::Ask, Basis::Fallback, "no rule allows it")
    }

    pub(crate) fn unclear(reason: &str) -> Finding {
        Finding::built_in(Verdict::Ask, Basis::NotAnalysed, reason).firm()
    }
}

/// Judges a call. `context.paths` are the call's [`subjects`], resolved.
#[must_use]
pub fn decide(rules: &RuleSet, context: &Context, call: &Call<'_>) -> Decision {
    let mut case = Case {
        rules,
        context,
        call,
        budget: Budget::new(),
    };
    let subjects = subjects(call);
    let judged = match (whole(&case), &subjects) {
        (Some(denied), _) => {
            let parts = parts_of(&subjects);
            Judged {
                finding: denied,
                parts,
                read_only: call.read_only_tool,
                scopes: Vec::new(),
            }
        }
        (
            None,
            Subjects {
                command: Some(line),
                ..
            },
        ) => command::judge(&mut case, line),
        (None, _) if is_mcp(call.tool) => plain(&case),
        (None, Subjects { paths, unclear, .. }) if *unclear || !paths.is_empty() => {
            files::judge(&mut case, &subjects)
        }
        (None, _) => plain(&case),
    };
    finish(&case, judged)
}

/// A deny rule for all calls of the tool.
fn whole(case: &Case<'_>) -> Option<Finding> {
    let index = case.rules.deny.whole(case.call)?;
    Some(Finding::rule(Verdict::Deny, case.rules, index))
}

fn parts_of(subjects: &Subjects) -> Vec<String> {
    let mut parts: Vec<String> = subjects.command.iter().cloned().collect();
    if !parts.is_empty() {
        return parts;
    }
    for subject in &subjects.paths {
        if !parts.contains(&subject.text) {
            parts.push(subject.text.clone());
        }
    }
    parts
}

/// Findings that do not look at a call's subjects.
pub(crate) fn general(case: &Case<'_>, read_only: bool) -> Vec<Finding> {
    let rules = case.rules;
    let mut findings = Vec::new();
    if let Some(index) = rules.ask.whole(case.call) {
        findings.push(Finding::rule(Verdict::Ask, rules, index));
    }
    if let Some(index) = rules.ask.unknown().filter(|_| !read_only) {
        findings.push(if rules.source(index).broken_deny {
            // What should have been denied is not known: no setting stands in for a person here.
            let words = format!(
                "always asked: the deny rule `{}` cannot be read",
                rules.source(index).text
            );
            Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words)
        } else {
            Finding::rule(Verdict::Ask, rules, index).firm()
        });
    }
    if PERSONS_OWN.contains(&case.call.tool) {
        let words = format!("always asked: `{}`", case.call.tool);
        findings.push(Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words));
    }
    findings
}

/// A call that is about neither a command nor a path.
fn plain(case: &Case<'_>) -> Judged {
    let read_only = case.call.read_only_tool;
    let mut findings = general(case, read_only);
    findings.push(match case.rules.allow.whole(case.call) {
        Some(index) => Finding::rule(Verdict::Allow, case.rules, index),
        None if read_only => Finding::built_in(Verdict::Allow, Basis::Fallback, "fallback"),
        None => Case::writer_fallback(),
    });
    let finding = Finding::strictest(findings).unwrap_or_else(Case::writer_fallback);
    Judged {
        finding,
        parts: Vec::new(),
        read_only,
        scopes: grants::tool(case.call.tool),
    }
}

/// Puts the posture on top.
fn finish(case: &Case<'_>, judged: Judged) -> Decision {
    let Judged {
        finding,
        parts,
        read_only,
        scopes,
    } = judged;
    let confinement = match case.call.family {
        Family::Read | Family::Edit if !is_mcp(case.call.tool) => Confinement::Files,
        Family::Read | Family::Edit | Family::Bash | Family::Session => Confinement::None,
    };
    // Commands are held by the sandbox alone.
    let commands = case.call.family == Family::Bash && !is_mcp(case.call.tool);
    let lifted = match case.context.posture {
        Posture::Ask => false,
        Posture::Auto => {
            let held = !commands || case.context.sandbox == Sandbox::Full;
            finding.basis == Basis::Fallback && held
        }
        Posture::Yolo => finding.basis != Basis::AlwaysAsked,
    };
    let asks = finding.verdict == Verdict::Ask;
    let lifted = asks && lifted && !finding.firm;
    let verdict = if lifted {
        Verdict::Allow
    } else {
        finding.verdict
    };
    let rule = match case.context.posture {
        Posture::Yolo if lifted => format!("posture `yolo` over: {}", finding.rule),
        Posture::Auto if lifted => format!("posture `auto` over: {}", finding.rule),
        Posture::Ask | Posture::Auto | Posture::Yolo => finding.rule,
    };
    // A grant would not lift a rule that asks, nor what is always asked.
    let grantable = matches!(finding.basis, Basis::Fallback | Basis::NotAnalysed) && !finding.firm;
    let scopes = if verdict == Verdict::Ask && grantable {
        scopes
    } else {
        Vec::new()
    };
    Decision {
        verdict,
        rule,
        basis: finding.basis,
        layer: finding.layer.to_string(),
        parts,
        scopes,
        read_only,
        confinement,
    }
}
