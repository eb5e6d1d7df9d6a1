//! What stands in the workspace, by name, size and time only: so that it can be told what a command has changed.
//!
//! Sees what git would see: no ignored files that are not tracked, nothing in `.git`, no repositories inside of this one,
//! no links followed. Reads a file only where its time is too young to be trusted. Called by `session`, before and after
//! commands.

mod index;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ignore::WalkBuilder;
use sha2::{Digest, Sha256};

use crate::gitdirs::GitDirectory;
use crate::read::SIZE_MAX;
use crate::repository::is_repository;
use crate::workspace::Workspace;

/// A file that was changed a shorter time ago than this may be changed again without a new time or size.
const YOUNG: Duration = Duration::from_millis(100);

/// Names in ignored directories that are looked at for the sake of tracked files in them.
const OPENED_MAX: usize = 1_000;

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
    /// What no checkpoint holds, looked at so that it can be told that it has changed: what has no text for a path, and
    /// what git tracks among more ignored files than are looked at.
    pub unkept: BTreeMap<PathBuf, Mark>,
    /// What stands beside them and is not looked at: ignored, closed, a repository of its own. Not what is below that.
    /// Also directories that could not be read; the root itself (``) where it is not known which.
    pub hidden: BTreeSet<PathBuf>,
    /// Why it is not known what git tracks: then what is ignored is hidden, tracked or not.
    pub blind: Option<String>,
    /// The files that say what is ignored, where they are not among the places. By absolute path.
    rules: BTreeMap<PathBuf, Leaf>,
}

impl Tree {
    fn at(&self, path: &Path) -> Option<&Mark> {
        self.places.get(path).or_else(|| self.unkept.get(path))
    }

    /// Whether a place was there, or may have been, without being looked at.
    #[must_use]
    pub fn hides(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.hidden.contains(above))
    }

    /// The places that are not the same in both, in order. What was hidden before and is not now has not changed.
    #[must_use]
    pub fn differences(&self, after: &Self) -> Vec<PathBuf> {
        self.different(&self.places, &after.places)
    }

    /// The places that are not the same in both, in order, also those that were hidden before: what is known of this one
    /// says nothing of them.
    #[must_use]
    pub fn news(&self, after: &Self) -> Vec<PathBuf> {
        let mut all = self.differences(after);
        all.extend(less(&after.places, &self.places));
        all.sort();
        all.dedup();
        all
    }

    /// As `differences`, of what no checkpoint holds.
    #[must_use]
    pub fn unkept_differences(&self, after: &Self) -> Vec<PathBuf> {
        self.different(&self.unkept, &after.unkept)
    }

    fn different(
        &self,
        before: &BTreeMap<PathBuf, Mark>,
        after: &BTreeMap<PathBuf, Mark>,
    ) -> Vec<PathBuf> {
        let mut all = less(before, after);
        let other = after.iter().filter(|(path, mark)| match before.get(*path) {
            Some(before) => !before.same(mark),
            None => !self.hides(path),
        });
        all.extend(other.map(|(path, _)| path.clone()));
        all.sort();
        all
    }

    /// Whether what is ignored is said otherwise in the later look.
    fn rules_differ(&self, after: &Self) -> bool {
        let among = |tree: &Self| -> BTreeMap<PathBuf, Mark> {
            let rules = tree.places.iter().filter(|(path, _)| is_rule(path));
            rules.map(|(path, mark)| (path.clone(), *mark)).collect()
        };
        self.rules != after.rules || !self.different(&among(self), &among(after)).is_empty()
    }
}

