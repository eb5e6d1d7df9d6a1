//! The `.env` of a working directory: keys that the config names, and nothing else of it.
//!
//! Whether it counts is decided by `settings::layers`: only where the user trusts the directory. Its content goes to a
//! provider and nowhere else; no tool gets it. Blocks.
//!
//! Not `dotenvy`: it puts the daemon's own variables in place of `$NAME`, takes an open quote for the start of a value of
//! many lines, and quotes the line in its errors. Not `dotenv-parser`: one line that it cannot read fails the file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

use contract::Secret;
use sha2::{Digest as _, Sha256};

use crate::settings::read;

/// The longest file, in bytes.
const MAX: u64 = 64 * 1024;

/// The variables of these that the directory's `.env` sets. No file: none.
///
/// # Errors
/// The file is a link, too long, or cannot be read: in words, without its content.
pub fn read(
    directory: &Path,
    wanted: &BTreeSet<String>,
) -> Result<BTreeMap<String, Secret>, String> {
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    let path = directory.join(".env");
    match read::no_link_up_to(&path, MAX) {
        Ok(text) => Ok(parse(&text)
            .into_iter()
            .filter(|(name, value)| wanted.contains(name) && !value.trim().is_empty())
            .map(|(name, value)| (name, Secret::new(value)))
            .collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(format!(
            "{}: cannot read a key from it: {error}",
            path.display()
        )),
    }
}

/// The part of a key that users see before they trust it: another key is another line.
pub fn line(directory: &Path, name: &str, key: &Secret) -> String {
    let digest = Sha256::digest(key.expose().as_bytes());
    let mark = hex::encode(&digest[..4]);
    format!(
        "the key {name} of {} (mark {mark})",
        directory.join(".env").display()
    )
}

/// Names and values; of a name that is set twice the last one. A line that is none is passed over.
fn parse(text: &str) -> BTreeMap<String, String> {
    text.trim_start_matches('\u{feff}')
        .lines()
        .filter_map(assignment)
        .collect()
}

/// `NAME=value`, `export NAME="value"`, with a comment after it.
fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = match line.strip_prefix("export") {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => line,
    };
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end();
    let named = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| !c.is_ascii_digit());
    named.then(|| Some((name.to_owned(), unquoted(value.trim())?)))?
}

/// The value; `None` where a quote does not end.
fn unquoted(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        return rest.split_once('\'').map(|(inner, _)| inner.to_owned());
    }
    if let Some(rest) = value.strip_prefix('"') {
        let mut inner = String::new();
        let mut letters = rest.chars();
        loop {
            match letters.next()? {
                '"' => return Some(inner),
                '\\' => match letters.next()? {
                    'n' => inner.push('\n'),
                    't' => inner.push('\t'),
                    'r' => inner.push('\r'),
                    other => inner.push(other),
                },
                other => inner.push(other),
            }
        }
    }
    if value.starts_with('#') {
        return Some(String::new());
    }
    let end = value.find(" #").or_else(|| value.find("\t#"));
    Some(value[..end.unwrap_or(value.len())].trim_end().to_owned())
}

#[cfg(test)]
mod tests;
