//! Finds settings in a repository's own config that make git run other programs, even if git only shows something.
//!
//! A `.git` from an archive, or a file that it includes, is foreign text: `git status` runs a filter that it defines.
//! Pure: the caller reads the files. If in doubt, reports too much.

use std::fmt;

/// Maximum characters of a program to show in a reason.
const SHOWN_MAX: usize = 80;

/// One setting of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSetting {
    /// Section and key in lower case, the subsection unchanged: `filter.Mine.clean`.
    pub name: String,
    /// `None` if the setting has no value, which git reads as true.
    pub value: Option<String>,
}

/// A text that git would not read as config, or that this module does not understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not valid git config")]
pub struct GitConfigProblem {
    pub line: usize,
}

/// Reads a config file.
///
/// # Errors
/// The syntax is not understood. Then the text may contain any setting.
pub fn git_config(bytes: &[u8]) -> Result<Vec<GitSetting>, GitConfigProblem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // Names of programs may be invalid UTF-8; the compared parts never are.
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let mut reader = Reader {
        rest: text.chars().collect::<Vec<_>>(),
        at: 0,
        line: 1,
    };
    let mut settings = Vec::new();
    let mut section = String::new();
    while let Some(next) = reader.peek() {
        match next {
            '#' | ';' => reader.skip_line(),
            '[' => section = reader.section()?,
            next if next.is_ascii_whitespace() => {
                reader.next();
            }
            next if next.is_ascii_alphabetic() => {
                let (key, value) = reader.setting()?;
                let name = format!("{section}.{key}");
                settings.push(GitSetting { name, value });
            }
            _ => return Err(reader.problem()),
        }
    }
    Ok(settings)
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    line: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        self.line += usize::from(next == '\n');
        Some(next)
    }

    fn problem(&self) -> GitConfigProblem {
        GitConfigProblem { line: self.line }
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|next| next != '\n') {}
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.next();
        }
    }

    /// `[core]`, `[filter "Mine"]`, and the old `[filter.mine]`.
    fn section(&mut self) -> Result<String, GitConfigProblem> {
        self.next();
        let mut name = String::new();
        loop {
            match self.next() {
                Some(']') => return Ok(name),
                Some(' ' | '\t') => break,
                Some(next) if next.is_ascii_alphanumeric() || matches!(next, '-' | '.') => {
                    name.push(next.to_ascii_lowercase());
                }
                _ => return Err(self.problem()),
            }
        }
        self.skip_blanks();
        if self.next() != Some('"') {
            return Err(self.problem());
        }
        name.push('.');
        loop {
            match self.next() {
                Some('"') => break,
                Some('\\') => match self.next() {
                    Some('\n') | None => return Err(self.problem()),
                    Some(next) => name.push(next),
                },
                Some('\n') | None => return Err(self.problem()),
                Some(next) => name.push(next),
            }
        }
        match self.next() {
            Some(']') => Ok(name),
            _ => Err(self.problem()),
        }
    }

    fn setting(&mut self) -> Result<(String, Option<String>), GitConfigProblem> {
        let mut key = String::new();
        while let Some(next) = self.peek() {
            if !next.is_ascii_alphanumeric() && next != '-' {
                break;
            }
            key.push(next.to_ascii_lowercase());
            self.next();
        }
        self.skip_blanks();
        match self.next() {
            None | Some('\n') => Ok((key, None)),
            Some('=') => Ok((key, Some(self.value()?))),
            _ => Err(self.problem()),
        }
    }

    fn value(&mut self) -> Result<String, GitConfigProblem> {
        let (mut value, mut quoted, mut comment) = (String::new(), false, false);
        // Length of the value without trailing blanks.
        let mut kept = 0;
        self.skip_blanks();
        loop {
            let next = self.next();
            match next {
                None | Some('\n') if quoted => return Err(self.problem()),
                None | Some('\n') => break,
                Some(_) if comment => {}
                Some('#' | ';') if !quoted => comment = true,
                Some('"') => {
                    quoted = !quoted;
                    kept = value.len();
                }
                Some('\\') => {
                    match self.next() {
                        Some('\n') => continue,
                        Some('t') => value.push('\t'),
                        Some('b') => value.push('\u{8}'),
                        Some('n') => value.push('\n'),
                        Some(next @ ('\\' | '"')) => value.push(next),
                        _ => return Err(self.problem()),
                    }
                    kept = value.len();
                }
                Some(next) => {
                    value.push(next);
                    if quoted || !next.is_ascii_whitespace() {
                        kept = value.len();
                    }
                }
            }
        }
        value.truncate(kept);
        Ok(value)
    }
}

