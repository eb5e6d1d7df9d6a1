//! Resolves a path to an absolute, link-free one, and checks it against the workspace.
//!
//! Uses only `lstat` and `readlink`. The result may be outdated at once, so files are opened
//! without following links (`handle`). A swap in between then fails instead of leading elsewhere.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::protected;
use crate::read::FileKind;
use crate::workspace::{Workspace, is_process_file};

/// Maximum links followed in one path, as in the kernel.
const LINKS_MAX: u32 = 40;
/// Maximum bytes of a path, as in the kernel.
const PATH_MAX: usize = 4096;

/// The intended access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// A resolved path, with the workspace's judgement of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    path: PathBuf,
    kind: Option<FileKind>,
    writable: bool,
    protected: bool,
    masked: bool,
    through_process: bool,
    contains_denied: bool,
    /// Index of the `deny_read` glob that matches its target or its name.
    denied: Option<usize>,
}

impl ResolvedPath {
    /// Absolute and free of links when it was resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file type at that time. `None`: it did not exist.
    #[must_use]
    pub fn kind(&self) -> Option<FileKind> {
        self.kind
    }

    /// Whether it is inside a writable root.
    #[must_use]
    pub fn writable(&self) -> bool {
        self.writable
    }

    /// Whether it configures the agent, its editor or its repository: written only with the user's
    /// approval.
    #[must_use]
    pub fn protected(&self) -> bool {
        self.protected
    }

    /// Whether the path leads through `/proc/<pid>`, and so may lead elsewhere for a command.
    #[must_use]
    pub fn through_process(&self) -> bool {
        self.through_process
    }

    /// Whether it is a directory that contains, or may contain, files denied to tools.
    #[must_use]
    pub fn contains_denied(&self) -> bool {
        self.contains_denied
    }

    /// Whether tools may never touch it.
    #[must_use]
    pub fn masked(&self) -> bool {
        self.masked
    }
}

/// Why a path cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty; name a file")]
    Empty,
    #[error("the path contains a zero byte")]
    ZeroByte,
    #[error("`{}` is not an absolute path; workspace paths must be absolute", .0.display())]
    Relative(PathBuf),
    #[error("the path is longer than {PATH_MAX} bytes, or one of its names is too long")]
    TooLong,
    #[error("`{}` goes through more than {LINKS_MAX} symbolic links", .0.display())]
    Loop(PathBuf),
    #[error("`{}` is not a directory, so nothing can be below it", .0.display())]
    NotADirectory(PathBuf),
    #[error("`{}` is a symbolic link that the path reaches through another link; use this path", .0.display())]
    LinkBehindLink(PathBuf),
    #[error("`{}` is outside the writable directories ({}). Write below one of them; the user can add a directory with `--add-dir` or `sandbox.allow_write`", path.display(), list(roots))]
    Outside { path: PathBuf, roots: Vec<PathBuf> },
    #[error("`{}` belongs to Reasonix or to the system and is closed to tools", .0.display())]
    Masked(PathBuf),
    #[error("reading `{}` is denied by `deny_read` (`{pattern}`)", path.display())]
    Denied { path: PathBuf, pattern: String },
    #[error("look up `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("`{pattern}` is not a glob: {reason}")]
    Glob { pattern: String, reason: String },
}

