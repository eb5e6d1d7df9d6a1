//! Code on standard input: from another command, or from a file. Called by `interpreters`.

use super::paths;
use crate::programs::base;
use crate::shell::{Part, Redirection, Script, Word};

/// Whether a command reads the output of another one.
pub(super) fn is_piped(script: &Script, index: usize) -> bool {
    let (before, rest) = script.parts.split_at(index.min(script.parts.len()));
    let part = rest.first();
    let is_ahead =
        |one: &Part| part.is_some_and(|part| one.pipeline == part.pipeline && one.via == part.via);
    before.iter().any(is_ahead)
}

pub(super) fn input_of(program: &str) -> Word {
    paths::unknown(format!("input of {}", base(program)))
}

/// The files that the code is read from on standard input. Text of the line is none.
pub(super) fn input(part: &Part, program: &str) -> Vec<Word> {
    let files = read_files(part);
    let texts = part.redirections.iter().filter_map(|one| match one {
        Redirection::Text(text) => Some(text.is_some()),
        _ => None,
    });
    let is_text = texts.eq([true]);
    match files.is_empty() && !is_text {
        true => vec![input_of(program)],
        false => files,
    }
}

pub(super) fn read_files(part: &Part) -> Vec<Word> {
    let files = part.redirections.iter().filter_map(|one| match one {
        Redirection::Read(word) => Some(word),
        _ => None,
    });
    files
        .flat_map(|word| paths::with_suffixes(word, &[]))
        .collect()
}

/// Whether the value of an option for a file with code is standard input: `-f -`, `--file=/dev/stdin`.
pub(super) fn are_options_for_code(arguments: &[Word]) -> bool {
    const OPTIONS: &[&str] = &["--file", "--makefile", "--exec", "-f", "-E"];
    let is_input =
        |text: &str| text == "-" || text.starts_with("/dev/") || text.starts_with("/proc/");
    let in_next = arguments.windows(2).any(|pair| {
        let ends = |option: &&str| pair[0].text == **option;
        // `-nf -`: the option ends a cluster.
        let is_cluster = !pair[0].text.starts_with("--") && pair[0].text.starts_with('-');
        let is_option =
            OPTIONS.iter().any(ends) || is_cluster && pair[0].text.ends_with(['f', 'E']);
        is_option && is_input(&pair[1].text)
    });
    let in_same = arguments.iter().any(|word| {
        let text = word.text.as_str();
        let value = text
            .split_once(['=', 'f', 'E'])
            .map_or("", |(_, value)| value);
        let long = text.split_once('=').map_or("", |(_, value)| value);
        text.starts_with('-') && (is_input(value) || is_input(long))
    });
    in_next || in_same
}
