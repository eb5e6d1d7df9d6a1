//! Surveys the workspace by name, size and time, to determine the files that a command changed.
//!
//! Sees the same files as git: no untracked ignored files, no `.git`, no nested repositories, and
//! no followed links. Reads a file only if its times are too recent to be reliable. `session` calls
//! this before and after commands.

mod index;

pub(crate) use index::IndexEntryKind;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ignore::WalkBuilder;
use sha2::{Digest, Sha256};

use crate::git_directories::GitDirectory;
use crate::read::{SIZE_MAX, each_part, nanoseconds};
use crate::repository::is_repository;
use crate::workspace::Workspace;

/// A file changed more recently than this may change again without a new time or size.
const YOUNG: Duration = Duration::from_millis(100);

/// How many names in ignored directories are checked for tracked files.
const OPENED_MAX: usize = 1_000;

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
        walk.standard_filters(false)
            .parents(true)
            .git_ignore(true)
            .git_exclude(true)
            .require_git(true)
            .follow_links(false);
        walk.filter_entry(|entry| {
            let inner = entry.depth() > 0
                && entry.file_type().is_some_and(|kind| kind.is_dir())
                && is_repository(entry.path());
            entry.file_name() != ".git" && !inner
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
        let file = self.open_regular(path).ok()?.file.take(SIZE_MAX);
        let mut hash = Sha256::new();
        each_part(file, |part| hash.update(part)).ok()?;
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

/// A directory that the walk skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SkippedDirectory {
    Open,
    /// It has too many ignored files, which its name would hide.
    Crowded,
    /// Reached through a link, or in a nested repository.
    Elsewhere,
}

/// A survey in progress.
struct Surveyor<'a> {
    workspace: &'a Workspace,
    before: Option<&'a Survey>,
    max: usize,
    young_since: i128,
    tree: Survey,
    /// Directories that the walk skipped.
    ways: HashMap<PathBuf, SkippedDirectory>,
    /// Names in the opened ones among them.
    opened: usize,
}

impl<'a> Surveyor<'a> {
    fn new(workspace: &'a Workspace, max: usize, before: Option<&'a Survey>) -> Self {
        let young_since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .saturating_sub(YOUNG);
        Self {
            workspace,
            before,
            max,
            young_since: i128::try_from(young_since.as_nanos()).unwrap_or(i128::MAX),
            tree: Survey::default(),
            ways: HashMap::new(),
            opened: 0,
        }
    }

    /// Records a path unless it is denied.
    fn take(&mut self, relative: &Path) -> Result<(), TooManyFiles> {
        let path = self.workspace.root().join(relative);
        let closed =
            || self.workspace.is_masked(&path) || self.workspace.read_denied(&path).is_some();
        if relative.as_os_str().is_empty() || closed() {
            return Ok(());
        }
        let Some(mut mark) = SurveyEntry::of(&path) else {
            return Ok(());
        };
        if let SurveyEntry::Leaf(leaf) = &mut mark {
            let earlier = self.before.and_then(|before| before.at(relative));
            let young = leaf.mtime_ns.max(leaf.ctime_ns) >= self.young_since;
            if !leaf.link && (young || earlier.is_some_and(SurveyEntry::is_young)) {
                leaf.sha256 = self.workspace.hash(&path);
            }
        }
        if self.tree.places.len() + self.tree.unkept.len() >= self.max {
            return Err(TooManyFiles { max: self.max });
        }
        // A name that is not UTF-8 cannot be reported.
        let is_kept = relative.to_str().is_some()
            && self
                .before
                .is_none_or(|before| !before.unkept.contains_key(relative))
            && !self.is_crowded(relative);
        let places = if is_kept {
            &mut self.tree.places
        } else {
            &mut self.tree.unkept
        };
        places.insert(relative.to_owned(), mark);
        Ok(())
    }

    fn is_crowded(&self, relative: &Path) -> bool {
        let above = relative.parent();
        above.is_some_and(|above| self.ways.get(above) == Some(&SkippedDirectory::Crowded))
    }

