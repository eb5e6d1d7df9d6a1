//! Applies the rules to a command line: to each part separately, then to the whole line.
//!
//! Rules that deny or ask match if any part matches; rules that allow must cover every part. The same code computes the
//! verdict and its explanation. Called by `decide`.

mod allowing;
mod guarded;
mod names;
mod over_paths;
mod tightening;
mod xargs;

pub(crate) use over_paths::{path_of, target};

use std::collections::HashSet;

use contract::Basis;
use proto::record::Verdict;

use crate::call::Access;
use crate::decide::{CallFindings, Finding, JudgeContext, JudgedPart, general};
use crate::git;
use crate::grants;
use crate::programs::{self, ReadingKind};
use crate::shell::{self, Doubt, NestingStep, Part, Redirection, Script, Word};
use crate::tables::tables;
use crate::variables;

/// A command line in all the forms that rules are tried against.
pub(crate) struct CommandForms<'a> {
    pub(crate) command: &'a str,
    pub(crate) script: Script,
    /// For each part: set if it is known to be read-only.
    pub(crate) readings: Vec<Option<ReadingKind>>,
    /// Text that is not understood, once for each way of reading quotes.
    pub(crate) rough: Vec<String>,
    /// Pipelines that contain a part which is not read-only.
    writing: HashSet<usize>,
    /// A variable that an earlier command changed, so that it is unknown what runs.
    pub(crate) changed: Option<&'a str>,
    /// Other programs that git would run although it is only asked to show something.
    pub(crate) git_programs: &'a [String],
}

/// Judges a command line.
pub(crate) fn judge(case: &mut JudgeContext<'_>, command: &str) -> CallFindings {
    let context = case.context;
    // The session's shell may be in another repository than the one that the user opened.
    let moved = context.cwd != context.root;
    let changed = variables::distrusted(&context.altered);
    // The sandbox enforces the rules that deny reading, but none that asks.
    let any_file = context.holds_paths() && case.rules.ask.any(Access::Read).is_none();
    let git_programs = &context.git_programs;
    let line = CommandForms::new(command, changed, moved, any_file, git_programs);
    let read_only = line.only_reads();
    let mut findings = general(case, read_only);
    findings.extend(context.unconfined.as_deref().map(JudgeContext::unclear));
    findings.extend(line.rough_findings(case));
    findings.extend(line.guarded_as_text(&context.masked));
    let mut parts = Vec::with_capacity(line.script.parts.len());
    let allowed = line.allowed(case);
    for (index, part) in line.script.parts.iter().enumerate() {
        let mut own = line.tightened(case, part);
        own.extend(line.guarded(index, &context.masked));
        own.extend(line.over_paths_of(case, index));
        own.extend(line.closed(case, index));
        let allows = allowed.of_parts.get(index).cloned();
        own.extend(allows);
        let finding = Finding::strictest(own).unwrap_or_else(|| unknown(Doubt::TooMuch));
        findings.push(finding.clone());
        parts.push(JudgedPart {
            text: part.text(),
            span: Some(part.span),
            via: part.via.clone(),
            doubt: part.doubt,
            finding,
        });
    }
    findings.extend(line.over_paths(case, &allowed.whole, read_only));
    findings.push(allowed.whole);
    let finding = Finding::strictest(findings).unwrap_or_else(|| unknown(Doubt::TooMuch));
    if parts.is_empty() {
        parts.push(JudgedPart {
            text: shell::trim(command).to_owned(),
            span: None,
            via: Vec::new(),
            doubt: line.script.doubt,
            finding: finding.clone(),
        });
    }
    let scopes = match line.changed {
        Some(_) => Vec::new(),
        None => grants::command(&line, &allowed.of_parts),
    };
    // A `cd` of the session's shell is harmless, but must not run in parallel with other calls.
    let moves = line
        .script
        .parts
        .iter()
        .any(|part| part.program() == Some("cd"));
    CallFindings {
        finding,
        parts,
        doubt: line.script.doubt,
        read_only: read_only && !moves,
        scopes,
    }
}

/// Puts a word in backticks; in double quotes if it contains backticks itself.
pub(crate) fn quoted(word: &str) -> String {
    match word.contains('`') {
        true => format!("\"{word}\""),
        false => format!("`{word}`"),
    }
}

