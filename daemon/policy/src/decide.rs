//! The decision about one call, from the rules, the approval mode and the built-in questions.
//!
//! Pure and total. This module defines the order of the checks and what an approval mode lifts. `command` examines
//! commands, `files` examines the paths of file tools.

use std::collections::HashSet;

use contract::{Basis, Confinement, Decision, EffectivePermissions, Family};
use proto::params::interaction::Scope;
use proto::record::Verdict;
use proto::state::ApprovalMode;

use crate::budget::Budget;
use crate::call::{Call, Subjects, about};
use crate::command;
use contract::SandboxStrength;

use crate::context::Context;
use crate::explain::{ExplainedPart, Explanation};
use crate::files;
use crate::grants;
use crate::ruleset::{Layer, RuleSet};
use crate::shell::{Doubt, NestingStep, Span};

/// Maximum parts of one command that are logged with its decision.
const SHOWN_MAX: usize = 64;

/// One reason for a verdict. The strictest of all reasons decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    pub(crate) basis: Basis,
    pub(crate) rule: String,
    pub(crate) layer: Layer,
    /// No approval mode lifts this finding, although no rule demands it: unknown code must not run unseen.
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

    /// Order of findings: first by the stricter verdict, then by the reason that is harder to lift.
    fn rank(&self) -> (u8, bool, u8) {
        let verdict = match self.verdict {
            Verdict::Allow => 0,
            Verdict::Ask => 1,
            Verdict::Deny => 2,
        };
        let basis = match (self.verdict, self.basis) {
            (_, Basis::EffectivePermissions) => 5,
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
        // The first of equals, so that reasons follow the order of subjects and rules.
        findings.into_iter().reduce(|first, next| {
            if next.rank() > first.rank() {
                next
            } else {
                first
            }
        })
    }
}

/// The findings about a call, before the approval mode applies.
pub(crate) struct CallFindings {
    pub(crate) finding: Finding,
    pub(crate) parts: Vec<JudgedPart>,
    /// Why a command line is not understood as a whole.
    pub(crate) doubt: Option<Doubt>,
    pub(crate) read_only: bool,
    pub(crate) scopes: Vec<Scope>,
}

/// One command or path of a call, and its own finding.
pub(crate) struct JudgedPart {
    pub(crate) text: String,
    pub(crate) span: Option<Span>,
    pub(crate) via: Vec<NestingStep>,
    pub(crate) doubt: Option<Doubt>,
    pub(crate) finding: Finding,
}

impl JudgedPart {
    /// Creates a part that is not a command.
    pub(crate) fn of(text: &str, finding: Finding) -> Self {
        Self {
            text: text.to_owned(),
            span: None,
            via: Vec::new(),
            doubt: None,
            finding,
        }
    }
}

/// The inputs that all checks share.
pub(crate) struct JudgeContext<'a> {
    pub(crate) rules: &'a RuleSet,
    pub(crate) context: &'a Context,
    pub(crate) call: &'a Call<'a>,
    pub(crate) budget: Budget,
}

impl JudgeContext<'_> {
    /// The finding for a writing call that no rule covers, before the approval mode applies.
    pub(crate) fn writer_fallback() -> Finding {
        Finding::built_in(Verdict::Ask, Basis::Fallback, "no rule allows it")
    }

    pub(crate) fn unclear(reason: &str) -> Finding {
        Finding::built_in(Verdict::Ask, Basis::NotAnalysed, reason).firm()
    }
}

/// Judges a call. `context.paths` are the call's [`subjects`](crate::subjects), resolved.
#[must_use]
pub fn decide(rules: &RuleSet, context: &Context, call: &Call<'_>) -> Decision {
    explain(rules, context, call).decision
}

