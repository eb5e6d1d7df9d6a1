//! Names in a directory, and paths below one, for the menu of files. Reads the disk: called off the event loop.

use std::path::Path;
use std::time::{Duration, Instant};

/// Longest time to look for paths.
const TREE_TIME: Duration = Duration::from_secs(5);

/// Names that a menu chooses from; of a directory that holds more the rest is not offered.
const NAMES_MAX: usize = 20_000;

/// Names in a directory, sorted; names of directories end with a slash. Empty if it cannot be read.
#[must_use]
pub fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .take(NAMES_MAX)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let directory = entry.path().is_dir();
            Some(if directory { format!("{name}/") } else { name })
        })
        .collect();
    names.sort();
    names
}

/// Paths below a directory, nearest first; directories end with a slash. Leaves out files that git ignores, hidden
/// names and `node_modules`. Stops at [`NAMES_MAX`] paths or after [`TREE_TIME`].
#[must_use]
pub fn tree(root: &Path) -> Vec<String> {
    let started = Instant::now();
    let mut walk = ignore::WalkBuilder::new(root);
    walk.require_git(false)
        .filter_entry(|entry| entry.file_name() != "node_modules");
    let mut paths: Vec<String> = walk
        .build()
        .flatten()
        .take_while(|_| started.elapsed() < TREE_TIME)
        .filter_map(|entry| {
            let path = entry.path().strip_prefix(root).ok()?.to_str()?;
            let directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            let path = if directory {
                format!("{path}/")
            } else {
                path.to_owned()
            };
            (path.len() > 1).then_some(path)
        })
        .take(NAMES_MAX)
        .collect();
    paths.sort_by_cached_key(|path| (path.matches('/').count(), path.to_lowercase()));
    paths
}

#[cfg(test)]
mod tests;
