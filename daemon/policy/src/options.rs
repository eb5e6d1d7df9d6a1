//! Arguments that make a program start another one, load code, or write a file of the caller's choice.
//!
//! A grant by prefix covers none of them, and a command with one of them does not only read. Errs on the
//! side of finding too much: the answer is then a question. Called by `decide` and `programs`.

use crate::dangers::{NEVER, SUBCOMMANDS, WRITERS, danger_of};
use crate::git;
use crate::programs;
use crate::sed;
use crate::shell::{Word, is_assignment};

/// What in a command no prefix grant covers, if there is anything. The first `named` words stand in the rule.
pub(crate) fn risk(words: &[Word], named: usize) -> Option<String> {
    // The author of the rule has seen every word of it.
    if words.len() <= named && named > 1 {
        return None;
    }
    let program = programs::base(&words.first()?.text);
    // The option at the end of a rule takes its value from the caller.
    let from = named.saturating_sub(1).max(1);
    let extra = words.get(from..).unwrap_or_default();
    let said = |what: &str| Some(format!("`{what}` is not covered by a prefix"));
    if let Some(inner) = launched(program, words).filter(|inner| named > *inner) {
        // The rule names the launcher and what it launches: the rest is that program's.
        return risk(&words[inner..], named - inner);
    }
    if NEVER.contains(&program) || programs::is_launcher(program) {
        return said(program);
    }
    if program == "awk" || program.ends_with("awk") {
        return awk(extra).then(|| "this awk program is not covered by a prefix".to_owned());
    }
    if programs::is_interpreter(program) {
        return interpreter(words, named);
    }
    let spread = extra.iter().find(|word| word.may_become_option());
    if let Some(glob) = spread.filter(|_| !is_harmless(program)) {
        return Some(format!(
            "file names in place of `{}` could be options",
            glob.text
        ));
    }
    if let Some(found) =
        danger_of(program).and_then(|danger| extra.iter().find(|word| danger.has(&word.text)))
    {
        return said(&found.text);
    }
    subcommand(program, words, named).or_else(|| special(program, words, extra, named))
}

/// Where the program stands that a simple launcher starts, if its own arguments are of the plainest form.
fn launched(program: &str, words: &[Word]) -> Option<usize> {
    let word = |index: usize| words.get(index).map(|word| word.text.as_str());
    let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let inner = match program {
        "npx" | "bunx" | "uvx" | "nohup" | "time" | "command" | "setsid" | "sudo" => 1,
        "timeout" | "gtimeout" if word(1).is_some_and(number) => 2,
        "nice" if word(1) == Some("-n") => 3,
        "nice" => 1,
        _ => return None,
    };
    word(inner)
        .filter(|name| !name.starts_with('-') && !is_assignment(name))
        .map(|_| inner)
}

/// Programs without any option that could do harm.
fn is_harmless(program: &str) -> bool {
    const HARMLESS: &[&str] = &[
        "ls",
        "cat",
        "head",
        "tail",
        "wc",
        "echo",
        "stat",
        "du",
        "df",
        "grep",
        "egrep",
        "fgrep",
        "cmp",
        "comm",
        "cut",
        "nl",
        "od",
        "hexdump",
        "tac",
        "rev",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "sha512sum",
        "cksum",
        "basename",
        "dirname",
        "realpath",
        "readlink",
    ];
    HARMLESS.contains(&program)
}

/// Awk programs that run, read or write something beside their input.
fn awk(extra: &[Word]) -> bool {
    extra.iter().any(|word| {
        let text = word.text.as_str();
        let option = text.starts_with('-') && !text.starts_with("-F");
        option
            || word.may_become_option()
            || [
                "system",
                "getline",
                "@",
                "|",
                ">",
                "ARGV",
                "extension",
                "close",
            ]
            .iter()
            .any(|sign| text.contains(sign))
    })
}

/// Code must be named by the rule itself: the script, or the module.
fn interpreter(words: &[Word], named: usize) -> Option<String> {
    let program = &words.first()?.text;
    let refused = Some(format!(
        "code for `{program}` is covered only if the rule names it"
    ));
    let base = programs::base(program);
    // Shells read options everywhere, and editors and clients take commands anywhere.
    let scripts = [
        "python", "pypy", "node", "deno", "bun", "ruby", "perl", "php", "lua", "tsx", "ts-node",
        "Rscript", "sh", "bash", "dash", "zsh",
    ];
    if !scripts.iter().any(|name| base.starts_with(name)) {
        return refused;
    }
    let named = words.get(1..named).unwrap_or_default();
    let module = matches!(named, [option, name, ..] if option.text == "-m" && base.starts_with("py") && !name.text.starts_with('-'));
    let script = matches!(named, [script, ..] if !script.text.starts_with('-') && script.text.contains(['.', '/']));
    if module || script { None } else { refused }
}

