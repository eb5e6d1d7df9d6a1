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
    entries: Vec<ListEntry>,
    /// For each entry that is a directory: its node.
    children: Vec<Option<usize>>,
    left_out: usize,
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
        let mut nodes = vec![Node::new(path.to_owned())];
        let mut pending = VecDeque::from([(0, 1)]);
        let (mut room, mut left_out, mut unopened) = (max, 0, 0);
        while let Some((index, level)) = pending.pop_front() {
            if room == 0 {
                unopened += 1;
                continue;
            }
            let Some(node) = nodes.get_mut(index) else {
                continue;
            };
            let children = self.open_node(node, &mut room);
            left_out += node.left_out;
            for place in children {
                let path = node_path(&nodes, index, place);
                let next = nodes.len();
                nodes.push(Node::new(path));
                if let Some(slot) = nodes
                    .get_mut(index)
                    .and_then(|node| node.children.get_mut(place))
                {
                    *slot = Some(next);
                }
                if level < depth {
                    pending.push_back((next, level + 1));
                }
            }
        }
        Ok(DirListing {
            entries: build_entries(&mut nodes, 0),
            left_out,
            unopened,
        })
    }

    /// Reads a node's directory. Returns the indexes of subdirectories that may be opened.
    fn open_node(&self, node: &mut Node, room: &mut usize) -> Vec<usize> {
        // One handle at a time: a level may have more directories than a process may open.
        let read = handle::directory(&self.slash, &node.path)
            .and_then(|handle| Ok((tree::names(&handle)?, handle)));
        let (mut names, handle) = match read {
            Ok(read) => read,
            Err(error) => {
                node.inside = DirContents::Unreadable {
                    why: error.to_string(),
                };
                return Vec::new();
            }
        };
        names.sort_by(|one, two| {
            let rank = |named: &NamedEntry| named.kind != FileKind::Directory;
            (rank(one), &one.name).cmp(&(rank(two), &two.name))
        });
        node.left_out = names.len().saturating_sub(*room);
        names.truncate(*room);
        *room -= names.len();
        let mut opened = Vec::new();
        for NamedEntry { name, kind } in names {
            let path = node.path.join(&name);
            let closed = self.closed(&path);
            let what = if closed {
                EntryKind::Denied
            } else {
                self.entry_kind(&handle, &name, kind)
            };
            if what == EntryKind::Directory(DirContents::NotOpened) {
                opened.push(node.entries.len());
            }
            node.entries.push(ListEntry { name, what });
            node.children.push(None);
        }
        node.inside = DirContents::Shown {
            entries: Vec::new(),
            left_out: node.left_out,
        };
        opened
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

impl Node {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            entries: Vec::new(),
            children: Vec::new(),
            left_out: 0,
            inside: DirContents::NotOpened,
        }
    }
}

fn node_path(nodes: &[Node], index: usize, place: usize) -> PathBuf {
    let node = nodes.get(index);
    let name = node.and_then(|node| node.entries.get(place));
    node.map_or(Path::new(""), |node| node.path.as_path())
        .join(name.map_or(OsStr::new(""), |leaf| leaf.name.as_os_str()))
}

/// A node's entries, including the content of its subdirectories.
fn build_entries(nodes: &mut [Node], index: usize) -> Vec<ListEntry> {
    let Some(node) = nodes.get_mut(index) else {
        return Vec::new();
    };
    let mut entries = std::mem::take(&mut node.entries);
    let children = std::mem::take(&mut node.children);
    for (leaf, children) in entries.iter_mut().zip(children) {
        let Some(children) = children else {
            continue;
        };
        let entries = build_entries(nodes, children);
        let inside = nodes.get_mut(children).map(|node| {
            let inside = std::mem::replace(&mut node.inside, DirContents::NotOpened);
            match inside {
                DirContents::Shown { left_out, .. } => DirContents::Shown { entries, left_out },
                other => other,
            }
        });
        leaf.what = EntryKind::Directory(inside.unwrap_or(DirContents::NotOpened));
    }
    entries
}

#[cfg(test)]
mod tests;
