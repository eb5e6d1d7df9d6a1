//! Files that configure the agent, its repository, an editor or a shell. Writing to one may run
//! code later.
//!
//! This is the only list of such names. File tools use it through [`is_protected`] (called by
//! `resolve`), and the sandbox of commands through [`guarded`]. `policy::protected` has a separate
//! list for words in command lines.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use contract::KnownRepositories;
use proto::login_files::{self, LOGIN_FILES, begins_login_file};
use proto::startup::{AGENT_SETTINGS, STARTUP_FILES};
use sandbox::FoundRepositories;

use crate::denied_paths::may_be_opened;
use crate::repository::GitDirs;

/// How far a name applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameScope {
    /// To this file only.
    Itself,
    /// To everything below it too.
    Below,
}

/// Files of the agent and of editors, anywhere below a writable root. `.git` and names matched by
/// their suffix are handled below.
const OF_OTHERS: [(&str, NameScope); 13] = [
    (".reasonix", NameScope::Below),
    ("reasonix.toml", NameScope::Itself),
    (".mcp.json", NameScope::Itself),
    (AGENT_SETTINGS[0], NameScope::Itself),
    (AGENT_SETTINGS[1], NameScope::Itself),
    (".vscode/tasks.json", NameScope::Itself),
    (".vscode/launch.json", NameScope::Itself),
    (".vscode/settings.json", NameScope::Itself),
    (".zed/tasks.json", NameScope::Itself),
    (".zed/debug.json", NameScope::Itself),
    (".zed/settings.json", NameScope::Itself),
    (".idea/runConfigurations", NameScope::Below),
    (".idea/workspace.xml", NameScope::Itself),
];

/// The agent's working directory: its content is not configuration. A resolved path cannot leave it
/// with `..`.
const WORKSHOP: &str = ".reasonix/autoresearch";

/// Whether a path, relative to its writable root, may be changed only with the user's approval.
/// Ignores case, because on some file systems `.GIT` is `.git`.
#[must_use]
pub fn is_protected(path: &Path) -> bool {
    let names: Vec<_> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    (0..names.len()).any(|index| is_named(&names[index..]))
}

/// Whether an absolute path is that of a login file, wherever its workspace begins: one may lie in `~/.config`.
pub(crate) fn is_login_file(path: &Path) -> bool {
    let above = path.parent();
    above.is_some_and(|above| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let known = login_files::of_directory(above);
        let is_name = |known: &&str| known.trim_end_matches('/').eq_ignore_ascii_case(&name);
        known.iter().any(|known| known.is_empty() || is_name(known))
    })
}

/// Whether an absolute path is one that git obeys in a git directory with any name, or makes a directory one. All that
/// makes one needs a `HEAD`, so with that everything else is judged by it.
pub(crate) fn is_of_git_directory(path: &Path) -> bool {
    let is =
        |name: &OsStr, known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
    if path.file_name().is_some_and(|name| is(name, &["HEAD"])) {
        return true;
    }
    path.ancestors().any(|at| {
        let is_part = at
            .file_name()
            .is_some_and(|name| is(name, &OF_BARE) || is(name, &["objects", "refs"]));
        is_part
            && at
                .parent()
                .is_some_and(|directory| directory.join("HEAD").symlink_metadata().is_ok())
    })
}

/// Whether a list of path components begins with a protected name.
fn is_named(names: &[Cow<'_, str>]) -> bool {
    if begin(names, ".git") {
        return true;
    }
    if begin(names, WORKSHOP) {
        return false;
    }
    matches!(names, [name] if is_editors_workspace(name) || is_of_a_home(name))
        || begins_login_file(names.iter().map(|name| &**name))
        || OF_OTHERS.iter().any(|(path, meant)| {
            let is_alone = || names.len() == path.split('/').count();
            begin(names, path) && (*meant == NameScope::Below || is_alone())
        })
}

fn begin(names: &[Cow<'_, str>], path: &str) -> bool {
    let mut names = names.iter();
    path.split('/').all(|part| {
        names
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case(part))
    })
}

fn is_of_a_home(name: &str) -> bool {
    // A workspace may be somebody's home, or lie in it by a link. Commands are kept from those that are there.
    let mut known = STARTUP_FILES.iter();
    known.any(|known| name.eq_ignore_ascii_case(known))
}

fn is_editors_workspace(name: &str) -> bool {
    const ENDING: &str = ".code-workspace";
    let start = name.len().checked_sub(ENDING.len());
    let ending = start.and_then(|start| name.get(start..));
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING))
}

