//! Which files the ignore files of a tree leave out, decided as ripgrep and git do.
//!
//! A command may have put anything in the place of an ignore file: a device, a FIFO, a link, a file
//! of many gigabytes. So they are read here and not by the `ignore` crate: regular files only, no
//! link followed, and bounded in bytes, one by one and in all. A file that cannot be used leaves
//! nothing out, and is counted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use crate::repository::{GitDirs, is_repository};
use crate::small_file::{SmallFile, read_small_at};

/// Maximum bytes of one ignore file.
const FILE_MAX: usize = 128 * 1024;
/// Maximum weight of all ignore files of one walk. Compiled, a rule takes some fifty times its
/// weight in memory (measured).
const WEIGHT_MAX: usize = 512 * 1024;

/// Which kinds of ignore files count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IgnoreKinds {
    /// `.rgignore`, `.ignore` and what git reads.
    Search,
    /// What git reads in the repository: `.gitignore` and `info/exclude`.
    Git,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static LATEST: RefCell<Option<(u64, PathBuf, Arc<DirRules>)>> = const { RefCell::new(None) };
}

/// The rules for one walk. Directories are looked at when something in them is asked about.
pub(crate) struct IgnoreRules {
    id: u64,
    kinds: IgnoreKinds,
    dirs: RwLock<HashMap<PathBuf, Arc<DirRules>>>,
    /// The user's own, for all repositories.
    global: OnceLock<Gitignore>,
    weight_left: AtomicUsize,
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
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            kinds,
            dirs: RwLock::default(),
            global: OnceLock::new(),
            weight_left: AtomicUsize::new(WEIGHT_MAX),
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
        self.with(parent, |rules| {
            let by_files = rules.decide(path, is_dir);
            if by_files.is_none() && rules.in_repository && self.kinds == IgnoreKinds::Search {
                return self.global(rules, parent).matched(path, is_dir).map(drop);
            }
            by_files
        })
    }

    /// Asks the rules that hold in a directory. A walk asks about all that is in one after another.
    fn with<T>(&self, dir: &Path, ask: impl FnOnce(&DirRules) -> T) -> T {
        LATEST.with_borrow_mut(|latest| {
            if !latest
                .as_ref()
                .is_some_and(|(id, at, _)| *id == self.id && at == dir)
            {
                *latest = Some((self.id, dir.to_owned(), self.of(dir)));
            }
            ask(&latest.as_ref().expect("it was set").2)
        })
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
        let mut rules = DirRules {
            rgignore: Gitignore::empty(),
            ignore: Gitignore::empty(),
            gitignore: Gitignore::empty(),
            exclude: Gitignore::empty(),
            is_repository: false,
            in_repository: above.as_ref().is_some_and(|above| above.in_repository),
            has_rules: above.as_ref().is_some_and(|above| above.has_rules),
            above,
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // What cannot be opened has no files that could be listed.
        let Ok(opened) = rustix::fs::open(dir, flags, Mode::empty()) else {
            return rules;
        };
        // Most directories have none of these: to ask costs less than to open.
        let has = |name: &str| rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let rules_in = |name: &str| match has(name) {
            true => self.read(dir, &opened, name),
            false => Gitignore::empty(),
        };
        if self.kinds == IgnoreKinds::Search {
            rules.rgignore = rules_in(".rgignore");
            rules.ignore = rules_in(".ignore");
        }
        rules.gitignore = rules_in(".gitignore");
        if has(".git") && is_repository(dir) {
            rules.is_repository = true;
            rules.in_repository = true;
            if let Some(git) = GitDirs::of_work_tree(dir) {
                rules.exclude = self.read(dir, CWD, git.exclude());
            }
        }
        rules.has_rules |= rules.kinds().iter().any(|rules| !rules.is_empty());
        rules
    }

    /// The rules in a file, for what is below `dir`.
    fn read(&self, dir: &Path, at: impl AsFd, file: impl AsRef<Path>) -> Gitignore {
        let text = match read_small_at(at, file.as_ref(), FILE_MAX) {
            SmallFile::Missing => return Gitignore::empty(),
            SmallFile::Unusable => None,
            SmallFile::Read(bytes) => Some(bytes),
        };
        let text = text.filter(|text| self.fits(text));
        let rules = text.and_then(|text| parse(dir, &text));
        rules.unwrap_or_else(|| {
            self.unusable.fetch_add(1, Ordering::Relaxed);
            Gitignore::empty()
        })
    }

    /// Takes the weight of some rules from what one walk may read.
    fn fits(&self, text: &[u8]) -> bool {
        let weight: usize = text.split(|byte| *byte == b'\n').map(weight).sum();
        let order = Ordering::Relaxed;
        let take = |left: usize| left.checked_sub(weight);
        self.weight_left.fetch_update(order, order, take).is_ok()
    }

    /// The user's own rules, relative to the repository that is asked about first.
    fn global(&self, rules: &DirRules, dir: &Path) -> &Gitignore {
        self.global.get_or_init(|| {
            let depth = rules.chain().take_while(|rules| !rules.is_repository);
            let top = dir.ancestors().nth(depth.count()).unwrap_or(dir);
            match gitconfig_excludes_path().and_then(|file| file.canonicalize().ok()) {
                Some(file) => self.read(top, CWD, file),
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

/// Bytes of a rule. One that has to be compiled as a regular expression counts several times.
fn weight(rule: &[u8]) -> usize {
    let name = rule.strip_prefix(b"**/").unwrap_or(rule);
    let name = name.strip_prefix(b"*").unwrap_or(name);
    let is_plain = rule.starts_with(b"#") || !name.iter().any(|byte| b"*?[{".contains(byte));
    (rule.len() + 1) * if is_plain { 1 } else { 8 }
}

/// `None` if the rules take more memory than a matcher may.
fn parse(dir: &Path, text: &[u8]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(dir);
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Like ripgrep, ends at what is no text, and passes over a rule that is no glob.
        let Ok(line) = std::str::from_utf8(line) else {
            break;
        };
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests;
