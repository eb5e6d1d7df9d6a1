//! What a session may read and write, fixed when it is opened.
//!
//! Judges places by their resolved paths; opens nothing but the handle that everything else is opened from.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use rustix::fd::OwnedFd;

use crate::closed::{self, Closed};
use crate::resolve::PathError;
use crate::{handle, resolve};

/// What a workspace is made from.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The workspace root: writable.
    pub root: PathBuf,
    /// Where relative paths start.
    pub cwd: PathBuf,
    /// Further writable directories.
    pub extra_writable: Vec<PathBuf>,
    /// Neither read nor written by any tool (`<home>`, the run directory), although a root may hold them.
    pub masked: Vec<PathBuf>,
    /// Directories below a masked one that may be read all the same: the session's own spilled outputs.
    pub readable: Vec<PathBuf>,
    /// The session's own directory for what is temporary, if it has one: writable, also within a masked one.
    pub temp: Option<PathBuf>,
    /// Globs of what is never read: `~` is the user's home, relative ones start at the root, `dir/**` covers `dir`.
    pub deny_read: Vec<String>,
    /// What `~` stands for.
    pub user_home: PathBuf,
}

/// The files that a session works on.
#[derive(Debug)]
pub struct Workspace {
    /// Resolved; the workspace root comes first.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) cwd: PathBuf,
    pub(crate) user_home: PathBuf,
    masked: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    temp: Option<PathBuf>,
    closed: Closed,
    problems: Vec<PathError>,
    /// The handle of `/`: everything is opened from here, along paths without links.
    pub(crate) slash: OwnedFd,
}

