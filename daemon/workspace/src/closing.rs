//! What of the file system commands are kept from, as places: the kernel knows no globs.
//!
//! Called by the session before a command starts; blocks, looks at names and kinds only.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use ignore::WalkBuilder;
use rustix::process::geteuid;

use crate::resolve::PathError;
use crate::workspace::{Workspace, absolute_globs, joined_glob, split_glob};

/// Names that are looked at for all patterns together. More would make each command wait.
const LOOKED_MAX: usize = 100_000;
/// Places, with the directories on the way to them: each may be a mount, a file has a descriptor too, and bubblewrap
/// takes no more than 9,000 words for all of them.
const MOUNTS_MAX: usize = 600;
/// So many of them are for patterns that need no looking, whatever the others find.
const KEPT_FREE: usize = 100;

/// Places that patterns name now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// Absolute, free of links; what they hold is meant too.
    pub places: Vec<PathBuf>,
    /// Patterns of which not every place is known: they name too much to look at, or also what is not there yet.
    pub unsure: Vec<String>,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closes {
    /// Reading: what is not there has no content to hide.
    Read,
    /// Changing: what is not there must not be made either.
    Edit,
}

impl Workspace {
    /// The places that `sandbox.deny_read` closes, and those of further patterns (of rules), in the same notation.
    #[must_use]
    pub fn closed_to_reading(&self, patterns: &[String]) -> Closing {
        let own = self
            .closed_globs()
            .iter()
            .map(|(pattern, _)| pattern.clone());
        let mut all: Vec<String> = own.chain(patterns.iter().cloned()).collect();
        all.dedup();
        self.closing(&all, Closes::Read)
    }

    /// The places that patterns of rules close to changes.
    #[must_use]
    pub fn closed_to_changes(&self, patterns: &[String]) -> Closing {
        self.closing(patterns, Closes::Edit)
    }

    fn closing(&self, patterns: &[String], closes: Closes) -> Closing {
        let mut found = Found::default();
        let mut unsure = Vec::new();
        for pattern in patterns {
            let mut globs = absolute_globs(pattern, self.root(), &self.user_home);
            // A directory before what is in it, which needs nothing more then.
            globs.sort_by_key(String::len);
            let all = |sure, glob: &String| found.expand(glob, closes) && sure;
            if !globs.iter().fold(true, all) {
                unsure.push(pattern.clone());
            }
        }
        let mut places = Vec::new();
        // What lies below another one is closed with it. Sorted, so that the one above came before.
        for place in found.places {
            if !places.iter().any(|above| place.starts_with(above)) {
                places.push(place);
            }
        }
        Closing { places, unsure }
    }
}

/// What patterns have named so far.
#[derive(Default)]
struct Found {
    /// Names that were looked at.
    looked: usize,
    places: BTreeSet<PathBuf>,
    /// The places with all directories on the way to them.
    mounts: BTreeSet<PathBuf>,
}

impl Found {
    /// Adds the places of one absolute glob. Whether these are all that there can be.
    fn expand(&mut self, glob: &str, closes: Closes) -> bool {
        let (fixed, rest) = split_glob(glob);
        let start = match crate::resolve::real(Path::new("/"), &fixed) {
            Ok(start) => start,
            Err(PathError::Io { path, .. }) => return !path.parent().is_some_and(may_be_opened),
            // A loop of links, a file on the way: there is nothing to read. But it may be replaced.
            Err(_) => return closes == Closes::Read,
        };
        if matches!(rest.as_str(), "" | "**") {
            let needed = closes == Closes::Edit || start.symlink_metadata().is_ok();
            return !needed || self.add(start, MOUNTS_MAX);
        }
        self.walk(&joined_glob(&start, &rest), &start) && closes == Closes::Read
    }

    /// Goes through what is there. Links are passed by: what is read through one is judged by where it leads.
    fn walk(&mut self, glob: &str, start: &Path) -> bool {
        if start.parent().is_none() {
            return false;
        }
        let Ok(glob) = GlobBuilder::new(glob).literal_separator(true).build() else {
            // It was reported when it was read, and closes nothing.
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

    /// Adds a place, if it can be held together with the others.
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

/// Whether what could not be looked at may be there for a command: it can open again what it, or an earlier one, has
/// closed.
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

/// Whether a directory that cannot be listed, or entered, is ours: then a command can change that.
pub(crate) fn may_be_opened(directory: &Path) -> bool {
    match directory.symlink_metadata() {
        Ok(found) => found.uid() == geteuid().as_raw(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests;
