//! Arguments that make a program start another one, load code, or write a file of the caller's choice.
//!
//! No prefix grant covers them, and a command with one of them is not read-only. If in doubt, finds too much: then the
//! user is asked. Called by `decide` and `programs`.

mod special;

use crate::dangers::dangers_of;
use crate::programs;
use crate::shell::{self, Word};
use crate::tables::tables;
use special::{second_file, special};

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
        if names_kind(program, text, next) {
            return false;
        }
        rows.iter().any(|row| row.has(text))
    })
}

/// Whether the value of an option is one of the program's own names, and no file: `--reporter=dot`, `--env node`.
fn names_kind(program: &str, text: &str, next: Option<&Word>) -> bool {
    const ATTACHED: [&str; 8] = [
        "--cov-report=term",
        "--reporter=",
        "--reporters=",
        "--format=",
        "--formatter=",
        "--env=",
        "--environment=",
        "--pool=",
    ];
    let is_name = |value: &str| value.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let mut values = ATTACHED.iter().filter_map(|start| text.strip_prefix(start));
    let takes_next = matches!(text, "--env" | "--environment" | "--pool")
        || program == "mocha" && matches!(text, "-R" | "-u" | "--ui" | "--reporter");
    let is_next = |next: &Word| next.is_known() && !next.text.is_empty() && is_name(&next.text);
    values.any(is_name) || takes_next && next.is_some_and(is_next)
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

/// Whether a command's operands are files that it changes or shows, possibly among others.
pub(crate) fn works_on_files(words: &[Word]) -> bool {
    let program = words.first().map_or("", |word| programs::base(&word.text));
    tables().writers.contains(program) || tables().file_workers.contains(program)
}