fn subcommand(program: &str, words: &[Word], named: usize) -> Option<String> {
    let (_, risky) = SUBCOMMANDS.iter().find(|(name, _)| *name == program)?;
    let found = words.get(1)?;
    if found.text.starts_with(['-', '+']) {
        let asks_only = matches!(
            found.text.as_str(),
            "--version" | "--help" | "-V" | "-v" | "-h"
        ) && words.len() == 2;
        return (!asks_only).then(|| {
            format!("options of `{program}` before its subcommand are not covered by a prefix")
        });
    }
    // A rule that names the subcommand has decided about it; what starts others is never decided by that.
    let launches = matches!(
        found.text.as_str(),
        "exec" | "x" | "dlx" | "tool" | "unshare"
    );
    let risk = risky.contains(&found.text.as_str()) && (launches || named < 2);
    risk.then(|| format!("`{program} {}` is not covered by a prefix", found.text))
}

/// What a list of options cannot say.
fn special(program: &str, words: &[Word], extra: &[Word], named: usize) -> Option<String> {
    let refused = |reason: &str| Some(reason.to_owned());
    match program {
        "git" => {
            // Options before the subcommand are the rule's own, or not covered.
            let mut at = 1;
            while let Some(valued) = words.get(at).and_then(|word| git::global(&word.text)) {
                at += if valued { 2 } else { 1 };
                if at > named {
                    return refused(
                        "options of git before its subcommand are not covered by a prefix",
                    );
                }
            }
            let (subcommand, rest) = words.get(at..).and_then(<[Word]>::split_first)?;
            if rest.iter().any(Word::may_become_option) {
                return refused("file names in place of a pattern could be options");
            }
            let is_named = named > at;
            git::subcommand(&subcommand.text, rest, is_named)
                .or_else(|| git::risk(subcommand, rest))
        }
        "sed" | "gsed" => {
            sed::does_more(extra).then(|| "this sed script is not covered by a prefix".to_owned())
        }
        // An operand of digits sets the clock.
        "date" => extra
            .iter()
            .find(|word| word.text.chars().all(|c| c.is_ascii_digit() || c == '.'))
            .map(|word| format!("`{}` sets the clock", word.text)),
        // `e` of the older style, and `E` elsewhere, print environments; `-e` alone is not told apart.
        "ps" => extra
            .iter()
            .find(|word| word.text.contains(['e', 'E']))
            .map(|word| format!("`{}` may show the environments of processes", word.text)),
        "uniq" => (words
            .iter()
            .skip(1)
            .filter(|word| !word.text.starts_with('-'))
            .count()
            > 1)
        .then(|| "the second file of `uniq` is written".to_owned()),
        "tar" | "bsdtar" | "gtar" => {
            (!tar_lists(&words[1..])).then(|| "`tar` is covered only when it lists".to_owned())
        }
        "unzip" => (!words.iter().any(|word| word.text == "-l"))
            .then(|| "`unzip` is covered only when it lists".to_owned()),
        "make" | "gmake" | "just" | "rake" => extra
            .iter()
            .find(|word| is_assignment(&word.text) || word.text.contains('='))
            .map(|word| format!("`{}` changes what `{program}` runs", word.text)),
        "curl" => extra
            .iter()
            .find(|word| word.text.to_ascii_lowercase().contains("file:"))
            .map(|word| format!("`{}` reads a file", word.text)),
        "gcc" | "g++" | "cc" | "clang" | "javac" | "rustc" => extra
            .iter()
            .find(|word| word.text.starts_with('@'))
            .map(|word| format!("`{}` holds further options", word.text)),
        _ if WRITERS.contains(&program) => extra
            .iter()
            .find(|word| leaves_folder(word))
            .map(|word| format!("`{}` may lead outside the workspace", word.text)),
        _ => None,
    }
}

/// Whether a command's operands are files that it changes or shows, whatever else it is.
pub(crate) fn works_on_files(words: &[Word]) -> bool {
    const OTHERS: &[&str] = &[
        "sed", "awk", "gawk", "tar", "zip", "unzip", "rsync", "scp", "ln", "dd", "tee", "curl",
    ];
    let program = words.first().map_or("", |word| programs::base(&word.text));
    WRITERS.contains(&program) || OTHERS.contains(&program)
}

/// Whether an operand is not plainly below the current directory.
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
