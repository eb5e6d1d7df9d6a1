//! The files that a session may read and write, fixed when the workspace is opened.
//!
//! Judges resolved paths. Opens only the handle that everything else is opened from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, RwLock};

use globset::GlobBuilder;
use rustix::fd::OwnedFd;

use crate::deny_read::{self, DenyRead};
use crate::home::holds_home;
use crate::resolve::PathError;
use crate::unasked_reads::UnaskedReads;
use crate::{handle, resolve};

/// Configuration of a workspace.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceOptions {
    /// The workspace root. Writable.
    pub root: PathBuf,
    /// Where relative paths start.
    pub cwd: PathBuf,
    /// More writable directories.
    pub extra_writable: Vec<PathBuf>,
    /// Directories that no tool reads or writes, even below a root: `<home>` and the run directory.
    pub masked: Vec<PathBuf>,
    /// Directories below a masked one that may still be read: the session's own saved outputs.
    pub readable: Vec<PathBuf>,
    /// The session's temporary directory, if it has one. Writable, even below a masked directory.
    pub temp: Option<PathBuf>,
    /// Globs of files that are never read. `~` is the user's home, relative globs start at the
    /// root, `dir/**` includes `dir`.
    pub deny_read: Vec<String>,
    /// The directory for `~`.
    pub user_home: PathBuf,
}

/// How many directories may be added while a session runs.
const ADDED_MAX: usize = 16;

/// The files that a session works on.
#[derive(Debug)]
pub struct Workspace {
    /// Resolved. The workspace root comes first.
    roots: Vec<PathBuf>,
    /// Directories that the user has added since. Each stays.
    added: [OnceLock<PathBuf>; ADDED_MAX],
    pub(crate) cwd: PathBuf,
    pub(crate) user_home: PathBuf,
    masked: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    temp: Option<PathBuf>,
    closed: DenyRead,
    problems: Vec<PathError>,
    unasked: UnaskedReads,
    /// See [`crate::git_named`].
    pub(crate) git_named: RwLock<BTreeSet<PathBuf>>,
    /// A handle of `/`: everything is opened from here, along link-free paths.
    pub(crate) slash: OwnedFd,
}

impl Workspace {
    /// Resolves all directories once. If a root is replaced by a link later, the link is not
    /// followed.
    ///
    /// An invalid glob denies nothing and is listed in [`Self::problems`]. The others apply.
    ///
    /// # Errors
    /// A directory cannot be resolved or is not absolute.
    pub fn open(options: WorkspaceOptions) -> Result<Self, PathError> {
        let single = [&options.root, &options.cwd];
        let many = [&options.extra_writable, &options.masked, &options.readable];
        let places = single.into_iter().chain(many.into_iter().flatten());
        // Resolving relative ones from `/` would change their meaning: `.` would make everything
        // writable.
        if let Some(place) = places.into_iter().find(|place| !place.is_absolute()) {
            return Err(PathError::Relative(place.clone()));
        }
        let all = |places: &[PathBuf]| {
            places
                .iter()
                .map(|place| resolve::real(Path::new("/"), place))
                .collect::<Result<Vec<_>, _>>()
        };
        let root = resolve::real(Path::new("/"), &options.root)?;
        let mut roots = vec![root.clone()];
        roots.extend(all(&options.extra_writable)?);
        let temp = options
            .temp
            .map(|temp| resolve::real(Path::new("/"), &temp));
        let temp = temp.transpose()?;
        roots.extend(temp.clone());
        let slash = handle::slash().map_err(|source| PathError::Io {
            path: PathBuf::from("/"),
            source,
        })?;
        let (globs, problems) = compared_globs(&options.deny_read, &root, &options.user_home);
        Ok(Self {
            cwd: resolve::real(Path::new("/"), &options.cwd)?,
            user_home: options.user_home,
            masked: all(&options.masked)?,
            readable: all(&options.readable)?,
            temp,
            closed: DenyRead::new(globs).map_err(|source| bad_glob("deny_read", &source))?,
            problems,
            unasked: UnaskedReads::default(),
            git_named: RwLock::default(),
            roots,
            added: Default::default(),
            slash,
        })
    }

    /// Invalid `deny_read` globs that were ignored.
    #[must_use]
    pub fn problems(&self) -> &[PathError] {
        &self.problems
    }

