//! Which files configure the agent, its repository, an editor or a shell: a write there may run something later.
//!
//! The one list of them, by names only: for the paths of file tools ([`is_protected`], called by `resolve`), and for what
//! the walls keep commands from ([`guarded`]). The words of commands have a list of their own, in `policy::protected`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use proto::startup::STARTUP_FILES;

use crate::closing::may_be_opened;
use crate::repository::GitDirs;

/// How much is meant by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meant {
    /// This alone.
    Itself,
    /// All that is below it too.
    Below,
}

/// Files of the agent and of editors, wherever they lie below a writable root. Of `.git`, and of names that are known by
/// their ends, is spoken below.
const OF_OTHERS: [(&str, Meant); 11] = [
    (".reasonix", Meant::Below),
    ("reasonix.toml", Meant::Itself),
    (".mcp.json", Meant::Itself),
    (".vscode/tasks.json", Meant::Itself),
    (".vscode/launch.json", Meant::Itself),
    (".vscode/settings.json", Meant::Itself),
    (".zed/tasks.json", Meant::Itself),
    (".zed/debug.json", Meant::Itself),
    (".zed/settings.json", Meant::Itself),
    (".idea/runConfigurations", Meant::Below),
    (".idea/workspace.xml", Meant::Itself),
];

/// The agent's own workshop: what is in it is no configuration. A climb out of it cannot stand in a resolved path.
const WORKSHOP: &str = ".reasonix/autoresearch";

/// Whether a path (relative to its writable root) is one that only a person may have changed.
/// Names are compared without case: on some file systems `.GIT` is `.git`.
#[must_use]
pub fn is_protected(path: &Path) -> bool {
    let names: Vec<_> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    (0..names.len()).any(|index| is_named(&names[index..]))
}

/// Whether names that follow each other begin with a protected one.
fn is_named(names: &[Cow<'_, str>]) -> bool {
    if begin(names, ".git") {
        return true;
    }
    if begin(names, WORKSHOP) {
        return false;
    }
    matches!(names, [name] if is_editors_workspace(name) || is_of_a_home(name))
        || OF_OTHERS.iter().any(|(path, meant)| {
            let alone = names.len() == path.split('/').count();
            begin(names, path) && (alone || *meant == Meant::Below)
        })
}

fn begin(names: &[Cow<'_, str>], path: &str) -> bool {
    let mut names = names.iter();
    path.split('/').all(|part| {
        names
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case(part))
    })
}

fn is_of_a_home(name: &str) -> bool {
    // A workspace may be somebody's home, or lie in it by a link. Commands are kept from those that are there.
    let mut known = STARTUP_FILES.iter();
    known.any(|known| name.eq_ignore_ascii_case(known))
}

fn is_editors_workspace(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".code-workspace")
}

/// Names that are looked at for repositories within a root, and how many of those are looked after. More would make each
/// command wait; so where there are more, that is said.
const LOOKED_MAX: usize = 100_000;
const REPOSITORIES_MAX: usize = 64;
/// Folders of things that were fetched or built: what is a repository there, nobody works in.
const PASSED_BY: [&str; 3] = ["node_modules", "target", ".venv"];

/// What commands may not change unasked in a writable root, and what else they have to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guarded {
    /// Whether they are there or not.
    pub places: Vec<PathBuf>,
    /// Folders of repositories outside the root, which its work trees need.
    pub written: Vec<PathBuf>,
    /// Everything was looked at: no repository can be missing.
    pub whole: bool,
}

/// Looks at the root's own names, and for repositories within it as far as that is quick.
#[must_use]
pub fn guarded(root: &Path) -> Guarded {
    let mut guarded = Guarded {
        whole: true,
        ..Guarded::default()
    };
    guarded.repository(root);
    // Where there is none, none may come to be: its configuration would be read by whoever looks into the directory.
    if root.join(".git").symlink_metadata().is_err() {
        guarded.places.push(root.join(".git"));
    }
    let (trees, all) = within(root);
    guarded.whole &= all;
    for tree in trees {
        guarded.repository(&tree);
    }
    guarded
        .places
        .extend(OF_OTHERS.iter().map(|(name, _)| root.join(name)));
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let there = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        is_editors_workspace(&name) || is_of_a_home(&name)
    });
    guarded.places.extend(there.map(|entry| entry.path()));
    guarded
}

impl Guarded {
    fn repository(&mut self, tree: &Path) {
        let git = tree.join(".git");
        let found = GitDirs::of(tree);
        // A file leads to the repository's folder: another one in its place would be another repository. The same for
        // what is a link to nowhere.
        if git.symlink_metadata().is_ok_and(|meta| !meta.is_dir())
            && found
                .as_ref()
                .is_none_or(|found| !found.written().is_empty())
        {
            self.places.push(git);
        }
        let Some(found) = found else { return };
        let (places, all) = found.guarded();
        self.places.extend(places);
        self.whole &= all;
        self.written.extend(found.written());
    }
}

/// Directories below a root that have a `.git`, those near it first. Whether these are all.
fn within(root: &Path) -> (Vec<PathBuf>, bool) {
    let mut found = Vec::new();
    let mut looked = 0;
    let mut all = true;
    let mut open = std::collections::VecDeque::from([root.to_path_buf()]);
    while let Some(directory) = open.pop_front() {
        let Ok(entries) = std::fs::read_dir(&directory) else {
            // A command can open it again where it is ours.
            all &= !may_be_opened(&directory);
            continue;
        };
        for entry in entries {
            looked += 1;
            let Ok(entry) = entry else {
                all = false;
                continue;
            };
            if looked > LOOKED_MAX {
                return (found, false);
            }
            let name = entry.file_name();
            if name == ".git" {
                if directory != root {
                    if found.len() >= REPOSITORIES_MAX {
                        return (found, false);
                    }
                    found.push(directory.clone());
                }
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir())
                && !PASSED_BY.iter().any(|passed| name == *passed)
            {
                open.push_back(entry.path());
            }
        }
    }
    (found, all)
}

#[cfg(test)]
mod tests;
