//! The paths below the session's directory, and those that match the text after an `@`.
//!
//! They are read again each time an `@` is typed; until then the previous ones are used.

use std::path::{Path, PathBuf};

use nucleo_matcher::{Config, Matcher};

use super::{FileEntry, Typed, fuzzy, score};

/// Most paths in a menu: to narrow them down, the user types more.
const FOUND_MAX: usize = 50;

/// The newest paths read.
#[derive(Debug, Default)]
pub struct Tree {
    root: PathBuf,
    /// Sorted; those of directories end in a slash.
    paths: Vec<String>,
    /// It was asked for, for the present `@`.
    asked: bool,
}

impl Tree {
    /// Whether the paths below this directory are to be read now. Says so once, until [`Tree::left`].
    pub fn needs(&mut self, root: &Path) -> bool {
        if self.root != root {
            self.root = root.to_path_buf();
            self.paths.clear();
            self.asked = false;
        }
        !std::mem::replace(&mut self.asked, true)
    }

    /// The `@` is done: the next one reads again.
    pub fn left(&mut self) {
        self.asked = false;
    }

    pub fn walked(&mut self, root: PathBuf, mut paths: Vec<String>) {
        if self.root == root {
            paths.sort_unstable();
            self.paths = paths;
        }
    }

    /// Whether the paths have come and this name, beside the typed one, is none of them: git ignores it.
    pub fn leaves_out(&self, typed: &Typed, name: &str) -> bool {
        let path = format!("{}{name}", typed.parent);
        !is_outside(typed) && !self.paths.is_empty() && self.paths.binary_search(&path).is_err()
    }

    /// The matches, the best first: names with this prefix, then paths with the letters in this order.
    pub fn find(&self, typed: &Typed) -> Vec<FileEntry> {
        if typed.name.is_empty() || is_outside(typed) {
            return Vec::new();
        }
        let mut config = Config::DEFAULT.match_paths();
        config.prefer_prefix = true;
        let mut matcher = Matcher::new(config);
        let pattern = fuzzy(&format!("{}{}", typed.parent, typed.name));
        let wanted = typed.name.to_lowercase();
        let mut found: Vec<_> = self
            .paths
            .iter()
            .filter_map(|path| {
                let score = score(&pattern, path.trim_end_matches('/'), &mut matcher)?;
                let name = split(path).1.to_lowercase();
                let order = (!name.starts_with(&wanted), u32::MAX - score, path.len());
                Some((order, path))
            })
            .collect();
        if found.len() > FOUND_MAX {
            found.select_nth_unstable(FOUND_MAX);
            found.truncate(FOUND_MAX);
        }
        found.sort_unstable();
        let entry = |path: &String| {
            let (parent, name) = split(path);
            FileEntry {
                parent: parent.to_owned(),
                name: name.to_owned(),
            }
        };
        found.into_iter().map(|(_, path)| entry(path)).collect()
    }
}

/// Whether a path leads out of the session's directory, or may.
fn is_outside(typed: &Typed) -> bool {
    typed.parent.starts_with(['/', '~']) || typed.parent.contains("../")
}

/// The directory of a path, with its slash, and the name in it.
fn split(path: &str) -> (&str, &str) {
    let name = path.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
    path.split_at(name)
}
