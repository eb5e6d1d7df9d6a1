//! A repository of git as it lies on the disk: where its folders are, and what of them runs programs later.
//!
//! Believes no file of a work tree alone: `.git` may be a file or a link that names any folder of the machine. Blocks;
//! reads short regular files only, and starts nothing.
//!
//! `gitdirs` looks for the same folders and believes all that git would: what it finds is looked through for dangers, where
//! one too many does no harm. What is found here is opened to commands. So the two are not one.

use std::fs::Metadata;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

use crate::closing::may_be_opened;

/// A file of git that says where something is, or what is checked out, is no longer.
const SAID_MAX: u64 = 64 * 1024;
/// Other work trees of one repository that are looked after.
const TREES_MAX: usize = 64;

/// What of a repository's folder runs programs later. Git itself works on all the rest.
const RUNS: [&str; 5] = ["hooks", "config", "config.worktree", "modules", "commondir"];
/// What of another work tree's folder says where it finds its configuration.
const LEADS: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// Of the rights of a folder, those that tell what only keeps a place while a command runs, and which they are then.
/// `sandbox` makes such folders, and removes them behind the command.
const STUB_MASK: u32 = 0o1700;
const STUB: u32 = 0o1500;

/// Whether a directory is the top of a work tree: whoever looks for the project that something belongs to ends there.
///
/// What is there only while a command runs, so that no repository comes to be, is none: else a project would be another
/// one meanwhile.
#[must_use]
pub fn is_repository(dir: &Path) -> bool {
    let git = dir.join(".git");
    let Ok(found) = git.symlink_metadata() else {
        return false;
    };
    if found.is_symlink() {
        return git.exists();
    }
    // Whoever gives a repository of theirs such rights still has one.
    let is_stub = found.is_dir()
        && found.mode() & STUB_MASK == STUB
        && git.join("HEAD").symlink_metadata().is_err();
    !is_stub
}

/// Where a work tree's repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDirs {
    /// As the work tree names it: `.git`, a folder or a link to one; else the folder that its file names.
    own: PathBuf,
    /// What several work trees share: objects, branches, hooks, configuration. The same, where there is one tree.
    common: PathBuf,
    /// `.git` is a file: the folders are elsewhere.
    elsewhere: bool,
}

impl GitDirs {
    /// Of a work tree whose `.git` is a folder, a link to one, or a file that git itself has made: then the folder that
    /// it names has to name this work tree, in words that no command could write.
    #[must_use]
    pub fn of(tree: &Path) -> Option<Self> {
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
        // As git: what somebody else owns is not believed.
        (ours(&own) && ours(&common)).then_some(Self {
            own,
            common,
            elsewhere: true,
        })
    }

    /// The branch that is checked out, or the first letters of the commit, as the file says.
    #[must_use]
    pub fn branch(&self) -> Option<String> {
        let head = said(&self.own.join("HEAD"))?;
        let head = head.trim();
        let name = head
            .strip_prefix("ref: refs/heads/")
            .map_or_else(|| head.chars().take(12).collect(), str::to_owned);
        Some(name.chars().filter(|c| !c.is_control()).take(200).collect())
    }

    /// Folders outside the work tree that git has to write in for it.
    #[must_use]
    pub fn written(&self) -> Vec<PathBuf> {
        let mut all = vec![self.own.clone(), self.common.clone()];
        all.dedup();
        if self.elsewhere { all } else { Vec::new() }
    }

    /// What no command changes unasked, whether it is there or not. Whether that is all of it.
    #[must_use]
    pub fn guarded(&self) -> (Vec<PathBuf>, bool) {
        let mut places: Vec<PathBuf> = RUNS.iter().map(|name| self.common.join(name)).collect();
        if self.own != self.common {
            places.extend(LEADS.iter().map(|name| self.own.join(name)));
        }
        let trees = self.common.join("worktrees");
        let others: Vec<_> = match std::fs::read_dir(&trees) {
            Ok(others) => others.flatten().take(TREES_MAX + 1).collect(),
            Err(_) => return (places, !may_be_opened(&trees)),
        };
        let all = others.len() <= TREES_MAX;
        let others = others.iter().take(TREES_MAX).map(std::fs::DirEntry::path);
        for other in others.filter(|other| *other != self.own) {
            let leads = LEADS.iter().map(|name| other.join(name));
            // What is missing there is missing: whoever makes it must already be trusted with the folder.
            places.extend(leads.filter(|path| path.symlink_metadata().is_ok()));
        }
        (places, all)
    }
}

/// A folder of one work tree among several: it lies where the shared folder keeps those, and names the tree's `.git`.
/// The shared folder.
fn work_tree(own: &Path, git: &Path) -> Option<PathBuf> {
    let common = leads_to(&own.join("commondir"), "")?;
    let place = common.join("worktrees");
    let back = leads_to(&own.join("gitdir"), "")?;
    (own.parent() == Some(&place) && back == git && is_folder(&common)).then_some(common)
}

/// A folder of a repository within another one's: its configuration names the work tree.
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

/// What git takes for a repository's folder.
fn is_folder(dir: &Path) -> bool {
    let is_dir = |name: &str| dir.join(name).is_dir();
    is_dir("objects") && is_dir("refs") && dir.join("HEAD").symlink_metadata().is_ok()
}

/// The path that a file says, behind this word; relative to where the file is, without links.
fn leads_to(file: &Path, word: &str) -> Option<PathBuf> {
    let text = said(file)?;
    let path = text.strip_prefix(word)?.trim();
    if path.is_empty() {
        return None;
    }
    real(&file.parent()?.join(path))
}

/// Without links. What is named need not be there, but where it would be.
fn real(path: &Path) -> Option<PathBuf> {
    match path.file_name() {
        // Its own name is kept as it is: `.git` may be a link to somewhere.
        Some(name) if path.components().next_back() == Some(Component::Normal(name)) => {
            let whole = path.canonicalize().ok();
            let own = path.parent()?.canonicalize().ok()?.join(name);
            let link = own.symlink_metadata().is_ok_and(|found| found.is_symlink());
            if link { whole } else { Some(own) }
        }
        _ => path.canonicalize().ok(),
    }
}

/// The text of a short regular file, which is opened without waiting and without following a link.
fn said(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let regular = |found: Metadata| found.is_file() && found.len() <= SAID_MAX;
    if !file.metadata().is_ok_and(regular) {
        return None;
    }
    let mut text = String::new();
    file.take(SAID_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests;
