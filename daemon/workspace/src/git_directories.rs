//! Where git would read the config of a command at the workspace root. Follows git's rules without
//! running git.
//!
//! Trusts no file there, and reports too many directories rather than too few. `session` calls this
//! before read-only git commands. It grants no access. `repository` does that, with stricter
//! checks.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::read::{FileError, read_capped};
use crate::workspace::Workspace;
use crate::worktree::{IndexEntryKind, SurveyedRepository};

/// Maximum bytes of a config, or of a file that names another directory.
const FILE_MAX: u64 = 1024 * 1024;
/// Maximum number of parent directories and of nested repositories.
const LEVELS_MAX: usize = 64;
/// Maximum number of repositories inside the root's repository.
const INNER_MAX: usize = 256;

/// A git directory of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDirectory {
    /// The top of its work tree, where its hooks would run.
    pub top: PathBuf,
    /// Data of this work tree only.
    pub own: PathBuf,
    /// Data shared by all work trees. Equal to `own` if there is only one.
    pub common: PathBuf,
    /// It is inside another repository that tracks it, so git consults it too.
    pub inner: bool,
}

impl Workspace {
    /// The repositories that a git command at the root uses: its own, and tracked ones inside.
    ///
    /// # Errors
    /// Why some of them are unknown.
    pub fn git_directories(&self) -> Result<Vec<GitDirectory>, String> {
        let mut found: Vec<GitDirectory> = Vec::new();
        for top in self.root().ancestors().take(LEVELS_MAX) {
            let dot_git = top.join(".git");
            let git_dir = self.git_directory(top, &dot_git, false);
            // Git continues its search above an invalid repository. The directory itself may be a
            // bare one.
            let sound = git_dir.as_ref().is_some_and(|at| self.is_sound(&at.own));
            found.extend(git_dir);
            if sound {
                break;
            }
            if self.is_sound(top) {
                found.push(GitDirectory {
                    top: top.to_owned(),
                    own: top.to_owned(),
                    common: top.to_owned(),
                    inner: false,
                });
                break;
            }
        }
        let mut at = 0;
        while let Some(outer) = found.get(at).cloned() {
            at += 1;
            for inner in self.inner_of(&outer)? {
                // A link back, or the same repository under another name.
                if found.iter().any(|at| self.same_place(&at.own, &inner.own)) {
                    continue;
                }
                if found.len() >= INNER_MAX {
                    return Err(format!("it has more than {INNER_MAX} repositories inside"));
                }
                found.push(inner);
            }
        }
        Ok(found)
    }

    /// Reads a small file of a repository, or one that its config names. Follows links. Returns
    /// `None` if it does not exist.
    ///
    /// # Errors
    /// It is denied to tools, is not a file, is too large, or cannot be read.
    pub fn git_file(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        use std::io::ErrorKind::{NotADirectory, NotFound};
        let said = |why: &dyn std::fmt::Display| format!("{} cannot be read: {why}", name(path));
        let real = match std::fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
            Err(error) => return Err(said(&error)),
        };
        if self.is_masked(&real) || self.read_denied(&real).is_some() {
            return Err(said(&"it is denied to tools"));
        }
        self.regular_file(&real).map_err(|why| said(&why))
    }

    /// Reads a config file of the user's own git, whatever tools may read. `None` if there is nothing to read.
    #[must_use]
    pub fn user_git_file(&self, path: &Path) -> Option<Vec<u8>> {
        let real = std::fs::canonicalize(path).ok()?;
        self.regular_file(&real).ok()?
    }

    fn regular_file(&self, real: &Path) -> Result<Option<Vec<u8>>, String> {
        let open = match self.open_regular(real) {
            Ok(open) => open,
            Err(FileError::Missing { .. }) => return Ok(None),
            Err(FileError::NotAFile { kind, .. }) => return Err(format!("it is {}", kind.words())),
            Err(_) => return Err("it cannot be opened".to_owned()),
        };
        match read_capped(open.file, FILE_MAX).map_err(|error| error.to_string())? {
            Some(bytes) => Ok(Some(bytes)),
            None => Err("it is too large".to_owned()),
        }
    }

    /// Whether a file is executable.
    #[must_use]
    pub fn could_run(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
    }

    /// Whether two paths lead to the same existing file.
    #[must_use]
    pub fn same_place(&self, one: &Path, other: &Path) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        real(one).is_some_and(|place| real(other) == Some(place))
    }

    /// The git directory that a `.git` entry leads to, if any.
    pub(crate) fn git_directory(
        &self,
        top: &Path,
        dot_git: &Path,
        inner: bool,
    ) -> Option<GitDirectory> {
        let own = if dot_git.is_dir() {
            dot_git.to_owned()
        } else {
            top.join(self.path_in(dot_git, b"gitdir: ")?)
        };
        let common = match self.path_in(&own.join("commondir"), b"") {
            Some(common) => own.join(common),
            None => own.clone(),
        };
        Some(GitDirectory {
            top: top.to_owned(),
            own,
            common,
            inner,
        })
    }

    /// The path in a git file.
    fn path_in(&self, file: &Path, before: &[u8]) -> Option<PathBuf> {
        let bytes = self.git_file(file).ok()??;
        let mut path = bytes.strip_prefix(before)?;
        while let Some(shorter) = path.strip_suffix(b"\n").or(path.strip_suffix(b"\r")) {
            path = shorter;
        }
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
    }

    /// Whether git would accept a directory as a repository.
    fn is_sound(&self, dir: &Path) -> bool {
        let has = |name: &str| dir.join(name).is_dir();
        let objects = has("objects") || dir.join("commondir").exists();
        let refs = has("refs") || dir.join("commondir").exists();
        let head = self.git_file(&dir.join("HEAD")).ok().flatten();
        let leads = |head: Vec<u8>| {
            let hex = |byte: &u8| byte.is_ascii_hexdigit();
            let named = head.strip_prefix(b"ref:").map(<[u8]>::trim_ascii_start);
            named.is_some_and(|name| name.starts_with(b"refs/"))
                || head.get(..40).is_some_and(|start| start.iter().all(hex))
        };
        objects && refs && head.is_some_and(leads)
    }

    fn inner_of(&self, outer: &GitDirectory) -> Result<Vec<GitDirectory>, String> {
        let Some(repository) = SurveyedRepository::of(self, outer) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut many = false;
        self.tracked(&repository, IndexEntryKind::Repository, &mut |name| {
            let top = outer.top.join(std::ffi::OsStr::from_bytes(name));
            if found.len() > INNER_MAX {
                many = true;
            } else {
                found.extend(self.git_directory(&top, &top.join(".git"), true));
            }
        })?;
        match many {
            true => Err(format!("it has more than {INNER_MAX} repositories inside")),
            false => Ok(found),
        }
    }
}

/// The end of a path: enough for a user to recognise it.
fn name(path: &Path) -> String {
    let parts: Vec<_> = path.components().rev().take(2).collect();
    let short: PathBuf = parts.into_iter().rev().collect();
    format!("`{}`", short.display())
}

#[cfg(test)]
mod tests;
