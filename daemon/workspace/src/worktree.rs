//! Surveys the workspace by name, size and time, to determine the files that a command changed.
//!
//! Sees the same files as git: no untracked ignored files, no `.git`, no nested repositories, and
//! no followed links. Reads a file only if its times are too recent to be reliable. `session` calls
//! this before and after commands.

mod index;
mod surveyor;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use sha2::{Digest, Sha256};

use crate::ignore_rules::{IgnoreKinds, IgnoreRules};
use crate::read::{OpenFile, SIZE_MAX, each_part, nanoseconds};
use crate::repository::is_repository;
use crate::workspace::Workspace;

pub(crate) use index::IndexEntryKind;
pub use index::SurveyedRepository;
use surveyor::Surveyor;

/// An entry of a survey, as far as it is known without reading the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurveyEntry {
    Directory,
    /// A file or a link.
    Leaf(FileInfo),
}

/// A file or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    pub link: bool,
    /// Permission bits.
    pub mode: u32,
    pub bytes: u64,
    inode: u64,
    mtime_ns: i128,
    ctime_ns: i128,
    /// Hash of a file with recent times, which alone cannot show a change.
    sha256: Option<[u8; 32]>,
}

/// All files in the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// By path from the root.
    pub places: BTreeMap<PathBuf, SurveyEntry>,
    /// Entries that no checkpoint contains, recorded only to detect changes: paths that are not
    /// UTF-8, and tracked files in directories with too many ignored files.
    pub unkept: BTreeMap<PathBuf, SurveyEntry>,
    /// Paths that were not surveyed: ignored, denied, or nested repositories. Paths below these are
    /// not listed. Includes unreadable directories, or the root (``) if it is unknown which one
    /// failed.
    pub hidden: BTreeSet<PathBuf>,
    /// Why git's tracked files are unknown. All ignored files are then hidden.
    pub blind: Option<String>,
    /// Ignore files that are not among the entries, by absolute path.
    rules: BTreeMap<PathBuf, FileInfo>,
}

impl Survey {
    fn at(&self, path: &Path) -> Option<&SurveyEntry> {
        self.places.get(path).or_else(|| self.unkept.get(path))
    }

    /// Whether a path existed, or may have existed, without being surveyed.
    #[must_use]
    pub fn hides(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.hidden.contains(above))
    }

    /// The paths that differ, in order. A path that was hidden before and is visible now counts as
    /// unchanged.
    #[must_use]
    pub fn differences(&self, after: &Self) -> Vec<PathBuf> {
        self.different(&self.places, &after.places)
    }

    /// The paths that differ, in order, including paths that were hidden before.
    #[must_use]
    pub fn all_differences(&self, after: &Self) -> Vec<PathBuf> {
        let mut all = self.differences(after);
        all.extend(missing_paths(&after.places, &self.places));
        all.sort();
        all.dedup();
        all
    }

    /// Like `differences`, for entries that no checkpoint contains.
    #[must_use]
    pub fn unkept_differences(&self, after: &Self) -> Vec<PathBuf> {
        self.different(&self.unkept, &after.unkept)
    }

    fn different(
        &self,
        before: &BTreeMap<PathBuf, SurveyEntry>,
        after: &BTreeMap<PathBuf, SurveyEntry>,
    ) -> Vec<PathBuf> {
        let mut all = missing_paths(before, after);
        let other = after.iter().filter(|(path, mark)| match before.get(*path) {
            Some(before) => !before.same(mark),
            None => !self.hides(path),
        });
        all.extend(other.map(|(path, _)| path.clone()));
        all.sort();
        all
    }

    /// Whether the ignore rules differ.
    fn rules_differ(&self, after: &Self) -> bool {
        let among = |tree: &Self| -> BTreeMap<PathBuf, SurveyEntry> {
            let rules = tree.places.iter().filter(|(path, _)| is_rule(path));
            rules.map(|(path, mark)| (path.clone(), *mark)).collect()
        };
        self.rules != after.rules || !self.different(&among(self), &among(after)).is_empty()
    }
}