    /// The workspace root, resolved.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.roots[0]
    }

    /// Where relative paths start, resolved.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// All writable directories, the workspace root first.
    pub fn writable_roots(&self) -> impl Iterator<Item = &PathBuf> {
        let added = self.added.iter().filter_map(OnceLock::get);
        self.roots.iter().chain(added)
    }

    /// Lets the session write in a further directory, given by a path without links. False if there are too many.
    pub fn add_root(&self, directory: PathBuf) -> bool {
        if self
            .writable_roots()
            .any(|root| directory.starts_with(root))
        {
            return true;
        }
        self.added
            .iter()
            .any(|free| free.set(directory.clone()).is_ok())
    }

    /// The path without links of a missing directory outside the roots that can be added to them: not the user's home, what
    /// holds it, or what no tool may touch.
    #[must_use]
    pub fn addable(&self, cwd: &Path, named: &Path) -> Option<PathBuf> {
        let named = path_clean::clean(cwd.join(named));
        let around = named.parent()?.canonicalize().ok()?;
        let directory = around.join(named.file_name()?);
        let is_inside = self.root_of(&directory).is_some();
        let is_closed = self.is_masked(&directory) || holds_home(&directory, &self.user_home);
        let is_there = directory.symlink_metadata().is_ok();
        let has_room = self.added.iter().any(|added| added.get().is_none());
        (!is_inside && !is_closed && !is_there && has_room).then_some(directory)
    }

    /// The error of a path that is in none of them.
    pub(crate) fn outside(&self, path: PathBuf) -> PathError {
        PathError::Outside {
            path,
            roots: self.writable_roots().cloned().collect(),
        }
    }

    /// The session's temporary directory, resolved.
    #[must_use]
    pub fn temp(&self) -> Option<&Path> {
        self.temp.as_deref()
    }

    /// Readable directories below masked ones, resolved.
    #[must_use]
    pub fn exposed(&self) -> &[PathBuf] {
        &self.readable
    }

    /// The directory for `~`.
    #[must_use]
    pub fn user_home(&self) -> &Path {
        &self.user_home
    }

    /// The path to show to users and models: relative to the working directory if it is below it.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let short = path.strip_prefix(&self.cwd).unwrap_or(path);
        let short = if short.as_os_str().is_empty() {
            Path::new(".")
        } else {
            short
        };
        short.to_string_lossy().into_owned()
    }

    /// The innermost writable root that contains a resolved path.
    pub(crate) fn root_of(&self, path: &Path) -> Option<&Path> {
        let holding = self.writable_roots().filter(|root| path.starts_with(root));
        holding
            .max_by_key(|root| root.as_os_str().len())
            .map(PathBuf::as_path)
    }

    /// Whether no tool may touch a resolved path.
    pub(crate) fn is_masked(&self, path: &Path) -> bool {
        let own = self
            .temp
            .as_ref()
            .is_some_and(|temp| path.starts_with(temp));
        (!own && self.masked.iter().any(|masked| path.starts_with(masked))) || is_process_file(path)
    }

    /// Whether a masked path may still be read.
    pub(crate) fn is_exposed(&self, path: &Path) -> bool {
        self.readable
            .iter()
            .any(|readable| path.starts_with(readable))
    }

    /// The `deny_read` glob that matches a resolved path.
    pub(crate) fn read_denied(&self, path: &Path) -> Option<&str> {
        self.denied_text(self.denied_at(path)?)
    }

    /// All `deny_read` globs: each as written, and as compared.
    pub(crate) fn closed_globs(&self) -> &[(String, String)] {
        self.closed.texts()
    }

    /// The index of the `deny_read` glob that matches a path.
    pub(crate) fn denied_at(&self, path: &Path) -> Option<usize> {
        self.closed.at(path)
    }

    /// A `deny_read` glob as written.
    pub(crate) fn denied_text(&self, index: usize) -> Option<&str> {
        let (pattern, _) = self.closed.texts().get(index)?;
        Some(pattern)
    }

    /// Closes paths to what the daemon reads by itself: those that rules deny to read. Calls are judged by the rules
    /// instead. Replaces what was closed before; a pattern that is no glob closes nothing.
    pub fn close_unasked(&self, patterns: &[String]) {
        self.unasked.close(patterns);
    }

    /// The pattern of [`Self::close_unasked`] that matches a resolved path. Blocks.
    #[must_use]
    pub fn unasked_denied(&self, path: &Path) -> Option<String> {
        let compile = |patterns: &[String]| {
            let (globs, _) = compared_globs(patterns, self.root(), &self.user_home);
            DenyRead::new(globs).unwrap_or_default()
        };
        self.unasked.denied(path, compile)
    }

    /// Whether a resolved directory contains, or may contain, paths that are denied to read: a
    /// masked path, a process, or a match of a `deny_read` glob.
    pub(crate) fn contains_denied(&self, dir: &Path) -> bool {
        let processes = Path::new("/proc").starts_with(dir);
        let masked = self.masked.iter().any(|masked| masked.starts_with(dir));
        let denied = || {
            let mut globs = self.closed_globs().iter();
            globs.any(|(_, glob)| may_match_below(glob, dir))
        };
        processes || masked || denied()
    }
}

