//! Checks of single programs that a list of options cannot express: words that name files to write, code, or something else
//! that changes more than they seem to.
//!
//! Called by `options`.

use crate::git;
use crate::sed;
use crate::shell::{Word, is_assignment};
use crate::tables::tables;

/// Checks that a list of options cannot express.
pub(super) fn special(
    program: &str,
    words: &[Word],
    extra: &[Word],
    named: usize,
) -> Option<String> {
    let refused = |reason: &str| Some(reason.to_owned());
    match program {
        "git" => {
            // Options before the subcommand are in the rule, or not covered.
            let at = git::globals(words);
            if at > 1 && at > named && !git::harmless_globals(words) {
                return refused("no prefix rule can cover options of git before its subcommand");
            }
            let (subcommand, rest) = words.get(at..).and_then(<[Word]>::split_first)?;
            if rest.iter().any(Word::may_become_option) {
                return refused("file names that replace a pattern could be options");
            }
            let is_named = named > at;
            git::subcommand(&subcommand.text, rest, is_named)
                .or_else(|| git::risk(subcommand, rest))
        }
        "sed" | "gsed" => sed::does_more_than_print(extra)
            .then(|| "no prefix rule can cover this sed script".to_owned()),
        // An operand is the new host name.
        "hostname" => extra
            .iter()
            .find(|word| !word.text.starts_with('-'))
            .map(|word| format!("`{}` would be the new name", word.text)),
        // An operand of digits sets the clock.
        "date" => extra
            .iter()
            .find(|word| word.text.chars().all(|c| c.is_ascii_digit() || c == '.'))
            .map(|word| format!("`{}` sets the clock", word.text)),
        "ps" => shows_environments(extra)
            .map(|word| format!("`{}` may show the environments of processes", word.text)),
        "uniq" => second_file(words, 1, "uniq"),
        // Of any text, also in a string: code is not read here.
        "jq" => extra
            .iter()
            .find(|word| has_refused_jq_word(&word.text))
            .map(|word| {
                format!(
                    "`{}` may read other files or show the environment",
                    word.text
                )
            }),
        "tar" | "bsdtar" | "gtar" => (!tar_lists(&words[1..]))
            .then(|| "a prefix rule covers `tar` only for listing".to_owned()),
        "unzip" => (!words.iter().any(|word| word.text == "-l"))
            .then(|| "a prefix rule covers `unzip` only for listing".to_owned()),
        "make" | "gmake" | "just" | "rake" => extra
            .iter()
            .find(|word| is_assignment(&word.text) || word.text.contains('='))
            .filter(|word| !is_switch(&word.text))
            .map(|word| format!("`{}` changes what `{program}` runs", word.text)),
        // `in out`: the second file is written, and `-r` writes to any offset.
        "xxd" => extra
            .iter()
            .any(|word| word.text.starts_with("-r"))
            .then(|| "`xxd -r` writes files".to_owned())
            .or_else(|| second_file(words, 1, "xxd")),
        "curl" => extra
            .iter()
            .find(|word| reads_file_in_curl(&word.text))
            .map(|word| format!("`{}` may read or write a file", word.text)),
        "cmake" => {
            cmake(extra).map(|word| format!("`{}` may make cmake run something else", word.text))
        }
        "rsync" | "scp" => destination_elsewhere(extra)
            .map(|word| format!("`{}` may lead outside the workspace", word.text)),
        _ if tables().writers.contains(program) => extra
            .iter()
            .find(|word| leaves_folder(word))
            .map(|word| format!("`{}` may lead outside the workspace", word.text)),
        _ => names_file_or_code(program, extra),
    }
}

/// Words that name files to write, more options, or code, other than by an option of a row.
fn names_file_or_code(program: &str, extra: &[Word]) -> Option<String> {
    match program {
        "gcc" | "g++" | "cc" | "clang" | "javac" | "rustc" | "tsc" | "mypy" | "pytest" => extra
            .iter()
            .find(|word| word.text.starts_with('@'))
            .map(|word| format!("`{}` contains further options", word.text))
            .or_else(|| {
                let dependencies = extra.iter().find(|word| word.text.starts_with("-MF"));
                dependencies.map(|word| format!("no prefix rule can cover `{}`", word.text))
            }),
        "protoc" => extra
            .iter()
            .find(|word| word.text.starts_with('@') || is_output_of_protoc(word))
            .map(|word| format!("`{}` may lead outside the workspace", word.text)),
        "pandoc" => extra
            .iter()
            .find(|word| word.text.contains(".lua"))
            .map(|word| format!("no prefix rule can cover `{}`", word.text)),
        // What follows is given to git.
        "gh" => extra
            .iter()
            .any(|word| word.text == "--")
            .then(|| "no prefix rule can cover `--`".to_owned()),
        "split" | "csplit" | "zip" | "convert" | "magick" | "ffmpeg" => extra
            .iter()
            .find(|word| leaves_folder(word))
            .map(|word| format!("`{}` may lead outside the workspace", word.text)),
        _ => None,
    }
}

/// `--go_out=DIR`, `--go_out=OPTIONS:DIR`, where the directory is not below this one.
fn is_output_of_protoc(word: &Word) -> bool {
    let Some((name, value)) = word.text.split_once('=') else {
        return word.text.ends_with("_out");
    };
    let dir = value.rsplit(':').next().unwrap_or(value);
    let is_out = name.ends_with("_out");
    is_out
        && (!word.is_known()
            || dir.starts_with(['/', '~'])
            || dir.split('/').any(|part| part == ".."))
}

