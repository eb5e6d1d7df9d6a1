//! The git directories of a work tree, and the files in them that can run programs.
//!
//! Does not trust a single file of a work tree: `.git` may be a file or a link to any directory.
//! Blocks. Reads short regular files only and starts no process.
//!
//! `gitdirs` finds the same directories but accepts everything that git would, because its results
//! are only checked for dangers. Directories found here become writable for commands, so the two
//! differ.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::process::geteuid;

use crate::denied_paths::may_be_opened;
use crate::small_file::{SmallFile, read_small};

/// Maximum length of a git file that names a directory or a branch.
const SAID_MAX: usize = 64 * 1024;
/// How many other work trees of one repository are protected.
const TREES_MAX: usize = 64;

/// Entries of a git directory that can run programs later. Git writes to all the others.
const RUNS: [&str; 5] = ["hooks", "config", "config.worktree", "modules", "commondir"];
/// Entries of another work tree's directory that determine its configuration.
const LEADS: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// What git knows of another work tree: its branch and its index; and what all of them ignore.
const CHECKOUT: [&str; 3] = ["HEAD", "index", "info/exclude"];

/// Whether a directory is the top of a work tree, where the search for a project root ends.
/// A link that leads nowhere does not count.
#[must_use]
pub fn is_repository(dir: &Path) -> bool {
    dir.join(".git").exists()
}

/// Whether the work tree exists that a directory in `worktrees` of a git directory belongs to.
#[must_use]
pub fn has_work_tree(own: &Path) -> bool {
    let link = said(&own.join("gitdir"));
    link.is_some_and(|link| own.join(link.trim_end()).exists())
}

/// The git directories of a work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDirs {
    /// As the work tree names it: `.git`, a directory or a link to one, or else the directory that
    /// the `.git` file names.
    own: PathBuf,
    /// The directory that several work trees share: objects, branches, hooks, configuration. Equal
    /// to `own` for a single work tree.
    common: PathBuf,
    /// `.git` is a file, so the directories are elsewhere.
    elsewhere: bool,
}

impl GitDirs {
    /// Finds them for a `.git` that is a directory, a link to one, or a file created by git. In the
    /// last case the named directory must refer back to this work tree, in files that no command
    /// can write.
    #[must_use]
    pub fn of_work_tree(tree: &Path) -> Option<Self> {
        let git = tree.join(".git");
        let found = git.symlink_metadata().ok()?;
        if found.is_dir() || (found.is_symlink() && git.is_dir()) {
            return Some(Self {
                own: git.clone(),
                common: git,
                elsewhere: false,
            });
        }
        let own = leads_to(&git, "gitdir:")?;
        let common = work_tree(&own, &git).or_else(|| submodule(&own, tree))?;
        let ours = |dir: &Path| {
            let found = dir.symlink_metadata();
            found.is_ok_and(|found| found.uid() == geteuid().as_raw())
        };
        // Like git, does not trust files of another owner.
        (ours(&own) && ours(&common)).then_some(Self {
            own,
            common,
            elsewhere: true,
        })
    }

    /// The directory of this work tree alone.
    #[must_use]
    pub fn own(&self) -> &Path {
        &self.own
    }

    /// The directory that all work trees of the repository share.
    #[must_use]
    pub fn common(&self) -> &Path {
        &self.common
    }

    /// The file with ignore rules that are not in the work tree.
    pub(crate) fn exclude(&self) -> PathBuf {
        self.common.join("info/exclude")
    }

    /// The checked-out branch, or the first digits of the commit, as the file says.
    #[must_use]
    pub fn branch(&self) -> Option<String> {
        let head = said(&self.own.join("HEAD"))?;
        let head = head.trim();
        let name = head
            .strip_prefix("ref: refs/heads/")
            .map_or_else(|| head.chars().take(12).collect(), str::to_owned);
        Some(name.chars().filter(|c| !c.is_control()).take(200).collect())
    }

    /// Directories outside the work tree that git must write to.
    #[must_use]
    pub fn written(&self) -> Vec<PathBuf> {
        let mut all = vec![self.own.clone(), self.common.clone()];
        all.dedup();
        if self.elsewhere { all } else { Vec::new() }
    }

