//! Reads files, and determines whether a file is still the one that was read.
//!
//! Reads only regular files: a pipe or device is refused before it is opened, and again after.
//! Called by `tools`, and by `write` for its errors and stamps.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use proto::record::KnownFile;
use rustix::fs::{FileType, OFlags};
use sha2::{Digest, Sha256};

use crate::handle;
use crate::resolve::{Access, PathError, ResolvedPath};
use crate::workspace::Workspace;

/// The largest file that is read or written.
pub const SIZE_MAX: u64 = 50 * 1024 * 1024;
/// Bytes of a file that is hashed although only its start is wanted.
const HASHED_MAX: u64 = 1024 * 1024;

/// Maximum depth of a directory that is copied, moved or walked.
pub(crate) const DEPTH_MAX: usize = 128;

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    /// Only while a path is being resolved.
    Link,
    Fifo,
    Socket,
    Device,
}

impl FileKind {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self::of_type(FileType::from_raw_mode(meta.mode()))
    }

    pub(crate) fn of_type(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Self::Device,
        }
    }

    /// The type in words, with its article.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link that was just created",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
        }
    }
}

/// The state of a file when its content was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    pub mtime_ns: i128,
    pub size: u64,
    pub inode: u64,
    pub sha256: [u8; 32],
}

impl FileStamp {
    pub(crate) fn new(meta: &Metadata, size: u64, hash: Sha256) -> Self {
        Self {
            size,
            sha256: hash.finalize().into(),
            ..Self::unhashed(meta)
        }
    }

    pub(crate) fn unhashed(meta: &Metadata) -> Self {
        Self {
            mtime_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            size: meta.size(),
            inode: meta.ino(),
            sha256: [0; 32],
        }
    }

    /// Whether both have the same bytes, whatever happened to the file in between.
    #[must_use]
    pub fn same_content(&self, other: &Self) -> bool {
        self.size == other.size && self.sha256 == other.sha256
    }

    /// As the log keeps it. `None`: the path is not valid UTF-8, or the time is out of range.
    #[must_use]
    pub fn known_file(&self, path: &Path) -> Option<KnownFile> {
        Some(KnownFile {
            path: path.to_str()?.to_owned(),
            sha256: hex::encode(self.sha256),
            bytes: self.size,
            modified_ns: i64::try_from(self.mtime_ns).ok()?,
            inode: self.inode,
            partial: false,
        })
    }

    /// Whether the file was not touched in between.
    pub(crate) fn same_file(&self, other: &Self) -> bool {
        (self.mtime_ns, self.size, self.inode) == (other.mtime_ns, other.size, other.inode)
    }
}

/// A file's bytes and their stamp.
#[derive(Clone, Debug)]
pub struct FileContent {
    pub bytes: Vec<u8>,
    pub stamp: FileStamp,
}

/// The first bytes of a file, and the stamp of all of it.
#[derive(Clone, Debug)]
pub struct FileStart {
    pub bytes: Vec<u8>,
    /// Of more than [`HASHED_MAX`] bytes it has no hash: only its size and dates say whether it is the same.
    pub stamp: FileStamp,
    /// The bytes are all of it.
    pub is_whole: bool,
}

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("`{}` does not exist", path.display())]
    Missing { path: PathBuf },
    #[error("`{}` is {}, not a file", path.display(), kind.words())]
    NotAFile { path: PathBuf, kind: FileKind },
    #[error("`{}` has {size} bytes; the limit is {SIZE_MAX}", path.display())]
    TooLarge { path: PathBuf, size: u64 },
    #[error("`{}` is read-only (mode {mode:04o})", path.display())]
    ReadOnly { path: PathBuf, mode: u32 },
    #[error("`{}` was just changed by another program", .0.display())]
    Changed(PathBuf),
    #[error("`{}` exists already", .0.display())]
    Exists(PathBuf),
    #[error("the directory `{}` is not empty: it has {entries} entries", path.display())]
    NotEmpty { path: PathBuf, entries: usize },
    #[error("`{}` has more than {max} entries, or is deeper than {DEPTH_MAX} directories", path.display())]
    TooMany { path: PathBuf, max: usize },
    #[error("`{}` is inside `{}`", path.display(), outer.display())]
    Inside { path: PathBuf, outer: PathBuf },
    #[error("`{}` is the workspace, or contains it", .0.display())]
    Root(PathBuf),
    #[error("`{}` contains `{}`, which {why}", path.display(), held.display())]
    Holds {
        path: PathBuf,
        held: PathBuf,
        why: &'static str,
    },
    #[error("`{}` is a directory, and the destination is on another device", .0.display())]
    AcrossDevices(PathBuf),
    #[error("it was cancelled")]
    Stopped,
    #[error("{doing} `{}`: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl FileError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io {
            doing,
            path: path.to_owned(),
            source: source.into(),
        }
    }
}

/// Adds the operation and the path to errors of the system.
pub(crate) trait IoContext<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, FileError>;

    /// Like `at`, for an operation that follows no link: one in the path was created just now.
    fn at_no_link(self, doing: &'static str, path: &Path) -> Result<T, FileError>;
}

impl<T, E: Into<io::Error>> IoContext<T> for Result<T, E> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, FileError> {
        self.map_err(|source| FileError::io(doing, path, source))
    }

    fn at_no_link(self, doing: &'static str, path: &Path) -> Result<T, FileError> {
        self.map_err(|source| match source.into() {
            link if handle::met_link(&link) => FileError::Changed(path.to_owned()),
            source => FileError::io(doing, path, source),
        })
    }
}

