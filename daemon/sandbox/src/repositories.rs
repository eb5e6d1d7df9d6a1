//! Repositories below a writable root: those that are there when a command starts, and those that it made.
//!
//! Git takes a directory for a repository if it has a `.git`, or if it is a git directory itself. Whoever works there
//! later runs what the config and the hooks of such a repository name. So one that a command made is judged when the
//! command has ended. Links are not followed.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use contract::KnownRepositories;
use rustix::io::Errno;

use crate::absent::{Arrival, opened_up};
use crate::file_system::{open_directory, small_text};
use crate::new_repository::{self, GitDirectoryKind, NewRepository};

/// How many names a search looks at. More would delay each command.
const LOOKED_MAX: usize = 100_000;
/// Directories with downloaded or generated files: repositories in them are not looked for.
const PASSED_BY: [&str; 3] = ["node_modules", "target", ".venv"];
/// What makes a directory one of git's: all of these, or the first with a `commondir`.
const GIT_DIRECTORY: [&str; 3] = ["HEAD", "objects", "refs"];
/// Names in a git directory that may run something, or lead to what may.
const RUNNING: [&str; 5] = ["commondir", "config", "config.worktree", "hooks", "modules"];
/// Bytes of a `.git` file.
const FILE_MAX: u64 = 4096;

/// What a search of a root found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundRepositories {
    /// Directories with a `.git`, nearest first, without the root.
    pub trees: Vec<PathBuf>,
    /// Git directories with another name, nearest first.
    pub bare: Vec<PathBuf>,
    /// Directories that cannot be listed.
    pub closed: Vec<PathBuf>,
    /// Nothing was left out but what is in the closed ones.
    pub whole: bool,
}

impl From<FoundRepositories> for KnownRepositories {
    fn from(found: FoundRepositories) -> Self {
        Self {
            places: found.trees.into_iter().chain(found.bare).collect(),
            closed: found.closed.into_iter().collect(),
            whole: found.whole,
            ..Self::default()
        }
    }
}

impl FoundRepositories {
    /// Searches a root, nearest directories first.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self::search(root, |_| false)
    }

    /// The same. A directory of ours that cannot be listed gets its permissions back if `opens` says so.
    fn search(root: &Path, opens: impl Fn(&Path) -> bool) -> Self {
        let listed = |directory: &Path| {
            std::fs::read_dir(directory).or_else(|error| {
                let may = opens(directory) && opened_up(&open_directory(directory)?);
                if may {
                    std::fs::read_dir(directory)
                } else {
                    Err(error)
                }
            })
        };
        let mut found = Self {
            whole: true,
            ..Self::default()
        };
        let mut looked = 0;
        let mut open = VecDeque::from([root.to_path_buf()]);
        while let Some(directory) = open.pop_front() {
            let entries = match listed(&directory) {
                Ok(entries) => entries,
                // It is gone: nothing is in it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(_) => {
                    found.closed.push(directory);
                    continue;
                }
            };
            let (mut of_git, mut leads) = (0, false);
            for entry in entries {
                looked += 1;
                let Ok(entry) = entry else {
                    found.whole = false;
                    continue;
                };
                if looked > LOOKED_MAX {
                    found.whole = false;
                    return found;
                }
                let name = entry.file_name();
                if name == ".git" {
                    if directory != root {
                        found.trees.push(directory.clone());
                    }
                    continue;
                }
                if let Some(at) = GIT_DIRECTORY.iter().position(|known| name == *known) {
                    of_git |= 1 << at;
                }
                leads |= name == "commondir";
                if entry.file_type().is_ok_and(|kind| kind.is_dir())
                    && !PASSED_BY.iter().any(|passed| name == *passed)
                {
                    open.push_back(entry.path());
                }
            }
            if of_git == 0b111 || (leads && of_git & 1 == 1) {
                found.bare.push(directory);
            }
        }
        found
    }
}

/// Finds what may run something in the repositories that came since. Nothing is judged where the first search was not
/// complete: what it left out would be taken for new.
///
/// The error: the root could be searched before, and now it cannot.
pub fn new_repositories(known: &KnownRepositories) -> (Vec<Arrival>, io::Result<()>) {
    if !known.whole {
        return (Vec::new(), Ok(()));
    }
    let found = FoundRepositories::search(&known.root, |closed| !known.closed.contains(closed));
    let is_new = |place: &&PathBuf| !known.places.contains(*place);
    let root = Some(&known.root).filter(is_new);
    let trees = root.into_iter().chain(found.trees.iter().filter(is_new));
    let trees = trees.filter_map(|tree| of_tree(known, tree));
    let bare = found.bare.iter().filter(is_new);
    let bare = bare.flat_map(|bare| of_git_directory(bare));
    let arrivals = trees.chain(bare).collect();
    let mut closed = found.closed.iter();
    let hidden = closed.find(|closed| !known.closed.contains(*closed));
    let searched = match (hidden, found.whole) {
        (None, true) => Ok(()),
        (Some(hidden), _) => Err(io::Error::other(format!(
            "`{}` cannot be searched for new repositories",
            hidden.display()
        ))),
        (None, false) => Err(io::Error::other(format!(
            "not all of it was searched for new repositories ({LOOKED_MAX} names at most)"
        ))),
    };
    (arrivals, searched)
}