/// `/proc/<pid>` exposes environments and memory, including our own with its keys.
pub(crate) fn is_process_file(path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix("/proc") else {
        return false;
    };
    let Some(first) = rest.components().next() else {
        return false;
    };
    let name = first.as_os_str().to_string_lossy();
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether an absolute glob may match a path below `dir`. Compares component by component. A
/// component with wildcards may match anything.
fn may_match_below(glob: &str, dir: &Path) -> bool {
    let mut parts = glob.split('/').filter(|part| !part.is_empty());
    for name in dir.components().skip(1) {
        let Some(part) = parts.next() else {
            // The directory is below the glob's path: it is denied itself, or unrelated.
            return false;
        };
        // `{a/b,c}` contains a slash, and `**` spans components.
        if part == "**" || part.contains(['{', '}']) {
            return true;
        }
        // Building a matcher is the slowest part, and this runs for each path. Few components need
        // one.
        let fits = match plain_name(part) {
            Some(plain) => name.as_os_str() == plain.as_str(),
            None => GlobBuilder::new(part).build().map_or(true, |part| {
                part.compile_matcher().is_match(Path::new(name.as_os_str()))
            }),
        };
        if !fits {
            return false;
        }
    }
    parts.next().is_some()
}

/// The absolute globs of patterns, each with its pattern, and the patterns that are no globs.
fn compared_globs(
    patterns: &[String],
    root: &Path,
    home: &Path,
) -> (Vec<(String, String)>, Vec<PathError>) {
    let (mut globs, mut problems) = (Vec::new(), Vec::new());
    for pattern in patterns {
        let named = absolute_globs(pattern, root, home);
        // Paths are compared after resolution: a file denied through a link is denied at its
        // target too.
        let led: Vec<_> = named.iter().filter_map(|glob| where_led(glob)).collect();
        for glob in named.into_iter().chain(led) {
            match deny_read::compile_glob(&glob) {
                Ok(_) => globs.push((pattern.clone(), glob)),
                Err(source) => {
                    // The other forms of the pattern fail for the same reason.
                    problems.push(bad_glob(pattern, &source));
                    break;
                }
            }
        }
    }
    (globs, problems)
}

/// Turns a pattern into absolute globs. `dir/**` includes `dir`, so it becomes two.
pub(crate) fn absolute_globs(pattern: &str, root: &Path, home: &Path) -> Vec<String> {
    let below =
        |dir: &Path, rest: &str| format!("{}/{rest}", globset::escape(&dir.to_string_lossy()));
    let whole = if pattern == "~" {
        globset::escape(&home.to_string_lossy())
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        // Paths are compared after resolution, so a home that is a link must be resolved too.
        let home = resolve::real(Path::new("/"), home).unwrap_or_else(|_| home.to_owned());
        below(&home, rest)
    } else if pattern.starts_with('/') {
        pattern.to_owned()
    } else {
        below(root, pattern.strip_prefix("./").unwrap_or(pattern))
    };
    let mut globs = Vec::new();
    if let Some(dir) = whole.strip_suffix("/**") {
        globs.push(dir.to_owned());
    } else {
        // Denying a directory denies its content.
        globs.push(format!("{whole}/**"));
    }
    globs.push(whole);
    globs
}

/// Splits an absolute glob into its leading path without wildcards and the rest.
pub(crate) fn split_glob(glob: &str) -> (PathBuf, String) {
    let mut fixed = PathBuf::from("/");
    let mut names = glob.split('/').filter(|name| !name.is_empty()).peekable();
    while let Some(name) = names.peek().and_then(|name| plain_name(name)) {
        fixed.push(name);
        names.next();
    }
    (fixed, names.collect::<Vec<_>>().join("/"))
}

/// Joins a resolved leading path and the rest of a glob.
pub(crate) fn joined_glob(start: &Path, rest: &str) -> String {
    let start = globset::escape(&start.to_string_lossy());
    let start = start.trim_end_matches('/');
    if rest.is_empty() {
        start.to_owned()
    } else {
        format!("{start}/{rest}")
    }
}

/// The glob with links in its leading path resolved. `None` if there are no links.
fn where_led(glob: &str) -> Option<String> {
    let (fixed, rest) = split_glob(glob);
    let start = resolve::real(Path::new("/"), &fixed).ok()?;
    (start != fixed).then(|| joined_glob(&start, &rest))
}

/// The only name that a glob component can match: it has no wildcards except escaped ones.
fn plain_name(part: &str) -> Option<String> {
    let mut name = String::new();
    let mut rest = part.chars();
    while let Some(c) = rest.next() {
        match c {
            '[' => {
                let one = rest.next().filter(|c| !matches!(c, '!' | '^'))?;
                if rest.next() != Some(']') {
                    return None;
                }
                name.push(one);
            }
            '*' | '?' | ']' | '{' | '}' | '\\' => return None,
            _ => name.push(c),
        }
    }
    Some(name)
}

fn bad_glob(pattern: &str, source: &globset::Error) -> PathError {
    PathError::Glob {
        pattern: pattern.to_owned(),
        reason: source.kind().to_string(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
