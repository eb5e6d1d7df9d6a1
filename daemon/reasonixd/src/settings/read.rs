//! Reads a config file: a regular one of bounded size, and a project's never through a link. Called by `layers`, `edit`,
//! the credentials and `dotenv`.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use toml_edit::TomlError;

/// The longest config file, in bytes.
pub const MAX: u64 = 1024 * 1024;

/// Reads a file of the user's own, which may be a link.
pub fn following(path: &Path) -> Result<String> {
    following_up_to(path, MAX)
}

/// As [`following`], with a bound of its own, in bytes.
///
/// # Errors
/// It cannot be read, is not a regular file, is not UTF-8, or is larger.
pub fn following_up_to(path: &Path, max: u64) -> Result<String> {
    text(open(path, OFlags::empty())?, max)
}

/// Reads a file that others may have put there: a link could show us any file of the user's.
pub fn no_link(path: &Path) -> Result<String> {
    no_link_up_to(path, MAX)
}

/// As [`no_link`], with a bound of its own, in bytes.
pub fn no_link_up_to(path: &Path, max: u64) -> Result<String> {
    let opened = open(path, OFlags::NOFOLLOW);
    let file = opened.map_err(|error| {
        let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
        if is_link {
            Error::new(ErrorKind::InvalidInput, "it is a link")
        } else {
            error
        }
    });
    text(file?, max)
}

fn open(path: &Path, besides: OFlags) -> Result<File> {
    // A pipe that nobody writes into must not hold us up.
    let flags = (besides | OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
    let flags = i32::try_from(flags).map_err(Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn text(file: File, max: u64) -> Result<String> {
    let invalid = |why: String| Error::new(ErrorKind::InvalidData, why);
    if !file.metadata()?.is_file() {
        return Err(invalid("it is not a regular file".to_owned()));
    }
    let mut text = String::new();
    file.take(max + 1).read_to_string(&mut text)?;
    if text.len() as u64 > max {
        return Err(invalid(format!("it is larger than {max} bytes")));
    }
    Ok(text)
}

/// The line of a place in a text.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count() + 1
}

/// Where a text is no TOML, and why. Not the text itself: it may be anybody's.
pub(crate) fn error_of(text: &str, error: &TomlError) -> (usize, String) {
    let line = line_of(text, error.span().map_or(0, |span| span.start));
    let why = error.message().lines().next().unwrap_or_default();
    (line, why.to_owned())
}

/// A file that is no TOML, as a problem.
pub(crate) fn not_toml(path: &Path, text: &str, error: &TomlError) -> String {
    let (line, why) = error_of(text, error);
    let place = path.display();
    format!("{place}:{line}: not valid TOML, so the whole file is ignored: {why}")
}
