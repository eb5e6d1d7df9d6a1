//! Files of a hook that runs outside the sandbox although it reads the workspace: what they contained when the hook was
//! trusted. Blocks.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

/// Files that are larger have no hash: such a hook never counts as trusted.
const SIZE_MAX: u64 = 16 * 1024 * 1024;

/// A file, and its contents when the hook was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFile {
    pub path: PathBuf,
    pub state: FileState,
}

/// What there is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    Missing,
    /// SHA-256, hexadecimal.
    Contents(String),
    /// It cannot be read, is too large, or is no regular file.
    Unreadable,
}

impl HookFile {
    /// The file as it is now.
    #[must_use]
    pub fn read(path: PathBuf) -> Self {
        let state = state_of(&path);
        Self { path, state }
    }

    /// Whether there is anything.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.state != FileState::Missing
    }

    /// Whether it still is what was read. What cannot be read never is.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.state != FileState::Unreadable && state_of(&self.path) == self.state
    }

    /// For the user who decides whether to trust the hook; other contents have another text.
    #[must_use]
    pub fn line(&self) -> String {
        let path = self.path.display();
        match &self.state {
            FileState::Missing => format!("{path} (missing)"),
            FileState::Contents(hash) => format!("{path} (SHA-256 {hash})"),
            FileState::Unreadable => format!("{path} (unreadable)"),
        }
    }
}

fn state_of(path: &Path) -> FileState {
    // A pipe that nobody writes into must not hold us up.
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::CLOEXEC).bits()).unwrap_or_default();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return FileState::Missing,
        Err(_) => return FileState::Unreadable,
    };
    let is_small = file
        .metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() <= SIZE_MAX);
    if !is_small {
        return FileState::Unreadable;
    }
    let (mut hash, mut reader) = (Sha256::new(), file.take(SIZE_MAX + 1));
    let mut part = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut part) {
            Ok(0) => return FileState::Contents(hex(&hash.finalize())),
            Ok(count) => hash.update(part.get(..count).unwrap_or_default()),
            Err(_) => return FileState::Unreadable,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