impl ResolvedPath {
    /// The type of the file that is there.
    pub(crate) fn existing(&self) -> Result<FileKind, FileError> {
        self.kind().ok_or_else(|| FileError::Missing {
            path: self.path().to_owned(),
        })
    }

    /// Checks that it is a directory.
    pub(crate) fn expect_directory(&self) -> Result<(), FileError> {
        match self.existing()? {
            FileKind::Directory => Ok(()),
            _ => Err(PathError::NotADirectory(self.path().to_owned()).into()),
        }
    }

    /// Checks that it is a file.
    pub(crate) fn expect_file(&self) -> Result<(), FileError> {
        match self.existing()? {
            FileKind::File => Ok(()),
            kind => Err(FileError::NotAFile {
                path: self.path().to_owned(),
                kind,
            }),
        }
    }
}

/// Bytes that are read at once, at least (some files do not say how long they are) and at most.
const PART_MIN: u64 = 8 * 1024;
const PART_MAX: u64 = 128 * 1024;

/// Reads to the end, and passes on each part. Returns how many bytes there were. `expected`: how many there are likely to
/// be, so that little memory is made ready for a short file.
pub(crate) fn each_part(
    mut source: impl Read,
    expected: u64,
    mut take: impl FnMut(&[u8]),
) -> io::Result<u64> {
    let mut size = 0;
    // One more than expected: the end is seen without another part.
    let part_len = expected.saturating_add(1).clamp(PART_MIN, PART_MAX);
    let mut part = vec![0; usize::try_from(part_len).map_err(io::Error::other)?];
    loop {
        match source.read(&mut part) {
            Ok(0) => return Ok(size),
            Ok(count) => {
                size += count as u64;
                take(&part[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads a whole file of at most `max` bytes. `None`: it has more.
pub(crate) fn read_capped(file: File, max: u64) -> io::Result<Option<Vec<u8>>> {
    if file.metadata()?.len() > max {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= max))
}

/// Nanoseconds since 1970.
pub(crate) fn nanoseconds(seconds: impl Into<i128>, rest: impl Into<i128>) -> i128 {
    seconds.into() * 1_000_000_000 + rest.into()
}

/// A regular file that is open for reading.
#[derive(Debug)]
pub struct OpenFile {
    pub(crate) file: File,
    pub(crate) meta: Metadata,
}

impl Workspace {
    /// Opens a file for reading. Never blocks on special files.
    ///
    /// # Errors
    /// It is denied to read, does not exist, is not a file, or is too large.
    pub fn open_file(&self, at: &ResolvedPath) -> Result<OpenFile, FileError> {
        self.check(at, Access::Read)?;
        let path = at.path();
        at.expect_file()?;
        let file = self.open_regular(path)?;
        if file.meta.size() > SIZE_MAX {
            return Err(FileError::TooLarge {
                path: path.to_owned(),
                size: file.meta.size(),
            });
        }
        Ok(file)
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// As `open_file`, or the disk fails.
    pub fn read(&self, at: &ResolvedPath) -> Result<FileContent, FileError> {
        let OpenFile { file, meta } = self.open_file(at)?;
        let mut bytes = Vec::with_capacity(usize::try_from(meta.size()).unwrap_or(0));
        // Files below `/proc` have no size, and any file may grow while it is read.
        file.take(SIZE_MAX + 1)
            .read_to_end(&mut bytes)
            .at("read", at.path())?;
        let size = bytes.len() as u64;
        if size > SIZE_MAX {
            return Err(FileError::TooLarge {
                path: at.path().to_owned(),
                size,
            });
        }
        let stamp = FileStamp::new(&meta, size, Sha256::new_with_prefix(&bytes));
        Ok(FileContent { bytes, stamp })
    }

    /// Reads at most the first `max` bytes of a file that no call asks for.
    ///
    /// # Errors
    /// As `open_file`; [`Self::close_unasked`] closes it; or the disk fails.
    pub fn read_start(&self, at: &ResolvedPath, max: usize) -> Result<FileStart, FileError> {
        if let Some(pattern) = self.unasked_denied(at.path()) {
            let path = at.path().to_owned();
            return Err(PathError::Denied { path, pattern }.into());
        }
        let OpenFile { file, meta } = self.open_file(at)?;
        let mut bytes = Vec::new();
        let mut hash = Sha256::new();
        let size = each_part(file.take(HASHED_MAX + 1), meta.len(), |part| {
            hash.update(part);
            let room = (max + 1).saturating_sub(bytes.len());
            bytes.extend_from_slice(&part[..part.len().min(room)]);
        });
        let size = size.at("read", at.path())?;
        let is_whole = bytes.len() <= max;
        bytes.truncate(max);
        let stamp = match size > HASHED_MAX {
            true => FileStamp::unhashed(&meta),
            false => FileStamp::new(&meta, size, hash),
        };
        Ok(FileStart {
            bytes,
            stamp,
            is_whole,
        })
    }

    /// Opens a resolved path if it is a regular file. Follows no link.
    pub(crate) fn open_regular(&self, path: &Path) -> Result<OpenFile, FileError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = match handle::open(&self.slash, path, flags) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FileError::Missing {
                    path: path.to_owned(),
                });
            }
            opened => File::from(opened.at_no_link("open", path)?),
        };
        let meta = file.metadata().at("look at", path)?;
        match FileKind::of(&meta) {
            FileKind::File => Ok(OpenFile { file, meta }),
            kind => Err(FileError::NotAFile {
                path: path.to_owned(),
                kind,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
