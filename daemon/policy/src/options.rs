//! Arguments that make a program start another one, load code, or write a file of the caller's choice.
//!
//! No prefix grant covers them, and a command with one of them is not read-only. If in doubt, finds too much: then the
//! user is asked. Called by `decide` and `programs`.

use crate::dangers::dangers_of;
use crate::git;
use crate::programs;
use crate::sed;
use crate::shell::{self, Word, is_assignment};
use crate::tables::tables;

/// Why no prefix grant covers a command, if so. The first `named` words are in the rule.
pub(crate) fn risk(words: &[Word], named: usize) -> Option<String> {
    // The author of the rule has seen every word of it.
    if words.len() <= named && named > 1 {
        return None;
    }
    let program = programs::base(&words.first()?.text);
    // An option at the end of a rule takes its value from the caller.
    let from = named.saturating_sub(1).max(1);
    // A rule for `cmake --build` means the directory that the caller names.
    let is_build = program == "cmake" && named == 2 && words[1].text == "--build";
    let from = if is_build { named } else { from };
    let extra = words.get(from..).unwrap_or_default();
    let said = |what: &str| Some(format!("no prefix rule can cover `{what}`"));
    if let Some(inner) = shell::launched(words).filter(|inner| named > *inner) {
        // The rule names the launcher and the launched program: the remaining words belong to that program.
        return risk(words.get(inner..).unwrap_or_default(), named - inner);
    }
    if tables().never.contains(program) || programs::is_launcher(program) {
        return said(program);
    }
    if program == "awk" || program.ends_with("awk") {
        return awk(extra).then(|| "no prefix rule can cover this awk program".to_owned());
    }
    if programs::is_interpreter(program) {
        return interpreter(words, named);
    }
    let spread = extra.iter().find(|word| word.may_become_option());
    if let Some(glob) = spread.filter(|_| !is_harmless(program)) {
        return Some(format!(
            "file names that replace `{}` could be options",
            glob.text
        ));
    }
    if let Some(found) = dangerous(program, words, extra) {
        return said(&found.text);
    }
    subcommand(program, words, named).or_else(|| special(program, words, extra, named))
}

/// The first option that runs, loads or writes something.
fn dangerous<'w>(program: &str, words: &[Word], extra: &'w [Word]) -> Option<&'w Word> {
    if program == "git" {
        return None;
    }
    let subcommand = words.get(1).map_or("", |word| word.text.as_str());
    let asks = match program {
        "docker" | "podman" | "nerdctl" => matches!(
            subcommand,
            "ps" | "images"
                | "logs"
                | "inspect"
                | "stats"
                | "top"
                | "events"
                | "version"
                | "info"
                | "port"
                | "diff"
                | "history"
        ),
        "kubectl" | "oc" => matches!(
            subcommand,
            "logs" | "explain" | "top" | "version" | "api-resources"
        ),
        _ => false,
    };
    let rows = dangers_of(program);
    let mut own = true;
    let mut following = extra.iter().skip(1);
    extra.iter().find(|word| {
        let text = word.text.as_str();
        let next = following.next();
        // After `--`, the words belong to another program.
        if text == "--" && matches!(program, "cargo" | "npm" | "pnpm" | "yarn") {
            // Here, that program is the compiler, whose options name a linker.
            if program == "cargo" && matches!(subcommand, "rustc" | "rustdoc") {
                return true;
            }
            own = false;
            return false;
        }
        if !own {
            return program == "cargo" && passes_on(subcommand, text);
        }
        // An external subcommand is run for its help.
        if program == "cargo" && subcommand == "help" {
            return !matches!(text, "help") && !text.starts_with('-');
        }
        // An option of its own, and no abbreviation of `--partial-dir`.
        if program == "rsync" && text == "--partial" {
            return false;
        }
        if asks && !text.starts_with("--") {
            return false;
        }
        // The value is one of the program's own names, and no file.
        let named_kinds = [
            "--cov-report=term",
            "--reporter=",
            "--reporters=",
            "--format=",
            "--formatter=",
            "--env=",
            "--environment=",
            "--pool=",
        ];
        let plain = |value: &str| {
            !value.is_empty() && value.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        };
        if named_kinds.iter().any(|start| {
            text.strip_prefix(start)
                .is_some_and(|value| plain(value) || value.is_empty())
        }) {
            return false;
        }
        let names_kind = matches!(text, "--env" | "--environment" | "--pool")
            || program == "mocha" && matches!(text, "-R" | "-u" | "--ui" | "--reporter");
        if names_kind && next.is_some_and(|next| next.is_known() && plain(&next.text)) {
            return false;
        }
        rows.iter().any(|row| row.has(text))
    })
}

