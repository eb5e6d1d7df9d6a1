//! Files whose path matches a glob: the files that `rg --files -g` lists, newest first.
//!
//! Walks with several threads like ripgrep, and reads times of matching files only. `tools` calls
//! this.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::{DirEntry, WalkState};

use crate::read::{FileError, nanoseconds};
use crate::resolve::{Access, ResolvedPath};
use crate::search::SearchError;
use crate::tree_walk::{TreeWalk, WalkedFiles};
use crate::workspace::Workspace;

/// The walk ends after this many files.
pub const GLOB_FILES_MAX: u64 = 50_000;

/// A glob search.
#[derive(Clone, Debug)]
pub struct GlobQuery {
    /// As for `rg -g`, relative to the searched directory.
    pub pattern: String,
    /// Include hidden and ignored files, but not `.git`.
    pub include_ignored: bool,
    /// Maximum number of returned paths.
    pub limit: usize,
    pub time_max: Duration,
}

/// The matching files, up to the limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobResult {
    /// Newest first, then by path.
    pub paths: Vec<PathBuf>,
    /// Total number of matching files.
    pub total: u64,
    /// Number of directories that could not be read.
    pub unreadable: u64,
    /// Some directories were not visited: there were too many files, time ran out, or the search
    /// was cancelled.
    pub partial: bool,
}

/// Newest first, then by path.
type Ranked = (Reverse<i128>, PathBuf);

struct GlobCollector<'a> {
    query: &'a GlobQuery,
    total: AtomicU64,
    unreadable: AtomicU64,
    partial: AtomicBool,
    /// The best results so far, with the worst on top.
    kept: Mutex<BinaryHeap<Ranked>>,
}

impl<'a> GlobCollector<'a> {
    fn new(query: &'a GlobQuery) -> Self {
        Self {
            query,
            total: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
            partial: AtomicBool::new(false),
            kept: Mutex::default(),
        }
    }

    /// `unusable`: number of ignore files that could not be used.
    fn into_result(self, unusable: u64) -> GlobResult {
        let kept = self.kept.into_inner();
        let kept = kept.unwrap_or_else(PoisonError::into_inner);
        let ranked = kept.into_sorted_vec().into_iter();
        GlobResult {
            paths: ranked.map(|(_, path)| path).collect(),
            total: self.total.into_inner().min(GLOB_FILES_MAX),
            unreadable: self.unreadable.into_inner() + unusable,
            partial: self.partial.into_inner(),
        }
    }
}

/// Results of one thread, merged when the thread ends.
struct ThreadResults<'a> {
    found: &'a GlobCollector<'a>,
    kept: BinaryHeap<Ranked>,
}

impl ThreadResults<'_> {
    /// Takes one entry of the walk. `is_over`: cancelled, or out of time.
    fn visit(
        &mut self,
        entry: Result<DirEntry, ignore::Error>,
        is_over: impl Fn() -> bool,
        is_closed: impl Fn(&Path) -> bool,
    ) -> WalkState {
        let found = self.found;
        let Ok(entry) = entry else {
            found.unreadable.fetch_add(1, Ordering::Relaxed);
            return WalkState::Continue;
        };
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        // Checked once per directory: often enough to end soon.
        if !is_file && is_over() {
            found.partial.store(true, Ordering::Relaxed);
            return WalkState::Quit;
        }
        if is_closed(entry.path()) {
            return WalkState::Skip;
        }
        if !is_file {
            return WalkState::Continue;
        }
        if found.total.fetch_add(1, Ordering::Relaxed) >= GLOB_FILES_MAX {
            found.total.store(GLOB_FILES_MAX, Ordering::Relaxed);
            found.partial.store(true, Ordering::Relaxed);
            return WalkState::Quit;
        }
        let time = entry.metadata().map_or(i128::MIN, |meta| {
            nanoseconds(meta.mtime(), meta.mtime_nsec())
        });
        let ranked = (Reverse(time), entry.into_path());
        keep(&mut self.kept, ranked, found.query.limit);
        WalkState::Continue
    }
}

impl Drop for ThreadResults<'_> {
    fn drop(&mut self) {
        let mut all = self
            .found
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for ranked in self.kept.drain() {
            keep(&mut all, ranked, self.found.query.limit);
        }
    }
}

fn keep(kept: &mut BinaryHeap<Ranked>, ranked: Ranked, limit: usize) {
    if kept.len() < limit {
        kept.push(ranked);
    } else if let Some(mut worst) = kept.peek_mut()
        && ranked < *worst
    {
        *worst = ranked;
    }
}

impl Workspace {
    /// Finds files below a directory by a glob. `stop` is polled to cancel.
    ///
    /// # Errors
    /// The pattern is invalid, or the directory cannot be read.
    pub fn glob(
        &self,
        at: &ResolvedPath,
        query: &GlobQuery,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<GlobResult, SearchError> {
        self.check(at, Access::Read)?;
        let root = at.path();
        at.expect_directory().map_err(|error| match error {
            FileError::Path(error) => SearchError::Path(error),
            error => SearchError::File(error),
        })?;
        let globs = std::slice::from_ref(&query.pattern);
        let walk = TreeWalk::new(&WalkedFiles {
            root,
            base: root,
            globs,
            file_type: None,
            include_ignored: query.include_ignored,
        })?;
        let found = GlobCollector::new(query);
        // Nothing below is denied, so paths need no check.
        let nothing_denied = !self.contains_denied(root);
        let until = Instant::now() + query.time_max;
        let is_over = || stop() || Instant::now() > until;
        let is_closed = |path: &Path| !nothing_denied && self.closed(path);
        walk.parallel().run(|| {
            let mut bag = ThreadResults {
                found: &found,
                kept: BinaryHeap::new(),
            };
            let (is_over, is_closed) = (&is_over, &is_closed);
            Box::new(move |entry| bag.visit(entry, is_over, is_closed))
        });
        Ok(found.into_result(walk.unusable()))
    }

    /// Whether tools may not read a path without links.
    pub(crate) fn closed(&self, path: &Path) -> bool {
        (self.is_masked(path) && !self.is_exposed(path)) || self.read_denied(path).is_some()
    }
}

#[cfg(test)]
mod tests;