impl SurveyEntry {
    /// Returns `None` if the path does not exist or has another file type.
    fn of(path: &Path) -> Option<Self> {
        let meta = path.symlink_metadata().ok()?;
        let kind = meta.file_type();
        if kind.is_dir() {
            return Some(Self::Directory);
        }
        (kind.is_file() || kind.is_symlink()).then(|| Self::Leaf(FileInfo::of(&meta)))
    }

    /// Whether its times alone cannot prove that it is unchanged.
    #[must_use]
    pub fn is_young(&self) -> bool {
        matches!(self, Self::Leaf(leaf) if leaf.sha256.is_some())
    }

    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Directory, Self::Directory) => true,
            (Self::Leaf(one), Self::Leaf(two)) => {
                // A file with recent times in the first survey is compared by its content, which
                // the second survey then hashes too.
                let content = one.sha256.is_none() || one.sha256 == two.sha256;
                let plain = |leaf: &FileInfo| FileInfo {
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
    /// Surveys all files of the workspace root. Of an earlier survey `before`, files with recent
    /// times are hashed, and its entries are included even if they are ignored now.
    ///
    /// # Errors
    /// There are more than `max` files.
    pub fn survey(&self, max: usize, before: Option<&Survey>) -> Result<Survey, TooManyFiles> {
        let root = self.root();
        let mut look = Surveyor::new(self, max, before);
        let mut walk = WalkBuilder::new(root);
        walk.standard_filters(false).follow_links(false);
        let ignored = IgnoreRules::new(IgnoreKinds::Git);
        walk.filter_entry(move |entry| {
            let path = entry.path();
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.file_name() != ".git"
                && !ignored.decide(path, is_dir).is_ignore()
                && !(is_dir && is_repository(path))
        });
        let mut hidden = BTreeSet::new();
        for entry in walk.build() {
            match entry {
                Ok(entry) => {
                    if let Ok(relative) = entry.path().strip_prefix(root) {
                        look.take(relative)?;
                    }
                }
                Err(error) => hidden.extend(unread(&error, root)),
            }
        }
        let repository = self.repository();
        if let Some(repository) = &repository {
            look.take_tracked(repository)?;
        }
        if let Some(before) = before {
            let mut passed_over = missing_paths(&before.places, &look.tree.places);
            passed_over.append(&mut missing_paths(&before.unkept, &look.tree.unkept));
            for path in passed_over {
                look.take_passed_over(&path)?;
            }
        }
        let mut tree = look.tree;
        hidden.append(&mut beside(root, &tree, max, names_in)?);
        tree.hidden = hidden;
        tree.rules = self.rules(&tree, repository.as_ref());
        Ok(tree)
    }

    /// Ignore files that are not among the entries: ignored themselves, or above the root.
    fn rules(
        &self,
        tree: &Survey,
        repository: Option<&SurveyedRepository>,
    ) -> BTreeMap<PathBuf, FileInfo> {
        let root = self.root();
        let hidden = tree.hidden.iter().filter(|path| is_rule(path));
        let mut paths: Vec<PathBuf> = hidden.map(|path| root.join(path)).collect();
        if let Some(repository) = repository {
            paths.push(repository.exclude.clone());
            let above = root.ancestors().skip(1);
            let above = above.take_while(|above| above.starts_with(&repository.top));
            paths.extend(above.map(|above| above.join(".gitignore")));
        }
        let there = paths.into_iter().filter_map(|path| {
            let leaf = FileInfo::of(&path.symlink_metadata().ok()?);
            Some((path, leaf))
        });
        there.collect()
    }

    /// Paths that appeared between two surveys and are ignored in the second, if the ignore rules
    /// changed. They may not have been ignored when they were created.
    #[must_use]
    pub fn newly_ignored(&self, before: &Survey, after: &Survey) -> Vec<PathBuf> {
        if !before.rules_differ(after) {
            return Vec::new();
        }
        let fresh = after
            .hidden
            .iter()
            .filter(|path| before.at(path).is_none() && !before.hides(path));
        let ignored = fresh.filter(|relative| {
            let path = self.root().join(relative);
            let closed = self.is_masked(&path) || self.read_denied(&path).is_some();
            let git = relative.file_name() == Some(OsStr::new(".git")) || is_repository(&path);
            !closed && !git && SurveyEntry::of(&path).is_some()
        });
        ignored.cloned().collect()
    }

    /// Whether this process may read a file.
    #[must_use]
    pub fn readable(&self, path: &Path) -> bool {
        rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
    }

    fn hash(&self, path: &Path) -> Option<[u8; 32]> {
        let OpenFile { file, meta } = self.open_regular(path).ok()?;
        let mut hash = Sha256::new();
        each_part(file.take(SIZE_MAX), meta.len(), |part| hash.update(part)).ok()?;
        Some(hash.finalize().into())
    }

    /// The repository whose work tree is the workspace root: its objects, index and ignore rules.
    /// `None` if there is none.
    #[must_use]
    pub fn repository(&self) -> Option<SurveyedRepository> {
        let mut at = self.root();
        loop {
            // The user's home and `/` are not projects because of a `.git`.
            if at == self.user_home || at.parent().is_none() {
                return None;
            }
            if is_repository(at) {
                return SurveyedRepository::of(
                    self,
                    &self.git_directory(at, &at.join(".git"), false)?,
                );
            }
            at = at.parent()?;
        }
    }
}

/// The paths of one survey that are missing in the other. Walks both in order, because comparing
/// paths is slow.
fn missing_paths(
    all: &BTreeMap<PathBuf, SurveyEntry>,
    but: &BTreeMap<PathBuf, SurveyEntry>,
) -> Vec<PathBuf> {
    let mut but = but.keys().peekable();
    let paths = all.keys().filter(|path| {
        while but.next_if(|other| other < path).is_some() {}
        but.next_if(|other| other == path).is_none()
    });
    paths.cloned().collect()
}

/// Whether a file contains ignore rules.
fn is_rule(path: &Path) -> bool {
    // Most files do not: this check avoids splitting the path.
    path.as_os_str().as_bytes().ends_with(b".gitignore")
        && path.file_name() == Some(OsStr::new(".gitignore"))
}

/// Paths in the surveyed directories that were not surveyed. If the names of a directory cannot all
/// be read, the directory itself is listed, so that its content counts as possibly existing before.
fn beside(
    root: &Path,
    tree: &Survey,
    max: usize,
    names: impl Fn(&Path) -> std::io::Result<Vec<OsString>>,
) -> Result<BTreeSet<PathBuf>, TooManyFiles> {
    let seen = tree.places.iter().chain(&tree.unkept);
    let directories = seen.filter(|(_, mark)| **mark == SurveyEntry::Directory);
    let directories = directories.map(|(path, _)| path.as_path());
    let mut hidden = BTreeSet::new();
    for directory in std::iter::once(Path::new("")).chain(directories) {
        match names(&root.join(directory)) {
            Ok(names) => {
                let paths = names.into_iter().map(|name| directory.join(name));
                hidden.extend(paths.filter(|path| tree.at(path).is_none()));
            }
            Err(_) => {
                hidden.insert(directory.to_owned());
            }
        }
        if hidden.len() > max {
            return Err(TooManyFiles { max });
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

/// The path that a walk could not read, from the root, or the root if the error does not name it.
/// `None` if the error is about an ignore rule and not a path in the workspace.
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

/// There are more files than a survey accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are more than {max} files")]
pub struct TooManyFiles {
    pub max: usize,
}

impl FileInfo {
    fn of(meta: &std::fs::Metadata) -> Self {
        Self {
            link: meta.is_symlink(),
            mode: meta.mode() & 0o7777,
            bytes: meta.size(),
            inode: meta.ino(),
            mtime_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            ctime_ns: nanoseconds(meta.ctime(), meta.ctime_nsec()),
            sha256: None,
        }
    }
}

#[cfg(test)]
mod tests;