/// The finding for a part that is not understood. It names the language of inline code.
fn unknown_part(doubt: Doubt, part: &Part) -> Finding {
    let language = part.program().and_then(language);
    match language.filter(|_| doubt == Doubt::Code) {
        Some(language) => {
            let reason = format!("cannot be fully checked: it runs inline {language}");
            Finding::built_in(Verdict::Ask, Basis::NotAnalysed, reason)
        }
        None => unknown(doubt),
    }
}

/// The language that a program interprets.
fn language(program: &str) -> Option<&'static str> {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match name {
        "python" | "pypy" => "Python",
        "node" | "nodejs" | "deno" | "bun" => "JavaScript",
        "perl" => "Perl",
        "ruby" => "Ruby",
        "php" => "PHP",
        _ => return None,
    })
}

/// The finding for a line or part that is not understood.
fn unknown(doubt: Doubt) -> Finding {
    let reason = format!("cannot be fully checked: {}", doubt.words());
    let finding = Finding::built_in(Verdict::Ask, Basis::NotAnalysed, reason);
    // A user who allowed everything has not seen characters that cannot be seen.
    if matches!(doubt, Doubt::Empty | Doubt::TooLong | Doubt::Characters) {
        finding.firm()
    } else {
        finding
    }
}

impl<'a> CommandForms<'a> {
    fn new(
        command: &'a str,
        changed: Option<&'a str>,
        moved: bool,
        any_file: bool,
        git_programs: &'a [String],
    ) -> Self {
        let script = shell::read(command);
        let rough = if script.any_doubt().is_some() {
            shell::readings(command)
        } else {
            Vec::new()
        };
        let mut line = Self {
            command,
            script,
            readings: Vec::new(),
            rough,
            writing: HashSet::new(),
            changed,
            git_programs,
        };
        if line.changed.is_none() {
            let plain = git_programs.is_empty();
            line.readings = readings_of(&line.script, moved, plain, any_file);
        }
        let parts = line.script.parts.iter().enumerate();
        let writers = parts.filter(|(index, _)| line.reading(*index).is_none());
        line.writing = writers.map(|(_, part)| part.pipeline).collect();
        line
    }

    pub(crate) fn reading(&self, index: usize) -> Option<ReadingKind> {
        self.readings.get(index).copied().flatten()
    }

    /// Whether the whole line is known to be read-only.
    pub(crate) fn only_reads(&self) -> bool {
        let all = self.readings.len() == self.script.parts.len();
        all && self.script.doubt.is_none() && self.readings.iter().all(Option::is_some)
    }

    /// Another program that git would run for a part that looks read-only.
    pub(crate) fn program_run_by_git(&self, part: &Part) -> Option<&'a str> {
        let program = self.git_programs.first()?;
        let arguments = part.words.get(1..).unwrap_or_default();
        let reads = part.program() == Some("git")
            && git::only_reads(arguments)
            && !git::reads_nothing(arguments);
        reads.then_some(program)
    }

    /// Whether a part's output goes only to read-only parts, or nowhere.
    fn feeds_readers(&self, part: &Part) -> bool {
        !self.writing.contains(&part.pipeline)
    }
}

/// For each part of a line: set if it is known to be read-only. `moved`: the shell has left its initial directory.
/// `plain`: the repository there makes git run no other programs. `any_file`: it does not matter which files are read.
pub(crate) fn readings_of(
    script: &Script,
    moved: bool,
    plain: bool,
    any_file: bool,
) -> Vec<Option<ReadingKind>> {
    if script.doubt.is_some() {
        return vec![None; script.parts.len()];
    }
    let mut moved = moved;
    let mut found: Vec<Option<ReadingKind>> = Vec::with_capacity(script.parts.len());
    for part in &script.parts {
        let reading = reading(part, moved, plain);
        moved |= part.program() == Some("cd");
        found.push(reading);
    }
    for index in 0..script.parts.len() {
        let Some((reading, launched)) = xargs::reading(script, index, any_file) else {
            continue;
        };
        for at in std::iter::once(index).chain(launched) {
            found[at] = Some(reading);
        }
    }
    // A launcher that changes nothing about its program is read-only if the program is.
    for (index, part) in script.parts.iter().enumerate().rev() {
        if found.get(index).is_some_and(Option::is_some) || !sees_through(part) {
            continue;
        }
        let children: Vec<usize> = (index + 1..script.parts.len())
            .filter(|at| {
                script
                    .parts
                    .get(*at)
                    .is_some_and(|other| other.parent == Some(index))
            })
            .collect();
        if let [child] = children.as_slice() {
            let reading = found.get(*child).copied().flatten();
            if let Some(own) = found.get_mut(index) {
                *own = reading;
            }
        }
    }
    // A launched program counts as read-only only if its launcher does.
    for (index, part) in script.parts.iter().enumerate() {
        let bad = part
            .parent
            .is_some_and(|parent| found.get(parent).is_none_or(Option::is_none));
        if bad && let Some(own) = found.get_mut(index) {
            *own = None;
        }
    }
    found
}

