//! Expands deny patterns into existing paths, because the kernel cannot match globs when it
//! sandboxes commands.
//!
//! The session calls this before a command starts. It blocks, and looks only at names and file
//! kinds.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use ignore::WalkBuilder;
use rustix::process::geteuid;

use crate::resolve::PathError;
use crate::workspace::{Workspace, absolute_globs, joined_glob, split_glob};

/// How many names are checked for all patterns together. More would delay each command.
const LOOKED_MAX: usize = 100_000;
/// The most paths, including their parent directories. Each may need a mount, each file also a
/// descriptor, and bubblewrap accepts at most 9,000 arguments.
const MOUNTS_MAX: usize = 600;
/// How many of them are reserved for patterns without wildcards.
const KEPT_FREE: usize = 100;

/// The existing paths that patterns match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeniedPaths {
    /// Absolute and free of links. Their content is included.
    pub places: Vec<PathBuf>,
    /// Patterns that are not fully expanded: they match too many names, or also paths that may be
    /// created later.
    pub incomplete: Vec<String>,
}

/// The kind of access that patterns deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeniedAccess {
    /// Reading. A missing path has no content to hide.
    Read,
    /// Changing. A missing path must not be created either.
    Edit,
}

impl Workspace {
    /// The paths that `sandbox.deny_read` and `patterns` of rules deny to read, in the same
    /// notation.
    #[must_use]
    pub fn paths_denied_to_read(&self, patterns: &[String]) -> DeniedPaths {
        let own = self
            .closed_globs()
            .iter()
            .map(|(pattern, _)| pattern.clone());
        let mut all: Vec<String> = own.chain(patterns.iter().cloned()).collect();
        all.dedup();
        self.expand_patterns(&all, DeniedAccess::Read)
    }

    /// The paths that `patterns` of rules deny to change.
    #[must_use]
    pub fn paths_denied_to_edit(&self, patterns: &[String]) -> DeniedPaths {
        self.expand_patterns(patterns, DeniedAccess::Edit)
    }

    fn expand_patterns(&self, patterns: &[String], access: DeniedAccess) -> DeniedPaths {
        let mut found = PathExpansion::default();
        let mut incomplete = Vec::new();
        for pattern in patterns {
            let mut globs = absolute_globs(pattern, self.root(), &self.user_home);
            // A directory comes before its content, which then needs nothing more.
            globs.sort_by_key(String::len);
            let all = |sure, glob: &String| found.expand(glob, access) && sure;
            if !globs.iter().fold(true, all) {
                incomplete.push(pattern.clone());
            }
        }
        let mut places = Vec::new();
        // A path below another one is denied with it. The list is sorted, so the outer path came
        // first.
        for place in found.places {
            if !places.iter().any(|above| place.starts_with(above)) {
                places.push(place);
            }
        }
        DeniedPaths { places, incomplete }
    }
}

/// The expansion so far.
#[derive(Default)]
struct PathExpansion {
    /// Names checked so far.
    looked: usize,
    places: BTreeSet<PathBuf>,
    /// The paths and all their parent directories.
    mounts: BTreeSet<PathBuf>,
}

impl PathExpansion {
    /// Adds the paths of one absolute glob. Returns whether they are complete.
    fn expand(&mut self, glob: &str, access: DeniedAccess) -> bool {
        let (fixed, rest) = split_glob(glob);
        let start = match crate::resolve::real(Path::new("/"), &fixed) {
            Ok(start) => start,
            Err(PathError::Io { path, .. }) => return !path.parent().is_some_and(may_be_opened),
            // A loop of links, or a file in the path: there is nothing to read, but it may be
            // replaced.
            Err(_) => return access == DeniedAccess::Read,
        };
        if matches!(rest.as_str(), "" | "**") {
            let needed = access == DeniedAccess::Edit || start.symlink_metadata().is_ok();
            return !needed || self.add(start, MOUNTS_MAX);
        }
        self.walk(&joined_glob(&start, &rest), &start) && access == DeniedAccess::Read
    }

    /// Walks the existing files. Skips links: reading through a link is judged by its target.
    fn walk(&mut self, glob: &str, start: &Path) -> bool {
        if start.parent().is_none() {
            return false;
        }
        let Ok(glob) = GlobBuilder::new(glob).literal_separator(true).build() else {
            // An invalid glob was reported when it was parsed, and denies nothing.
            return true;
        };
        let glob = glob.compile_matcher();
        let mut walker = WalkBuilder::new(start);
        walker
            .standard_filters(false)
            .follow_links(false)
            .parents(false);
        let mut all = true;
        for entry in walker.build() {
            self.looked += 1;
            if self.looked > LOOKED_MAX {
                return false;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    all &= !hides(&error);
                    continue;
                }
            };
            let link = entry.file_type().is_some_and(|kind| kind.is_symlink());
            if !link
                && glob.is_match(entry.path())
                && !self.add(entry.into_path(), MOUNTS_MAX - KEPT_FREE)
            {
                return false;
            }
        }
        all
    }

    /// Adds a path if there is room for its mounts.
    fn add(&mut self, place: PathBuf, max: usize) -> bool {
        if place.ancestors().any(|above| self.places.contains(above)) {
            return true;
        }
        let new = place.ancestors().filter(|dir| !self.mounts.contains(*dir));
        let new: Vec<_> = new.map(Path::to_path_buf).collect();
        let fits = self.mounts.len() + new.len() <= max;
        if fits {
            self.mounts.extend(new);
            self.places.insert(place);
        }
        fits
    }
}

/// Whether a path that could not be listed may still be accessible to a command, because an earlier
/// command may have removed its permissions.
fn hides(error: &ignore::Error) -> bool {
    use ignore::Error::{WithDepth, WithLineNumber, WithPath};
    let gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    if error.io_error().is_some_and(gone) {
        return false;
    }
    match error {
        WithPath { path, .. } => may_be_opened(path),
        WithDepth { err, .. } | WithLineNumber { err, .. } => hides(err),
        _ => true,
    }
}

/// Whether a directory that cannot be listed or entered is ours. A command can then restore its
/// permissions.
pub(crate) fn may_be_opened(directory: &Path) -> bool {
    match directory.symlink_metadata() {
        Ok(found) => found.uid() == geteuid().as_raw(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests;
