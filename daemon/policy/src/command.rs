//! What the rules say of a command line. Called by `decide`.

use std::path::PathBuf;

use contract::Basis;
use proto::record::Verdict;
use proto::state::Posture;

use crate::budget::Exhausted;
use crate::call::Access;
use crate::context::Sandbox;
use crate::decide::{Case, Finding, Judged, general};
use crate::files;
use crate::git;
use crate::grants;
use crate::options;
use crate::programs::{self, Reading};
use crate::protected;
use crate::readers;
use crate::ruleset::Tightening;
use crate::shell::{self, Analysis, Word};
use crate::textrules::{Anchor, Found};
use crate::variables;

/// Words of a command that are looked at as paths; a command with more of them asks.
const PATHS_MAX: usize = 64;
/// Options before a subcommand that are looked past.
const OPTIONS_MAX: usize = 32;

/// The line in all the forms in which rules are tried against it.
struct Line<'a> {
    analysis: &'a Analysis,
    /// The one plain command, as far as it is one.
    words: Option<&'a [Word]>,
    /// What the line holds beyond that: texts with commands somewhere in them.
    readings: Vec<String>,
    /// A command in it is not known before it runs.
    unknown: bool,
}

/// Judges a command line.
pub(crate) fn judge(case: &mut Case<'_>, command: &str) -> Judged {
    let analysis = shell::analyse(command);
    let line = Line::new(command, &analysis);
    // A changed variable is as if it were set before the command: nobody knows what runs.
    let changed = variables::distrusted(&case.context.altered);
    let known = line.words.filter(|_| changed.is_none());
    let reading = known.and_then(programs::reading);
    let mut findings = general(case, reading.is_some());
    let rules = case.rules;
    for (list, verdict) in [(&rules.deny, Verdict::Deny), (&rules.ask, Verdict::Ask)] {
        findings.extend(line.tightened(case, list, verdict));
    }
    if line.unknown && (rules.deny.has_bash() || rules.ask.has_bash()) {
        let reason = format!(
            "{}, and rules that deny or ask cannot be tried against all of it",
            line.why()
        );
        findings.push(Finding::built_in(Verdict::Ask, Basis::NotAnalysed, reason).firm());
    }
    if reading.is_none() {
        findings.extend(line.guarded(&case.context.masked));
    }
    let allowed = match changed {
        Some(name) => line.allowed_under(case, name),
        None => line.allowed(case, command, reading),
    };
    findings.extend(line.over_paths(case, &allowed, reading));
    findings.extend(line.closed(case));
    findings.push(allowed);
    let finding = Finding::strictest(findings)
        .unwrap_or_else(|| Case::unclear("nothing is known of this command"));
    let part = match &analysis {
        Analysis::Simple { text, .. } => text.clone(),
        Analysis::NotPlain { .. } => shell::trim(command).to_owned(),
    };
    let scopes = match changed {
        Some(_) => Vec::new(),
        None => grants::command(command, &analysis),
    };
    Judged {
        finding,
        parts: vec![part],
        read_only: reading.is_some(),
        scopes,
    }
}

impl<'a> Line<'a> {
    fn new(command: &str, analysis: &'a Analysis) -> Self {
        match analysis {
            Analysis::NotPlain { readings, .. } => Self {
                analysis,
                words: None,
                readings: without_globals(readings.clone()),
                unknown: true,
            },
            Analysis::Simple { words, .. } => {
                let holds = programs::holds_commands(words);
                let readings = if holds {
                    without_globals(shell::readings(command))
                } else {
                    Vec::new()
                };
                // A line inside the line: what its variables hold is known only to the shell that runs it.
                let inner = holds && words.iter().any(|word| programs::is_shell(&word.text));
                let signs = |word: &Word| word.text.contains(['$', '`', '\\', '\'', '"']);
                let many = options_before(words) > OPTIONS_MAX;
                let unknown = many || (inner && words.iter().any(signs));
                Self {
                    analysis,
                    words: Some(words),
                    readings,
                    unknown,
                }
            }
        }
    }

