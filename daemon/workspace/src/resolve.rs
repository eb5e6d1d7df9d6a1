//! Where a path leads: absolute, free of links, judged against the workspace.
//!
//! Only looks (`lstat`, `readlink`); opens nothing. What is found here is a claim about a moment: whoever opens the
//! path does so without following links (`handle`), so that a swap in between fails instead of leading elsewhere.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::protected;
use crate::read::FileKind;
use crate::workspace::{Workspace, is_process_file};

/// Links that are followed in one path, as the kernel does.
const LINKS_MAX: u32 = 40;
/// Bytes of a path, as the kernel has it.
const PATH_MAX: usize = 4096;

/// What is going to be done at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// A place: where a path leads, and what the workspace says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    path: PathBuf,
    kind: Option<FileKind>,
    writable: bool,
    protected: bool,
    masked: bool,
    through_process: bool,
    holds_closed: bool,
    /// Which glob of `deny_read` it falls under: where it leads, or as it was named.
    denied: Option<usize>,
}

impl Resolved {
    /// Absolute and free of links when it was resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What stood there; `None`: nothing yet.
    #[must_use]
    pub fn kind(&self) -> Option<FileKind> {
        self.kind
    }

    /// Inside a writable root.
    #[must_use]
    pub fn writable(&self) -> bool {
        self.writable
    }

    /// A file that configures the agent, its editor or its repository: written only after a person's yes.
    #[must_use]
    pub fn protected(&self) -> bool {
        self.protected
    }

    /// The way led through `/proc/<pid>`, and may lead elsewhere for another process: a command that is started.
    #[must_use]
    pub fn through_process(&self) -> bool {
        self.through_process
    }

    /// A directory that has something in it which no tool reads, or may have.
    #[must_use]
    pub fn holds_closed(&self) -> bool {
        self.holds_closed
    }

    /// Never touched by a tool.
    #[must_use]
    pub fn masked(&self) -> bool {
        self.masked
    }
}

/// Why a path leads nowhere that may be used.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty; name a file")]
    Empty,
    #[error("the path holds a zero byte")]
    ZeroByte,
    #[error("`{}` is not an absolute path; a workspace is made of absolute ones", path.display())]
    Relative { path: PathBuf },
    #[error("the path is longer than {PATH_MAX} bytes, or one of its names is too long")]
    TooLong,
    #[error("`{}` goes through more than {LINKS_MAX} symbolic links", path.display())]
    Loop { path: PathBuf },
    #[error("`{}` is not a directory, so nothing can be below it", path.display())]
    NotADirectory { path: PathBuf },
    #[error("`{}` is a symbolic link that was named by way of another one; name it by this path", path.display())]
    LinkBehindLink { path: PathBuf },
    #[error("`{}` is outside the writable directories ({}). Write below one of them; the user can add a directory with `sandbox.allow_write`", path.display(), list(roots))]
    Outside { path: PathBuf, roots: Vec<PathBuf> },
    #[error("`{}` belongs to Reasonix or to the system and is closed to tools", path.display())]
    Masked { path: PathBuf },
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

impl Workspace {
    /// Where a path leads from the working directory, if `access` is possible there at all.
    ///
    /// # Errors
    /// The path leads nowhere, or to a place that is closed to this access.
    pub fn resolve(&self, text: &str, access: Access) -> Result<Resolved, PathError> {
        let at = self.locate(&self.cwd, text)?;
        self.check(&at, access)?;
        Ok(at)
    }

    /// What a path names from the working directory: as `resolve`, but a link at its end is the link itself.
    ///
    /// # Errors
    /// As `resolve`. Or a link is named by way of another one: rules and people judge the name as it is written.
    pub fn entry(&self, text: &str, access: Access) -> Result<Resolved, PathError> {
        let (at, written) = self.found(&self.cwd, text, Last::Kept)?;
        if at.kind == Some(FileKind::Link) && at.path != path_clean::clean(&written) {
            return Err(PathError::LinkBehindLink { path: at.path });
        }
        self.check(&at, access)?;
        Ok(at)
    }

    /// Where a path leads from `cwd`, without a judgement: for those who judge by themselves.
    ///
    /// # Errors
    /// The path leads nowhere.
    pub fn locate(&self, cwd: &Path, text: &str) -> Result<Resolved, PathError> {
        self.found(cwd, text, Last::Followed).map(|(at, _)| at)
    }