/// The files that a config includes, as written. Conditions are ignored: all includes count.
pub fn git_includes(settings: &[GitSetting]) -> impl Iterator<Item = &str> {
    let includes = settings.iter().filter(|setting| {
        let conditional = setting.name.starts_with("includeif.");
        setting.name == "include.path" || (conditional && setting.name.ends_with(".path"))
    });
    includes.filter_map(|setting| setting.value.as_deref())
}

/// The directory of a repository's hooks, if its config sets one.
#[must_use]
pub fn git_hooks_path(settings: &[GitSetting]) -> Option<&str> {
    let said = settings.iter().rev();
    said.filter(|setting| setting.name == "core.hookspath")
        .find_map(|setting| setting.value.as_deref())
}

/// All hook directories that a config names, as written: which one counts depends on what git reads last.
pub fn git_hooks_paths(settings: &[GitSetting]) -> impl Iterator<Item = &str> {
    let said = settings
        .iter()
        .filter(|setting| setting.name == "core.hookspath");
    said.filter_map(|setting| setting.value.as_deref())
}

/// Programs that a config makes git run as hooks, if their first word is a path.
pub fn git_hook_programs(settings: &[GitSetting]) -> impl Iterator<Item = &str> {
    let hooks = settings.iter().filter(|setting| {
        matches!(
            split(&setting.name),
            ("hook", Some(_), "command") | ("core", None, "fsmonitor")
        )
    });
    let commands = hooks.filter_map(|setting| setting.value.as_deref());
    commands.filter_map(|command| {
        let word = command.split_whitespace().next()?.trim_matches(['"', '\'']);
        word.contains('/').then_some(word)
    })
}

/// Hooks that git may run although it was only asked to show something.
#[must_use]
pub fn git_reader_hooks(settings: &[GitSetting]) -> &'static [&'static str] {
    if is_partial(settings) {
        &["post-index-change", "reference-transaction", "pre-auto-gc"]
    } else {
        &["post-index-change"]
    }
}

/// Whether git fetches missing objects when it looks for them.
fn is_partial(settings: &[GitSetting]) -> bool {
    settings.iter().any(|setting| {
        let remote = setting.name.starts_with("remote.") && setting.name.ends_with(".promisor");
        remote || setting.name == "extensions.partialclone"
    })
}

/// A setting that names a program, for display: `filter.mine.clean = touch x`.
struct Names<'a>(&'a str, &'a str);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name, program) = self;
        write!(f, "`{} = {}`", short(name), short(program))
    }
}

