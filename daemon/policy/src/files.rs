//! Applies the rules to the paths of a file tool. Called by `decide`.

use std::path::{Path, PathBuf};

use contract::{Basis, Family};
use proto::record::Verdict;

use crate::budget::Exhausted;
use crate::call::{Access, Subject, Subjects};
use crate::context::ResolvedPath;
use crate::decide::{CallFindings, Finding, JudgeContext, JudgedPart, general};
use crate::grants;
use crate::pathrules::PathLocation;
use crate::ruleset::TighteningRules;

/// Judges every path; the strictest answer holds for the call.
pub(crate) fn judge(case: &mut JudgeContext<'_>, subjects: &Subjects) -> CallFindings {
    let read_only = case.call.tool.read_only;
    let mut findings = general(case, read_only);
    if subjects.unclear {
        findings.push(JudgeContext::unclear("the arguments do not contain a path"));
    }
    let mut parts: Vec<JudgedPart> = Vec::new();
    for subject in &subjects.paths {
        let finding = one(case, subject);
        findings.push(finding.clone());
        match parts.iter_mut().find(|part| part.text == subject.text) {
            Some(part) => {
                let both = vec![part.finding.clone(), finding];
                part.finding =
                    Finding::strictest(both).unwrap_or_else(JudgeContext::writer_fallback);
            }
            None => parts.push(JudgedPart::of(&subject.text, finding)),
        }
    }
    if !read_only
        && !subjects
            .paths
            .iter()
            .any(|subject| subject.access == Access::Edit)
    {
        // A writing call that names no path to write: its paths alone cannot allow it.
        findings.push(match case.rules.allow.whole(case.call) {
            Some(index) => Finding::rule(Verdict::Allow, case.rules, index),
            None => JudgeContext::writer_fallback(),
        });
    }
    let finding = Finding::strictest(findings)
        .unwrap_or_else(|| JudgeContext::unclear("this call cannot be checked"));
    let edits = subjects
        .paths
        .iter()
        .any(|subject| subject.access == Access::Edit);
    let scopes = if edits {
        grants::edit(case)
    } else {
        grants::tool(case.call)
    };
    CallFindings {
        finding,
        parts,
        doubt: None,
        read_only,
        scopes,
    }
}

fn one(case: &mut JudgeContext<'_>, subject: &Subject) -> Finding {
    let resolved = case
        .context
        .paths
        .iter()
        .find(|path| path.text == subject.text && path.access == subject.access);
    let Some(resolved) = resolved else {
        return JudgeContext::unclear("a path of the call was not checked");
    };
    let mut findings = Vec::new();
    findings.extend(closed(resolved));
    let places = places(case, resolved);
    for (place, is_resolved) in &places {
        findings.extend(tightened(case, subject.access, place));
        if *is_resolved {
            findings.extend(below(case, subject.access, place));
        }
    }
    if subject.access == Access::Edit {
        findings.extend(guarded(resolved));
    }
    findings.push(allowed(case, subject.access, resolved));
    Finding::strictest(findings)
        .unwrap_or_else(|| JudgeContext::unclear("this path cannot be checked"))
}

/// The resolved path and the path as written: rules that deny or ask apply to both.
fn places(case: &JudgeContext<'_>, resolved: &ResolvedPath) -> Vec<(PathBuf, bool)> {
    let mut places: Vec<(PathBuf, bool)> = resolved
        .absolute
        .iter()
        .map(|path| (path.clone(), true))
        .collect();
    let seeming = lexical(&resolved.text, &case.context.cwd, &case.context.user_home);
    if places.iter().all(|(path, _)| *path != seeming) {
        places.push((seeming, false));
    }
    places
}

/// The path as written, relative to `cwd`, without following links.
pub(crate) fn lexical(text: &str, cwd: &Path, user_home: &Path) -> PathBuf {
    let start = match text.strip_prefix('~') {
        Some("") => user_home.to_path_buf(),
        Some(rest) if rest.starts_with('/') => user_home.join(rest.trim_start_matches('/')),
        Some(_) | None => cwd.join(text),
    };
    path_clean::clean(start)
}

