//! Applies rules over paths, and closed paths, to the files that a command names.

use std::path::PathBuf;

use contract::Basis;
use proto::record::Verdict;
use proto::state::ApprovalMode;

use super::CommandForms;
use crate::budget::Exhausted;
use crate::call::Access;
use crate::context::ResolvedPath;
use crate::decide::{Finding, JudgeContext};
use crate::files;
use crate::git;
use crate::options;
use crate::protected;
use crate::readers::{self, ReadPath};
use crate::shell::{Part, Redirection, Word};

/// Maximum words of a command to check as paths; a command with more asks.
const PATHS_MAX: usize = 64;
/// Maximum directories that a line may have moved to.
const BASES_MAX: usize = 8;

impl CommandForms<'_> {
    /// Applies rules over paths if no sandbox enforces them for commands.
    pub(super) fn over_paths(
        &self,
        case: &JudgeContext<'_>,
        allowed: &Finding,
        read_only: bool,
    ) -> Option<Finding> {
        if case.context.holds_paths() {
            return None;
        }
        let rules = case.rules;
        let any = |access| rules.deny.any(access).or_else(|| rules.ask.any(access));
        let closing = if read_only {
            any(Access::Read)
        } else {
            any(Access::Read).or_else(|| any(Access::Edit))
        };
        let about_files = self.about_files();
        // A grant for exactly this command applies, unless the grant is a rule for all calls.
        let granted = allowed.basis == Basis::Rule && rules.allow.whole(case.call).is_none();
        let runs =
            allowed.verdict == Verdict::Allow || case.context.approval_mode == ApprovalMode::Yolo;
        let harmless = read_only && !about_files;
        let index = closing.filter(|_| runs && !harmless && (about_files || !granted))?;
        let mut finding = Finding::rule(Verdict::Ask, rules, index).firm();
        finding.rule = format!("nothing restricts a command to `{}`", finding.rule);
        Some(finding)
    }

    fn about_files(&self) -> bool {
        if self.script.any_doubt().is_some() {
            return true;
        }
        self.script.parts.iter().enumerate().any(|(index, part)| {
            let redirected = part
                .redirections
                .iter()
                .any(|redirection| target(redirection).is_some());
            redirected
                || match self.reading(index) {
                    Some(reading) => reading.files,
                    None => part.words.is_empty() || options::works_on_files(&part.words),
                }
        })
    }

    /// Applies rules over paths to the files that a part plainly names.
    pub(super) fn over_paths_of(&self, case: &mut JudgeContext<'_>, index: usize) -> Vec<Finding> {
        let Some(part) = self.script.parts.get(index) else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        let bases = self.bases(case, index);
        for (word, access) in part.redirections.iter().filter_map(target) {
            findings.extend(redirected(case, word, access, &bases));
        }
        let rules = case.rules;
        let spoken = [Access::Read, Access::Edit].iter().any(|access| {
            rules
                .deny
                .any(*access)
                .or_else(|| rules.ask.any(*access))
                .is_some()
        });
        if spoken {
            // The directory that a line enters is where its writing commands work.
            let moves = part.program() == Some("cd") && !self.only_reads();
            let writes = moves || self.reading(index).is_none();
            findings.extend(named(case, part, writes, &bases));
        }
        findings
    }

    /// The directories that a part's relative paths may start from: an earlier `cd` may have failed, so all count.
    fn bases(&self, case: &JudgeContext<'_>, index: usize) -> Vec<PathBuf> {
        let mut bases = vec![case.context.cwd.clone()];
        let before = self.script.parts.get(..index).unwrap_or_default();
        for part in before.iter().filter(|part| part.program() == Some("cd")) {
            let to = part
                .words
                .iter()
                .skip(1)
                .find(|word| !word.text.starts_with('-'));
            let Some(to) = to.filter(|to| to.is_known() && bases.len() < BASES_MAX) else {
                continue;
            };
            let home = &case.context.user_home;
            let moved: Vec<PathBuf> = bases
                .iter()
                .map(|base| files::lexical(&to.text, base, home))
                .collect();
            bases.extend(moved);
        }
        bases
    }

    /// A command may not show a file that tools may not read, unless a user approves.
    pub(super) fn closed(&self, case: &JudgeContext<'_>, index: usize) -> Option<Finding> {
        let only_reads = self.reading(index).is_some_and(|reading| reading.files);
        let is_held = case.context.holds_paths();
        // Git shows the content of a file from its repository, which no sandbox hides, and whatever else it does.
        let is_git = self.script.parts.get(index)?.program() == Some("git");
        let of_repository = is_git && (is_held || !only_reads);
        if !of_repository && (is_held || !only_reads) {
            return None;
        }
        let found = readers::places(&self.script, index);
        if let Some(why) = found.unclear.filter(|_| found.is_cut || !of_repository) {
            return Some(JudgeContext::unclear(why));
        }
        found.places.iter().find_map(|place| {
            let why = match of_repository {
                true => denied_place(case, place)?,
                false => closed_place(case, place, found.walks)?,
            };
            Some(JudgeContext::unclear(&why))
        })
    }
}

/// The file of a redirection, and the kind of access.
pub(crate) fn target(redirection: &Redirection) -> Option<(&Word, Access)> {
    match redirection {
        Redirection::Write(word) => Some((word, Access::Edit)),
        Redirection::Read(word) => Some((word, Access::Read)),
        Redirection::Copy | Redirection::Null | Redirection::Text(_) => None,
    }
}

