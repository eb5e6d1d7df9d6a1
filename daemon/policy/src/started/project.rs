//! The files of a project that a runner obeys: `make`, `npm test`, `cargo build`. Whoever wrote them decides what runs.
//!
//! Which programs are runners, and which files they read, is in `programs.toml`.

use super::{Changes, Setting, StartedKind, StartedProgram, paths, rows, started};
use crate::shell::{Part, Script, Word};
use crate::tables::{Names, ProjectRunner, tables};

/// The option with which every runner only reports about itself.
const REPORTS: &str = "--version";

/// The files that the command's runners obey, as programs that the line starts.
pub(super) fn files_of(script: &Script, part: &Part, changes: &Changes) -> Vec<StartedProgram> {
    let mut found = Vec::new();
    for runner in &tables().project_runners {
        let Some(arguments) = arguments_of(runner, part) else {
            continue;
        };
        let files = files_named(runner, part, arguments);
        for changes in &dirs(runner, arguments, changes) {
            let started = files
                .iter()
                .filter_map(|(word, kind)| as_started(script, part, changes, word, *kind));
            found.extend(started);
        }
    }
    found
}

/// A file as if it were started by its own name.
fn as_started(
    script: &Script,
    part: &Part,
    changes: &Changes,
    word: &Word,
    kind: StartedKind,
) -> Option<StartedProgram> {
    let alone = Part {
        words: vec![paths::local(word, &word.text)],
        ..part.clone()
    };
    let started = started(script, &alone, changes)?;
    // An unknown name names no file of the project.
    let kind = match started.path {
        Setting::Unknown => StartedKind::Script,
        Setting::Unchanged | Setting::To(_) => kind,
    };
    Some(StartedProgram { kind, ..started })
}

/// The files that a runner with these arguments obeys.
fn files_named(
    runner: &ProjectRunner,
    part: &Part,
    arguments: &[Word],
) -> Vec<(Word, StartedKind)> {
    let of_project = |names: &Names| {
        let mut names: Vec<&String> = names.iter().collect();
        names.sort();
        let upward = runner.upward;
        let program = part.words.first().into_iter().cycle();
        let words = names.into_iter().zip(program).map(|(file, program)| Word {
            text: file.clone(),
            tilde: false,
            ..program.clone()
        });
        let files = words.map(|word| (word, StartedKind::ProjectFile { upward }));
        files.collect::<Vec<_>>()
    };
    let always = of_project(&runner.always);
    if runs_nothing(runner, arguments) {
        return always;
    }
    let named = values(arguments, &runner.file_options);
    // `mvn -fae` is another option.
    let is_file = |word: &Word| !arguments.iter().any(|given| is_attached(given, word));
    let of_project = match named.iter().any(is_file) {
        true => Vec::new(),
        false => of_project(&runner.files),
    };
    let further = values(arguments, &runner.more_files);
    let in_clusters = clustered(arguments, &runner.file_options);
    let named = named.into_iter().chain(further).chain(in_clusters);
    // `-`: its input is unknown.
    let named = named.flat_map(|word| match word.text.as_str() {
        "-" => vec![paths::unknown("-".to_owned())],
        _ => paths::named_in(&word, &[]),
    });
    let operands = arguments.iter().filter(|word| !word.text.starts_with('-'));
    let run = operands
        .clone()
        .flat_map(|word| match (runner.operands, runner.paths) {
            (true, _) => vec![word.clone()],
            (false, true) => paths::if_path(word),
            (false, false) => Vec::new(),
        });
    let places = operands.filter(|_| runner.places).cloned();
    let places = places.map(|word| (word, StartedKind::ProjectFile { upward: false }));
    let scripts = named.chain(run).map(|word| (word, StartedKind::Script));
    let files = scripts.chain(places);
    files.chain(of_project).chain(always).collect()
}

/// The changes in each directory that a runner may work in. Of several options for it, the last one may count, or each
/// after the one before.
fn dirs(runner: &ProjectRunner, arguments: &[Word], changes: &Changes) -> Vec<Changes> {
    let named = values(arguments, &runner.dir_options);
    let clustered = clustered(arguments, &runner.dir_options);
    let after_each_other = named
        .iter()
        .fold(changes.clone(), |changes, dir| changes.within(dir));
    let mut found = vec![after_each_other];
    if named.len() > 1 {
        found.extend(named.iter().rev().map(|dir| changes.within(dir)));
    }
    found.extend(clustered.iter().map(|dir| changes.within(dir)));
    found
}

/// The arguments of a command that is this runner. Also of one that Python starts as a module.
fn arguments_of<'p>(runner: &ProjectRunner, part: &'p Part) -> Option<&'p [Word]> {
    rows::arguments(&runner.names, part).or_else(|| {
        let (module, arguments) = rows::python_module(part)?;
        runner.names.contains(module).then_some(arguments)
    })
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

/// The values of these options: `-f x`, `-fx`, `--file x`, `--file=x`, `--fil=x`.
fn values(arguments: &[Word], options: &Names) -> Vec<Word> {
    let is_named = |name: &str| {
        let is_long = name.starts_with("--") && name.len() > 3;
        let mut begun = options.iter().filter(|option| option.starts_with(name));
        options.contains(name) || (is_long && begun.next().is_some())
    };
    let given = arguments.iter().enumerate().filter_map(|(at, word)| {
        if is_named(&word.text) {
            return arguments.get(at + 1).cloned();
        }
        if let Some((name, value)) = word.text.split_once('=')
            && is_named(name)
        {
            return Some(with(word, value));
        }
        let short = word.text.get(..2).filter(|short| options.contains(*short));
        let value = short.and_then(|_| word.text.get(2..));
        value.map(|value| with(word, value))
    });
    given.collect()
}

/// Whether a value that does not look like a path is in the same word as a short option.
fn is_attached(given: &Word, value: &Word) -> bool {
    let attached = given
        .text
        .get(2..)
        .filter(|_| !given.text.starts_with("--"));
    attached == Some(&value.text) && value.is_known() && !value.text.contains(['.', '/', '='])
}

/// What may be the values of these options inside clusters: `-kf x`. The letters before may have values themselves.
fn clustered(arguments: &[Word], options: &Names) -> Vec<Word> {
    let given = arguments.iter().enumerate().flat_map(|(at, word)| {
        let letters = word
            .text
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with('-'));
        let letters = letters.unwrap_or_default().char_indices().skip(1);
        let of_options = letters.filter(|(_, letter)| options.contains(&format!("-{letter}")));
        of_options.filter_map(move |(from, letter)| {
            // After the dash.
            match word.text.get(1 + from + letter.len_utf8()..)? {
                "" => arguments.get(at + 1).cloned(),
                value => Some(with(word, value)),
            }
        })
    });
    given.collect()
}

fn with(word: &Word, text: &str) -> Word {
    Word {
        text: text.to_owned(),
        ..word.clone()
    }
}