/// Findings that no rule can lift: the model is notified of the reason at once.
fn closed(resolved: &ResolvedPath) -> Option<Finding> {
    let reason = match (&resolved.error, resolved.access) {
        (Some(error), _) => error.clone(),
        (None, Access::Edit) if !resolved.writable => {
            format!(
                "`{}` is outside the writable directories; the user can add one with `--add-dir` or `sandbox.allow_write`",
                resolved.text
            )
        }
        (None, Access::Read | Access::Edit) if resolved.absolute.is_none() => {
            format!("`{}` cannot be resolved", resolved.text)
        }
        (None, Access::Read | Access::Edit) => return None,
    };
    Some(Finding::built_in(Verdict::Deny, Basis::NotAnalysed, reason))
}

/// Deny and ask rules over one path.
fn tightened(case: &mut JudgeContext<'_>, access: Access, path: &Path) -> Vec<Finding> {
    let rules = case.rules;
    let mut findings = Vec::new();
    for (list, verdict) in [(&rules.deny, Verdict::Deny), (&rules.ask, Verdict::Ask)] {
        match matching(case, list, access, path) {
            Ok(Some(index)) => findings.push(Finding::rule(verdict, rules, index)),
            Ok(None) => {}
            Err(Exhausted) => {
                let reason = "the path is too long to check against all rules";
                findings.push(Finding::built_in(verdict, Basis::NotAnalysed, reason).firm());
            }
        }
    }
    findings
}

/// The rule of a list that matches a path.
pub(crate) fn matching(
    case: &mut JudgeContext<'_>,
    list: &TighteningRules,
    access: Access,
    path: &Path,
) -> Result<Option<usize>, Exhausted> {
    if let Some(index) = list.family(access) {
        return Ok(Some(index));
    }
    let place = PathLocation {
        path,
        root: &case.context.root,
        home: &case.context.user_home,
    };
    list.paths(access).find(&place, &mut case.budget)
}

/// A tool that searches or moves a folder may reach files that a rule closes.
fn below(case: &JudgeContext<'_>, access: Access, path: &Path) -> Option<Finding> {
    let comes_upon = match case.call.tool.family {
        Family::Read => access == Access::Read,
        // Moving a folder reads, moves or removes all files in it.
        Family::Edit => {
            let mut paths = case.context.paths.iter();
            paths.any(|path| path.access == Access::Read && path.directory)
        }
        Family::Bash
        | Family::WebFetch
        | Family::WebSearch
        | Family::Task
        | Family::Memory
        | Family::Session => false,
    };
    if !comes_upon || case.call.tool.shallow {
        return None;
    }
    let place = PathLocation {
        path,
        root: &case.context.root,
        home: &case.context.user_home,
    };
    let list = |list: &TighteningRules| list.paths(access).find_below(&place);
    let index = list(&case.rules.deny).or_else(|| list(&case.rules.ask))?;
    Some(Finding::rule(Verdict::Ask, case.rules, index).firm())
}

/// Files that need a user's approval to change, and files that could not be restored.
fn guarded(resolved: &ResolvedPath) -> Option<Finding> {
    if resolved.unkept {
        let words = format!(
            "always asked: `{}` cannot be saved in a checkpoint",
            resolved.text
        );
        return Some(Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words));
    }
    resolved.protected.then(|| {
        let words = format!(
            "always asked: `{}` is a config file of the agent, its repository, an editor or a shell",
            resolved.text
        );
        Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words)
    })
}

/// Applies allow rules and the fallback.
fn allowed(case: &mut JudgeContext<'_>, access: Access, resolved: &ResolvedPath) -> Finding {
    let rules = case.rules;
    let by_path = resolved.absolute.as_deref().and_then(|path| {
        let place = PathLocation {
            path,
            root: &case.context.root,
            home: &case.context.user_home,
        };
        // A path that needs too many steps is not allowed.
        rules
            .allow
            .paths(access)
            .find(&place, &mut case.budget)
            .ok()
            .flatten()
    });
    match rules.allow.whole(case.call).or(by_path) {
        Some(index) => Finding::rule(Verdict::Allow, rules, index),
        None if access == Access::Read => {
            Finding::built_in(Verdict::Allow, Basis::Fallback, "fallback")
        }
        None => JudgeContext::writer_fallback(),
    }
}
