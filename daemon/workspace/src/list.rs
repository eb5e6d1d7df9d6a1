//! What is in a directory, as a tree with sizes.
//!
//! Level by level, so that the limit cuts the depth and not the rest of the directory; by directory handles, so that no
//! link leads elsewhere. One look at each file that is shown. Called by `tools`.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::AtFlags;

use crate::handle;
use crate::read::{FileError, FileKind};
use crate::resolve::{Access, Resolved};
use crate::tree::{self, Named};
use crate::workspace::Workspace;
use crate::write::directory_failed;

/// Directories of which only the number of entries is told: made by tools, and seldom meant.
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
pub struct Leaf {
    pub name: OsString,
    pub what: What,
}

/// What a name in the tree is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    File {
        bytes: u64,
    },
    Link {
        target: PathBuf,
    },
    Directory(Inside),
    /// A pipe, socket or device.
    Special(FileKind),
    /// No tool may look at it.
    Closed,
}

/// What is told of the inside of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// Directories first, each sorted by name; and how many were left out.
    Shown {
        entries: Vec<Leaf>,
        left_out: usize,
    },
    /// It was not opened: too deep, or the limit was reached.
    Shut,
    /// A directory of noise, and how many entries it has.
    Folded {
        entries: usize,
    },
    Unreadable {
        why: String,
    },
}

/// A tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    pub entries: Vec<Leaf>,
    /// Entries of opened directories that are not shown, in all.
    pub left_out: usize,
    /// Directories that were not opened because the limit was reached.
    pub shut: usize,
}

/// A directory that was or will be read.
struct Node {
    path: PathBuf,
    leaves: Vec<Leaf>,
    /// Of the leaves that are directories: their nodes.
    below: Vec<Option<usize>>,
    left_out: usize,
    inside: Inside,
}

impl Workspace {
    /// Lists a directory, `depth` levels of it, with at most `max` entries in all.
    ///
    /// # Errors
    /// It is closed to reading, does not exist, or is no directory.
    pub fn list(&self, at: &Resolved, depth: usize, max: usize) -> Result<Listing, FileError> {
        self.check(at, Access::Read)?;
        let path = at.path();
        match at.kind() {
            Some(FileKind::Directory) => {}
            None => {
                return Err(FileError::Missing {
                    path: path.to_owned(),
                });
            }
            Some(_) => {
                return Err(crate::resolve::PathError::NotADirectory {
                    path: path.to_owned(),
                }
                .into());
            }
        }
        handle::directory(&self.slash, path).map_err(|source| directory_failed(path, source))?;
        let mut nodes = vec![Node::new(path.to_owned())];
        let mut pending = VecDeque::from([(0, 1)]);
        let (mut room, mut left_out, mut shut) = (max, 0, 0);
        while let Some((index, level)) = pending.pop_front() {
            if room == 0 {
                shut += 1;
                continue;
            }
            let Some(node) = nodes.get_mut(index) else {
                continue;
            };
            let below = self.open_node(node, &mut room);
            left_out += node.left_out;
            for place in below {
                let path = node_path(&nodes, index, place);
                let next = nodes.len();
                nodes.push(Node::new(path));
                if let Some(slot) = nodes
                    .get_mut(index)
                    .and_then(|node| node.below.get_mut(place))
                {
                    *slot = Some(next);
                }
                if level < depth {
                    pending.push_back((next, level + 1));
                }
            }
        }
        Ok(Listing {
            entries: grown(&mut nodes, 0),
            left_out,
            shut,
        })
    }

    /// Reads a node's directory. Gives the subdirectories that may be opened, by their place in it.
    fn open_node(&self, node: &mut Node, room: &mut usize) -> Vec<usize> {
        // One handle at a time: a level may have more directories than a process may hold open.
        let read = handle::directory(&self.slash, &node.path)
            .and_then(|handle| Ok((tree::names(&handle)?, handle)));
        let (mut names, handle) = match read {
            Ok(read) => read,
            Err(error) => {
                node.inside = Inside::Unreadable {
                    why: error.to_string(),
                };
                return Vec::new();
            }
        };
        names.sort_by(|one, two| {
            let rank = |named: &Named| named.kind != FileKind::Directory;
            (rank(one), &one.name).cmp(&(rank(two), &two.name))
        });
        node.left_out = names.len().saturating_sub(*room);
        names.truncate(*room);
        *room -= names.len();
        let mut opened = Vec::new();
        for Named { name, kind } in names {
            let path = node.path.join(&name);
            let closed = self.closed(&path);
            let what = if closed {
                What::Closed
            } else {
                self.look_at(&handle, &name, kind)
            };
            if what == What::Directory(Inside::Shut) {
                opened.push(node.leaves.len());
            }
            node.leaves.push(Leaf { name, what });
            node.below.push(None);
        }
        node.inside = Inside::Shown {
            entries: Vec::new(),
            left_out: node.left_out,
        };
        opened
    }

    fn look_at(&self, dir: &OwnedFd, name: &OsStr, kind: FileKind) -> What {
        match kind {
            FileKind::File => {
                let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
                let bytes = stat.map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0));
                What::File { bytes }
            }
            FileKind::Link => What::Link {
                target: tree::link_target(dir, name).unwrap_or_default(),
            },
            FileKind::Directory if NOISE.iter().any(|noise| OsStr::new(noise) == name) => {
                let count = handle::subdirectory(dir, name).and_then(|dir| tree::names(&dir));
                What::Directory(match count {
                    Ok(names) => Inside::Folded {
                        entries: names.len(),
                    },
                    Err(error) => Inside::Unreadable {
                        why: error.to_string(),
                    },
                })
            }
            FileKind::Directory => What::Directory(Inside::Shut),
            FileKind::Fifo | FileKind::Socket | FileKind::Device => What::Special(kind),
        }
    }
}

impl Node {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            leaves: Vec::new(),
            below: Vec::new(),
            left_out: 0,
            inside: Inside::Shut,
        }
    }
}

fn node_path(nodes: &[Node], index: usize, place: usize) -> PathBuf {
    let node = nodes.get(index);
    let name = node.and_then(|node| node.leaves.get(place));
    node.map_or(Path::new(""), |node| node.path.as_path())
        .join(name.map_or(OsStr::new(""), |leaf| leaf.name.as_os_str()))
}

/// A node's leaves, with what is below them.
fn grown(nodes: &mut [Node], index: usize) -> Vec<Leaf> {
    let Some(node) = nodes.get_mut(index) else {
        return Vec::new();
    };
    let mut leaves = std::mem::take(&mut node.leaves);
    let below = std::mem::take(&mut node.below);
    for (leaf, below) in leaves.iter_mut().zip(below) {
        let Some(below) = below else {
            continue;
        };
        let entries = grown(nodes, below);
        let inside = nodes.get_mut(below).map(|node| {
            let inside = std::mem::replace(&mut node.inside, Inside::Shut);
            match inside {
                Inside::Shown { left_out, .. } => Inside::Shown { entries, left_out },
                other => other,
            }
        });
        leaf.what = What::Directory(inside.unwrap_or(Inside::Shut));
    }
    leaves
}

#[cfg(test)]
mod tests;
