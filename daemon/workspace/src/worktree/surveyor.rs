//! A survey in progress: what the walk finds, and what it skipped although git tracks it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::index::{IndexEntryKind, SurveyedRepository};
use super::{Survey, SurveyEntry, TooManyFiles};
use crate::repository::is_repository;
use crate::workspace::Workspace;

/// A file changed more recently than this may change again without a new time or size.
const YOUNG: Duration = Duration::from_millis(100);

/// How many names in ignored directories are checked for tracked files.
pub(super) const OPENED_MAX: usize = 1_000;

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
pub(super) struct Surveyor<'a> {
    workspace: &'a Workspace,
    before: Option<&'a Survey>,
    max: usize,
    young_since: i128,
    pub(super) tree: Survey,
    /// Directories that the walk skipped.
    ways: HashMap<PathBuf, SkippedDirectory>,
    /// Names in the opened ones among them.
    opened: usize,
}

impl<'a> Surveyor<'a> {
    pub(super) fn new(workspace: &'a Workspace, max: usize, before: Option<&'a Survey>) -> Self {
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
    pub(super) fn take(&mut self, relative: &Path) -> Result<(), TooManyFiles> {
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
    pub(super) fn take_tracked(
        &mut self,
        repository: &SurveyedRepository,
    ) -> Result<(), TooManyFiles> {
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
    pub(super) fn take_passed_over(&mut self, relative: &Path) -> Result<(), TooManyFiles> {
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