    /// Why the line is not understood, in words.
    fn why(&self) -> String {
        match self.analysis {
            Analysis::NotPlain { reason, .. } => {
                format!("not one plain command: {}", reason.words())
            }
            Analysis::Simple { .. } => {
                "it holds a command that is known only when it runs".to_owned()
            }
        }
    }

    /// Deny or ask rules over the texts of commands.
    fn tightened(
        &self,
        case: &mut Case<'_>,
        list: &Tightening,
        verdict: Verdict,
    ) -> Option<Finding> {
        let finding = |found: Found| match found {
            Found::Rule(index) => Finding::rule(verdict, case.rules, index),
            Found::Maybe(index) => {
                let mut finding = Finding::rule(Verdict::Ask, case.rules, index).firm();
                finding.rule = format!("perhaps another spelling of what `{}` names", finding.rule);
                finding
            }
            Found::Exhausted => {
                let reason =
                    format!("the command is too long to be tried against all {verdict:?} rules")
                        .to_lowercase();
                Finding::built_in(verdict, Basis::NotAnalysed, reason).firm()
            }
        };
        let found = self.find(list, &mut case.budget)?;
        Some(finding(found))
    }

    fn find(&self, list: &Tightening, budget: &mut crate::budget::Budget) -> Option<Found> {
        let mut maybe = None;
        let mut keep = |found: Option<Found>| match found {
            Some(Found::Maybe(index)) => {
                maybe = maybe.or(Some(Found::Maybe(index)));
                None
            }
            found => found,
        };
        if let (Some(words), Analysis::Simple { text, .. }) = (self.words, self.analysis) {
            if let found @ Some(_) = keep(list.texts.find(text, Anchor::Start, budget)) {
                return found;
            }
            for (text, certain) in variants(words) {
                let found =
                    list.texts
                        .find(&text, Anchor::Start, budget)
                        .map(|found| match found {
                            Found::Rule(index) if !certain => Found::Maybe(index),
                            found => found,
                        });
                if let found @ Some(_) = keep(found) {
                    return found;
                }
            }
            let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            if let found @ Some(_) = keep(list.texts.find_spelling(&texts, true, budget)) {
                return found;
            }
        }
        for reading in &self.readings {
            if let found @ Some(_) = keep(list.texts.find(reading, Anchor::AnyWord, budget)) {
                return found;
            }
            let words: Vec<&str> = reading.split(' ').collect();
            if let found @ Some(_) = keep(list.texts.find_spelling(&words, false, budget)) {
                return found;
            }
        }
        maybe
    }

