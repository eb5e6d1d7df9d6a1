//! What a `.git` that a command made would have the user's git do. One that configures and runs nothing, such as that of
//! `git init`, needs no question.
//!
//! Knows what is harmless, line by line. Everything else is not.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::file_system::small_text;

/// Maximum bytes of a config.
const CONFIG_MAX: u64 = 64 * 1024;
/// Names in a git directory that lead elsewhere or bring their own config. None is part of a new repository.
const LEADING: [&str; 4] = ["commondir", "gitdir", "modules", "worktrees"];
/// The files with settings; the second comes with a sparse checkout.
const CONFIGS: [&str; 2] = ["config", "config.worktree"];
/// Settings that `git init` and options of `git clone` make, who commits, and how git shows and joins things. None names a
/// program, a file or an address.
const PLAIN: [(&str, &[&str]); 16] = [
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "quotepath",
            "sparsecheckout",
            "sparsecheckoutcone",
            "longpaths",
            "untrackedcache",
        ],
    ),
    (
        "extensions",
        &[
            "objectformat",
            "refstorage",
            "partialclone",
            "worktreeconfig",
        ],
    ),
    ("user", &["name", "email"]),
    ("commit", &["gpgsign"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("fetch", &["prune"]),
    ("merge", &["ff", "conflictstyle"]),
    ("rebase", &["autosquash", "autostash"]),
    ("init", &["defaultbranch"]),
    ("color", &["ui"]),
    ("diff", &["renames", "algorithm", "colormoved"]),
    ("rerere", &["enabled"]),
    ("maintenance", &["auto", "strategy"]),
    ("gc", &["auto"]),
    ("lfs", &["repositoryformatversion"]),
];
/// Settings that a clone makes besides. They run nothing, but say where a push goes.
const OF_A_CLONE: [(&str, &[&str]); 2] = [
    (
        "remote",
        &[
            "url",
            "pushurl",
            "gh-resolved",
            "fetch",
            "mirror",
            "tagopt",
            "prune",
            "promisor",
            "partialclonefilter",
        ],
    ),
    ("submodule", &["url", "active"]),
];
/// The setting of a branch that can name a program: a strategy of a merge. The rest is addresses, and what editors note there.
const OF_A_BRANCH_RUNS: &str = "mergeoptions";

/// How much a new repository may do, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NewRepository {
    /// Nothing that the user's git does not do anyway.
    Plain,
    /// It runs nothing by itself, and is configured.
    Configured,
    /// It may run something at any moment.
    Runs,
}

/// Looks at the git directory of this name. Follows no link.
pub(crate) fn look(parent: &OwnedFd, name: &std::ffi::OsStr) -> NewRepository {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(parent, name, flags, Mode::empty()) {
        Ok(git) => look_into(&git, GitDirectoryKind::OfWorkTree),
        Err(_) => NewRepository::Runs,
    }
}

/// Where a git directory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GitDirectoryKind {
    /// In a work tree, as its `.git`.
    OfWorkTree,
    /// Elsewhere: it may be bare.
    Alone,
}

/// Looks at an open git directory.
pub(crate) fn look_into(git: &OwnedFd, kind: GitDirectoryKind) -> NewRepository {
    let is_missing = |name: &&str| {
        let found = statat(git, *name, AtFlags::SYMLINK_NOFOLLOW);
        found.err() == Some(Errno::NOENT)
    };
    if !LEADING.iter().all(is_missing) || !has_samples_only(git) {
        return NewRepository::Runs;
    }
    let judged = CONFIGS.iter().map(|name| match config(git, name) {
        Ok(Some(text)) => judge_config(&text, kind),
        Ok(None) => NewRepository::Plain,
        Err(()) => NewRepository::Runs,
    });
    judged.max().unwrap_or(NewRepository::Plain)
}

/// Whether there are no hooks but the examples of git, which it does not run.
fn has_samples_only(git: &OwnedFd) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let hooks = match openat(git, "hooks", flags, Mode::empty()) {
        Ok(hooks) => hooks,
        Err(error) => return error == Errno::NOENT,
    };
    let Ok(mut entries) = Dir::read_from(&hooks) else {
        return false;
    };
    entries.all(|entry| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name().to_bytes();
            matches!(name, b"." | b"..") || name.ends_with(b".sample")
        })
    })
}

/// The text of a config, if there is one.
fn config(git: &impl AsFd, name: &str) -> Result<Option<String>, ()> {
    match small_text(git, name, CONFIG_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(Errno::NOENT) => Ok(None),
        Err(_) => Err(()),
    }
}

