//! Searches files for a pattern with ripgrep's libraries. Results are in the order of `--sort
//! path`.
//!
//! Walks paths like ripgrep, but opens each file by handle without following links, and never a
//! masked or denied one. Memory depends on the limit, not on the tree. `tools` calls this.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish,
    SinkMatch,
};
use ignore::WalkState;

use crate::read::{FileError, FileKind, OpenFile};
use crate::resolve::{Access, PathError, ResolvedPath};
use crate::tree_walk::{TreeWalk, WalkedFiles};
use crate::workspace::Workspace;

/// Maximum bytes kept of a line.
const LINE_MAX: usize = 2048;
/// Memory for one file: for a single line, or for a whole file with `multiline`.
const HEAP_MAX: usize = 16 * 1024 * 1024;

/// What to return about matching files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchMode {
    #[default]
    Content,
    Files,
    Count,
}

/// A search.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    /// A regular expression in Rust's syntax.
    pub pattern: String,
    pub mode: SearchMode,
    /// As for `rg -g`, relative to the working directory. `!` excludes.
    pub globs: Vec<String>,
    /// As for `rg -t`.
    pub file_type: Option<String>,
    /// Lines of context.
    pub before: usize,
    pub after: usize,
    pub case_insensitive: bool,
    /// As for `rg -U`: a match may span lines.
    pub multiline: bool,
    /// Include hidden and ignored files, but not `.git`.
    pub include_ignored: bool,
    /// Maximum number of returned lines, or of files, depending on the mode.
    pub limit: usize,
    pub time_max: Duration,
}

/// Results of a search, up to the limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// Sorted by path.
    pub entries: Vec<FileMatches>,
    /// Total number of matching files.
    pub files: u64,
    /// Total number of matching lines, or of matches with `multiline`.
    pub matches: u64,
    /// Number of lines with context, or of files, that the limit omitted.
    pub left_out: u64,
    /// Number of files that could not be read, or not in bounded memory.
    pub unreadable: u64,
    /// The search ended early: time ran out, or it was cancelled.
    pub partial: bool,
}

/// The matches of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileMatches {
    pub path: PathBuf,
    pub count: u64,
    /// Returned lines. Empty unless the mode is content.
    pub lines: Vec<SearchLine>,
    /// Total number of lines, returned or not.
    pub lines_all: u64,
}

/// A matching line or a line of context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchLine {
    /// From 1.
    pub number: u64,
    /// Without its line end. Truncated if too long.
    pub bytes: Vec<u8>,
    /// Number of bytes truncated.
    pub left_out: usize,
    /// False for a line of context.
    pub matched: bool,
    /// Lines were skipped between the previous line and this one.
    pub gap: bool,
}

/// Why the search failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("the pattern is not a regular expression: {reason}")]
    Pattern { reason: String },
    #[error("`{glob}` is not a glob: {reason}")]
    Glob { glob: String, reason: String },
    #[error("there is no file type `{name}`")]
    Type { name: String },
    #[error(transparent)]
    Path(#[from] PathError),
    #[error(transparent)]
    File(#[from] FileError),
}

impl Workspace {
    /// Searches a file, or all files below a directory. `stop` is polled to cancel.
    ///
    /// # Errors
    /// The query is invalid, or the path cannot be read.
    pub fn search(
        &self,
        at: &ResolvedPath,
        query: &SearchQuery,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<SearchResult, SearchError> {
        self.check(at, Access::Read)?;
        let search = Search {
            workspace: self,
            query,
            matcher: matcher(query)?,
            until: Instant::now() + query.time_max,
            stop,
            gathered: Mutex::default(),
            unreadable: AtomicU64::new(0),
        };
        let path = at.path();
        if at.kind() == Some(FileKind::Directory) {
            search.walk(path)?;
        } else {
            let file = self.open_file(at).or_else(|error| match error {
                // A large file is searched without loading it.
                FileError::TooLarge { .. } => self.open_regular(path),
                error => Err(error),
            })?;
            search.file(&mut search.searcher(), path, &file);
        }
        Ok(search.found())
    }
}

/// Uses the same matcher settings as ripgrep.
fn matcher(query: &SearchQuery) -> Result<RegexMatcher, SearchError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(true)
        .octal(false)
        .case_insensitive(query.case_insensitive);
    if !query.multiline {
        builder
            .line_terminator(Some(b'\n'))
            .dot_matches_new_line(false);
    }
    builder
        .build(&query.pattern)
        .map_err(|error| SearchError::Pattern {
            reason: error.to_string(),
        })
}

struct Search<'a> {
    workspace: &'a Workspace,
    query: &'a SearchQuery,
    matcher: RegexMatcher,
    until: Instant,
    stop: &'a (dyn Fn() -> bool + Sync),
    gathered: Mutex<Collected>,
    unreadable: AtomicU64,
}

/// The results so far: always the first ones by path, up to the limit.
#[derive(Default)]
struct Collected {
    entries: BTreeMap<PathBuf, FileMatches>,
    /// Lines or files in `entries`, depending on the mode.
    held: u64,
    /// Lines or files found in total.
    seen: u64,
    files: u64,
    matches: u64,
    partial: bool,
}