/// Like [`decide`], with the finding and the reason of each part.
#[must_use]
pub fn explain(rules: &RuleSet, context: &Context, call: &Call<'_>) -> Explanation {
    let mut case = JudgeContext {
        rules,
        context,
        call,
        budget: Budget::new(),
    };
    let subjects = about(call);
    let judged = match (whole(&case), &subjects) {
        (Some(denied), _) => {
            let parts = parts_of(&subjects, &denied);
            CallFindings {
                finding: denied,
                parts,
                doubt: None,
                read_only: call.tool.read_only,
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
        (None, _) if call.is_mcp() => plain(&case),
        (None, Subjects { paths, unclear, .. }) if *unclear || !paths.is_empty() => {
            files::judge(&mut case, &subjects)
        }
        (None, _) => plain(&case),
    };
    finish(&case, judged)
}

/// A deny rule for all calls of the tool.
fn whole(case: &JudgeContext<'_>) -> Option<Finding> {
    let index = case.rules.deny.whole(case.call)?;
    Some(Finding::rule(Verdict::Deny, case.rules, index))
}

fn parts_of(subjects: &Subjects, finding: &Finding) -> Vec<JudgedPart> {
    if let Some(command) = &subjects.command {
        return vec![JudgedPart::of(command, finding.clone())];
    }
    let mut parts: Vec<JudgedPart> = Vec::new();
    for subject in &subjects.paths {
        if parts.iter().all(|part| part.text != subject.text) {
            parts.push(JudgedPart::of(&subject.text, finding.clone()));
        }
    }
    parts
}

/// Findings that are independent of a call's subjects.
pub(crate) fn general(case: &JudgeContext<'_>, read_only: bool) -> Vec<Finding> {
    let rules = case.rules;
    let mut findings = Vec::new();
    if let Some(index) = rules.ask.whole(case.call) {
        findings.push(Finding::rule(Verdict::Ask, rules, index));
    }
    if let Some(index) = rules.ask.unknown().filter(|_| !read_only) {
        findings.push(if rules.source(index).broken_deny {
            // It is unknown what the rule should have denied, so no setting may replace a user here.
            let words = format!(
                "always asked: the deny rule `{}` cannot be read",
                rules.source(index).text
            );
            Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words)
        } else {
            Finding::rule(Verdict::Ask, rules, index).firm()
        });
    }
    if case.call.tool.definition_changed {
        let words = format!(
            "always asked: its server changed the definition of `{}` since it was approved",
            case.call.tool.name
        );
        findings.push(Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words).firm());
    }
    if case.call.tool.person_only {
        let words = format!("always asked: `{}`", case.call.tool.name);
        findings.push(Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words));
    }
    findings
}

/// Judges a call that is about neither a command nor a path.
fn plain(case: &JudgeContext<'_>) -> CallFindings {
    let read_only = case.call.tool.read_only;
    let mut findings = general(case, read_only);
    findings.push(match case.rules.allow.whole(case.call) {
        Some(index) => Finding::rule(Verdict::Allow, case.rules, index),
        None if read_only => Finding::built_in(Verdict::Allow, Basis::Fallback, "fallback"),
        None => JudgeContext::writer_fallback(),
    });
    let finding = Finding::strictest(findings).unwrap_or_else(JudgeContext::writer_fallback);
    CallFindings {
        finding,
        parts: Vec::new(),
        doubt: None,
        read_only,
        scopes: grants::tool(case.call),
    }
}

/// Applies the approval mode.
fn finish(case: &JudgeContext<'_>, judged: CallFindings) -> Explanation {
    let CallFindings {
        finding,
        parts,
        doubt,
        read_only,
        scopes,
    } = judged;
    let confinement = confinement(case);
    let refused = case
        .context
        .effective_permissions
        .refuses()
        .filter(|_| !read_only && !case.call.tool.in_read_only_sessions);
    if let Some(why) = refused {
        return refuse(why, parts, doubt, confinement);
    }
    let answerable = answerable(case, &finding);
    let leaks = is_command(case.call) && case.context.leaks;
    let suffices = answerable && !leaks;
    let lifter = lifter(case, &finding, suffices);
    let verdict = if lifter.is_some() {
        Verdict::Allow
    } else {
        finding.verdict
    };
    let rule = match lifter {
        Some(lifter) => format!("{lifter} over: {}", finding.rule),
        None if answerable && leaks => format!(
            "{}; the sandbox cannot protect all denied paths",
            finding.rule
        ),
        None => finding.rule,
    };
    // A grant would lift neither a rule that asks nor a built-in question.
    let grantable = matches!(finding.basis, Basis::Fallback | Basis::NotAnalysed) && !finding.firm;
    let scopes = if verdict == Verdict::Ask && grantable {
        scopes
    } else {
        Vec::new()
    };
    let decision = Decision {
        verdict,
        rule,
        basis: finding.basis,
        layer: finding.layer.to_string(),
        parts: shown(&parts),
        scopes,
        read_only,
        confinement,
        confinement_suffices: suffices,
    };
    Explanation {
        decision,
        doubt,
        parts: parts.into_iter().map(ExplainedPart::of).collect(),
    }
}