    /// Paths that no command may change without approval, existing or not. Also returns whether the
    /// list is complete.
    #[must_use]
    pub fn guarded(&self) -> (Vec<PathBuf>, bool) {
        let mut places: Vec<PathBuf> = RUNS.iter().map(|name| self.common.join(name)).collect();
        if self.own != self.common {
            places.extend(LEADS.iter().map(|name| self.own.join(name)));
            places.extend(checkout_of(&self.common));
        }
        let trees = self.common.join("worktrees");
        let others: Vec<_> = match std::fs::read_dir(&trees) {
            Ok(others) => others.flatten().take(TREES_MAX + 1).collect(),
            Err(_) => return (places, !may_be_opened(&trees)),
        };
        let all = others.len() <= TREES_MAX;
        let others = others.iter().take(TREES_MAX).map(std::fs::DirEntry::path);
        for other in others.filter(|other| *other != self.own) {
            // Also what is missing: git reads a `config.worktree` there as soon as it exists.
            places.extend(LEADS.iter().map(|name| other.join(name)));
            places.extend(checkout_of(&other));
        }
        (places, all)
    }
}

/// What is there of another work tree's branch and index. Git replaces them, but makes them with the work tree.
fn checkout_of(own: &Path) -> impl Iterator<Item = PathBuf> {
    let places = CHECKOUT.iter().map(|name| own.join(name));
    places.filter(|place| place.symlink_metadata().is_ok())
}

/// Checks a directory of one work tree among several: it is where the shared directory keeps them,
/// and names the tree's `.git`. Returns the shared directory.
fn work_tree(own: &Path, git: &Path) -> Option<PathBuf> {
    let common = leads_to(&own.join("commondir"), "")?;
    let place = common.join("worktrees");
    let back = leads_to(&own.join("gitdir"), "")?;
    (own.parent() == Some(&place) && back == git && is_folder(&common)).then_some(common)
}

/// Checks a git directory inside another repository: its configuration names the work tree.
fn submodule(own: &Path, tree: &Path) -> Option<PathBuf> {
    if !is_folder(own) || own.join("commondir").symlink_metadata().is_ok() {
        return None;
    }
    let config = said(&own.join("config"))?;
    let mut core = false;
    let mut named = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            core = line.eq_ignore_ascii_case("[core]");
        } else if core
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("worktree")
        {
            named = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    let back = real(&own.join(named?))?;
    (back == tree).then(|| own.to_path_buf())
}

/// Whether git accepts this as a git directory.
fn is_folder(dir: &Path) -> bool {
    let is_dir = |name: &str| dir.join(name).is_dir();
    is_dir("objects") && is_dir("refs") && dir.join("HEAD").symlink_metadata().is_ok()
}

/// Reads the path after this key in a file, relative to the file, without links.
fn leads_to(file: &Path, word: &str) -> Option<PathBuf> {
    let text = said(file)?;
    let path = text.strip_prefix(word)?.trim();
    if path.is_empty() {
        return None;
    }
    real(&file.parent()?.join(path))
}

/// Resolves links. The last component need not exist, but its parent must.
fn real(path: &Path) -> Option<PathBuf> {
    match path.file_name() {
        // Keeps the last name: `.git` may itself be a link.
        Some(name) if path.components().next_back() == Some(Component::Normal(name)) => {
            let whole = path.canonicalize().ok();
            let own = path.parent()?.canonicalize().ok()?.join(name);
            let link = own.symlink_metadata().is_ok_and(|found| found.is_symlink());
            if link { whole } else { Some(own) }
        }
        _ => path.canonicalize().ok(),
    }
}

/// Reads a short regular file, without blocking or following a link.
fn said(path: &Path) -> Option<String> {
    match read_small(path, SAID_MAX) {
        SmallFile::Read(bytes) => String::from_utf8(bytes).ok(),
        SmallFile::Missing | SmallFile::Unusable => None,
    }
}

#[cfg(test)]
mod tests;
