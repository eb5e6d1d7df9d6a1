//! Protected names that do not exist when a command starts.
//!
//! Nothing can be mounted on a missing path, and nothing is created for it in the user's tree. So such
//! names are looked for while the command runs and after it. What came is an [`Arrival`], which
//! [`crate::Quarantine`] moves away. Links are never followed.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::file_system::{SEARCH, is_missing_without_links, open_directory};
use crate::new_repository::{self, NewRepository};

/// A protected path that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AbsentName {
    /// The writable root that contains it. The path below it has no links.
    pub root: PathBuf,
    #[serde(with = "contract::lossless_paths::one")]
    pub path: PathBuf,
    /// The user's git may obey it at any moment, so it is moved away at once.
    pub at_once: bool,
}

/// A protected name that came, or a link on the way to one.
#[derive(Debug)]
pub struct Arrival {
    pub path: PathBuf,
    /// It is moved away at once: see [`AbsentName::at_once`]. So is a new repository that may run something.
    pub at_once: bool,
    pub(crate) parent: OwnedFd,
    pub(crate) name: OsString,
}

impl Arrival {
    /// A name in an open directory that may run something at any moment.
    pub(crate) fn new(path: PathBuf, parent: OwnedFd, name: impl Into<OsString>) -> Self {
        Self {
            path,
            at_once: true,
            parent,
            name: name.into(),
        }
    }
}

/// Names in a git directory that configure or run something.
const OBEYED_BY_GIT: [&str; 6] = [
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "hooks",
    "modules",
];

/// Whether a protected path has a name that git obeys.
pub(crate) fn is_obeyed_by_git(path: &Path) -> bool {
    let last = path.file_name();
    last.is_some_and(|last| OBEYED_BY_GIT.iter().any(|known| last == *known))
}

/// What a look at one name found.
enum Look {
    /// Neither the name nor anything that leads to it.
    Missing,
    /// An empty directory, or a new repository: it configures nothing yet.
    Harmless,
    Came(Arrival),
}

impl AbsentName {
    /// Whether a path is this name or below it.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.path)
    }

    /// What came in this place.
    ///
    /// # Errors
    /// It cannot be found out.
    pub fn arrival(&self) -> io::Result<Option<Arrival>> {
        if is_missing_without_links(&self.path) {
            return Ok(None);
        }
        match self.look(&mut |_| {})? {
            Look::Came(arrival) => Ok(Some(arrival)),
            Look::Missing | Look::Harmless => Ok(None),
        }
    }

    /// Adds the existing directories in which the next part of this name would be created.
    pub fn add_directories(&self, to: &mut BTreeSet<PathBuf>) {
        let around = self.path.parent();
        // Then all directories on the way are there too, from a name before it.
        if around.is_some_and(|around| to.contains(around)) && is_missing_without_links(&self.path)
        {
            return;
        }
        // An error ends the walk: the directories before it are known then.
        let _ = self.look(&mut |directory| {
            to.insert(directory.to_path_buf());
        });
    }

    /// Walks from the root to the name. `seen` gets each existing directory on the way.
    fn look(&self, seen: &mut dyn FnMut(&Path)) -> io::Result<Look> {
        let mut parent = match open_directory(&self.root) {
            Ok(root) => root,
            Err(error) if is_missing(&error) => return Ok(Look::Missing),
            Err(error) => return Err(error),
        };
        let mut at = self.root.clone();
        seen(&at);
        let rest = self.path.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let names: Vec<&OsStr> = rest
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        for (index, name) in names.iter().enumerate() {
            at.push(name);
            let found = searched(&parent, || {
                statat(&parent, *name, AtFlags::SYMLINK_NOFOLLOW)
            });
            let kind = match found {
                Ok(found) => FileType::from_raw_mode(found.st_mode),
                Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Look::Missing),
                Err(error) => return Err(error.into()),
            };
            let is_last = index + 1 == names.len();
            let arrival = |parent: OwnedFd, at_once: bool| {
                Look::Came(Arrival {
                    path: at.clone(),
                    at_once,
                    parent,
                    name: name.to_os_string(),
                })
            };
            match kind {
                FileType::Symlink => return Ok(arrival(parent, self.at_once)),
                FileType::Directory if is_last && is_empty(&parent, name) => {
                    seen(&at);
                    return Ok(Look::Harmless);
                }
                FileType::Directory if is_last && *name == ".git" => {
                    let judged = new_repository::look(&parent, name);
                    seen(&at);
                    seen(&at.join("hooks"));
                    return Ok(match judged {
                        NewRepository::Plain => Look::Harmless,
                        NewRepository::Configured => arrival(parent, self.at_once),
                        NewRepository::Runs => arrival(parent, true),
                    });
                }
                _ if is_last => return Ok(arrival(parent, self.at_once)),
                FileType::Directory => {
                    let flags = SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    parent = match openat(&parent, *name, flags, Mode::empty()) {
                        Ok(opened) => opened,
                        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                            return Ok(Look::Missing);
                        }
                        Err(error) => return Err(error.into()),
                    };
                    seen(&at);
                }
                // Nothing can be below it.
                _ => return Ok(Look::Missing),
            }
        }
        Ok(Look::Missing)
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether it is a directory without entries. One that cannot be read counts as filled.
fn is_empty(parent: &OwnedFd, name: &OsStr) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(opened) = openat(parent, name, flags, Mode::empty()) else {
        return false;
    };
    let Ok(mut entries) = Dir::read_from(&opened) else {
        return false;
    };
    entries
        .all(|entry| entry.is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b"..")))
}

/// Does something in a directory. If its permissions prevent that and it is ours, a command may have
/// taken them away: restores them for the owner and tries again.
pub(crate) fn searched<T>(
    directory: &OwnedFd,
    does: impl Fn() -> Result<T, Errno>,
) -> Result<T, Errno> {
    match does() {
        Err(Errno::ACCESS | Errno::PERM) if opened_up(directory) => does(),
        done => done,
    }
}

/// Gives the owner all rights to a directory. False if it is not ours, or they were there.
pub(crate) fn opened_up(directory: &OwnedFd) -> bool {
    let Ok(found) = fstat(directory.as_fd()) else {
        return false;
    };
    let mode = found.st_mode & 0o7777;
    if found.st_uid != geteuid().as_raw() || mode & 0o700 == 0o700 {
        return false;
    }
    // A descriptor that is only for searching has no other way to change the mode.
    let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let permissions = std::fs::Permissions::from_mode(mode | 0o700);
    std::fs::set_permissions(path, permissions).is_ok()
}

#[cfg(test)]
mod tests;
