//! What stands in the workspace, by name, size and time only: so that it can be told what a command has changed.
//!
//! Sees what git would see: no ignored files, nothing in `.git`, no repositories inside of this one, no links followed.
//! Reads a file only where its time is too young to be trusted. Called by `session`, before and after commands.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ignore::WalkBuilder;
use sha2::{Digest, Sha256};

use crate::read::SIZE_MAX;
use crate::workspace::Workspace;

/// A file that was changed a shorter time ago than this may be changed again without a new time or size.
const YOUNG: Duration = Duration::from_millis(100);

/// What a place is, as far as that can be told without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Directory,
    /// A file or a link.
    Leaf(Leaf),
}

/// A file or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub link: bool,
    /// Permission bits.
    pub mode: u32,
    pub bytes: u64,
    inode: u64,
    mtime_ns: i128,
    ctime_ns: i128,
    /// Of a file whose times are young: they alone do not say whether it changes.
    sha256: Option<[u8; 32]>,
}

/// All that stands in the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// By path from the root.
    pub places: BTreeMap<PathBuf, Mark>,
    /// What stands beside them and is not looked at: ignored, closed, a repository of its own. Not what is below that.
    /// Also directories that could not be read; the root itself (``) where it is not known which.
    pub hidden: BTreeSet<PathBuf>,
}

impl Tree {
    /// Whether a place was there, or may have been, without being looked at.
    #[must_use]
    pub fn hides(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.hidden.contains(above))
    }

    /// The places that are not the same in both, in order. What was hidden before and is not now has not changed.
    #[must_use]
    pub fn differences(&self, after: &Self) -> Vec<PathBuf> {
        let gone = self
            .places
            .keys()
            .filter(|path| !after.places.contains_key(*path));
        let other = after
            .places
            .iter()
            .filter(|(path, mark)| match self.places.get(*path) {
                Some(before) => !before.same(mark),
                None => !self.hides(path),
            });
        let mut all: Vec<PathBuf> = gone.chain(other.map(|(path, _)| path)).cloned().collect();
        all.sort();
        all
    }
}

impl Mark {
    /// Whether its times alone do not say that it is as it was.
    #[must_use]
    pub fn is_young(&self) -> bool {
        matches!(self, Self::Leaf(leaf) if leaf.sha256.is_some())
    }

    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Directory, Self::Directory) => true,
            (Self::Leaf(one), Self::Leaf(two)) => {
                // What was young in the first look is compared by its content, which the second has then too.
                let content = one.sha256.is_none() || one.sha256 == two.sha256;
                let plain = |leaf: &Leaf| Leaf {
                    sha256: None,
                    ..*leaf
                };
                content && plain(one) == plain(two)
            }
            (Self::Directory, Self::Leaf(_)) | (Self::Leaf(_), Self::Directory) => false,
        }
    }
}

impl Workspace {
    /// Looks at all files of the workspace root. `before`: an earlier look, so that what was too young in it is read.
    ///
    /// # Errors
    /// There are more than `max` files.
    pub fn survey(&self, max: usize, before: Option<&Tree>) -> Result<Tree, TooMany> {
        let root = self.root();
        let mut tree = Tree::default();
        let young_since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .saturating_sub(YOUNG);
        let young_since = i128::try_from(young_since.as_nanos()).unwrap_or(i128::MAX);
        let mut walk = WalkBuilder::new(root);
        walk.standard_filters(false)
            .parents(true)
            .git_ignore(true)
            .git_exclude(true)
            .require_git(true)
            .follow_links(false);
        walk.filter_entry(|entry| {
            let inner = entry.depth() > 0
                && entry.file_type().is_some_and(|kind| kind.is_dir())
                && entry.path().join(".git").symlink_metadata().is_ok();
            entry.file_name() != ".git" && !inner
        });
        let mut hidden = BTreeSet::new();
        for entry in walk.build() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    hidden.extend(unread(&error, root));
                    continue;
                }
            };
            let path = entry.path();
            let Ok(relative) = path.strip_prefix(root) else {
                continue;
            };
            // A name that is no text cannot be told to anybody.
            let nameless = relative.as_os_str().is_empty() || relative.to_str().is_none();
            if nameless || self.is_masked(path) || self.read_denied(path).is_some() {
                continue;
            }
            let Ok(meta) = path.symlink_metadata() else {
                continue;
            };
            let kind = meta.file_type();
            let mark = if kind.is_dir() {
                Mark::Directory
            } else if kind.is_file() || kind.is_symlink() {
                let mut leaf = Leaf::of(&meta);
                let earlier = before.and_then(|before| before.places.get(relative));
                let was_young = matches!(earlier, Some(Mark::Leaf(leaf)) if leaf.sha256.is_some());
                let young = leaf.mtime_ns.max(leaf.ctime_ns) >= young_since;
                if kind.is_file() && (young || was_young) {
                    leaf.sha256 = self.hash(path);
                }
                Mark::Leaf(leaf)
            } else {
                continue;
            };
            if tree.places.len() >= max {
                return Err(TooMany { max });
            }
            tree.places.insert(relative.to_owned(), mark);
        }
        hidden.append(&mut beside(root, &tree, max, names_in)?);
        tree.hidden = hidden;
        Ok(tree)
    }

    /// Whether a file may be read by us.
    #[must_use]
    pub fn readable(&self, path: &Path) -> bool {
        rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
    }

    fn hash(&self, path: &Path) -> Option<[u8; 32]> {
        let mut file = self.open_regular(path).ok()?.file.take(SIZE_MAX);
        let mut hash = Sha256::new();
        let mut part = vec![0; 64 * 1024];
        loop {
            match file.read(&mut part).ok()? {
                0 => return Some(hash.finalize().into()),
                count => hash.update(part.get(..count)?),
            }
        }
    }

    /// Where the repository that the workspace root is a work tree of keeps its objects, and its own rules of what is
    /// ignored. `None`: it is no work tree.
    #[must_use]
    pub fn repository(&self) -> Option<Repository> {
        let mut at = self.root();
        loop {
            // The person's home and `/` are no projects because they hold a `.git`.
            if at == self.user_home || at.parent().is_none() {
                return None;
            }
            let dot_git = at.join(".git");
            if dot_git.symlink_metadata().is_ok() {
                return Repository::at(at, &dot_git);
            }
            at = at.parent()?;
        }
    }
}