/// A file's name for resolution: a quoted `~` is an ordinary character.
pub(crate) fn path_of(word: &Word) -> String {
    if word.text.starts_with('~') && !word.tilde {
        format!("./{}", word.text)
    } else {
        word.text.clone()
    }
}

fn looked_up<'c>(
    case: &'c JudgeContext<'_>,
    text: &str,
    access: Access,
) -> Option<&'c ResolvedPath> {
    let mut paths = case.context.paths.iter();
    paths.find(|path| path.text == text && path.access == access)
}

/// Checks a file that the shell opens for a command, by its name and by its resolved path.
fn redirected(
    case: &mut JudgeContext<'_>,
    word: &Word,
    access: Access,
    bases: &[PathBuf],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !word.is_known() || word.glob {
        return findings;
    }
    let text = path_of(word);
    let resolved = looked_up(case, &text, access).cloned();
    let closed = |resolved: &ResolvedPath| resolved.masked || resolved.denied;
    if !case.context.holds_paths() && resolved.as_ref().is_some_and(closed) {
        findings.push(JudgeContext::unclear(&format!(
            "tools may not access `{text}`"
        )));
    }
    // By its resolved path. In the repository, only files that run programs later count, as everywhere in commands.
    let leads = resolved
        .as_ref()
        .and_then(|resolved| resolved.absolute.as_deref());
    let inside = leads.and_then(|path| path.strip_prefix(&case.context.root).ok());
    let guarded = inside.and_then(|path| protected::word(&path.to_string_lossy()));
    if access == Access::Edit && guarded.is_some() {
        let words = format!(
            "always asked: `{text}` is a config file of the agent, its repository, an editor or a shell"
        );
        findings.push(Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words));
    }
    let home = case.context.user_home.clone();
    let seeming = bases.iter().map(|base| files::lexical(&text, base, &home));
    let leads = resolved.and_then(|resolved| resolved.absolute);
    for path in leads.into_iter().chain(seeming) {
        findings.extend(ruled(case, access, &path));
    }
    findings
}

/// Deny and ask rules over one path. Rules for a whole family apply to file tools only.
fn ruled(case: &mut JudgeContext<'_>, access: Access, path: &std::path::Path) -> Vec<Finding> {
    let rules = case.rules;
    let mut findings = Vec::new();
    for (list, verdict) in [(&rules.deny, Verdict::Deny), (&rules.ask, Verdict::Ask)] {
        if list.family(access).is_some() {
            continue;
        }
        match files::matching(case, list, access, path) {
            Ok(Some(index)) => findings.push(Finding::rule(verdict, rules, index)),
            Ok(None) => {}
            Err(Exhausted) => findings.push(JudgeContext::unclear(
                "the command is too long to check against path rules",
            )),
        }
    }
    findings
}

/// A rule over a path that a word of the command plainly names.
fn named(
    case: &mut JudgeContext<'_>,
    part: &Part,
    writes: bool,
    bases: &[PathBuf],
) -> Option<Finding> {
    let held = case.context.holds_paths();
    if part.words.len() > PATHS_MAX {
        let reason = "the command has too many words to check against path rules";
        return (!held).then(|| Finding::built_in(Verdict::Ask, Basis::NotAnalysed, reason).firm());
    }
    if matches!(part.program(), Some("echo" | "printf")) {
        return None;
    }
    let mut findings = Vec::new();
    for word in part.words.iter().skip(1) {
        if !held && writes && (word.glob || !word.is_known()) {
            findings.push(JudgeContext::unclear(
                "the path rules cannot check which files the shell inserts",
            ));
        }
        let forms = [
            Some(word.text.as_str()),
            word.text.split_once('=').map(|(_, value)| value),
            word.text.split_once(':').map(|(_, value)| value),
        ];
        let of_git = match part.program() {
            Some("git") => git::paths_in(&word.text),
            _ => Vec::new(),
        };
        let forms = forms.into_iter().flatten().chain(of_git);
        for text in forms.filter(|text| !text.is_empty()) {
            for base in bases {
                let path = files::lexical(text, base, &case.context.user_home);
                for access in [Access::Read, Access::Edit] {
                    if access == Access::Read || writes {
                        findings.extend(ruled(case, access, &path));
                    }
                }
            }
        }
    }
    Finding::strictest(findings)
}

/// Why a path that a command reads needs approval, if the settings deny it to tools.
fn denied_place(case: &JudgeContext<'_>, place: &ReadPath) -> Option<String> {
    let text = &place.text;
    let denied = looked_up(case, text, Access::Read)?.denied;
    denied.then(|| format!("the command reads `{text}`, which `sandbox.deny_read` denies to tools"))
}

/// Why a path that a command reads needs approval.
fn closed_place(case: &JudgeContext<'_>, place: &ReadPath, walks: bool) -> Option<String> {
    let text = &place.text;
    let Some(resolved) = looked_up(case, text, Access::Read) else {
        return Some(format!("the path `{text}` in the command was not checked"));
    };
    if resolved.masked {
        return Some(format!(
            "the command reads `{text}`, which belongs to the agent or the system and is denied to tools"
        ));
    }
    if let Some(why) = denied_place(case, place) {
        return Some(why);
    }
    if resolved.holds_closed && (walks || place.glob) {
        return Some(format!(
            "the command reads files under `{text}`, and some of them are denied to tools"
        ));
    }
    let leaves = |path: &std::path::Path| !path.starts_with(&case.context.root);
    let outside = place.glob && resolved.absolute.as_deref().is_none_or(leaves);
    outside.then(|| {
        format!("cannot tell which files under `{text}`, outside the workspace, the shell inserts")
    })
}
