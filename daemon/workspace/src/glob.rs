//! Files whose path matches a glob: the files that `rg --files -g` lists, the newest first.
//!
//! Walks as ripgrep does, on several threads, and looks at the time of matching files only. Called by `tools`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::overrides::OverrideBuilder;
use ignore::{WalkBuilder, WalkState};

use crate::read::{FileError, FileKind};
use crate::resolve::{Access, Resolved};
use crate::search::{SearchError, threads};
use crate::workspace::Workspace;

/// Files that are counted; then the walk ends.
pub const GLOBBED_MAX: u64 = 50_000;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct GlobQuery {
    /// As `rg -g`, from the directory that is searched.
    pub pattern: String,
    /// Also hidden files and what ignore files exclude; `.git` stays out.
    pub include_ignored: bool,
    /// Paths that are kept.
    pub limit: usize,
    pub time_max: Duration,
}

/// The files that match, as far as the limit went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Globbed {
    /// The newest first; of the same time by path.
    pub paths: Vec<PathBuf>,
    /// Files that match, in all.
    pub total: u64,
    /// Directories that could not be read.
    pub unreadable: u64,
    /// Not all directories were seen: there are too many files, the time was up, or it was cancelled.
    pub partial: bool,
}

/// Newest first, then by path.
type Ranked = (Reverse<i128>, PathBuf);

struct Found<'a> {
    query: &'a GlobQuery,
    total: AtomicU64,
    unreadable: AtomicU64,
    partial: AtomicBool,
    /// The best so far, the worst of them on top.
    kept: Mutex<BinaryHeap<Ranked>>,
}

/// What one thread has found; handed in when the thread ends.
struct Bag<'a> {
    found: &'a Found<'a>,
    kept: BinaryHeap<Ranked>,
}

impl Drop for Bag<'_> {
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
    /// Finds files below a directory by a glob. `stop` is asked now and then whether to give up.
    ///
    /// # Errors
    /// The pattern is no glob, or the place cannot be read.
    pub fn glob(
        &self,
        at: &Resolved,
        query: &GlobQuery,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Globbed, SearchError> {
        self.check(at, Access::Read)?;
        let root = at.path();
        match at.kind() {
            Some(FileKind::Directory) => {}
            None => {
                return Err(FileError::Missing {
                    path: root.to_owned(),
                }
                .into());
            }
            Some(_) => {
                return Err(crate::resolve::PathError::NotADirectory {
                    path: root.to_owned(),
                }
                .into());
            }
        }
        let respect = !query.include_ignored;
        let bad = |error: ignore::Error| SearchError::Glob {
            glob: query.pattern.clone(),
            reason: error.to_string(),
        };
        let mut globs = OverrideBuilder::new(root);
        globs.add(&query.pattern).map_err(bad)?;
        if !respect {
            globs.add("!.git").map_err(bad)?;
        }
        let mut walk = WalkBuilder::new(root);
        walk.standard_filters(respect)
            .follow_links(false)
            .overrides(globs.build().map_err(bad)?)
            .threads(threads());
        if respect {
            walk.add_custom_ignore_filename(".rgignore");
        }
        let found = Found {
            query,
            total: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
            partial: AtomicBool::new(false),
            kept: Mutex::default(),
        };
        // Nothing below is closed: no path needs to be looked at for it.
        let all_open = !self.holds_closed(root);
        let until = Instant::now() + query.time_max;
        walk.build_parallel().run(|| {
            let mut bag = Bag {
                found: &found,
                kept: BinaryHeap::new(),
            };
            let found = &found;
            Box::new(move |entry| {
                let Ok(entry) = entry else {
                    found.unreadable.fetch_add(1, Ordering::Relaxed);
                    return WalkState::Continue;
                };
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                // Asked once a directory: often enough to end soon.
                if !is_file && (stop() || Instant::now() > until) {
                    found.partial.store(true, Ordering::Relaxed);
                    return WalkState::Quit;
                }
                if !all_open && self.closed(entry.path()) {
                    return WalkState::Skip;
                }
                if !is_file {
                    return WalkState::Continue;
                }
                if found.total.fetch_add(1, Ordering::Relaxed) >= GLOBBED_MAX {
                    found.total.store(GLOBBED_MAX, Ordering::Relaxed);
                    found.partial.store(true, Ordering::Relaxed);
                    return WalkState::Quit;
                }
                let time = entry.metadata().map_or(i128::MIN, |meta| {
                    i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec())
                });
                let ranked = (Reverse(time), entry.into_path());
                keep(&mut bag.kept, ranked, query.limit);
                WalkState::Continue
            })
        });
        let Found {
            total,
            unreadable,
            partial,
            kept,
            ..
        } = found;
        let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Globbed {
            paths: kept
                .into_sorted_vec()
                .into_iter()
                .map(|(_, path)| path)
                .collect(),
            total: total.into_inner().min(GLOBBED_MAX),
            unreadable: unreadable.into_inner(),
            partial: partial.into_inner(),
        })
    }

    /// Whether no tool reads what is at a path without links.
    pub(crate) fn closed(&self, path: &Path) -> bool {
        (self.is_masked(path) && !self.is_exposed(path)) || self.read_denied(path).is_some()
    }
}

#[cfg(test)]
mod tests;
