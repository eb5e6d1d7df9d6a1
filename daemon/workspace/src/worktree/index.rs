//! Reads the tracked files from the repository's index (versions 2 to 4, also split indexes),
//! without running git.
//!
//! Trusts no data there: the project's commands may write to it. Called by a survey.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::git_directories::GitDirectory;
use crate::read::{FileError, read_capped};
use crate::workspace::Workspace;

/// Maximum bytes of an index.
const INDEX_MAX: u64 = 256 * 1024 * 1024;
/// Maximum bytes of a name in a work tree.
const NAME_MAX: usize = 4096;
/// Offsets of the mode and of the object name in an entry.
const MODE_AT: usize = 24;
const STAT_BYTES: usize = 40;

/// The index entries to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexEntryKind {
    /// Files and links.
    File,
    /// Nested repositories.
    Repository,
}

/// A repository's git directory, as far as surveys need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurveyedRepository {
    pub objects: PathBuf,
    /// It uses SHA-1 object names, as most repositories do.
    pub sha1: bool,
    /// Length of an object name in bytes.
    name_bytes: usize,
    /// The top of the work tree.
    pub(super) top: PathBuf,
    /// The directory of this work tree alone, with its index.
    dir: PathBuf,
    /// Ignore rules outside the work tree.
    pub(super) exclude: PathBuf,
}

impl SurveyedRepository {
    /// Opens a repository by its git directory.
    pub(crate) fn of(workspace: &Workspace, at: &GitDirectory) -> Option<Self> {
        let (own, dir) = (std::fs::canonicalize(&at.own).ok()?, &at.common);
        let config = workspace.git_file(&dir.join("config")).ok().flatten();
        let config = String::from_utf8_lossy(&config.unwrap_or_default()).to_ascii_lowercase();
        let objects = std::fs::canonicalize(dir.join("objects")).ok()?;
        let sha1 = !config.contains("objectformat");
        Some(Self {
            objects,
            sha1,
            name_bytes: if sha1 || !config.contains("sha256") {
                20
            } else {
                32
            },
            top: at.top.clone(),
            dir: own,
            exclude: dir.join("info/exclude"),
        })
    }
}

impl Workspace {
    /// Calls back with the path of each tracked file, or of each submodule, from the top of the work
    /// tree. Some are named more than once.
    ///
    /// # Errors
    /// Why the index cannot be read.
    pub(crate) fn tracked(
        &self,
        repository: &SurveyedRepository,
        kind: IndexEntryKind,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), String> {
        let mut next = Some("index".to_owned());
        let mut read = HashSet::new();
        while let Some(name) = next.take().filter(|name| read.insert(name.clone())) {
            let Some(bytes) = self.index_bytes(&repository.dir.join(name))? else {
                return Ok(());
            };
            let base = names(&bytes, repository.name_bytes, kind, take);
            let base = base.ok_or("git's index has an unsupported format")?;
            // Entries of the base that this index deleted still count as tracked. They are only
            // surveyed.
            next = base.map(|base| format!("sharedindex.{base}"));
        }
        Ok(())
    }

    /// Returns `None` if there is no index, so that nothing is tracked.
    fn index_bytes(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let cannot = |why: &dyn std::fmt::Display| format!("git's index cannot be read: {why}");
        let open = match self.open_regular(path) {
            Ok(open) => open,
            Err(FileError::Missing { .. }) => return Ok(None),
            Err(error) => return Err(cannot(&error)),
        };
        match read_capped(open.file, INDEX_MAX).map_err(|error| cannot(&error))? {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(cannot(&"it is too large")),
        }
    }
}

/// Calls back with the names of an index. Returns the hash, in hex, of the shared index that it
/// extends. `None` if it is not an index.
pub(super) fn names(
    bytes: &[u8],
    name_bytes: usize,
    kind: IndexEntryKind,
    take: &mut dyn FnMut(&[u8]),
) -> Option<Option<String>> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = word(bytes, 4)?;
    let count = word(bytes, 8)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut name) = (12, Vec::new());
    for _ in 0..count {
        let begun = at;
        let mode = word(bytes, at + MODE_AT)?;
        at += STAT_BYTES + name_bytes;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += 2;
        if version >= 3 && flags & 0x4000 != 0 {
            at += 2;
        }
        if version == 4 {
            let dropped = offset(bytes, &mut at)?;
            name.truncate(name.len().checked_sub(dropped)?);
        } else {
            name.clear();
        }
        let rest = bytes.get(at..)?;
        let end = memchr::memchr(0, rest)?;
        name.extend_from_slice(rest.get(..end)?);
        at += end + 1;
        if version < 4 {
            // Each entry is padded to eight bytes.
            at = begun + (at - begun).next_multiple_of(8);
        }
        // A submodule or a sparse directory is not a file. An empty name refers to an entry of the
        // shared index.
        let wanted = match kind {
            IndexEntryKind::File => matches!(mode >> 12, 0o10 | 0o12),
            IndexEntryKind::Repository => mode >> 12 == 0o16,
        };
        if wanted && !name.is_empty() && name.len() <= NAME_MAX {
            take(&name);
        }
    }
    base(bytes, at, name_bytes)
}

/// Parses the extensions after the entries for the shared index.
fn base(bytes: &[u8], mut at: usize, name_bytes: usize) -> Option<Option<String>> {
    // The final bytes are the hash of everything before.
    while at + 8 + name_bytes <= bytes.len() {
        let kind = bytes.get(at..at + 4)?;
        let length = usize::try_from(word(bytes, at + 4)?).ok()?;
        at += 8;
        if kind == b"link" {
            let hash = bytes.get(at..at + name_bytes)?;
            let is_set = hash.iter().any(|byte| *byte != 0);
            return Some(is_set.then(|| hex::encode(hash)));
        }
        at = at.checked_add(length)?;
    }
    Some(None)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// How many bytes of the previous name are dropped: seven bits per byte, highest first.
fn offset(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut next = || {
        let byte = *bytes.get(*at)?;
        *at += 1;
        Some(byte)
    };
    let mut byte = next()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = next()?;
        value = value.checked_add(1)?.checked_mul(128)?;
        value = value.checked_add(usize::from(byte & 0x7f))?;
    }
    Some(value)
}