    /// The place, and the path to it as it was written.
    fn found(&self, cwd: &Path, text: &str, last: Last) -> Result<(Resolved, PathBuf), PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        let written = match text.strip_prefix('~') {
            Some("") => self.user_home.clone(),
            Some(rest) if rest.starts_with('/') => {
                self.user_home.join(rest.trim_start_matches('/'))
            }
            _ => cwd.join(text),
        };
        let Walked {
            path,
            kind,
            through_process,
        } = if text.starts_with("~/") || text == "~" {
            walk(Path::new("/"), &written, last)?
        } else {
            walk(cwd, Path::new(text), last)?
        };
        // By its name too: whoever reads the file later goes through the same link.
        let named = path_clean::clean(&written);
        let protected = self.is_protected(&path) || self.is_protected(&named);
        let at = Resolved {
            writable: self.root_of(&path).is_some(),
            masked: self.is_masked(&path),
            holds_closed: kind == Some(FileKind::Directory) && self.holds_closed(&path),
            denied: self.denied_at(&path).or_else(|| self.denied_at(&named)),
            through_process,
            protected,
            kind,
            path,
        };
        Ok((at, written))
    }

    /// Whether a path, absolute and free of links, is one that only a person may have changed.
    pub(crate) fn is_protected(&self, path: &Path) -> bool {
        let root = self.root_of(path);
        protected::is_protected(root.map_or(path, |root| path.strip_prefix(root).unwrap_or(path)))
    }

    /// Whether `access` is possible at a place.
    pub(crate) fn check(&self, at: &Resolved, access: Access) -> Result<(), PathError> {
        let path = || at.path.clone();
        match access {
            Access::Read => {
                if at.masked && !self.is_exposed(&at.path) {
                    return Err(PathError::Masked { path: path() });
                }
                if let Some(pattern) = at.denied.and_then(|index| self.denied_text(index)) {
                    return Err(PathError::Denied {
                        path: path(),
                        pattern: pattern.to_owned(),
                    });
                }
            }
            Access::Write => {
                if at.masked {
                    return Err(PathError::Masked { path: path() });
                }
                if !at.writable {
                    return Err(PathError::Outside {
                        path: path(),
                        roots: self.roots.clone(),
                    });
                }
            }
        }
        Ok(())
    }
}

/// The path that `path` leads to from `base`.
pub(crate) fn real(base: &Path, path: &Path) -> Result<PathBuf, PathError> {
    walk(base, path, Last::Followed).map(|walked| walked.path)
}

/// Where a walk came to.
struct Walked {
    path: PathBuf,
    kind: Option<FileKind>,
    through_process: bool,
}

/// What becomes of a link that is the last name of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Followed,
    /// It is the place.
    Kept,
}

/// Follows `path` from `base` (absolute, free of links) as the kernel would. What does not exist yet is taken by its name.
fn walk(base: &Path, path: &Path, last: Last) -> Result<Walked, PathError> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.contains(&0) {
        return Err(PathError::ZeroByte);
    }
    if bytes.len() >= PATH_MAX {
        return Err(PathError::TooLong);
    }
    let mut here = base.to_owned();
    let mut kind = Some(FileKind::Directory);
    // Names at the end of `here` that do not exist.
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
                    return Err(PathError::NotADirectory { path: here });
                }
                here.pop();
                missing = missing.saturating_sub(1);
                kind = (missing == 0).then_some(FileKind::Directory);
            }
            Next::Down(name) => {
                if missing == 0 && kind != Some(FileKind::Directory) {
                    return Err(PathError::NotADirectory { path: here });
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
                    Some(FileKind::Link) if last == Last::Kept && pending.is_empty() => {}
                    Some(FileKind::Link) => {
                        links += 1;
                        if links > LINKS_MAX {
                            return Err(PathError::Loop {
                                path: path.to_owned(),
                            });
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
    Ok(Walked {
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

/// What stands at a path, the last name not followed.
fn look(path: &Path) -> Result<Option<FileKind>, PathError> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(FileKind::of(&meta))),
        Err(source) => match source.kind() {
            io::ErrorKind::NotFound => Ok(None),
            io::ErrorKind::InvalidFilename => Err(PathError::TooLong),
            io::ErrorKind::NotADirectory => Err(PathError::NotADirectory {
                path: path.parent().unwrap_or(path).to_owned(),
            }),
            _ => Err(PathError::Io {
                path: path.to_owned(),
                source,
            }),
        },
    }
}

#[cfg(test)]
mod tests;