    /// Files that only a person may have changed, named anywhere in the line.
    fn guarded(&self, masked: &[PathBuf]) -> Option<Finding> {
        let asked = |name: &str| {
            let words = format!(
                "always asked: the command names `{name}`, which configures the agent, its repository or an editor"
            );
            Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words)
        };
        let Some(words) = self.words.filter(|_| self.readings.is_empty()) else {
            let texts = self.readings.iter().map(String::as_str);
            let texts = texts.chain(
                self.words
                    .into_iter()
                    .flatten()
                    .map(|word| word.text.as_str()),
            );
            return texts
                .filter_map(|text| protected::word(text).or_else(|| protected::own(text, masked)))
                .next()
                .map(asked);
        };
        let program = words.first().map_or("", |word| word.text.as_str());
        // A message may speak of such a file.
        let messages = matches!(program, "git" | "gh");
        words
            .iter()
            .filter(|word| !(messages && word.text.contains([' ', '\n'])))
            .find_map(|word| {
                protected::word(&word.text).or_else(|| protected::own(&word.text, masked))
            })
            .map(asked)
    }

    /// Allow rules, the built-in readers and the fallback.
    fn allowed(&self, case: &mut Case<'_>, command: &str, reading: Option<Reading>) -> Finding {
        let rules = case.rules;
        let was_read = self.was_read();
        let whole = rules
            .allow
            .whole(case.call)
            .or_else(|| rules.allow.line(shell::trim(command)));
        if let Some(index) = whole.filter(|_| was_read) {
            return Finding::rule(Verdict::Allow, rules, index);
        }
        let mut why = None;
        if let Some(words) = self.words {
            // The longest first: it leaves the least to the caller.
            for (named, index) in rules
                .allow
                .prefixes(words, &mut case.budget)
                .into_iter()
                .rev()
            {
                if !case.budget.take(words.len() as u64 * 64) {
                    break;
                }
                match options::risk(words, named) {
                    None => return Finding::rule(Verdict::Allow, rules, index),
                    Some(risk) => why = why.or(Some(risk)),
                }
            }
        }
        match (reading, self.analysis) {
            (Some(_), _) => Finding::built_in(Verdict::Allow, Basis::Fallback, "only reads"),
            (None, Analysis::NotPlain { .. }) => {
                let finding = Finding::built_in(Verdict::Ask, Basis::NotAnalysed, self.why());
                if was_read { finding } else { finding.firm() }
            }
            (None, Analysis::Simple { .. }) => {
                let mut finding = Case::writer_fallback();
                if let Some(why) = why {
                    finding.rule = format!("{}: {why}", finding.rule);
                }
                finding
            }
        }
    }

    fn was_read(&self) -> bool {
        match self.analysis {
            Analysis::Simple { .. } => true,
            Analysis::NotPlain { reason, .. } => reason.was_read(),
        }
    }

    /// The same under a changed variable: only a rule for all commands allows it.
    fn allowed_under(&self, case: &Case<'_>, changed: &str) -> Finding {
        let whole = case.rules.allow.whole(case.call);
        if let Some(index) = whole.filter(|_| self.was_read()) {
            return Finding::rule(Verdict::Allow, case.rules, index);
        }
        let why = format!(
            "an earlier command has changed `{changed}`, so what this one does is not known"
        );
        let finding = Finding::built_in(Verdict::Ask, Basis::NotAnalysed, why);
        if self.was_read() {
            finding
        } else {
            finding.firm()
        }
    }

    /// Rules over paths, where no layer below holds a command to them.
    fn over_paths(
        &self,
        case: &mut Case<'_>,
        allowed: &Finding,
        reading: Option<Reading>,
    ) -> Vec<Finding> {
        if case.context.sandbox == Sandbox::Full {
            return Vec::new();
        }
        let rules = case.rules;
        let reads = rules
            .deny
            .any(Access::Read)
            .or_else(|| rules.ask.any(Access::Read));
        let edits = rules
            .deny
            .any(Access::Edit)
            .or_else(|| rules.ask.any(Access::Edit));
        let about_files = match (reading, self.words) {
            (Some(Reading { files }), _) => files,
            (None, Some(words)) => options::works_on_files(words),
            (None, None) => true,
        };
        // A grant of this very command stands, as long as the command is not about files at large.
        let granted = allowed.basis == Basis::Rule && rules.allow.whole(case.call).is_none();
        let runs = allowed.verdict == Verdict::Allow || case.context.posture == Posture::Yolo;
        let closing = if reading.is_some() {
            reads
        } else {
            reads.or(edits)
        };
        let harmless = reading.is_some_and(|reading| !reading.files);
        let open = closing.filter(|_| runs && !harmless && (about_files || !granted));
        let mut findings = Vec::new();
        if let Some(index) = open {
            let mut finding = Finding::rule(Verdict::Ask, rules, index).firm();
            finding.rule = format!("nothing holds a command to `{}`", finding.rule);
            findings.push(finding);
        }
        if reads.is_some() || edits.is_some() {
            findings.extend(
                self.words
                    .and_then(|words| named_paths(case, words, reading.is_none())),
            );
        }
        findings
    }
}

impl Line<'_> {
    /// What no tool may read is not shown by a command either, unless a person says so.
    fn closed(&self, case: &Case<'_>) -> Option<Finding> {
        if case.context.sandbox == Sandbox::Full {
            return None;
        }
        let found = readers::places(self.words?)?;
        if let Some(why) = found.unclear {
            return Some(Case::unclear(why));
        }
        found.places.iter().find_map(|place| {
            let why = closed_place(case, place, found.walks)?;
            Some(Case::unclear(&why))
        })
    }
}