/// Whether a part is a simple launcher in its simplest form.
fn sees_through(part: &Part) -> bool {
    const PLAIN: &[&str] = &["time", "timeout", "gtimeout", "nice", "command", "stdbuf"];
    let plain = part
        .program()
        .is_some_and(|program| PLAIN.contains(&program));
    let assigned = part
        .words
        .iter()
        .any(|word| shell::is_assignment(&word.text));
    // `time -o FILE` writes.
    let options = part
        .words
        .iter()
        .skip(1)
        .take_while(|word| word.text.starts_with('-'));
    let writes = part.program() == Some("time") && options.clone().any(|word| word.text != "-p");
    plain && !assigned && !writes && part.doubt.is_none() && is_bare(part)
}

/// Whether the words have no redirections of files or assignments around them.
fn is_bare(part: &Part) -> bool {
    is_bare_except_input(part) && !part.redirections.iter().any(is_input)
}

/// The same, but for files that are the input.
fn is_bare_except_input(part: &Part) -> bool {
    let harmless = |redirection: &Redirection| {
        matches!(redirection, Redirection::Copy | Redirection::Null) || is_input(redirection)
    };
    part.assignments.is_empty()
        && part.redirections.iter().all(harmless)
        && !part.words.iter().any(|word| word.coded)
}

fn is_input(redirection: &Redirection) -> bool {
    redirection.plain_input().is_some()
}

/// Whether nothing around a part changes what it does, or where its output goes.
fn is_reached(part: &Part) -> bool {
    part.via.iter().all(|via| match via {
        NestingStep::Negated
        | NestingStep::Subshell
        | NestingStep::Group
        | NestingStep::Loop
        | NestingStep::Condition
        | NestingStep::ProcessSubstitution => true,
        NestingStep::Launched(_) => true,
        NestingStep::Background
        | NestingStep::PipeBoth
        | NestingStep::Case
        | NestingStep::Function(_)
        | NestingStep::Substitution
        | NestingStep::Inside
        | NestingStep::Line(_) => false,
    })
}

/// The kind of reading of a part, if it is known to be read-only. `moved`: the line has left its initial directory.
fn reading(part: &Part, moved: bool, plain: bool) -> Option<ReadingKind> {
    let first = part.words.first()?;
    let named = first.value == shell::Value::Known && !first.glob && !first.tilde;
    if !is_reached(part) || !named || part.doubt.is_some() || !is_bare_except_input(part) {
        return None;
    }
    let program = first.text.as_str();
    let prints = matches!(
        program,
        "echo" | ":" | "true" | "false" | "basename" | "dirname"
    );
    let compares = tables().input_readers.contains(program);
    let fits = |word: &Word| {
        let is_output = compares && word.value == shell::Value::CommandOutput;
        word.is_known() || (prints && tells_nothing(word)) || is_output
    };
    if !part.words.iter().all(fits) {
        return None;
    }
    // A repository that the line has entered may run programs of its own.
    let arguments = part.words.get(1..).unwrap_or_default();
    let runs_theirs = moved || !(plain || git::reads_nothing(arguments));
    if runs_theirs && first.text == "git" {
        return None;
    }
    let reading = programs::reading(&part.words)?;
    // A file that is the input is read like one that is named.
    let files = reading.files || part.redirections.iter().any(is_input);
    Some(ReadingKind { files })
}

/// Whether a variable may be printed.
fn tells_nothing(word: &Word) -> bool {
    word.value == shell::Value::Variable && !variables::may_be_secret(&word.text)
}
