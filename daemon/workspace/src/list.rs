//! The content of a directory, as a tree with sizes.
//!
//! Lists level by level, so that the limit cuts the depth and not the siblings. Uses directory
//! handles, so that no link leads outside. One `stat` per shown file. `tools` calls this.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::AtFlags;

use crate::handle;
use crate::read::{FileError, FileKind, IoContext};
use crate::resolve::{Access, ResolvedPath};
use crate::tree::{self, NamedEntry};
use crate::workspace::Workspace;

/// Directories of which only the number of entries is shown, because tools generate them.
const NOISE: [&str; 17] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "target",
    "node_modules",
    "dist",
    "build",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".next",
    ".gradle",
    ".cache",
];

/// A name in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    pub name: OsString,
    pub what: EntryKind,
}

/// The file type of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File {
        bytes: u64,
    },
    Link {
        target: PathBuf,
    },
    Directory(DirContents),
    /// A pipe, socket or device.
    Special(FileKind),
    /// Denied to tools.
    Denied,
}

/// The content of a directory, as far as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirContents {
    /// Directories first, each group sorted by name, and the number of omitted entries.
    Shown {
        entries: Vec<ListEntry>,
        left_out: usize,
    },
    /// It was not opened: too deep, or the limit was reached.
    NotOpened,
    /// A directory of generated files, with its number of entries.
    Folded {
        entries: usize,
    },
    Unreadable {
        why: String,
    },
}

/// The listing of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirListing {
    pub entries: Vec<ListEntry>,
    /// Total number of entries of opened directories that are not shown.
    pub left_out: usize,
    /// Number of directories that were not opened because the limit was reached.
    pub unopened: usize,
}

/// A directory that was or will be read.
struct Node {
    path: PathBuf,
    /// The node of the directory that it is in, and its place there.
    outer: (usize, usize),
    inside: DirContents,
}

impl Workspace {
    /// Lists a directory, `depth` levels deep, with at most `max` entries in all.
    ///
    /// # Errors
    /// It is denied, does not exist, or is not a directory.
    pub fn list(
        &self,
        at: &ResolvedPath,
        depth: usize,
        max: usize,
    ) -> Result<DirListing, FileError> {
        self.check(at, Access::Read)?;
        let path = at.path();
        at.expect_directory()?;
        handle::directory(&self.slash, path).at_no_link("open directory", path)?;
        let root = Node {
            path: path.to_owned(),
            outer: (0, 0),
            inside: DirContents::NotOpened,
        };
        let (mut nodes, mut pending) = (vec![root], VecDeque::from([(0, 1)]));
        let (mut room, mut left_out, mut unopened) = (max, 0, 0);
        while let Some((index, level)) = pending.pop_front() {
            if room == 0 {
                unopened += 1;
                continue;
            }
            let inside = self.contents(&nodes[index].path, &mut room);
            if let DirContents::Shown {
                entries,
                left_out: more,
            } = &inside
            {
                left_out += more;
                for (place, entry) in entries.iter().enumerate().filter(|_| level < depth) {
                    if entry.what == EntryKind::Directory(DirContents::NotOpened) {
                        pending.push_back((nodes.len(), level + 1));
                        nodes.push(Node {
                            path: nodes[index].path.join(&entry.name),
                            outer: (index, place),
                            inside: DirContents::NotOpened,
                        });
                    }
                }
            }
            nodes[index].inside = inside;
        }
        Ok(DirListing {
            entries: nested(nodes),
            left_out,
            unopened,
        })
    }

    /// Reads a directory, without the contents of those in it.
    fn contents(&self, path: &Path, room: &mut usize) -> DirContents {
        // One handle at a time: a level may have more directories than a process may open.
        let read = handle::directory(&self.slash, path)
            .and_then(|handle| Ok((tree::names(&handle)?, handle)));
        let (mut names, handle) = match read {
            Ok(read) => read,
            Err(error) => {
                let why = error.to_string();
                return DirContents::Unreadable { why };
            }
        };
        names.sort_by(|one, two| {
            let rank = |named: &NamedEntry| named.kind != FileKind::Directory;
            (rank(one), &one.name).cmp(&(rank(two), &two.name))
        });
        let left_out = names.len().saturating_sub(*room);
        names.truncate(*room);
        *room -= names.len();
        let entries = names.into_iter().map(|NamedEntry { name, kind }| {
            let what = match self.closed(&path.join(&name)) {
                true => EntryKind::Denied,
                false => self.entry_kind(&handle, &name, kind),
            };
            ListEntry { name, what }
        });
        DirContents::Shown {
            entries: entries.collect(),
            left_out,
        }
    }

    fn entry_kind(&self, dir: &OwnedFd, name: &OsStr, kind: FileKind) -> EntryKind {
        match kind {
            FileKind::File => {
                let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
                let bytes = stat.map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0));
                EntryKind::File { bytes }
            }
            FileKind::Link => EntryKind::Link {
                target: tree::link_target(dir, name).unwrap_or_default(),
            },
            FileKind::Directory if NOISE.iter().any(|noise| OsStr::new(noise) == name) => {
                let count = handle::subdirectory(dir, name).and_then(|dir| tree::names(&dir));
                EntryKind::Directory(match count {
                    Ok(names) => DirContents::Folded {
                        entries: names.len(),
                    },
                    Err(error) => DirContents::Unreadable {
                        why: error.to_string(),
                    },
                })
            }
            FileKind::Directory => EntryKind::Directory(DirContents::NotOpened),
            FileKind::Fifo | FileKind::Socket | FileKind::Device => EntryKind::Special(kind),
        }
    }
}

/// The entries of the first node, with those of the others in their places. A directory comes after
/// the one that it is in.
fn nested(mut nodes: Vec<Node>) -> Vec<ListEntry> {
    while let Some(Node {
        outer: (outer, place),
        inside,
        ..
    }) = nodes.pop()
    {
        match nodes.get_mut(outer).map(|outer| &mut outer.inside) {
            Some(DirContents::Shown { entries, .. }) => {
                entries[place].what = EntryKind::Directory(inside);
            }
            Some(_) => {}
            None => {
                if let DirContents::Shown { entries, .. } = inside {
                    return entries;
                }
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
