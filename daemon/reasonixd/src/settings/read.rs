//! Reads a config file: a regular one of bounded size, and a project's never through a link. Called by `layers`.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// The longest config file, in bytes.
pub const MAX: u64 = 1024 * 1024;

/// Reads a file of the user's own, which may be a link.
pub fn following(path: &Path) -> Result<String> {
    text(open(path, OFlags::empty())?)
}

/// Reads a file that others may have put there: a link could show us any file of the user's.
pub fn no_link(path: &Path) -> Result<String> {
    let opened = open(path, OFlags::NOFOLLOW);
    text(opened.map_err(|error| {
        let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
        if is_link {
            Error::new(ErrorKind::InvalidInput, "it is a link")
        } else {
            error
        }
    })?)
}

fn open(path: &Path, besides: OFlags) -> Result<File> {
    // A pipe that nobody writes into must not hold us up.
    let flags = (besides | OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
    let flags = i32::try_from(flags).map_err(Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn text(file: File) -> Result<String> {
    let invalid = |why: String| Error::new(ErrorKind::InvalidData, why);
    if !file.metadata()?.is_file() {
        return Err(invalid("it is no regular file".to_owned()));
    }
    let mut text = String::new();
    file.take(MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX {
        return Err(invalid(format!("it is longer than {MAX} bytes")));
    }
    Ok(text)
}