impl Mark {
    /// `None`: nothing is there, or what is none of these.
    fn of(path: &Path) -> Option<Self> {
        let meta = path.symlink_metadata().ok()?;
        let kind = meta.file_type();
        if kind.is_dir() {
            return Some(Self::Directory);
        }
        (kind.is_file() || kind.is_symlink()).then(|| Self::Leaf(Leaf::of(&meta)))
    }

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
    /// Looks at all files of the workspace root. `before`: an earlier look, so that what was too young in it is read, and
    /// what was seen in it is looked at whether or not it is ignored by now.
    ///
    /// # Errors
    /// There are more than `max` files.
    pub fn survey(&self, max: usize, before: Option<&Tree>) -> Result<Tree, TooMany> {
        let root = self.root();
        let mut look = Looking::new(self, max, before);
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
            let mut passed_over = less(&before.places, &look.tree.places);
            passed_over.append(&mut less(&before.unkept, &look.tree.unkept));
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

    /// The files that say what is ignored and that are not among the places: ignored themselves, or above the root.
    fn rules(&self, tree: &Tree, repository: Option<&Repository>) -> BTreeMap<PathBuf, Leaf> {
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
            let leaf = Leaf::of(&path.symlink_metadata().ok()?);
            Some((path, leaf))
        });
        there.collect()
    }

    /// What has come between two looks and is ignored in the second, where what is ignored was said otherwise in the
    /// first: it may not have been ignored when it came.
    #[must_use]
    pub fn newly_ignored(&self, before: &Tree, after: &Tree) -> Vec<PathBuf> {
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
            !closed && !git && Mark::of(&path).is_some()
        });
        ignored.cloned().collect()
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

    /// Where the repository that the workspace root is a work tree of keeps its objects, its index, and its own rules of
    /// what is ignored. `None`: it is no work tree.
    #[must_use]
    pub fn repository(&self) -> Option<Repository> {
        let mut at = self.root();
        loop {
            // The person's home and `/` are no projects because they hold a `.git`.
            if at == self.user_home || at.parent().is_none() {
                return None;
            }
            if is_repository(at) {
                return Repository::of(self, &self.git_directory(at, &at.join(".git"), false)?);
            }
            at = at.parent()?;
        }
    }
}

/// What a directory is that the walk has passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Open,
    /// There is too much in it that is ignored, all of which would be hidden by its name.
    Crowded,
    /// Behind a link, or in a repository of its own.
    Elsewhere,
}

/// A look that goes on.
struct Looking<'a> {
    workspace: &'a Workspace,
    before: Option<&'a Tree>,
    max: usize,
    young_since: i128,
    tree: Tree,
    /// Directories that the walk has passed over.
    ways: HashMap<PathBuf, Way>,
    /// Names in those of them that were opened.
    opened: usize,
}

impl<'a> Looking<'a> {
    fn new(workspace: &'a Workspace, max: usize, before: Option<&'a Tree>) -> Self {
        let young_since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .saturating_sub(YOUNG);
        Self {
            workspace,
            before,
            max,
            young_since: i128::try_from(young_since.as_nanos()).unwrap_or(i128::MAX),
            tree: Tree::default(),
            ways: HashMap::new(),
            opened: 0,
        }
    }

    /// Looks at a place, unless it is closed.
    fn take(&mut self, relative: &Path) -> Result<(), TooMany> {
        let path = self.workspace.root().join(relative);
        let closed =
            || self.workspace.is_masked(&path) || self.workspace.read_denied(&path).is_some();
        if relative.as_os_str().is_empty() || closed() {
            return Ok(());
        }
        let Some(mut mark) = Mark::of(&path) else {
            return Ok(());
        };
        if let Mark::Leaf(leaf) = &mut mark {
            let earlier = self.before.and_then(|before| before.at(relative));
            let young = leaf.mtime_ns.max(leaf.ctime_ns) >= self.young_since;
            if !leaf.link && (young || earlier.is_some_and(Mark::is_young)) {
                leaf.sha256 = self.workspace.hash(&path);
            }
        }
        if self.tree.places.len() + self.tree.unkept.len() >= self.max {
            return Err(TooMany { max: self.max });
        }
        // A name that is no text cannot be told to anybody.
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
        above.is_some_and(|above| self.ways.get(above) == Some(&Way::Crowded))
    }

    /// Looks at what git tracks and the walk has passed over: rules of what is ignored are for the rest.
    fn take_tracked(&mut self, repository: &Repository) -> Result<(), TooMany> {
        let root = self.workspace.root();
        let Ok(prefix) = root.strip_prefix(&repository.top) else {
            return Ok(());
        };
        let mut prefix = prefix.as_os_str().as_bytes().to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        // By their bytes: paths are compared name by name, which takes longer than all the rest here.
        let seen = self.tree.places.keys().chain(self.tree.unkept.keys());
        let seen: HashSet<&[u8]> = seen.map(|path| path.as_os_str().as_bytes()).collect();
        let mut passed_over = BTreeSet::new();
        let told = self.workspace.tracked(repository, &mut |name| {
            if let Some(name) = name.strip_prefix(prefix.as_slice())
                && !seen.contains(name)
            {
                passed_over.insert(PathBuf::from(OsStr::from_bytes(name)));
            }
        });
        self.tree.blind = told.err();
        for path in passed_over {
            let is_leaf = matches!(Mark::of(&root.join(&path)), Some(Mark::Leaf(_)));
            if is_leaf {
                self.take_passed_over(&path)?;
            }
        }
        Ok(())
    }

