//! Paths in the workspace that the user's git reads as config, or runs as hooks, because a config file names them:
//! `include.path`, `core.hooksPath`.
//!
//! `session` finds them before it judges a call. From then on file tools and the sandbox treat them like `.git/config`,
//! whether they exist or not. Commands cannot change what names them, and a path that the user's config names no longer
//! stays protected until the session is loaded again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use crate::git_directories::GitDirectory;
use crate::resolve;
use crate::workspace::Workspace;

/// Names that git runs in a directory of hooks.
const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];
/// A directory of hooks that call those beside it: `.husky/_`.
const CALLS_ABOVE: &str = ".husky/_";
/// How many are kept. A config with more is not a usual one.
const NAMED_MAX: usize = 1024;

impl Workspace {
    /// Protects a path that git reads or runs. False if there are too many.
    pub fn add_git_named(&self, path: &Path) -> bool {
        let clean = path_clean::clean(path);
        let real = resolve::real(Path::new("/"), &clean).ok();
        let mut named = self
            .git_named
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        for place in [Some(clean), real].into_iter().flatten() {
            if self.is_below_root(&place) {
                named.insert(place);
            }
        }
        named.len() <= NAMED_MAX
    }

    /// Protects a directory of hooks. False if there are too many. If the directory is a whole root, or above it, only
    /// the names of hooks are meant.
    pub fn add_git_hooks(&self, directory: &Path) -> bool {
        let clean = path_clean::clean(directory);
        let directory = match clean.ends_with(CALLS_ABOVE) {
            true => clean.parent().unwrap_or(&clean),
            false => &clean,
        };
        if self.is_below_root(directory) {
            return self.add_git_named(directory);
        }
        HOOKS
            .iter()
            .all(|name| self.add_git_named(&directory.join(name)))
    }

    /// All that was added, existing or not.
    #[must_use]
    pub fn git_named(&self) -> Vec<PathBuf> {
        let named = self
            .git_named
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        named.iter().cloned().collect()
    }

    /// Whether an absolute path is one of them, or below one.
    pub(crate) fn is_git_named(&self, path: &Path) -> bool {
        let named: &BTreeSet<PathBuf> = &self
            .git_named
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        path.ancestors().any(|part| named.contains(part))
    }

    fn is_below_root(&self, path: &Path) -> bool {
        self.root_of(path).is_some() && !self.writable_roots().any(|root| root.starts_with(path))
    }

    /// The directories on the way to a path, and itself, that have a `.git`.
    #[must_use]
    pub fn work_trees_above(&self, path: &Path) -> Vec<PathBuf> {
        let clean = path_clean::clean(path);
        let there = |dir: &&Path| dir.join(".git").symlink_metadata().is_ok();
        clean
            .ancestors()
            .filter(there)
            .map(Path::to_path_buf)
            .collect()
    }

    /// The git directory of a work tree, as git would find it.
    #[must_use]
    pub fn git_directory_of(&self, tree: &Path) -> Option<GitDirectory> {
        self.git_directory(tree, &tree.join(".git"), false)
    }
}

#[cfg(test)]
mod tests;
