//! Matches paths against the `deny_read` patterns.
//!
//! Most patterns name one path or everything below it, and are compared as text. Only the others
//! become a glob set, because building and keeping a glob set is the most expensive part of a
//! workspace.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet};

use crate::workspace::split_glob;

/// The patterns, in the order in which they were given.
#[derive(Debug, Default)]
pub(crate) struct DenyRead {
    /// For each glob: its pattern as written, and the absolute glob that is compared.
    texts: Vec<(String, String)>,
    plain: Vec<PlainGlob>,
    globs: GlobSet,
    /// For each glob in `globs`: its index in `texts`.
    glob_of: Vec<usize>,
}

/// A glob without wildcards, except for a trailing `/**`.
#[derive(Debug)]
struct PlainGlob {
    index: usize,
    place: PathBuf,
    reach: GlobReach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GlobReach {
    Itself,
    Below,
}

impl PlainGlob {
    fn of(index: usize, glob: &str) -> Option<Self> {
        let (place, rest) = split_glob(glob);
        let reach = match rest.as_str() {
            "" => GlobReach::Itself,
            "**" => GlobReach::Below,
            _ => return None,
        };
        Some(Self {
            index,
            place,
            reach,
        })
    }

    fn matches(&self, path: &[u8]) -> bool {
        let place = self.place.as_os_str().as_bytes();
        // Only the root's name ends with a slash.
        let place = place.strip_suffix(b"/").unwrap_or(place);
        match (path.strip_prefix(place), self.reach) {
            (Some([]), GlobReach::Itself) => true,
            (Some([b'/', rest @ ..]), GlobReach::Below) => !rest.is_empty(),
            _ => false,
        }
    }
}

impl DenyRead {
    /// Takes each pattern with its absolute glob.
    ///
    /// # Errors
    /// The globs cannot be compiled.
    pub fn new(texts: Vec<(String, String)>) -> Result<Self, globset::Error> {
        let (mut plain, mut glob_of) = (Vec::new(), Vec::new());
        let mut globs = GlobSet::builder();
        for (index, (_, glob)) in texts.iter().enumerate() {
            match PlainGlob::of(index, glob) {
                Some(place) => plain.push(place),
                None => {
                    globs.add(compile_glob(glob)?);
                    glob_of.push(index);
                }
            }
        }
        Ok(Self {
            plain,
            globs: globs.build()?,
            glob_of,
            texts,
        })
    }

    /// The index of the first glob that matches an absolute path without links.
    pub fn at(&self, path: &Path) -> Option<usize> {
        let bytes = path.as_os_str().as_bytes();
        let plain = self.plain.iter().find(|plain| plain.matches(bytes));
        let plain = plain.map(|plain| plain.index);
        let glob = match self.glob_of.is_empty() {
            true => None,
            false => self.globs.matches(path).first().copied(),
        };
        let glob = glob.and_then(|glob| self.glob_of.get(glob).copied());
        plain.into_iter().chain(glob).min()
    }

    /// Each pattern as written, with the absolute glob that is compared.
    pub fn texts(&self) -> &[(String, String)] {
        &self.texts
    }
}

/// Compiles a glob whose `*` and `?` match no slash.
///
/// # Errors
/// The glob is invalid.
pub(crate) fn compile_glob(glob: &str) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(glob).literal_separator(true).build()
}

#[cfg(test)]
mod tests;