/// Why a place that a command reads is not to be read unasked.
fn closed_place(case: &Case<'_>, place: &readers::Place, walks: bool) -> Option<String> {
    let text = &place.text;
    let subject = place.subject();
    let resolved = case
        .context
        .paths
        .iter()
        .find(|path| path.text == subject.text && path.access == subject.access);
    let Some(resolved) = resolved else {
        return Some(format!("`{text}` of the command was not looked up"));
    };
    if resolved.masked {
        return Some(format!(
            "the command reads `{text}`, which belongs to the agent or the system and is closed to tools"
        ));
    }
    if resolved.denied {
        return Some(format!(
            "the command reads `{text}`, which `sandbox.deny_read` closes to tools"
        ));
    }
    if resolved.holds_closed && (walks || place.glob) {
        return Some(format!(
            "the command reads what is below `{text}`, and some of that is closed to tools"
        ));
    }
    let leaves = |path: &std::path::Path| !path.starts_with(&case.context.root);
    let outside = place.glob && resolved.absolute.as_deref().is_none_or(leaves);
    outside.then(|| {
        format!("which files the shell puts in below `{text}`, outside the workspace, is not known")
    })
}

/// A rule over a path that a word of the command plainly names.
fn named_paths(case: &mut Case<'_>, words: &[Word], writes: bool) -> Option<Finding> {
    let rules = case.rules;
    if words.len() > PATHS_MAX {
        let reason = "the command has too many words to be tried against the rules over paths";
        return Some(Finding::built_in(Verdict::Ask, Basis::NotAnalysed, reason).firm());
    }
    let mut findings = Vec::new();
    for word in words.iter().skip(1) {
        if word.glob && writes {
            findings.push(Case::unclear(
                "which files the shell puts in is not known to the rules over paths",
            ));
        }
        let forms = [
            Some(word.text.as_str()),
            word.text.split_once('=').map(|(_, value)| value),
            word.text.split_once(':').map(|(_, value)| value),
        ];
        for text in forms.into_iter().flatten().filter(|text| !text.is_empty()) {
            let path = files::lexical(text, &case.context.cwd, &case.context.user_home);
            for (list, verdict) in [(&rules.deny, Verdict::Deny), (&rules.ask, Verdict::Ask)] {
                for access in [Access::Read, Access::Edit] {
                    if access == Access::Edit && !writes {
                        continue;
                    }
                    // A rule for the family as such is about file tools.
                    if list.family(access).is_some() {
                        continue;
                    }
                    match files::matching(case, list, access, &path) {
                        Ok(Some(index)) => findings.push(Finding::rule(verdict, rules, index)),
                        Ok(None) => {}
                        Err(Exhausted) => findings.push(Case::unclear(
                            "the command is too long for the rules over paths",
                        )),
                    }
                }
            }
        }
    }
    Finding::strictest(findings)
}

/// Every text once more with the global options of each `git` left out, where there are any.
fn without_globals(mut texts: Vec<String>) -> Vec<String> {
    let mut more = Vec::new();
    for text in &texts {
        let mut left_out = false;
        let mut kept: Vec<&str> = Vec::new();
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

/// The command as if the options before its subcommand were not there. `true`: certainly the same command;
/// `false`: only if a word that was left out was the value of an option.
fn variants(words: &[Word]) -> Vec<(String, bool)> {
    let Some((program, rest)) = words.split_first() else {
        return Vec::new();
    };
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    let without = |from: usize| {
        shell::join(std::iter::once(program.text.as_str()).chain(texts[from..].iter().copied()))
    };
    if programs::base(&program.text) == "git" {
        let mut from = 0;
        while let Some(valued) = texts.get(from).and_then(|word| git::global(word)) {
            from += if valued { 2 } else { 1 };
        }
        let from = from.min(texts.len());
        return if from == 0 {
            Vec::new()
        } else {
            vec![(without(from), true)]
        };
    }
    let mut found = Vec::new();
    let mut certain = true;
    let mut after_option = false;
    for (index, word) in texts.iter().enumerate().take(OPTIONS_MAX) {
        let is_option = word.starts_with(['-', '+']);
        if !is_option && !after_option {
            break;
        }
        certain &= is_option;
        after_option = is_option && !word.contains('=');
        found.push((without(index + 1), certain));
    }
    found
}
