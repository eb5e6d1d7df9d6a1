//! Which projects' config may take effect: `<home>/trust.json`, directory → hash of the shown content.
//!
//! A yes is bound to exactly the lines that were shown: when they change, it is asked again.

use std::collections::{BTreeMap, HashMap};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::{read, write};

/// Trust that lasts as long as connections: home, directory and hash, and how many connections trust it.
static TEMPORARY: Mutex<Temporary> = Mutex::new(Temporary::new());

type Entry = (PathBuf, PathBuf, String);

struct Temporary {
    entries: Option<HashMap<Entry, usize>>,
    /// Changes with the entries.
    revision: u64,
}

impl Temporary {
    const fn new() -> Self {
        Self {
            entries: None,
            revision: 0,
        }
    }
}

/// Trust that ends when this is dropped. Never on disk.
#[derive(Debug)]
pub struct TemporaryTrust(Vec<Entry>);

impl TemporaryTrust {
    /// Trusts these directories with the lines of these hashes.
    pub fn new(home: &Path, trusted: impl Iterator<Item = (PathBuf, String)>) -> Self {
        let entries: Vec<Entry> = trusted
            .map(|(directory, hash)| (home.to_path_buf(), directory, hash))
            .collect();
        let mut temporary = temporary();
        temporary.revision += 1;
        let known = temporary.entries.get_or_insert_default();
        for entry in &entries {
            *known.entry(entry.clone()).or_default() += 1;
        }
        Self(entries)
    }
}

impl Drop for TemporaryTrust {
    fn drop(&mut self) {
        let mut temporary = temporary();
        temporary.revision += 1;
        let known = temporary.entries.get_or_insert_default();
        for entry in &self.0 {
            let left = known.get(entry).map_or(0, |count| count.saturating_sub(1));
            match left {
                0 => known.remove(entry),
                left => known.insert(entry.clone(), left),
            };
        }
    }
}

fn temporary() -> MutexGuard<'static, Temporary> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Changes whenever trust for a time begins or ends.
#[must_use]
pub fn temporary_revision() -> u64 {
    temporary().revision
}

fn is_trusted_for_now(home: &Path, directory: &Path, hash: &str) -> bool {
    let temporary = temporary();
    let known = temporary.entries.as_ref();
    let entry = || (home.to_path_buf(), directory.to_path_buf(), hash.to_owned());
    known.is_some_and(|known| !known.is_empty() && known.contains_key(&entry()))
}

/// Two changes at once would lose one of them.
static CHANGING: Mutex<()> = Mutex::new(());

/// SHA-256 over lines, hexadecimal.
#[must_use]
pub fn hash(lines: &[String]) -> String {
    hex::encode(Sha256::digest(lines.join("\n").as_bytes()))
}

/// Whether the user trusts this directory with these lines. What cannot be read is not trusted. A session's own git
/// worktree is trusted with the lines that its origin is trusted with.
#[must_use]
pub fn is_trusted(home: &Path, directory: &Path, hash: &str) -> bool {
    if is_trusted_itself(home, directory, hash) {
        return true;
    }
    let origin = store::worktrees::in_origin(home, directory);
    origin.is_some_and(|origin| is_trusted_itself(home, &origin, hash))
}

fn is_trusted_itself(home: &Path, directory: &Path, hash: &str) -> bool {
    if is_trusted_for_now(home, directory, hash) {
        return true;
    }
    let trusted = read(home).unwrap_or_default();
    trusted
        .get(&*directory.to_string_lossy())
        .is_some_and(|known| known == hash)
}

/// Whether the user trusts this directory with some lines, if perhaps others than it has now.
#[must_use]
pub fn is_known(home: &Path, directory: &Path) -> bool {
    let trusted = read(home).unwrap_or_default();
    trusted.contains_key(&*directory.to_string_lossy())
}

