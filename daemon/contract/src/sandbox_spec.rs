//! The sandbox of a command, as data: the session defines it, and `procs` has the kernel enforce
//! it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::lossless_paths;

/// The sandbox of one command. All paths are absolute and free of links.
///
/// The whole file system is readable except for masked paths. Only the listed directories are
/// writable. Processes of others are never visible or signallable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSpec {
    /// Writable directories, with everything below them.
    #[serde(with = "lossless_paths::many")]
    pub write: Vec<PathBuf>,
    /// Paths below them that cannot be changed. A missing one is moved away when it comes.
    #[serde(with = "lossless_paths::many")]
    pub protected: Vec<PathBuf>,
    /// Those of them that git obeys because a config file names them. A missing one is moved away at
    /// once when it comes, also while the command is waited for.
    #[serde(with = "lossless_paths::many")]
    pub obeyed: Vec<PathBuf>,
    /// The repositories in the roots before the command: new ones are judged when it has ended.
    pub repositories: Vec<KnownRepositories>,
    /// Directories and files that appear empty and cannot be changed. A missing one needs nothing.
    #[serde(with = "lossless_paths::many")]
    pub masked: Vec<PathBuf>,
    /// Directories below masked ones that are still readable, if they exist.
    #[serde(with = "lossless_paths::many")]
    pub readable: Vec<PathBuf>,
    /// The session's temporary directory: writable at its own path, and as `/tmp`.
    pub temp: PathBuf,
    /// Whether the machine's network is accessible. Otherwise the session has its own loopback,
    /// where its commands reach each other's servers.
    pub network: bool,
    /// Unix sockets, and directories with such, that may be reached besides those in the temporary
    /// directory and those of name services.
    #[serde(with = "lossless_paths::many")]
    pub sockets: Vec<PathBuf>,
}

/// The repositories of a writable root when a command starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownRepositories {
    pub root: PathBuf,
    /// Directories below it that git takes for a repository; the root itself if its own `.git` is held.
    #[serde(with = "lossless_paths::many")]
    pub places: BTreeSet<PathBuf>,
    /// Directories below it that could not be listed.
    #[serde(with = "lossless_paths::many")]
    pub closed: BTreeSet<PathBuf>,
    /// Whether the search was complete, but for these.
    pub whole: bool,
    /// What the session may write, the root among it.
    #[serde(with = "lossless_paths::many")]
    pub writable: Vec<PathBuf>,
}

/// How strong the sandbox is on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SandboxStrength {
    /// None: only the user's rights apply.
    #[default]
    None,
    /// Partial: some layer works, but not all of it (sockets, network). It does not replace the
    /// user's approval.
    Partial,
    /// Full: the kernel restricts files, processes and network.
    Full,
}