impl Workspace {
    /// Resolves all the places once. A root that is replaced by a link later is not followed.
    ///
    /// A glob that is none closes nothing and stands in [`Self::problems`]; the others hold.
    ///
    /// # Errors
    /// A place cannot be resolved or is not absolute.
    pub fn open(options: Options) -> Result<Self, PathError> {
        let single = [&options.root, &options.cwd];
        let many = [&options.extra_writable, &options.masked, &options.readable];
        let places = single.into_iter().chain(many.into_iter().flatten());
        // Resolved from `/` they would be other places than was meant: `.` would open all there is.
        if let Some(place) = places.into_iter().find(|place| !place.is_absolute()) {
            return Err(PathError::Relative {
                path: place.clone(),
            });
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
        let mut globs = Vec::new();
        let mut problems = Vec::new();
        for pattern in &options.deny_read {
            let named = absolute_globs(pattern, &root, &options.user_home);
            // Places are compared by where they lead: what is closed by way of a link is closed there too.
            let led: Vec<_> = named.iter().filter_map(|glob| where_led(glob)).collect();
            for glob in named.into_iter().chain(led) {
                match closed::built(&glob) {
                    Ok(_) => globs.push((pattern.clone(), glob)),
                    Err(source) => {
                        // The other forms of the pattern fail for the same reason.
                        problems.push(bad_glob(pattern, &source));
                        break;
                    }
                }
            }
        }
        Ok(Self {
            cwd: resolve::real(Path::new("/"), &options.cwd)?,
            user_home: options.user_home,
            masked: all(&options.masked)?,
            readable: all(&options.readable)?,
            temp,
            closed: Closed::new(globs).map_err(|source| bad_glob("deny_read", &source))?,
            problems,
            roots,
            slash,
        })
    }

    /// What was left out when it was opened: globs of `deny_read` that are none.
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

    /// All directories below which files may be written, the workspace root first.
    #[must_use]
    pub fn writable_roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The session's own directory for what is temporary, resolved.
    #[must_use]
    pub fn temp(&self) -> Option<&Path> {
        self.temp.as_deref()
    }

    /// Directories below masked ones that may be read all the same, resolved.
    #[must_use]
    pub fn exposed(&self) -> &[PathBuf] {
        &self.readable
    }

    /// What `~` stands for.
    #[must_use]
    pub fn user_home(&self) -> &Path {
        &self.user_home
    }

    /// A path as people and models write it here: relative to the working directory where it is below it.
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

    /// The innermost writable root that a resolved path is in.
    pub(crate) fn root_of(&self, path: &Path) -> Option<&Path> {
        let holding = self.roots.iter().filter(|root| path.starts_with(root));
        holding
            .max_by_key(|root| root.as_os_str().len())
            .map(PathBuf::as_path)
    }

    /// Whether a resolved path belongs to what no tool may touch.
    pub(crate) fn is_masked(&self, path: &Path) -> bool {
        let own = self
            .temp
            .as_ref()
            .is_some_and(|temp| path.starts_with(temp));
        (!own && self.masked.iter().any(|masked| path.starts_with(masked))) || is_process_file(path)
    }

    /// Whether a masked path may be read all the same.
    pub(crate) fn is_exposed(&self, path: &Path) -> bool {
        self.readable
            .iter()
            .any(|readable| path.starts_with(readable))
    }

    /// The `deny_read` glob that a resolved path falls under.
    pub(crate) fn read_denied(&self, path: &Path) -> Option<&str> {
        self.denied_text(self.denied_at(path)?)
    }

    /// All globs of `deny_read`: each as it was given, and as it is compared.
    pub(crate) fn closed_globs(&self) -> &[(String, String)] {
        self.closed.texts()
    }

    /// Which `deny_read` glob a path falls under.
    pub(crate) fn denied_at(&self, path: &Path) -> Option<usize> {
        self.closed.at(path)
    }

    /// A `deny_read` glob as it was given.
    pub(crate) fn denied_text(&self, index: usize) -> Option<&str> {
        let (pattern, _) = self.closed.texts().get(index)?;
        Some(pattern)
    }

    /// Whether something below a resolved directory is closed to reading, or may be: a masked place, a process, or
    /// what a `deny_read` glob can match.
    pub(crate) fn holds_closed(&self, dir: &Path) -> bool {
        let processes = Path::new("/proc").starts_with(dir);
        let masked = self.masked.iter().any(|masked| masked.starts_with(dir));
        let denied = || {
            let mut globs = self.closed_globs().iter();
            globs.any(|(_, glob)| may_match_below(glob, dir))
        };
        processes || masked || denied()
    }
}

/// `/proc/<pid>` shows environments and memory, ours with keys in it too.
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

/// Whether an absolute glob may match a place below `dir`. Looks part by part; what is not plain may match anything.
fn may_match_below(glob: &str, dir: &Path) -> bool {
    let mut parts = glob.split('/').filter(|part| !part.is_empty());
    for name in dir.components().skip(1) {
        let Some(part) = parts.next() else {
            // The directory is below what the glob names: it is denied itself, or not meant.
            return false;
        };
        // `{a/b,c}` has its slash inside, and `**` goes over all of them.
        if part == "**" || part.contains(['{', '}']) {
            return true;
        }
        // To build a matcher takes longer than all else here, and this is asked for each path; few parts need one.
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

/// A pattern as absolute globs. `dir/**` covers `dir` itself too, so it becomes two.
pub(crate) fn absolute_globs(pattern: &str, root: &Path, home: &Path) -> Vec<String> {
    let below =
        |dir: &Path, rest: &str| format!("{}/{rest}", globset::escape(&dir.to_string_lossy()));
    let whole = if pattern == "~" {
        globset::escape(&home.to_string_lossy())
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        // Paths are compared after resolution: a home that is a link must be matched by where it leads.
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
        // What denies a directory denies what is in it.
        globs.push(format!("{whole}/**"));
    }
    globs.push(whole);
    globs
}

/// An absolute glob in two: the names at its beginning that are plain, as a path, and the rest.
pub(crate) fn split_glob(glob: &str) -> (PathBuf, String) {
    let mut fixed = PathBuf::from("/");
    let mut names = glob.split('/').filter(|name| !name.is_empty()).peekable();
    while let Some(name) = names.peek().and_then(|name| plain_name(name)) {
        fixed.push(name);
        names.next();
    }
    (fixed, names.collect::<Vec<_>>().join("/"))
}

/// A glob with its plain beginning as a place without links.
pub(crate) fn joined_glob(start: &Path, rest: &str) -> String {
    let start = globset::escape(&start.to_string_lossy());
    let start = start.trim_end_matches('/');
    if rest.is_empty() {
        start.to_owned()
    } else {
        format!("{start}/{rest}")
    }
}

/// The glob for what an absolute one names by way of a link. `None`: there is no link on its plain beginning.
fn where_led(glob: &str) -> Option<String> {
    let (fixed, rest) = split_glob(glob);
    let start = resolve::real(Path::new("/"), &fixed).ok()?;
    (start != fixed).then(|| joined_glob(&start, &rest))
}

/// The only name that a part of a glob can match, if that is so: without wildcards but those that are escaped.
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