impl Search<'_> {
    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .multi_line(self.query.multiline)
            .before_context(self.query.before)
            .after_context(self.query.after)
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .heap_limit(Some(HEAP_MAX))
            .build()
    }

    fn walk(&self, root: &Path) -> Result<(), SearchError> {
        // Nothing below is denied, so paths need no check.
        let nothing_denied = !self.workspace.contains_denied(root);
        let query = self.query;
        let walk = TreeWalk::new(&WalkedFiles {
            root,
            base: &self.workspace.cwd,
            globs: &query.globs,
            file_type: query.file_type.as_deref(),
            include_ignored: query.include_ignored,
        })?;
        walk.parallel().run(|| {
            let mut searcher = self.searcher();
            Box::new(move |entry| {
                if self.over() {
                    self.locked().partial = true;
                    return WalkState::Quit;
                }
                let Ok(entry) = entry else {
                    self.unreadable.fetch_add(1, Ordering::Relaxed);
                    return WalkState::Continue;
                };
                let path = entry.path();
                if !nothing_denied && self.workspace.closed(path) {
                    return WalkState::Skip;
                }
                if entry.file_type().is_some_and(|kind| kind.is_file()) {
                    match self.workspace.open_regular(path) {
                        Ok(file) => self.file(&mut searcher, path, &file),
                        Err(_) => {
                            self.unreadable.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
                WalkState::Continue
            })
        });
        self.unreadable
            .fetch_add(walk.unusable(), Ordering::Relaxed);
        Ok(())
    }

    fn over(&self) -> bool {
        (self.stop)() || Instant::now() > self.until
    }

    fn file(&self, searcher: &mut Searcher, path: &Path, file: &OpenFile) {
        let mut hits = FileCollector {
            search: self,
            entry: FileMatches::default(),
            gap: false,
            binary: false,
            stopped: false,
        };
        let mut reader = PolledReader {
            search: self,
            file: &file.file,
            stopped: false,
        };
        let searched = searcher.search_reader(&self.matcher, &mut reader, &mut hits);
        let stopped = reader.stopped || hits.stopped;
        if searched.is_err() && !stopped {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
        }
        let FileCollector {
            mut entry, binary, ..
        } = hits;
        if stopped {
            self.locked().partial = true;
        }
        if !binary && entry.count > 0 {
            entry.path = path.to_owned();
            self.gather(entry);
        }
    }

    /// Adds an entry, and drops entries at the end beyond the limit.
    fn gather(&self, entry: FileMatches) {
        let weigh = |entry: &FileMatches| match self.query.mode {
            SearchMode::Content => entry.lines_all,
            SearchMode::Files | SearchMode::Count => 1,
        };
        let mut gathered = self.locked();
        gathered.files += 1;
        gathered.matches += entry.count;
        gathered.seen += weigh(&entry);
        gathered.held += weigh(&entry);
        gathered.entries.insert(entry.path.clone(), entry);
        while let Some(last) = gathered.entries.last_entry() {
            let weight = weigh(last.get());
            if gathered.held - weight < self.query.limit as u64 {
                break;
            }
            gathered.held -= weight;
            gathered.entries.pop_last();
        }
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Collected> {
        self.gathered
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn found(self) -> SearchResult {
        let gathered = self
            .gathered
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut room = self.query.limit;
        let mut entries: Vec<FileMatches> = gathered.entries.into_values().collect();
        let kept = if self.query.mode == SearchMode::Content {
            for entry in &mut entries {
                entry.lines.truncate(room);
                room -= entry.lines.len();
            }
            self.query.limit - room
        } else {
            entries.truncate(room);
            entries.len()
        };
        SearchResult {
            entries,
            files: gathered.files,
            matches: gathered.matches,
            left_out: gathered.seen - kept as u64,
            unreadable: self.unreadable.into_inner(),
            partial: gathered.partial,
        }
    }
}

/// A file that ends early when the search is over: one without a match asks nobody else.
struct PolledReader<'a> {
    search: &'a Search<'a>,
    file: &'a File,
    stopped: bool,
}

impl io::Read for PolledReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stopped = self.stopped || self.search.over();
        if self.stopped {
            Ok(0)
        } else {
            self.file.read(buffer)
        }
    }
}

/// Collects the matches of one file.
struct FileCollector<'a> {
    search: &'a Search<'a>,
    entry: FileMatches,
    gap: bool,
    binary: bool,
    stopped: bool,
}

impl FileCollector<'_> {
    fn keep(&mut self, number: u64, line: &[u8], matched: bool) {
        self.entry.lines_all += 1;
        let gap = std::mem::take(&mut self.gap);
        if self.search.query.mode != SearchMode::Content
            || self.entry.lines.len() >= self.search.query.limit
        {
            return;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let kept = &line[..line.len().min(LINE_MAX)];
        let left_out = line.len() - kept.len();
        self.entry.lines.push(SearchLine {
            number,
            bytes: kept.to_owned(),
            left_out,
            matched,
            gap,
        });
    }

    /// Whether to continue. Checked rarely enough to be cheap.
    fn go_on(&mut self) -> bool {
        self.stopped = self.entry.count.is_multiple_of(256) && self.search.over();
        !self.stopped
    }
}

impl Sink for FileCollector<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if searcher.multi_line_with_matcher(&self.search.matcher) {
            let count = &mut self.entry.count;
            let counted = self.search.matcher.find_iter(found.bytes(), |_| {
                *count += 1;
                true
            });
            counted.map_err(io::Error::other)?;
        } else {
            self.entry.count += 1;
        }
        let first = found.line_number().unwrap_or(1);
        for (index, line) in found.lines().enumerate() {
            self.keep(first + index as u64, line, true);
        }
        Ok(self.go_on())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.keep(context.line_number().unwrap_or(1), context.bytes(), false);
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.gap = true;
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