/// The `.git` of a new work tree, if it may run something.
fn of_tree(known: &KnownRepositories, tree: &Path) -> Option<Arrival> {
    let parent = open_directory(tree).ok()?;
    let path = tree.join(".git");
    let found = path.symlink_metadata().ok()?;
    let is_harmless = match found.is_file() {
        true => leads_to_known(known, tree, &path),
        false => new_repository::look(&parent, ".git".as_ref()) != NewRepository::Runs,
    };
    (!is_harmless).then(|| Arrival::new(path, parent, ".git"))
}

/// The text of a small file, as git takes it; `None`: there is none.
///
/// The error: it is something else, or git would read more of it.
fn small_file(path: &Path) -> io::Result<Option<String>> {
    let text = match small_text(rustix::fs::CWD, path, FILE_MAX) {
        Ok(text) => text,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // Git reads to the zero byte.
    if text.contains('\0') {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Where a path leads, seen from a directory without links. `None`: nowhere; or through a link in what may be written,
/// which may lead elsewhere tomorrow; or into `/proc`, which leads each process elsewhere.
fn leads_to(directory: &Path, path: &str, writable: &[PathBuf]) -> Option<PathBuf> {
    let mut at = directory.to_path_buf();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                at.pop();
            }
            Component::Prefix(_) | Component::RootDir => at = PathBuf::from("/"),
            Component::Normal(name) => {
                at.push(name);
                if at.symlink_metadata().ok()?.is_symlink() {
                    if is_within(&at, writable) {
                        return None;
                    }
                    at = at.canonicalize().ok()?;
                }
            }
        }
        if at.starts_with("/proc") {
            return None;
        }
    }
    Some(at)
}

fn is_within(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

/// The git directory that the `.git` of a work tree is or leads to, without links; and the one that it shares with others.
/// `None`: it leads nowhere, or by a link in what may be written.
fn git_directories(tree: &Path, writable: &[PathBuf]) -> Option<(PathBuf, PathBuf)> {
    let dot_git = tree.join(".git");
    let own = match dot_git.is_dir() {
        true => dot_git.canonicalize().ok()?,
        false => {
            let text = small_file(&dot_git).ok()??;
            leads_to(tree, text.strip_prefix("gitdir: ")?, writable)?
        }
    };
    let common = match small_file(&own.join("commondir")).ok()? {
        Some(common) => leads_to(&own, &common, writable)?,
        None => own.clone(),
    };
    Some((own, common))
}

/// Whether a `.git` file leads to where it can do no harm, also later: to what the session cannot write, to a work tree of
/// a repository that was there, or to one that runs nothing and is held from the next command on.
fn leads_to_known(known: &KnownRepositories, tree: &Path, file: &Path) -> bool {
    let Ok(Some(text)) = small_file(file) else {
        return false;
    };
    if !text.starts_with("gitdir: ") {
        // Git takes it for an error.
        return true;
    }
    // One that leads nowhere may lead somewhere later.
    let Some((own, common)) = git_directories(tree, &known.writable) else {
        return false;
    };
    if !is_within(&own, &known.writable) {
        return true;
    }
    if own != common {
        let mut places = known.places.iter().chain([&known.root]);
        let is_known = places.any(|place| {
            *place == common
                || git_directories(place, &[]).is_some_and(|(_, shared)| shared == common)
        });
        return is_known
            && own.parent() == Some(&common.join("worktrees"))
            && own.join("config.worktree").symlink_metadata().is_err();
    }
    is_searched(known, &own)
        && open_directory(&own).is_ok_and(|opened| {
            new_repository::look_into(&opened, GitDirectoryKind::Alone) != NewRepository::Runs
        })
}

/// Whether a git directory is found by searches of the root, and held from the next command on. They pass by what is in a
/// `.git`.
fn is_searched(known: &KnownRepositories, directory: &Path) -> bool {
    let below = directory.strip_prefix(&known.root);
    below.is_ok_and(|below| {
        let passed = |part: Component<'_>| {
            let passed_by = PASSED_BY.iter().chain([&".git"]);
            passed_by.into_iter().any(|name| part.as_os_str() == *name)
        };
        let mut above = below.parent().unwrap_or(below).components();
        let last = below.components().next_back();
        !above.any(passed) && !last.is_some_and(|last| last.as_os_str() != ".git" && passed(last))
    })
}

/// The parts of a git directory that may run something; none if it is harmless as a whole.
fn of_git_directory(directory: &Path) -> Vec<Arrival> {
    let opened = open_directory(directory);
    if opened.is_ok_and(|opened| {
        new_repository::look_into(&opened, GitDirectoryKind::Alone) != NewRepository::Runs
    }) {
        return Vec::new();
    }
    let there = RUNNING.iter().filter_map(|name| {
        let path = directory.join(name);
        path.symlink_metadata().ok()?;
        let parent: OwnedFd = open_directory(directory).ok()?;
        Some(Arrival::new(path, parent, name))
    });
    there.collect()
}

#[cfg(test)]
mod tests;