/// Shortens a text of the repository for a reason.
fn short(text: &str) -> String {
    let plain = |char: char| {
        if char.is_control() || char == '`' || !(char.is_ascii() || char.is_alphanumeric()) {
            '\u{fffd}'
        } else {
            char
        }
    };
    let mut shown: String = text.chars().take(SHOWN_MAX).map(plain).collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// Programs that a repository's config makes git run although it only shows something, each with its key, as text.
/// `inner`: it is a repository inside the one that the command is about.
#[must_use]
pub fn git_programs(settings: &[GitSetting], inner: bool) -> Vec<String> {
    let partial = is_partial(settings);
    let mut found: Vec<String> = Vec::new();
    for setting in settings {
        let Some(program) = setting.value.as_deref().filter(|value| !value.is_empty()) else {
            continue;
        };
        let name = setting.name.as_str();
        let runs = shows(name)
            || (inner && name == "core.fsmonitor" && !is_bool(program))
            || (partial && fetches(name, program))
            || hooks(settings, name);
        if runs && !is_known(name, program) {
            let words = Names(name, program).to_string();
            if !found.contains(&words) {
                found.push(words);
            }
        }
    }
    found
}

/// Splits a name into section, subsection and key.
fn split(name: &str) -> (&str, Option<&str>, &str) {
    let (section, rest) = name.split_once('.').unwrap_or((name, ""));
    match rest.rsplit_once('.') {
        Some((middle, key)) => (section, Some(middle), key),
        None => (section, None, rest),
    }
}

/// Programs that run when git shows something: filters when it compares files, drivers when it prints them.
fn shows(name: &str) -> bool {
    match split(name) {
        ("diff", None, "external")
        | ("diff", Some(_), "command" | "textconv")
        | ("filter", Some(_), "clean" | "smudge" | "process")
        | ("gpg", _, "program")
        // `log --remerge-diff` merges.
        | ("merge", Some(_), "driver")
        // `log --alternate-refs`
        | ("core", None, "alternaterefscommand")
        // `status --help`
        | ("man" | "browser", Some(_), "cmd" | "path")
        | ("lfs", None, "standalonetransferagent") => true,
        ("lfs", Some(middle), key) => {
            let extension = middle.starts_with("extension.") && matches!(key, "clean" | "smudge");
            extension || (middle.starts_with("customtransfer.") && key == "path")
        }
        // Git runs an alias instead of a command that it plans to remove.
        ("alias", None, alias) => crate::git::is_reader(alias),
        ("alias", Some(alias), "command") => crate::git::is_reader(alias),
        _ => false,
    }
}

/// Programs that run when git fetches missing objects.
fn fetches(name: &str, value: &str) -> bool {
    match split(name) {
        ("core", None, "sshcommand" | "gitproxy" | "askpass")
        | ("credential", _, "helper")
        | ("remote", Some(_), "uploadpack" | "vcs")
        | ("protocol", _, "allow") => true,
        ("remote", Some(_), "url" | "pushurl") => value.contains("::"),
        ("url", Some(base), "insteadof") => base.contains("::"),
        _ => false,
    }
}

/// Hooks that the config defines for events which occur when git only shows something.
fn hooks(settings: &[GitSetting], name: &str) -> bool {
    let ("hook", Some(hook), "command") = split(name) else {
        return false;
    };
    let event = format!("hook.{hook}.event");
    let events = settings.iter().filter(|setting| setting.name == event);
    let mut events = events.filter_map(|setting| setting.value.as_deref());
    events.any(|event| git_reader_hooks(settings).contains(&event))
}

fn is_bool(value: &str) -> bool {
    const BOOLS: &[&str] = &["true", "false", "yes", "no", "on", "off", "0", "1"];
    BOOLS.contains(&value.to_ascii_lowercase().as_str())
}

/// Settings exactly as well-known tools write them.
fn is_known(name: &str, program: &str) -> bool {
    const KNOWN: &[(&str, &str)] = &[
        ("filter.lfs.clean", "git-lfs clean -- %f"),
        ("filter.lfs.smudge", "git-lfs smudge -- %f"),
        ("filter.lfs.smudge", "git-lfs smudge --skip -- %f"),
        ("filter.lfs.process", "git-lfs filter-process"),
        ("filter.lfs.process", "git-lfs filter-process --skip"),
        ("filter.git-crypt.clean", "\"git-crypt\" clean"),
        ("filter.git-crypt.smudge", "\"git-crypt\" smudge"),
        ("diff.git-crypt.textconv", "\"git-crypt\" diff"),
    ];
    KNOWN.contains(&(name, program))
}