/// Remembers with which lines these directories are trusted, or forgets that they are: all of them, or none.
///
/// # Errors
/// The file cannot be written, or is not understood; the old content is still there.
pub fn set(home: &Path, changes: &[(&Path, Option<String>)]) -> Result<()> {
    let _one = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut trusted = read(home)?;
    for (directory, hash) in changes {
        let key = directory.to_string_lossy().into_owned();
        match hash {
            Some(hash) => trusted.insert(key, hash.clone()),
            None => trusted.remove(&key),
        };
    }
    let text = serde_json::to_string_pretty(&trusted).map_err(Error::other)?;
    if text.len() as u64 > read::MAX {
        return Err(Error::other(format!(
            "{} would be longer than {} bytes",
            file_in(home).display(),
            read::MAX
        )));
    }
    write::replace_own(&file_in(home), &text)
}

fn file_in(home: &Path) -> PathBuf {
    home.join("trust.json")
}

/// All that is trusted. Without a file, or with an empty one: nothing.
fn read(home: &Path) -> Result<BTreeMap<String, String>> {
    let file = file_in(home);
    let named = |error: Error, what: &str| {
        Error::new(error.kind(), format!("{} {what}: {error}", file.display()))
    };
    match read::following(&file) {
        Ok(text) if text.is_empty() => Ok(BTreeMap::new()),
        Ok(text) => serde_json::from_str(&text)
            .map_err(|error| named(error.into(), "is not valid and was not changed")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(named(error, "cannot be read and was not changed")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn set(home: &Path, directory: &Path, hash: Option<&str>) -> Result<()> {
        super::set(home, &[(directory, hash.map(str::to_owned))])
    }

    #[test]
    fn trust_for_a_time_ends_with_its_last_holder_and_is_never_stored() {
        let home = tempfile::tempdir().unwrap();
        let (home, place) = (home.path(), Path::new("/user/ann/code"));
        let trust = |hash: &str| {
            TemporaryTrust::new(home, [(place.to_path_buf(), hash.to_owned())].into_iter())
        };
        let before = temporary_revision();
        let (first, second) = (trust("a"), trust("a"));
        assert!(is_trusted(home, place, "a") && !is_trusted(home, place, "b"));
        assert!(!is_trusted(Path::new("/other/home"), place, "a"));
        assert!(!file_in(home).exists());
        drop(first);
        assert!(is_trusted(home, place, "a"), "another holds it");
        drop(second);
        assert!(!is_trusted(home, place, "a"));
        assert_ne!(temporary_revision(), before);
    }

    #[test]
    fn changes_at_once_lose_nothing() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let named = |n: i32| Path::new("/user/ann").join(n.to_string());
        for n in 0..8 {
            set(home, &named(n), Some("a")).unwrap();
        }
        let failed = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for n in 0..8 {
                let failed = &failed;
                scope.spawn(move || {
                    let taken = set(home, &named(n), None);
                    let given = set(home, &named(n + 8), Some("b"));
                    let count = usize::from(taken.is_err()) + usize::from(given.is_err());
                    failed.fetch_add(count, std::sync::atomic::Ordering::SeqCst);
                });
            }
        });
        assert_eq!(failed.into_inner(), 0);
        for n in 0..8 {
            assert!(!is_trusted(home, &named(n), "a"), "{n}");
            assert!(is_trusted(home, &named(n + 8), "b"), "{n}");
        }
    }

    #[test]
    fn what_is_not_understood_trusts_nothing_and_is_left_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let (home, file) = (home.path(), home.path().join("trust.json"));
        let place = Path::new("/user/ann/code");
        set(home, place, Some("a")).unwrap();
        let whole = fs::read_to_string(&file).unwrap();
        for text in [
            format!("{whole}{whole}"),
            "[]".into(),
            " ".repeat(2_000_000),
        ] {
            fs::write(&file, &text).unwrap();
            for hash in [Some("b"), None] {
                let refused = set(home, place, hash).unwrap_err();
                assert!(refused.to_string().contains("trust.json"), "{refused}");
            }
            assert!(!is_trusted(home, place, "a"));
            assert!(fs::read_to_string(&file).unwrap() == text);
        }
    }
}
