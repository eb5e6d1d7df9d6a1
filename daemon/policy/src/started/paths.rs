//! Paths in words: where a text names files with code.

use super::Setting;
use crate::shell::{Value, Word};

/// Maximum paths to take from one value; a value with more is unknown.
const PATHS_MAX: usize = 64;

/// Characters that separate paths in options and variables.
const SEPARATORS: &[char] = &[
    ' ', '\t', '\n', ':', '=', ',', ';', '!', '\'', '"', '(', ')', '|', '&', '<', '>',
];

/// Whether a program's path leads through `/proc` or the descriptors in `/dev`: there the same name is another file for
/// each process.
pub(super) fn leads_through_processes(text: &str, dir: &Setting, path: &Setting) -> bool {
    if let Setting::To(path) = path
        && path.split(':').any(is_of_processes)
    {
        return true;
    }
    match dir {
        Setting::To(dir) => is_of_processes(dir) || is_of_processes(&format!("{dir}/{text}")),
        Setting::Unchanged | Setting::Unknown => is_of_processes(text),
    }
}

fn is_of_processes(path: &str) -> bool {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let parts: Vec<&str> = parts.collect();
    let is_below = |at: &[&str]| matches!(at, ["proc", ..] | ["dev", "fd" | "stdin", ..]);
    // What `..` leads to depends on links.
    match parts.contains(&"..") {
        true => (0..parts.len()).any(|from| parts.get(from..).is_some_and(is_below)),
        false => path.starts_with('/') && is_below(&parts),
    }
}

/// A file that is not looked for on the `PATH`, written like a word of the line.
pub(super) fn local(word: &Word, text: &str) -> Word {
    let text = match text.contains('/') {
        true => text.to_owned(),
        false => format!("./{text}"),
    };
    Word {
        text,
        ..word.clone()
    }
}

/// An unknown word with this text.
pub(super) fn unknown(text: String) -> Word {
    Word {
        text,
        ..Word::given(crate::shell::Span::default())
    }
}

/// A file with code, and the names with which a program also looks for it.
pub(super) fn with_suffixes(word: &Word, suffixes: &[&str]) -> Vec<Word> {
    if !word.is_known() || word.glob {
        return vec![word.clone()];
    }
    let file = local(word, &word.text);
    let name = file.text.rsplit('/').next().unwrap_or_default();
    let is_complete = name.is_empty() || name.contains('.');
    let more = suffixes.iter().filter(|_| !is_complete);
    let more = more.map(|suffix| local(word, &format!("{}{suffix}", file.text)));
    std::iter::once(file.clone()).chain(more).collect()
}

/// Every file that a value may name: `./x`, `--require ./x`, `a:b`, `core.pager=./x`, `-Mlib=.`.
pub(super) fn named_in(value: &Word, suffixes: &[&str]) -> Vec<Word> {
    if !value.is_known() || value.glob {
        return vec![value.clone()];
    }
    let text = value.text.replace("::", "/");
    let pieces = text.split(SEPARATORS).chain([value.text.as_str()]);
    let with_attached = pieces.flat_map(|piece| match piece.strip_prefix('-') {
        Some(option) => [option.get(1..).unwrap_or_default(), ""],
        None => [piece, piece.strip_prefix('@').unwrap_or_default()],
    });
    let mut names: Vec<&str> = Vec::new();
    for name in with_attached.filter(|name| !name.is_empty()) {
        if !names.contains(&name) {
            names.push(name);
        }
        if names.len() > PATHS_MAX {
            return vec![unknown(value.text.clone())];
        }
    }
    let words = names.into_iter().flat_map(|name| {
        let word = Word {
            text: name.to_owned(),
            value: Value::Known,
            // A program that reads the value expands it, if the shell does not.
            tilde: name.starts_with("~/"),
            ..value.clone()
        };
        with_suffixes(&word, suffixes)
    });
    words.collect()
}

/// The files that an operand may name if it looks like a path: `.`, `./x`, `x @ file:///y`, `.[dev]`.
pub(super) fn if_path(operand: &Word) -> Vec<Word> {
    if operand.is_known() && !operand.text.contains(['/', '.']) {
        return Vec::new();
    }
    let mut files = named_in(operand, &[]);
    if let Some((file, _)) = operand.text.split_once('[').filter(|_| operand.is_known()) {
        files.push(local(operand, file));
    }
    files
}

/// Whether a word that is not known is one expansion: `$x`, `${x}`, `$(…)`.
pub(super) fn is_expansion(text: &str) -> bool {
    let text = text.trim_matches('"');
    let is_variable = |name: &str| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || "_{}".contains(c))
    };
    text.starts_with("$(")
        || text.starts_with('`')
        || text.strip_prefix('$').is_some_and(is_variable)
}

/// Where a program looks for a module in the current directory: `a.b` or `a::b` is `./a/b.py`.
pub(super) fn of_module(name: &Word, suffixes: &[&str]) -> Vec<Word> {
    if !name.is_known() || name.glob {
        return vec![name.clone()];
    }
    let (module, settings) = name.text.split_once('=').unwrap_or((&name.text, ""));
    let module = module.replace("::", "/").replace('.', "/");
    let files = suffixes
        .iter()
        .map(|suffix| local(name, &format!("./{module}{suffix}")));
    let settings = Word {
        text: settings.to_owned(),
        ..name.clone()
    };
    files.chain(named_in(&settings, &[])).collect()
}
