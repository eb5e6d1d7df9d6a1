//! Which files the ignore files of a tree leave out, decided as ripgrep and git do.
//!
//! A command may have put anything in the place of an ignore file: a device, a FIFO, a link, a file
//! of many gigabytes. So they are read here and not by the `ignore` crate: regular files only, no
//! link followed, and bounded in bytes, one by one and in all. A file that cannot be used leaves
//! nothing out, and is counted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use crate::repository::{GitDirs, is_repository};
use crate::small_file::{SmallFile, read_small};

/// Maximum bytes of one ignore file.
const FILE_MAX: usize = 128 * 1024;
/// Maximum bytes of all ignore files of one walk. Compiled rules take up to some fifty times the
/// bytes of their text.
const FILES_MAX: usize = 512 * 1024;

/// Which kinds of ignore files count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IgnoreKinds {
    /// `.rgignore`, `.ignore` and what git reads.
    Search,
    /// What git reads in the repository: `.gitignore` and `info/exclude`.
    Git,
}

/// The rules for one walk. Directories are looked at when something in them is asked about.
pub(crate) struct IgnoreRules {
    kinds: IgnoreKinds,
    dirs: RwLock<HashMap<PathBuf, Arc<DirRules>>>,
    /// The user's own, for all repositories.
    global: OnceLock<Gitignore>,
    bytes_left: AtomicUsize,
    unusable: AtomicU64,
}

/// The rules of a directory, and those above it.
struct DirRules {
    above: Option<Arc<DirRules>>,
    rgignore: Gitignore,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
    is_repository: bool,
    /// It is in a repository, so that git's files count.
    in_repository: bool,
    /// There is a rule here or above.
    has_rules: bool,
}

impl IgnoreRules {
    pub(crate) fn new(kinds: IgnoreKinds) -> Self {
        Self {
            kinds,
            dirs: RwLock::default(),
            global: OnceLock::new(),
            bytes_left: AtomicUsize::new(FILES_MAX),
            unusable: AtomicU64::new(0),
        }
    }

    /// Number of ignore files that could not be used: no regular file, too large, or unreadable.
    pub(crate) fn unusable(&self) -> u64 {
        self.unusable.load(Ordering::Relaxed)
    }

    /// What the rules say about an absolute path without links, whose parents they leave in.
    pub(crate) fn decide(&self, path: &Path, is_dir: bool) -> Match<()> {
        let Some(parent) = path.parent() else {
            return Match::None;
        };
        let rules = self.of(parent);
        let mut first = Match::None;
        if rules.has_rules {
            first = rules.decide(path, is_dir);
        }
        if first.is_none() && rules.in_repository && self.kinds == IgnoreKinds::Search {
            first = self.global(&rules, parent).matched(path, is_dir).map(drop);
        }
        first
    }

    /// The rules that hold in a directory.
    fn of(&self, dir: &Path) -> Arc<DirRules> {
        let known = self.dirs.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = known.get(dir) {
            return Arc::clone(rules);
        }
        drop(known);
        let above = dir.parent().map(|parent| self.of(parent));
        let rules = Arc::new(self.load(dir, above));
        let mut known = self.dirs.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(dir.to_owned()).or_insert(rules))
    }

    fn load(&self, dir: &Path, above: Option<Arc<DirRules>>) -> DirRules {
        let is_repository = is_repository(dir);
        let search = self.kinds == IgnoreKinds::Search;
        let here = |wanted: bool, name: &str| {
            let file = wanted.then(|| dir.join(name));
            file.map_or_else(Gitignore::empty, |file| self.read(dir, &file))
        };
        let mut rules = DirRules {
            rgignore: here(search, ".rgignore"),
            ignore: here(search, ".ignore"),
            gitignore: here(true, ".gitignore"),
            exclude: Gitignore::empty(),
            is_repository,
            in_repository: is_repository || above.as_ref().is_some_and(|above| above.in_repository),
            has_rules: false,
            above,
        };
        if is_repository && let Some(git) = GitDirs::of_work_tree(dir) {
            rules.exclude = self.read(dir, &git.exclude());
        }
        let empty = |kind: [&Gitignore; 4]| kind.iter().all(|rules| rules.is_empty());
        rules.has_rules =
            !empty(rules.kinds()) || rules.above.as_ref().is_some_and(|above| above.has_rules);
        rules
    }

    /// The rules in a file, for what is below `dir`.
    fn read(&self, dir: &Path, file: &Path) -> Gitignore {
        let text = match read_small(file, FILE_MAX) {
            SmallFile::Missing => return Gitignore::empty(),
            SmallFile::Unusable => None,
            SmallFile::Read(bytes) => Some(bytes),
        };
        let text = text.filter(|text| self.fits(text.len()));
        let rules = text.and_then(|text| parse(dir, file, &text));
        rules.unwrap_or_else(|| {
            self.unusable.fetch_add(1, Ordering::Relaxed);
            Gitignore::empty()
        })
    }

    /// Takes bytes from what one walk may read.
    fn fits(&self, bytes: usize) -> bool {
        let order = Ordering::Relaxed;
        let take = |left: usize| left.checked_sub(bytes);
        self.bytes_left.fetch_update(order, order, take).is_ok()
    }

    /// The user's own rules, relative to the repository that is asked about first.
    fn global(&self, rules: &DirRules, dir: &Path) -> &Gitignore {
        self.global.get_or_init(|| {
            let depth = rules.chain().take_while(|rules| !rules.is_repository);
            let top = dir.ancestors().nth(depth.count()).unwrap_or(dir);
            match gitconfig_excludes_path().and_then(|file| file.canonicalize().ok()) {
                Some(file) => self.read(top, &file),
                None => Gitignore::empty(),
            }
        })
    }
}

impl DirRules {
    /// This one and those above it.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |rules| rules.above.as_deref())
    }

    /// The rules of this directory, those that count most first.
    fn kinds(&self) -> [&Gitignore; 4] {
        [&self.rgignore, &self.ignore, &self.gitignore, &self.exclude]
    }

    /// For each kind of file the deepest rule counts, and the kinds have an order. Git's rules end
    /// at the top of the repository.
    fn decide(&self, path: &Path, is_dir: bool) -> Match<()> {
        let mut of_kind = [Match::None, Match::None, Match::None, Match::None];
        let mut outside = !self.in_repository;
        for rules in self.chain().take_while(|rules| rules.has_rules) {
            let counted = if outside { 2 } else { 4 };
            for (found, rules) in of_kind.iter_mut().zip(rules.kinds()).take(counted) {
                if found.is_none() {
                    *found = rules.matched(path, is_dir).map(drop);
                }
            }
            outside |= rules.is_repository;
        }
        of_kind.into_iter().fold(Match::None, Match::or)
    }
}

/// `None` if the rules take more memory than a matcher may.
fn parse(dir: &Path, file: &Path, text: &[u8]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(dir);
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Like ripgrep, ends at what is no text, and passes over a rule that is no glob.
        let Ok(line) = std::str::from_utf8(line) else {
            break;
        };
        let _ = builder.add_line(Some(file.to_owned()), line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests;