/// Programs without any harmful option.
fn is_harmless(program: &str) -> bool {
    tables().harmless.contains(program)
}

/// Whether the arguments of awk may make it run, read or write something besides its input.
fn awk(extra: &[Word]) -> bool {
    let mut rest = extra.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if word.may_become_option() {
            return true;
        }
        match text.get(..2) {
            _ if !text.starts_with('-') => {
                let sets_files = |word: &Word| word.text.starts_with("ARG");
                return awk_code(text)
                    || rest.any(|word| word.may_become_option() || sets_files(word));
            }
            // The value may be the next word.
            Some("-F" | "-v") if text.len() > 2 => {}
            Some("-F" | "-v") => {
                if rest.next().is_some_and(Word::may_become_option) {
                    return true;
                }
            }
            _ => return true,
        }
    }
    false
}

/// The same for its code. A `>` or `|` before the first `print` compares or is part of a pattern.
fn awk_code(code: &str) -> bool {
    const SIGNS: &[&str] = &[
        "system",
        "getline",
        "@",
        "ARGV",
        "SYMTAB",
        "extension",
        "close",
    ];
    let printing = code.find("print").map_or("", |at| &code[at..]);
    printing.contains(['>', '|']) || SIGNS.iter().any(|sign| code.contains(sign))
}

/// The rule itself must name the code: the script, or the module.
fn interpreter(words: &[Word], named: usize) -> Option<String> {
    let program = &words.first()?.text;
    let refused = Some(format!("a rule must name the code for `{program}`"));
    let base = programs::base(program);
    let extra = words.get(named.max(1)..).unwrap_or_default();
    let named_words = words.get(1..named).unwrap_or_default();
    // These have subcommands like those of other build tools.
    let builds = match base {
        "dotnet" => ["build", "test", "restore", "format", "clean", "list"].as_slice(),
        "deno" => &["test", "lint", "fmt", "check", "task", "bench"],
        "bun" => &["test", "install", "run", "build"],
        "swift" => &["build", "test", "format"],
        _ => &[],
    };
    if let [first, ..] = named_words
        && builds.contains(&first.text.as_str())
    {
        let bad = dangerous(base, words, extra)
            .or_else(|| extra.iter().find(|word| loads_code(&word.text)));
        return bad.map(|word| format!("no prefix rule can cover `{}`", word.text));
    }
    // Shells accept options at any position, and editors and clients accept commands at any position.
    let scripts = [
        "python", "pypy", "node", "ruby", "perl", "php", "lua", "tsx", "ts-node", "Rscript", "sh",
        "bash", "dash", "zsh",
    ];
    if !scripts.iter().any(|name| base.starts_with(name)) {
        let jar = base == "java"
            && named_words.iter().any(|word| word.text == "-jar")
            && named_words.len() > 1;
        return if jar { None } else { refused };
    }
    match named_words {
        [option, module, ..]
            if option.text == "-m" && base.starts_with("py") && !module.text.starts_with('-') =>
        {
            if module.text == "json.tool" {
                return second_file(words, 3, "json.tool");
            }
            // The module's own options, if it is a known program.
            let inner = words.get(2..).unwrap_or_default();
            let rest = inner.get(1..).unwrap_or_default();
            let bad = dangerous(&module.text, inner, rest);
            bad.map(|word| format!("no prefix rule can cover `{}`", word.text))
        }
        [option, ..] if base.starts_with("node") && option.text == "--test" => {
            let bad = extra.iter().find(|word| loads_code(&word.text));
            bad.map(|word| format!("no prefix rule can cover `{}`", word.text))
        }
        [script, ..] if !script.text.starts_with('-') && script.text != "inspect" => None,
        _ => refused,
    }
}