/// A repository's own directory, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    pub objects: PathBuf,
    /// It names its objects by SHA-1, as nearly all do.
    pub sha1: bool,
}

impl Repository {
    fn at(top: &Path, dot_git: &Path) -> Option<Self> {
        let mut dir = dot_git.to_owned();
        if !dot_git.is_dir() {
            // A further work tree, or a submodule: the file says where the directory is.
            let text = std::fs::read_to_string(dot_git).ok()?;
            dir = top.join(text.strip_prefix("gitdir:")?.trim());
        }
        if let Ok(common) = std::fs::read_to_string(dir.join("commondir")) {
            dir = dir.join(common.trim());
        }
        let config = std::fs::read_to_string(dir.join("config")).unwrap_or_default();
        let objects = std::fs::canonicalize(dir.join("objects")).ok()?;
        Some(Self {
            objects,
            sha1: !config.to_ascii_lowercase().contains("objectformat"),
        })
    }
}

/// What stands beside the places of a tree. A directory whose names cannot all be read is there itself: whatever is in
/// it was there before, for all that is known.
fn beside(
    root: &Path,
    tree: &Tree,
    max: usize,
    names: impl Fn(&Path) -> std::io::Result<Vec<OsString>>,
) -> Result<BTreeSet<PathBuf>, TooMany> {
    let seen = tree.places.iter();
    let directories = seen.filter(|(_, mark)| **mark == Mark::Directory);
    let directories = directories.map(|(path, _)| path.as_path());
    let mut hidden = BTreeSet::new();
    for directory in std::iter::once(Path::new("")).chain(directories) {
        match names(&root.join(directory)) {
            Ok(names) => {
                let paths = names.into_iter().map(|name| directory.join(name));
                hidden.extend(paths.filter(|path| !tree.places.contains_key(path)));
            }
            Err(_) => {
                hidden.insert(directory.to_owned());
            }
        }
        if hidden.len() > max {
            return Err(TooMany { max });
        }
    }
    Ok(hidden)
}

fn names_in(directory: &Path) -> std::io::Result<Vec<OsString>> {
    let entries = std::fs::read_dir(directory)?;
    entries
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect()
}

/// The place that a walk could not read, from the root; the root itself where the error does not say which it was.
/// `None`: it is no place in the workspace, but a rule of what is ignored.
fn unread(error: &ignore::Error, root: &Path) -> Option<PathBuf> {
    use ignore::Error::{Io, Partial, WithDepth, WithLineNumber, WithPath};
    match error {
        WithPath { path, err } if err.is_io() => Some(path.strip_prefix(root).ok()?.to_owned()),
        WithDepth { err, .. } | WithLineNumber { err, .. } => unread(err, root),
        Partial(errors) => errors.iter().find_map(|error| unread(error, root)),
        Io(_) => Some(PathBuf::new()),
        _ => None,
    }
}

/// There is more than is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are more than {max} files")]
pub struct TooMany {
    pub max: usize,
}

impl Leaf {
    fn of(meta: &std::fs::Metadata) -> Self {
        let ns = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            link: meta.is_symlink(),
            mode: meta.mode() & 0o7777,
            bytes: meta.size(),
            inode: meta.ino(),
            mtime_ns: ns(meta.mtime(), meta.mtime_nsec()),
            ctime_ns: ns(meta.ctime(), meta.ctime_nsec()),
            sha256: None,
        }
    }
}

#[cfg(test)]
mod tests;
