//! The mark of a home's format: `<home>/format`, a number. A build that is older than the home leaves it alone (I22).
//!
//! Looked at when the home's lock is held, before anything else of it is read or written.

use std::io;
use std::path::{Path, PathBuf};

use crate::settings::{read, write};
use crate::version::version;

/// The format that this build writes. It counts up when an older build would misread or spoil what a newer one has
/// written; records and members that are only new do not count, because they are carried along.
pub const FORMAT: u64 = 1;

/// Digits and a newline.
const SIZE_MAX: u64 = 64;

/// Why this build leaves a home alone.
#[derive(Debug, thiserror::Error)]
pub enum MarkError {
    #[error("the home `{}` was written by a newer build: it has format {found}, and this one (version {}) knows {FORMAT}. Upgrade Reasonix, or set REASONIX_HOME to another home", .home.display(), version())]
    Newer { home: PathBuf, found: u64 },
    #[error("`{}` does not contain the format of the home: if this version created the home, remove that file", .path.display())]
    Unreadable { path: PathBuf },
    #[error("{doing} `{}`", .path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

/// Checks the mark of a home, and makes it if there is none.
///
/// # Errors
/// The home is a newer build's, its mark is none, or the disk does not want it.
pub fn check(home: &Path) -> Result<(), MarkError> {
    let path = home.join("format");
    match read::no_link_up_to(&path, SIZE_MAX) {
        Ok(text) => match parse(&text) {
            Some(found) if found > FORMAT => Err(MarkError::Newer {
                home: home.to_path_buf(),
                found,
            }),
            // An older one would be brought up to date here. There is none yet.
            Some(_) => Ok(()),
            None => Err(MarkError::Unreadable { path }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Durable: everything written after it is of this format.
            let written = write::replace_own(&path, &format!("{FORMAT}\n"));
            written.map_err(|source| MarkError::Io {
                doing: "write",
                path,
                source,
            })
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(MarkError::Unreadable { path })
        }
        Err(source) => Err(MarkError::Io {
            doing: "read",
            path,
            source,
        }),
    }
}

/// A plain number and a newline, nothing else.
fn parse(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('\n').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A number too large for us is of a build that counts further than we do.
    plain
        .then(|| digits.parse().unwrap_or(u64::MAX))
        .filter(|format| *format > 0)
}

#[cfg(test)]
mod tests;