/// What git obeys in a git directory.
const OF_BARE: [&str; 5] = ["config", "config.worktree", "commondir", "hooks", "modules"];

/// How many nested repositories are protected. More would delay each command, so that exceeding it is reported.
const REPOSITORIES_MAX: usize = 64;

/// Paths in a writable root that commands may not change or create without approval, and other paths that
/// they need to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardedPaths {
    /// Protected paths, existing or not.
    pub places: Vec<PathBuf>,
    /// Git directories outside the root that its work trees need, and the agent's working directory within a protected
    /// one.
    pub written: Vec<PathBuf>,
    /// Work trees of repositories in it. What their config names is protected too.
    pub trees: Vec<PathBuf>,
    /// All repositories in it.
    pub repositories: KnownRepositories,
    /// Whether the search was complete, so that no repository is missing.
    pub whole: bool,
}

/// Checks the root's own names, and searches it for repositories as far as that is fast.
#[must_use]
pub fn guarded(root: &Path) -> GuardedPaths {
    let mut guarded = GuardedPaths {
        whole: true,
        ..GuardedPaths::default()
    };
    guarded.repository(root);
    // The directory around it is protected, so it is not replaced by a link later.
    let workshop = root.join(WORKSHOP);
    if workshop.canonicalize().is_ok_and(|real| real == workshop) {
        guarded.written.push(workshop);
    }
    // If there is no repository, a new one is for the user to decide: tools that visit the directory
    // would read its configuration.
    if root.join(".git").symlink_metadata().is_err() {
        guarded.places.push(root.join(".git"));
    }
    let found = FoundRepositories::below(root);
    // A command can restore the permissions of a closed directory if it is ours.
    let is_hidden = found.closed.iter().any(|closed| may_be_opened(closed));
    guarded.whole &= found.whole && !is_hidden && found.trees.len() <= REPOSITORIES_MAX;
    for tree in found.trees.iter().take(REPOSITORIES_MAX) {
        guarded.repository(tree);
    }
    // A git directory with another name is obeyed by who works in it.
    guarded.whole &= found.bare.len() <= REPOSITORIES_MAX;
    for bare in found.bare.iter().take(REPOSITORIES_MAX) {
        let names = OF_BARE.iter().map(|name| bare.join(name));
        guarded.places.extend(names);
    }
    let mut repositories = KnownRepositories {
        root: root.to_path_buf(),
        ..found.into()
    };
    repositories.places.insert(root.to_path_buf());
    guarded.repositories = repositories;
    guarded
        .places
        .extend(OF_OTHERS.iter().map(|(name, _)| root.join(name)));
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let there = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        is_editors_workspace(&name) || is_of_a_home(&name)
    });
    guarded.places.extend(there.map(|entry| entry.path()));
    let of_root = login_files::of_directory(root);
    let known = STARTUP_FILES.iter().chain(&LOGIN_FILES).chain(&of_root);
    // An empty name is the root itself.
    let known = known.map(|name| match name.trim_end_matches('/') {
        "" => root.to_path_buf(),
        name => root.join(name),
    });
    let known = known.filter(|place| !guarded.places.contains(place));
    let known: Vec<_> = known.collect();
    guarded.places.extend(known);
    guarded
}

impl GuardedPaths {
    fn repository(&mut self, tree: &Path) {
        let git = tree.join(".git");
        if git.symlink_metadata().is_ok() {
            self.trees.push(tree.to_path_buf());
        }
        let found = GitDirs::of_work_tree(tree);
        // A `.git` file leads to the git directory, and a replaced file would lead to another one.
        // The same holds for a dangling link.
        if git.symlink_metadata().is_ok_and(|meta| !meta.is_dir())
            && found
                .as_ref()
                .is_none_or(|found| !found.written().is_empty())
        {
            self.places.push(git);
        }
        let Some(found) = found else { return };
        let (places, all) = found.guarded();
        self.places.extend(places);
        self.whole &= all;
        self.written.extend(found.written());
    }
}

#[cfg(test)]
mod tests;
