//! The mark of a home's format: `<home>/format`, a number. A build that is older than the home leaves it alone (I22).
//!
//! Looked at when the home's lock is held, before anything else of it is read or written.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The format that this build writes. It counts up when an older build would misread or spoil what a newer one has
/// written; records and members that are only new do not count, because they are carried along.
pub const FORMAT: u64 = 1;

/// Digits and a newline.
const SIZE_MAX: u64 = 64;

/// Why this build leaves a home alone.
#[derive(Debug, thiserror::Error)]
pub enum MarkError {
    #[error("the home `{}` was written by a newer build: it has format {found}, and this one (version {}) knows {FORMAT}. Upgrade Reasonix, or set REASONIX_HOME to another home", .home.display(), proto::VERSION)]
    Newer { home: PathBuf, found: u64 },
    #[error("`{}` does not say which format the home has: where you know that it is of this build, remove that file", .path.display())]
    Unreadable { path: PathBuf },
    #[error("{doing} `{}`", .path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

/// Checks the mark of a home, and makes it where there is none.
///
/// # Errors
/// The home is a newer build's, its mark is none, or the disk does not want it.
pub fn check(home: &Path) -> Result<(), MarkError> {
    let path = home.join("format");
    match read(&path) {
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
            make(home, &path).map_err(|source| MarkError::Io {
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

fn read(path: &Path) -> io::Result<String> {
    let mut options = fs::OpenOptions::new();
    // A pipe in its place must not hold us up.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    options
        .read(true)
        .custom_flags(i32::try_from(flags).map_err(io::Error::other)?);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = String::new();
    file.take(SIZE_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// The new mark, whole or not at all, and durable: what is written after it is of this format.
fn make(home: &Path, path: &Path) -> io::Result<()> {
    let temporary = home.join("format.tmp");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.custom_flags(i32::try_from(OFlags::NOFOLLOW.bits()).map_err(io::Error::other)?);
    let mut file = options.open(&temporary)?;
    writeln!(file, "{FORMAT}")?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    fs::File::open(home)?.sync_all()
}

#[cfg(test)]
mod tests;