/// What restricts a call. Only the sandbox restricts commands.
fn confinement(case: &JudgeContext<'_>) -> Confinement {
    match case.call.tool.family {
        Family::Session | Family::WebFetch | Family::WebSearch | Family::Task | Family::Memory => {
            Confinement::None
        }
        Family::Read | Family::Edit | Family::Bash if case.call.is_mcp() => Confinement::None,
        Family::Read | Family::Edit => Confinement::Files,
        Family::Bash => match case.context.sandbox {
            SandboxStrength::None => Confinement::None,
            strength @ (SandboxStrength::Partial | SandboxStrength::Full) => {
                Confinement::Sandbox(strength)
            }
        },
    }
}

/// Whether a call's confinement may replace a user's approval, if it is fully enforced. In a sandbox, a command that is
/// unknown before it runs can do no more than a known one: any script may contain the same. But a rule about commands,
/// or one that asks about paths, could not be tried against it, and the sandbox does not enforce such rules.
fn answerable(case: &JudgeContext<'_>, finding: &Finding) -> bool {
    let asks = finding.verdict == Verdict::Ask && !finding.firm;
    asks && match finding.basis {
        Basis::Fallback => true,
        Basis::NotAnalysed => is_command(case.call) && !case.rules.wants_commands_known(),
        Basis::Rule | Basis::AlwaysAsked | Basis::EffectivePermissions => false,
    }
}

/// Whether a call starts a process outside our own tools.
fn is_command(call: &Call<'_>) -> bool {
    call.tool.family == Family::Bash && !call.is_mcp()
}

/// What replaces a user's approval, if anything does: an approved plan, or the approval mode.
fn lifter(case: &JudgeContext<'_>, finding: &Finding, suffices: bool) -> Option<&'static str> {
    if finding.verdict != Verdict::Ask || finding.firm || finding.basis == Basis::AlwaysAsked {
        return None;
    }
    if case.context.effective_permissions.plan_approved {
        return Some("the approved plan");
    }
    match case.context.approval_mode {
        ApprovalMode::Ask => None,
        ApprovalMode::Auto => {
            let held = !is_command(case.call) || case.context.sandbox == SandboxStrength::Full;
            (suffices && held).then_some("approval mode `auto`")
        }
        ApprovalMode::Yolo => Some("approval mode `yolo`"),
    }
}

/// Denies a call that changes something while the session may not change anything.
fn refuse(
    why: &str,
    parts: Vec<JudgedPart>,
    doubt: Option<Doubt>,
    confinement: Confinement,
) -> Explanation {
    Explanation {
        decision: Decision {
            verdict: Verdict::Deny,
            rule: why.to_owned(),
            basis: Basis::EffectivePermissions,
            layer: EffectivePermissions::LAYER.to_owned(),
            parts: shown(&parts),
            scopes: Vec::new(),
            read_only: false,
            confinement,
            confinement_suffices: false,
        },
        doubt,
        parts: parts.into_iter().map(ExplainedPart::of).collect(),
    }
}

/// The texts of the parts, each once.
fn shown(parts: &[JudgedPart]) -> Vec<String> {
    let mut seen = HashSet::new();
    let texts = parts.iter().map(|part| part.text.as_str());
    let first = texts.filter(|text| !text.is_empty() && seen.insert(*text));
    first.take(SHOWN_MAX).map(str::to_owned).collect()
}
