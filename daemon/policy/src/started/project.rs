//! The files of a project that a runner obeys: `make`, `npm test`, `cargo build`. Whoever wrote them decides what runs.
//!
//! Which programs are runners, and which files they read, is in `programs.toml`.

use super::{Changes, StartedKind, StartedProgram, paths, started};
use crate::programs::base;
use crate::shell::{Part, Script, Word};
use crate::tables::{Names, ProjectRunner, tables};

/// The option with which every runner only reports about itself.
const REPORTS: &str = "--version";

/// The files that the command's runner obeys, as programs that the line starts.
pub(super) fn files_of(script: &Script, part: &Part, changes: &Changes) -> Vec<StartedProgram> {
    let Some((runner, arguments)) = runner_of(part) else {
        return Vec::new();
    };
    if runs_nothing(runner, arguments) {
        return Vec::new();
    }
    let dir = values(arguments, &runner.dir_options).pop();
    let within = dir.map(|dir| changes.within(&dir));
    let changes = within.as_ref().unwrap_or(changes);
    let named = values(arguments, &runner.file_options);
    let operands = arguments.iter().filter(|word| is_path(word));
    let operands = operands.filter(|_| runner.operands).cloned();
    let mut scripts: Vec<_> = named.iter().cloned().chain(operands).collect();
    scripts.retain(|word| word.is_known() && !word.glob);
    let as_started = |word: &Word, kind| {
        // As if it were started by its own name.
        let alone = Part {
            words: vec![paths::local(word, &word.text)],
            ..part.clone()
        };
        let started = started(script, &alone, changes)?;
        Some(StartedProgram { kind, ..started })
    };
    let scripts = scripts
        .iter()
        .map(|word| (word.clone(), StartedKind::Script));
    let mut files: Vec<&String> = match named.is_empty() {
        true => runner.files.iter().collect(),
        false => Vec::new(),
    };
    files.sort();
    let program = part.words.first();
    let of_project = files.into_iter().zip(program.into_iter().cycle());
    let of_project = of_project.map(|(file, program)| {
        let word = Word {
            text: file.clone(),
            tilde: false,
            ..program.clone()
        };
        let upward = runner.upward;
        (word, StartedKind::ProjectFile { upward })
    });
    let all = scripts.chain(of_project);
    all.filter_map(|(word, kind)| as_started(&word, kind))
        .collect()
}

/// The runner that a command is, with its arguments. Also one that Python starts as a module.
fn runner_of(part: &Part) -> Option<(&'static ProjectRunner, &[Word])> {
    let find = |name: &str| {
        let mut runners = tables().project_runners.iter();
        runners.find(|runner| runner.names.contains(name))
    };
    let name = base(part.program()?);
    let arguments = part.words.get(1..).unwrap_or_default();
    if let Some(runner) = find(name) {
        return Some((runner, arguments));
    }
    let at = arguments.iter().position(|word| word.text == "-m")?;
    let module = arguments.get(at + 1).filter(|_| name.starts_with("py"))?;
    Some((
        find(&module.text)?,
        arguments.get(at + 2..).unwrap_or_default(),
    ))
}

/// Whether the command only reports about the runner, or does not touch the project's code.
fn runs_nothing(runner: &ProjectRunner, arguments: &[Word]) -> bool {
    // `cargo +nightly fmt`. What follows an option may be its value.
    let mut arguments = arguments.iter();
    let first = arguments.find(|word| !word.text.starts_with('+'));
    first.is_some_and(|first| {
        let is_alone = arguments.next().is_none();
        let is_quiet = runner.quiet.contains(&first.text);
        first.is_known() && (is_quiet || (first.text == REPORTS && is_alone))
    })
}

/// The values of these options: `-f x`, `-fx`, `--file x`, `--file=x`.
fn values(arguments: &[Word], options: &Names) -> Vec<Word> {
    let with = |word: &Word, text: &str| Word {
        text: text.to_owned(),
        ..word.clone()
    };
    let given = arguments.iter().enumerate().filter_map(|(at, word)| {
        if options.contains(&word.text) {
            return arguments.get(at + 1).cloned();
        }
        if let Some((name, value)) = word.text.split_once('=')
            && options.contains(name)
        {
            return Some(with(word, value));
        }
        let short = word.text.get(..2).filter(|short| options.contains(*short));
        let value = short.and_then(|_| word.text.get(2..));
        value.map(|value| with(word, value))
    });
    given.collect()
}

/// Whether an argument looks like a file or directory.
fn is_path(word: &Word) -> bool {
    !word.text.starts_with('-') && word.text.contains(['/', '.'])
}