/// Options of node and similar programs that load code from elsewhere.
fn loads_code(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    matches!(
        name,
        "-r" | "--require"
            | "--import"
            | "--loader"
            | "--experimental-loader"
            | "-e"
            | "--eval"
            | "-p"
            | "--print"
            | "--env-file"
            | "--preload"
            | "--config"
            | "-c"
            | "--import-map"
            | "--test-reporter"
            | "--test-reporter-destination"
            | "--test-global-setup"
            | "--inspect"
            | "--inspect-brk"
            | "-C"
            | "--cwd"
            | "--node-options"
            | "--reporter-outfile"
            | "--coverage-dir"
            | "--outdir"
            | "--outfile"
            | "--cert"
    )
}

fn subcommand(program: &str, words: &[Word], named: usize) -> Option<String> {
    let risky = tables().subcommands.get(program)?;
    let found = words.get(1)?;
    // `docker container exec` is `docker exec`.
    let is_group = matches!(program, "docker" | "podman")
        && matches!(found.text.as_str(), "builder" | "container" | "image");
    let found = words.get(2).filter(|_| is_group).unwrap_or(found);
    let named = named.saturating_sub(usize::from(is_group));
    if found.text.starts_with(['-', '+']) {
        let asks_only = matches!(
            found.text.as_str(),
            "--version" | "--help" | "-V" | "-v" | "-h"
        ) && words.len() == 2;
        return (!asks_only).then(|| {
            format!("no prefix rule can cover options of `{program}` before its subcommand")
        });
    }
    // A rule that names the subcommand covers it, unless the subcommand starts other programs.
    let launches = |name: &str| {
        matches!(name, "exec" | "x" | "dlx" | "tool" | "unshare")
            || shell::launches_by(program, name)
    };
    let mut meant = risky
        .iter()
        .filter(|name| may_stand_for(program, &found.text, name));
    let known = tables().known_subcommands.get(program);
    let is_foreign = known.is_some_and(|known| named < 2 && !known.contains(&found.text));
    let risk = meant.any(|name| launches(name) || named < 2);
    (risk || is_foreign).then(|| format!("no prefix rule can cover `{program} {}`", found.text))
}

/// Whether a word is the name of a subcommand, or short for it if the program accepts that.
fn may_stand_for(program: &str, word: &str, name: &str) -> bool {
    let shortened = tables().shortened_subcommands.get(program);
    let is_short = shortened.is_some_and(|whole| !whole.contains(word));
    word == name || is_short && name.starts_with(word)
}

/// Checks that a list of options cannot express.
fn special(program: &str, words: &[Word], extra: &[Word], named: usize) -> Option<String> {
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
        _ if tables().writers.contains(program) => extra
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

/// Whether a word behind `--` of one of cargo's subcommands is more than a lint or a mode of printing: the compiler can be
/// given a linker, and the formatter other files.
fn passes_on(subcommand: &str, text: &str) -> bool {
    match subcommand {
        "clippy" => {
            let lint = ["-W", "-A", "-D", "-F"]
                .iter()
                .find_map(|level| text.strip_prefix(level));
            let is_of_lints =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:-".contains(c);
            let lint = lint.unwrap_or(text);
            lint.starts_with('-') || !lint.chars().all(is_of_lints)
        }
        "fmt" => !matches!(
            text,
            "--check" | "-l" | "--verbose" | "-v" | "--quiet" | "-q"
        ),
        _ => text.starts_with("--logfile"),
    }
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

fn second_file(words: &[Word], from: usize, program: &str) -> Option<String> {
    let operands = words
        .iter()
        .skip(from)
        .filter(|word| word.text == "-" || !word.text.starts_with('-'));
    (operands.count() > 1).then(|| format!("`{program}` writes its second file"))
}

/// Whether a command's operands are files that it changes or shows, possibly among others.
pub(crate) fn works_on_files(words: &[Word]) -> bool {
    let program = words.first().map_or("", |word| programs::base(&word.text));
    tables().writers.contains(program) || tables().file_workers.contains(program)
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