fn list(roots: &[PathBuf]) -> String {
    roots
        .iter()
        .map(|root| format!("`{}`", root.display()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether a path can only be that of a directory, as everywhere: `f/`, `f/.`.
#[must_use]
pub fn names_directory(text: &str) -> bool {
    text.ends_with('/') || text.ends_with("/.")
}

impl Workspace {
    /// Resolves a path from the working directory, and checks `access`.
    ///
    /// # Errors
    /// The path cannot be resolved, or this access is denied.
    pub fn resolve(&self, text: &str, access: Access) -> Result<ResolvedPath, PathError> {
        let at = self.locate(&self.cwd, text)?;
        self.check_located(&at, text, access)?;
        Ok(at)
    }

    /// Checks `access` to the place that `text` was located at.
    ///
    /// # Errors
    /// This access is denied, or the text names a directory where something else is.
    pub fn check_located(
        &self,
        at: &ResolvedPath,
        text: &str,
        access: Access,
    ) -> Result<(), PathError> {
        // It must not stand for the file `f`.
        if names_directory(text) && at.kind.is_some_and(|kind| kind != FileKind::Directory) {
            return Err(PathError::NotADirectory(at.path.clone()));
        }
        self.check(at, access)
    }

    /// Like `resolve`, but does not follow a link in the last component.
    ///
    /// # Errors
    /// As `resolve`, or the path reaches a link through another link. Rules and users judge the
    /// path as written.
    pub fn entry(&self, text: &str, access: Access) -> Result<ResolvedPath, PathError> {
        let (at, written) = self.found(&self.cwd, text, FinalLink::Kept)?;
        if at.kind == Some(FileKind::Link) && at.path != path_clean::clean(&written) {
            return Err(PathError::LinkBehindLink(at.path));
        }
        self.check(&at, access)?;
        Ok(at)
    }

    /// Resolves a path from `cwd` without checking access, for callers with their own checks.
    ///
    /// # Errors
    /// The path cannot be resolved.
    pub fn locate(&self, cwd: &Path, text: &str) -> Result<ResolvedPath, PathError> {
        self.found(cwd, text, FinalLink::Followed).map(|(at, _)| at)
    }

    /// Whether a path, as it is written and wherever its links lead, is inside the writable directories. Blocks.
    ///
    /// `..` is taken as text. A directory on the way may be written through a link into them.
    #[must_use]
    pub fn is_written_inside(&self, text: &str) -> bool {
        let named = path_clean::clean(self.written(&self.cwd, text));
        let inside = |path: &Path| self.root_of(path).is_some();
        let above = named.ancestors().skip(1);
        inside(&named)
            || above
                .filter_map(|above| real(Path::new("/"), above).ok())
                .any(|above| inside(&above))
    }

    /// The absolute path as it is written.
    fn written(&self, cwd: &Path, text: &str) -> PathBuf {
        match text.strip_prefix('~') {
            Some("") => self.user_home.clone(),
            Some(rest) if rest.starts_with('/') => {
                self.user_home.join(rest.trim_start_matches('/'))
            }
            _ => cwd.join(text),
        }
    }

    /// The resolved path, and the path as written.
    fn found(
        &self,
        cwd: &Path,
        text: &str,
        last: FinalLink,
    ) -> Result<(ResolvedPath, PathBuf), PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        let written = self.written(cwd, text);
        let WalkResult {
            path,
            kind,
            through_process,
        } = if text.starts_with("~/") || text == "~" {
            walk(Path::new("/"), &written, last)?
        } else {
            walk(cwd, Path::new(text), last)?
        };
        // Also checks the name: a later reader goes through the same link.
        let named = path_clean::clean(&written);
        let is_renamed = path != named;
        let protected = self.is_protected(&path) || (is_renamed && self.is_protected(&named));
        let at = ResolvedPath {
            writable: self.root_of(&path).is_some(),
            masked: self.is_masked(&path),
            contains_denied: kind == Some(FileKind::Directory) && self.contains_denied(&path),
            denied: self.denied_at(&path).or_else(|| self.denied_at(&named)),
            through_process,
            protected,
            kind,
            path,
        };
        Ok((at, written))
    }

    /// Whether an absolute path without links may be changed only with the user's approval.
    pub(crate) fn is_protected(&self, path: &Path) -> bool {
        let root = self.root_of(path);
        self.is_git_named(path)
            || protected::is_login_file(path)
            || protected::is_of_git_directory(path)
            || protected::is_protected(
                root.map_or(path, |root| path.strip_prefix(root).unwrap_or(path)),
            )
    }

    /// Checks whether `access` is possible.
    pub(crate) fn check(&self, at: &ResolvedPath, access: Access) -> Result<(), PathError> {
        let path = || at.path.clone();
        let is_exposed = access == Access::Read && self.is_exposed(&at.path);
        if at.masked && !is_exposed {
            return Err(PathError::Masked(path()));
        }
        let denied = at.denied.and_then(|index| self.denied_text(index));
        match (access, denied) {
            (Access::Read, Some(pattern)) => Err(PathError::Denied {
                path: path(),
                pattern: pattern.to_owned(),
            }),
            (Access::Write, _) if !at.writable => Err(self.outside(path())),
            (Access::Read | Access::Write, _) => Ok(()),
        }
    }
}

/// Resolves `path` from `base`.
pub(crate) fn real(base: &Path, path: &Path) -> Result<PathBuf, PathError> {
    walk(base, path, FinalLink::Followed).map(|walked| walked.path)
}

/// Result of a walk.
struct WalkResult {
    path: PathBuf,
    kind: Option<FileKind>,
    through_process: bool,
}

/// How to treat a link in the last component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FinalLink {
    Followed,
    /// It is the result itself.
    Kept,
}

/// Follows `path` from `base` (absolute, free of links) like the kernel. Keeps missing components
/// as named.
fn walk(base: &Path, path: &Path, last: FinalLink) -> Result<WalkResult, PathError> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.contains(&0) {
        return Err(PathError::ZeroByte);
    }
    if bytes.len() >= PATH_MAX {
        return Err(PathError::TooLong);
    }
    let mut here = base.to_owned();
    let mut kind = Some(FileKind::Directory);
    // Number of trailing components of `here` that do not exist.
    let mut missing = 0_usize;
    let mut links = 0_u32;
    let mut through_process = false;
    let mut pending = VecDeque::new();
    prepend(&mut pending, path);
    while let Some(step) = pending.pop_front() {
        match step {
            Next::Root => {
                here = PathBuf::from("/");
                (kind, missing) = (Some(FileKind::Directory), 0);
            }
            Next::Up => {
                if missing == 0 && kind != Some(FileKind::Directory) {
                    return Err(PathError::NotADirectory(here));
                }
                here.pop();
                missing = missing.saturating_sub(1);
                kind = (missing == 0).then_some(FileKind::Directory);
            }
            Next::Down(name) => {
                if missing == 0 && kind != Some(FileKind::Directory) {
                    return Err(PathError::NotADirectory(here));
                }
                here.push(&name);
                through_process |= is_process_file(&here);
                if missing > 0 {
                    missing += 1;
                    continue;
                }
                kind = look(&here)?;
                match kind {
                    None => missing = 1,
                    Some(FileKind::Link) if last == FinalLink::Kept && pending.is_empty() => {}
                    Some(FileKind::Link) => {
                        links += 1;
                        if links > LINKS_MAX {
                            return Err(PathError::Loop(path.to_owned()));
                        }
                        let target = std::fs::read_link(&here).map_err(|source| PathError::Io {
                            path: here.clone(),
                            source,
                        })?;
                        prepend(&mut pending, &target);
                        here.pop();
                        kind = Some(FileKind::Directory);
                    }
                    Some(_) => {}
                }
            }
        }
    }
    if here.as_os_str().len() >= PATH_MAX {
        return Err(PathError::TooLong);
    }
    Ok(WalkResult {
        path: here,
        kind,
        through_process,
    })
}

enum Next {
    Root,
    Up,
    Down(OsString),
}

fn prepend(pending: &mut VecDeque<Next>, path: &Path) {
    for part in path.components().rev() {
        match part {
            Component::RootDir | Component::Prefix(_) => pending.push_front(Next::Root),
            Component::ParentDir => pending.push_front(Next::Up),
            Component::Normal(name) => pending.push_front(Next::Down(name.to_owned())),
            Component::CurDir => {}
        }
    }
}

/// The file type at a path, without following its last component.
fn look(path: &Path) -> Result<Option<FileKind>, PathError> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(FileKind::of(&meta))),
        Err(source) => match source.kind() {
            io::ErrorKind::NotFound => Ok(None),
            io::ErrorKind::InvalidFilename => Err(PathError::TooLong),
            io::ErrorKind::NotADirectory => Err(PathError::NotADirectory(
                path.parent().unwrap_or(path).to_owned(),
            )),
            _ => Err(PathError::Io {
                path: path.to_owned(),
                source,
            }),
        },
    }
}

#[cfg(test)]
mod tests;