    /// Records tracked files that the walk skipped: ignore rules apply only to untracked files.
    fn take_tracked(&mut self, repository: &SurveyedRepository) -> Result<(), TooManyFiles> {
        let root = self.workspace.root();
        let Ok(prefix) = root.strip_prefix(&repository.top) else {
            return Ok(());
        };
        let mut prefix = prefix.as_os_str().as_bytes().to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        // Compared as bytes: comparing paths by component is the slowest part here.
        let seen = self.tree.places.keys().chain(self.tree.unkept.keys());
        let seen: HashSet<&[u8]> = seen.map(|path| path.as_os_str().as_bytes()).collect();
        let mut passed_over = BTreeSet::new();
        let read = self
            .workspace
            .tracked(repository, IndexEntryKind::File, &mut |name| {
                if let Some(name) = name.strip_prefix(prefix.as_slice())
                    && !seen.contains(name)
                {
                    passed_over.insert(PathBuf::from(OsStr::from_bytes(name)));
                }
            });
        self.tree.blind = read.err();
        for path in passed_over {
            let is_leaf = matches!(
                SurveyEntry::of(&root.join(&path)),
                Some(SurveyEntry::Leaf(_))
            );
            if is_leaf {
                self.take_passed_over(&path)?;
            }
        }
        Ok(())
    }

    /// Records a path that the walk did not reach, and its parent directories.
    fn take_passed_over(&mut self, relative: &Path) -> Result<(), TooManyFiles> {
        let plain = |part| matches!(part, Component::Normal(name) if name != ".git");
        if !relative.components().all(plain) {
            return Ok(());
        }
        match relative.parent() {
            Some(above) if self.way(above)? != SkippedDirectory::Elsewhere => self.take(relative),
            _ => Ok(()),
        }
    }

    /// Classifies a directory. One that is opened is recorded.
    fn way(&mut self, dir: &Path) -> Result<SkippedDirectory, TooManyFiles> {
        if dir.as_os_str().is_empty() || self.tree.at(dir) == Some(&SurveyEntry::Directory) {
            return Ok(SkippedDirectory::Open);
        }
        if let Some(way) = self.ways.get(dir) {
            return Ok(*way);
        }
        let above = match dir.parent() {
            Some(above) => self.way(above)?,
            None => SkippedDirectory::Elsewhere,
        };
        let path = self.workspace.root().join(dir);
        let is_ours =
            SurveyEntry::of(&path) == Some(SurveyEntry::Directory) && !is_repository(&path);
        let way = match above {
            SkippedDirectory::Open if is_ours => self.open(dir, &path),
            SkippedDirectory::Crowded if is_ours => SkippedDirectory::Crowded,
            SkippedDirectory::Open | SkippedDirectory::Crowded | SkippedDirectory::Elsewhere => {
                SkippedDirectory::Elsewhere
            }
        };
        self.ways.insert(dir.to_owned(), way);
        if way == SkippedDirectory::Open {
            self.take(dir)?;
        }
        Ok(way)
    }

    fn open(&mut self, dir: &Path, path: &Path) -> SkippedDirectory {
        // A directory that was opened before is opened again. Otherwise its files would seem
        // deleted.
        let before = self.before.and_then(|before| before.at(dir));
        if before == Some(&SurveyEntry::Directory) {
            return SkippedDirectory::Open;
        }
        let entries = std::fs::read_dir(path).into_iter().flatten();
        let names = entries.take(OPENED_MAX + 1).count();
        if self.opened + names > OPENED_MAX {
            return SkippedDirectory::Crowded;
        }
        self.opened += names;
        SkippedDirectory::Open
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

/// A repository's git directory, as far as surveys need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedRepository {
    pub objects: PathBuf,
    /// It uses SHA-1 object names, as most repositories do.
    pub sha1: bool,
    /// Length of an object name in bytes.
    name_bytes: usize,
    /// The top of the work tree.
    top: PathBuf,
    /// The directory of this work tree alone, with its index.
    dir: PathBuf,
    /// Ignore rules outside the work tree.
    exclude: PathBuf,
}

impl SurveyedRepository {
    /// Opens a repository by its git directory.
    pub(crate) fn of(workspace: &Workspace, at: &GitDirectory) -> Option<Self> {
        let (own, dir) = (std::fs::canonicalize(&at.own).ok()?, &at.common);
        let config = workspace.git_file(&dir.join("config")).ok().flatten();
        let config = String::from_utf8_lossy(&config.unwrap_or_default()).to_ascii_lowercase();
        let objects = std::fs::canonicalize(dir.join("objects")).ok()?;
        let sha1 = !config.contains("objectformat");
        Some(Self {
            objects,
            sha1,
            name_bytes: if sha1 || !config.contains("sha256") {
                20
            } else {
                32
            },
            top: at.top.clone(),
            dir: own,
            exclude: dir.join("info/exclude"),
        })
    }
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
