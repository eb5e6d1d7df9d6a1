//! Reads files, and determines whether a file is still the one that was read.
//!
//! Reads only regular files: a pipe or device is refused before it is opened, and again after.
//! Called by `tools`, and by `write` for its errors and stamps.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::handle;
use crate::resolve::{Access, PathError, ResolvedPath};
use crate::workspace::Workspace;

/// The largest file that is read or written.
pub const SIZE_MAX: u64 = 50 * 1024 * 1024;

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
        let kind = meta.file_type();
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_symlink() {
            Self::Link
        } else if kind.is_fifo() {
            Self::Fifo
        } else if kind.is_socket() {
            Self::Socket
        } else {
            Self::Device
        }
    }

    pub(crate) fn of_type(kind: rustix::fs::FileType) -> Self {
        use rustix::fs::FileType;
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Self::Device,
        }
    }

    pub(crate) fn words(self) -> &'static str {
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
        let mtime_ns = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
        Self {
            mtime_ns,
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
    #[error("`{}` was just changed by another program", path.display())]
    Changed { path: PathBuf },
    #[error("`{}` exists already", path.display())]
    Exists { path: PathBuf },
    #[error("the directory `{}` is not empty: it has {entries} entries", path.display())]
    NotEmpty { path: PathBuf, entries: usize },
    #[error("`{}` has more than {max} entries, or is deeper than {DEPTH_MAX} directories", path.display())]
    TooMany { path: PathBuf, max: usize },
    #[error("`{}` is inside `{}`", path.display(), outer.display())]
    Inside { path: PathBuf, outer: PathBuf },
    #[error("`{}` is the workspace, or contains it", path.display())]
    Root { path: PathBuf },
    #[error("`{}` contains `{}`, which {why}", path.display(), held.display())]
    Holds {
        path: PathBuf,
        held: PathBuf,
        why: &'static str,
    },
    #[error("`{}` is a directory, and the destination is on another device", path.display())]
    AcrossDevices { path: PathBuf },
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
        match at.kind() {
            None => {
                return Err(FileError::Missing {
                    path: path.to_owned(),
                });
            }
            Some(FileKind::File) => {}
            Some(kind) => {
                return Err(FileError::NotAFile {
                    path: path.to_owned(),
                    kind,
                });
            }
        }
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
            .map_err(|source| FileError::io("read", at.path(), source))?;
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

    /// Opens a resolved path if it is a regular file. Follows no link.
    pub(crate) fn open_regular(&self, path: &Path) -> Result<OpenFile, FileError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let fd = handle::open(&self.slash, path, flags).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => FileError::Missing {
                path: path.to_owned(),
            },
            _ if handle::met_link(&source) => FileError::Changed {
                path: path.to_owned(),
            },
            _ => FileError::io("open", path, source),
        })?;
        let file = File::from(fd);
        let meta = file
            .metadata()
            .map_err(|source| FileError::io("look at", path, source))?;
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
