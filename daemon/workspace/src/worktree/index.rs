//! Reads the tracked files from the repository's index (versions 2 to 4, also split indexes),
//! without running git.
//!
//! Trusts no data there: the project's commands may write to it. Called by a survey.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::git_directories::GitDirectory;
use crate::read::{FileError, OpenFile};
use crate::workspace::Workspace;

/// Maximum bytes of an index.
const INDEX_MAX: u64 = 256 * 1024 * 1024;
/// Maximum bytes of a name in a work tree.
const NAME_MAX: usize = 4096;
/// Offsets of the mode and of the object name in an entry.
const MODE_AT: u64 = 24;
const STAT_BYTES: u64 = 40;
/// Maximum bytes of a name, which in version 4 adds to the one before it.
const TEXT_MAX: u64 = 64 * 1024;
const BUFFER_BYTES: usize = 64 * 1024;

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
            let Some(open) = self.open_index(&repository.dir.join(name))? else {
                return Ok(());
            };
            let index = IndexReader::new(&open.file, open.meta.len());
            let base = names(index, repository.name_bytes, kind, take);
            let base = base.ok_or("git's index has an unsupported format")?;
            // Entries of the base that this index deleted still count as tracked. They are only
            // surveyed.
            next = base.map(|base| format!("sharedindex.{base}"));
        }
        Ok(())
    }

    /// Returns `None` if there is no index, so that nothing is tracked.
    fn open_index(&self, path: &Path) -> Result<Option<OpenFile>, String> {
        let cannot = |why: &dyn std::fmt::Display| format!("git's index cannot be read: {why}");
        match self.open_regular(path) {
            Ok(open) if open.meta.len() > INDEX_MAX => Err(cannot(&"it is too large")),
            Ok(open) => Ok(Some(open)),
            Err(FileError::Missing { .. }) => Ok(None),
            Err(error) => Err(cannot(&error)),
        }
    }
}

/// Reads an index piece by piece: one of a large repository never is in memory as a whole.
pub(super) struct IndexReader<R> {
    from: BufReader<R>,
    /// Bytes read so far, and in all.
    at: u64,
    bytes: u64,
}

impl<R: Read> IndexReader<R> {
    pub(super) fn new(from: R, bytes: u64) -> Self {
        Self {
            from: BufReader::with_capacity(BUFFER_BYTES, from),
            at: 0,
            bytes,
        }
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut array = [0; N];
        self.from.read_exact(&mut array).ok()?;
        self.at += N as u64;
        Some(array)
    }

    fn word(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        let skipped = io::copy(&mut self.from.by_ref().take(bytes), &mut io::sink()).ok()?;
        self.at += skipped;
        (skipped == bytes).then_some(())
    }

    /// Adds what comes before the next zero byte.
    fn until_zero(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let before = text.len();
        let mut limited = self.from.by_ref().take(TEXT_MAX);
        let read = limited.read_until(0, text).ok()?;
        self.at += read as u64;
        let ended = text.len() > before && text.pop() == Some(0);
        (ended && text.len() as u64 <= TEXT_MAX).then_some(())
    }

    /// How many bytes of the previous name are dropped: seven bits per byte, highest first.
    fn offset(&mut self) -> Option<usize> {
        let [mut byte] = self.array()?;
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            [byte] = self.array()?;
            value = value.checked_add(1)?.checked_mul(128)?;
            value = value.checked_add(usize::from(byte & 0x7f))?;
        }
        Some(value)
    }
}

/// Calls back with the names of an index. Returns the hash, in hex, of the shared index that it
/// extends. `None` if it is not an index.
pub(super) fn names<R: Read>(
    mut index: IndexReader<R>,
    name_bytes: usize,
    kind: IndexEntryKind,
    take: &mut dyn FnMut(&[u8]),
) -> Option<Option<String>> {
    if &index.array()? != b"DIRC" {
        return None;
    }
    let version = index.word()?;
    let count = index.word()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut name = Vec::new();
    for _ in 0..count {
        let begun = index.at;
        index.skip(MODE_AT)?;
        let mode = index.word()?;
        index.skip(STAT_BYTES - MODE_AT - 4 + name_bytes as u64)?;
        let flags = u16::from_be_bytes(index.array()?);
        if version >= 3 && flags & 0x4000 != 0 {
            index.skip(2)?;
        }
        if version == 4 {
            let dropped = index.offset()?;
            name.truncate(name.len().checked_sub(dropped)?);
        } else {
            name.clear();
        }
        index.until_zero(&mut name)?;
        if version < 4 {
            // Each entry is padded to eight bytes.
            let read = index.at - begun;
            index.skip(read.next_multiple_of(8) - read)?;
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
    base(index, name_bytes)
}

/// Parses the extensions after the entries for the shared index.
fn base<R: Read>(mut index: IndexReader<R>, name_bytes: usize) -> Option<Option<String>> {
    // The final bytes are the hash of everything before.
    while index.at + 8 + name_bytes as u64 <= index.bytes {
        let kind: [u8; 4] = index.array()?;
        let length = index.word()?;
        if &kind == b"link" {
            let mut hash = vec![0; name_bytes];
            index.from.read_exact(&mut hash).ok()?;
            let is_set = hash.iter().any(|byte| *byte != 0);
            return Some(is_set.then(|| hex::encode(hash)));
        }
        if index.skip(u64::from(length)).is_none() {
            break;
        }
    }
    Some(None)
}