/// Arguments of curl that name a file in other ways than by a harmful option: `file:` addresses, `-H @file`, and
/// options whose names begin like harmless ones.
fn reads_file_in_curl(text: &str) -> bool {
    const BEGIN_LIKE: &[(&str, &str)] = &[
        ("proto", "proto-default"),
        ("ssl", "ssl-sessions"),
        ("url", "url-query"),
    ];
    let name = text.strip_prefix("--").unwrap_or_default();
    let name = name.split('=').next().unwrap_or(name);
    let is_longer = |(harmless, harmful): &(&str, &str)| {
        name.len() > harmless.len() && harmful.starts_with(name)
    };
    // curl expands braces and brackets itself.
    let scheme = text.split("://").next().unwrap_or(text);
    let is_hidden = text.contains("://") && scheme.contains(['{', '}', '[', ']']);
    text.to_ascii_lowercase().contains("file:")
        || is_hidden
        || text.starts_with('@')
        || text.starts_with('-') && (text.contains("H@") || text.contains("=@"))
        || text.starts_with("--expand")
        || BEGIN_LIKE.iter().any(is_longer)
}

/// The first word of a build that cmake, or the tool that it runs, may take for more than a name in the workspace. Targets
/// are given to the tool as words: one that begins like an option is one.
fn cmake(extra: &[Word]) -> Option<&Word> {
    let is_name = |text: &str| {
        let is_of_names = |c: char| c.is_ascii_alphanumeric() || "_./+-".contains(c);
        !text.starts_with('-') && text.chars().all(is_of_names)
    };
    let mut is_target = false;
    extra.iter().find(|word| {
        let text = word.text.as_str();
        let follows_target = std::mem::replace(&mut is_target, matches!(text, "-t" | "--target"));
        let name = match (text.strip_prefix("--"), text.get(..2)) {
            _ if follows_target => text,
            (Some(option), _) => option.split_once('=').map_or(option, |(_, value)| value),
            (None, Some(option)) if option.starts_with('-') => &text[2..],
            (None, _) => text,
        };
        let is_operand = !text.starts_with('-');
        text == "--" || !is_name(name) || is_operand && leaves_folder(word)
    })
}

/// The last operand of a command that copies files, if it is a path that leaves the workspace. An operand after an
/// option may be the option's value: then the one before counts too.
fn destination_elsewhere(extra: &[Word]) -> Option<&Word> {
    let is_option = |word: &Word| word.text.starts_with('-');
    let is_remote = |word: &Word| {
        let host = word.text.split('/').next().unwrap_or_default();
        host.contains(':')
    };
    for (index, word) in extra.iter().enumerate().rev() {
        if is_option(word) {
            continue;
        }
        if leaves_folder(word) && !is_remote(word) {
            return Some(word);
        }
        let before = index.checked_sub(1).and_then(|before| extra.get(before));
        if !before.is_some_and(is_option) {
            return None;
        }
    }
    None
}

/// `ps eww` shows environments, `ps -ef` does not: with a dash the letter has another meaning.
fn shows_environments(extra: &[Word]) -> Option<&Word> {
    let mut value = false;
    extra.iter().find(|word| {
        let text = word.text.as_str();
        let is_value = std::mem::replace(
            &mut value,
            text.starts_with('-') && text.ends_with(['o', 'p', 'u', 'C']),
        );
        match text.strip_prefix('-') {
            _ if is_value => text.to_ascii_lowercase().contains("env"),
            Some(letters) => !letters
                .chars()
                .all(|c| "AacCdefFHjlLmNopTuUwxyZ".contains(c)),
            None => text.contains(['e', 'E']),
        }
    })
}

/// `V=1`, `VERBOSE=yes`: a variable of make that switches something on or off.
fn is_switch(text: &str) -> bool {
    let Some((name, value)) = text.split_once('=') else {
        return false;
    };
    let plain = name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let value = value.chars().all(|c| c.is_ascii_digit())
        || matches!(value, "yes" | "no" | "true" | "false");
    plain && value && name != "SHELL" && !name.ends_with("FLAGS") && name != "MAKEFILES"
}

/// Whether a text has a word by which code of jq loads other files (`import`, `include`) or shows the environment (`env`,
/// `$ENV`). A member (`.env`) is none.
fn has_refused_jq_word(text: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut words = text.split(|c: char| !is_of_word(c));
    words.any(|word| {
        let name = word.split('.').next().unwrap_or_default();
        matches!(name, "import" | "include" | "env" | "ENV")
    })
}

pub(super) fn second_file(words: &[Word], from: usize, program: &str) -> Option<String> {
    let operands = words
        .iter()
        .skip(from)
        .filter(|word| word.text == "-" || !word.text.starts_with('-'));
    (operands.count() > 1).then(|| format!("`{program}` writes its second file"))
}

/// Whether an operand is not clearly below the current directory.
fn leaves_folder(word: &Word) -> bool {
    let text = word.text.as_str();
    word.tilde
        || word.glob && text.starts_with(['*', '?', '[', '-'])
        || text.starts_with('/')
        || text.split('/').any(|part| part == "..")
        || (text.starts_with("--") && text.contains('='))
}

/// Whether a tar command only lists: `-tf x.tar`, `tvf x.tar`.
fn tar_lists(arguments: &[Word]) -> bool {
    let Some(first) = arguments.first() else {
        return false;
    };
    let letters = first.text.strip_prefix('-').unwrap_or(&first.text);
    let plain = |text: &str| text.chars().all(|c| "tvfzjJ".contains(c));
    if first.text.starts_with("--") || !letters.contains('t') || !plain(letters) {
        return false;
    }
    arguments[1..]
        .iter()
        .all(|word| match word.text.strip_prefix('-') {
            Some(letters) => !letters.starts_with('-') && plain(letters),
            None => !word.may_become_option(),
        })
        && !arguments.iter().any(|word| word.text.contains(':'))
}