fn judge_config(text: &str, kind: GitDirectoryKind) -> NewRepository {
    let judged = settings(text).map(|setting| setting.judge(kind));
    judged.max().unwrap_or(NewRepository::Plain)
}

/// Whether a config that stood in the place of another may run something that the other did not say.
pub(crate) fn runs_more(before: &str, after: &str) -> bool {
    // A line that goes on in the next one may be read otherwise elsewhere.
    if before.contains("\\\n") {
        return before != after;
    }
    let known: BTreeSet<_> = settings(before).collect();
    let mut new = settings(after).filter(|setting| !known.contains(setting));
    new.any(|setting| {
        setting.judge(GitDirectoryKind::OfWorkTree) == NewRepository::Runs || setting.leads_here()
    })
}

/// A line of a config that is not a header, with its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Setting<'a> {
    section: &'a str,
    line: &'a str,
}

/// All settings, in order. A header with a setting after it counts as one that cannot be read.
fn settings(text: &str) -> impl Iterator<Item = Setting<'_>> {
    let mut section = "";
    let lines = text.lines().map(str::trim);
    lines.filter_map(move |line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return None;
        }
        let header = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        match header {
            // `[core] key = value]` has a setting behind its section.
            Some(inside) if !inside.contains(']') => {
                section = inside;
                None
            }
            _ => Some(Setting { section, line }),
        }
    })
}

impl Setting<'_> {
    /// Whether it leads pushes and fetches to a repository on this machine, whose hooks run here.
    fn leads_here(self) -> bool {
        let Some((key, value)) = self.line.split_once('=') else {
            return false;
        };
        let value = value.trim().trim_matches('"');
        let is_address = match key.trim().to_ascii_lowercase().as_str() {
            "url" | "pushurl" => true,
            // A name, or an address in place of one.
            "remote" | "pushremote" => value.contains('/') || value == "..",
            _ => false,
        };
        let scheme = value.split_once("://").map(|(scheme, _)| scheme);
        let is_elsewhere = match scheme {
            Some(scheme) => scheme != "file",
            // `host:path`
            None => value
                .split_once(':')
                .is_some_and(|(host, _)| !host.is_empty() && !host.contains('/')),
        };
        is_address && !is_elsewhere
    }

    fn judge(self, kind: GitDirectoryKind) -> NewRepository {
        judge_setting(self.section, self.line, kind)
    }
}

fn judge_setting(section: &str, line: &str, kind: GitDirectoryKind) -> NewRepository {
    let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('[')) else {
        return NewRepository::Runs;
    };
    let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
    // All of it in quotes: nothing in it has a meaning.
    let inside = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let value = match inside {
        Some(inside) if !inside.contains(['"', '\\']) => inside,
        _ if value.contains(['#', ';']) => return NewRepository::Runs,
        _ => value,
    };
    // Quotes and backslashes may continue a value on other lines, or hide where it ends.
    if value.contains(['"', '\\']) || value.contains(char::is_control) {
        return NewRepository::Runs;
    }
    let among = |known: &[(&str, &[&str])], section: &str| {
        let mut known = known.iter().filter(|(name, _)| *name == section);
        known.any(|(_, keys)| keys.contains(&key.as_str()))
    };
    // A command of git under another name; `!` names a program, and options may configure one.
    if section == "alias" {
        let is_word = value
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter == '-');
        return match is_word && value.starts_with(|first: char| first != '-') {
            true => NewRepository::Plain,
            false => NewRepository::Runs,
        };
    }
    if among(&PLAIN, section) {
        let is_fit = match (section, key.as_str()) {
            ("core", "bare") if kind == GitDirectoryKind::Alone => true,
            ("core", "bare") | ("commit", _) => value == "false",
            ("extensions", _) => value.chars().all(char::is_alphanumeric),
            _ => true,
        };
        return if is_fit {
            NewRepository::Plain
        } else {
            NewRepository::Runs
        };
    }
    // `remote "origin"`. An address with `::` names a program.
    let named = section
        .strip_suffix('"')
        .and_then(|section| section.split_once(" \""));
    match named {
        Some((_, name)) if name.contains(['"', '\\']) || value.contains("::") => {
            NewRepository::Runs
        }
        Some(("branch", _)) if key != OF_A_BRANCH_RUNS => NewRepository::Configured,
        Some((kind, _)) if among(&OF_A_CLONE, kind) => NewRepository::Configured,
        _ => NewRepository::Runs,
    }
}

#[cfg(test)]
mod tests;
