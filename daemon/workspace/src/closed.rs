//! The places that `deny_read` closes.
//!
//! Most patterns name a place, or all that is below one: those are compared as text. A set of globs is made of the others
//! alone, for to make one, and to keep it, costs more than all else of a workspace.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet};

use crate::workspace::split_glob;

/// What is closed, in the order in which it was given.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    /// Of each glob: the pattern that it is of, as it was given, and as it is compared.
    texts: Vec<(String, String)>,
    plain: Vec<Plain>,
    globs: GlobSet,
    /// Which each of `globs` is.
    glob_of: Vec<usize>,
}

/// A glob without wildcards but for what is below.
#[derive(Debug)]
struct Plain {
    index: usize,
    place: PathBuf,
    reach: Reach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Itself,
    Below,
}

impl Plain {
    fn of(index: usize, glob: &str) -> Option<Self> {
        let (place, rest) = split_glob(glob);
        let reach = match rest.as_str() {
            "" => Reach::Itself,
            "**" => Reach::Below,
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
        // Of the root alone the name ends with a slash.
        let place = place.strip_suffix(b"/").unwrap_or(place);
        match (path.strip_prefix(place), self.reach) {
            (Some([]), Reach::Itself) => true,
            (Some([b'/', rest @ ..]), Reach::Below) => !rest.is_empty(),
            _ => false,
        }
    }
}

impl Closed {
    /// Each glob with the pattern that it is of.
    ///
    /// # Errors
    /// The globs make no set.
    pub fn new(texts: Vec<(String, String)>) -> Result<Self, globset::Error> {
        let (mut plain, mut glob_of) = (Vec::new(), Vec::new());
        let mut globs = GlobSet::builder();
        for (index, (_, glob)) in texts.iter().enumerate() {
            match Plain::of(index, glob) {
                Some(place) => plain.push(place),
                None => {
                    globs.add(built(glob)?);
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

    /// The number of the first that an absolute path without links falls under.
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

    /// Of each its pattern, as it was given, and the glob, as it is compared.
    pub fn texts(&self) -> &[(String, String)] {
        &self.texts
    }
}

/// A glob whose `*` and `?` match no slash.
///
/// # Errors
/// It is none.
pub(crate) fn built(glob: &str) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(glob).literal_separator(true).build()
}

#[cfg(test)]
mod tests;