    /// Looks at a place that the walk has not come to, with the directories that it is in.
    fn take_passed_over(&mut self, relative: &Path) -> Result<(), TooMany> {
        let plain = |part| matches!(part, Component::Normal(name) if name != ".git");
        if !relative.components().all(plain) {
            return Ok(());
        }
        match relative.parent() {
            Some(above) if self.way(above)? != Way::Elsewhere => self.take(relative),
            _ => Ok(()),
        }
    }

    /// What a directory is; one that is open is looked at.
    fn way(&mut self, dir: &Path) -> Result<Way, TooMany> {
        if dir.as_os_str().is_empty() || self.tree.at(dir) == Some(&Mark::Directory) {
            return Ok(Way::Open);
        }
        if let Some(way) = self.ways.get(dir) {
            return Ok(*way);
        }
        let above = match dir.parent() {
            Some(above) => self.way(above)?,
            None => Way::Elsewhere,
        };
        let path = self.workspace.root().join(dir);
        let is_ours = Mark::of(&path) == Some(Mark::Directory) && !is_repository(&path);
        let way = match above {
            Way::Open if is_ours => self.open(dir, &path),
            Way::Crowded if is_ours => Way::Crowded,
            Way::Open | Way::Crowded | Way::Elsewhere => Way::Elsewhere,
        };
        self.ways.insert(dir.to_owned(), way);
        if way == Way::Open {
            self.take(dir)?;
        }
        Ok(way)
    }

    fn open(&mut self, dir: &Path, path: &Path) -> Way {
        // What was open stays open: else it would seem to have gone.
        let before = self.before.and_then(|before| before.at(dir));
        if before == Some(&Mark::Directory) {
            return Way::Open;
        }
        let entries = std::fs::read_dir(path).into_iter().flatten();
        let names = entries.take(OPENED_MAX + 1).count();
        if self.opened + names > OPENED_MAX {
            return Way::Crowded;
        }
        self.opened += names;
        Way::Open
    }
}

/// The paths of one look that are not in the other. Goes along both at once: to compare paths takes long.
fn less(all: &BTreeMap<PathBuf, Mark>, but: &BTreeMap<PathBuf, Mark>) -> Vec<PathBuf> {
    let mut but = but.keys().peekable();
    let paths = all.keys().filter(|path| {
        while but.next_if(|other| other < path).is_some() {}
        but.next_if(|other| other == path).is_none()
    });
    paths.cloned().collect()
}

/// Whether a file says what is ignored.
fn is_rule(path: &Path) -> bool {
    // Nearly all are not: that is seen without taking the path apart.
    path.as_os_str().as_bytes().ends_with(b".gitignore")
        && path.file_name() == Some(OsStr::new(".gitignore"))
}

/// A repository's own directory, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    pub objects: PathBuf,
    /// It names its objects by SHA-1, as nearly all do.
    pub sha1: bool,
    /// Bytes of a name of an object.
    name_bytes: usize,
    /// The top of the work tree.
    top: PathBuf,
    /// What is of this work tree alone, not of others of the same repository: the index.
    dir: PathBuf,
    /// Rules of what is ignored that are no part of the work tree.
    exclude: PathBuf,
}

impl Repository {
    /// A repository by where git keeps it.
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

/// What stands beside the places of a tree. A directory whose names cannot all be read is there itself: whatever is in
/// it was there before, for all that is known.
fn beside(
    root: &Path,
    tree: &Tree,
    max: usize,
    names: impl Fn(&Path) -> std::io::Result<Vec<OsString>>,
) -> Result<BTreeSet<PathBuf>, TooMany> {
    let seen = tree.places.iter().chain(&tree.unkept);
    let directories = seen.filter(|(_, mark)| **mark == Mark::Directory);
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
