//! What a command may touch, as data: the session says it, `procs` has it held by the kernel.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The walls around one command. All paths are absolute and free of links.
///
/// The whole file system can be read but for what is masked; only what is named can be written. Processes of others
/// are neither seen nor signalled, whatever stands here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// Directories that may be written in, with all below them.
    pub write: Vec<PathBuf>,
    /// Places below them that stay as they are. One that does not exist cannot be made.
    pub protected: Vec<PathBuf>,
    /// Directories and files that look empty, and cannot be changed. One that does not exist needs nothing.
    pub masked: Vec<PathBuf>,
    /// Directories below masked ones that can be read all the same, where they exist.
    pub readable: Vec<PathBuf>,
    /// The session's own directory for what is temporary: written at its own path, and as `/tmp`.
    pub temp: PathBuf,
    /// Whether the network of the machine is within the walls. Else there is a loopback of the session's own, where
    /// one of its commands reaches what another one serves.
    pub network: bool,
}

/// How strongly commands are held here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Nothing but the user's rights.
    #[default]
    None,
    /// Some layer holds, but not all of it (sockets, network): it does not stand in for a person.
    Partial,
    /// Files, processes and network are held by the kernel.
    Full,
}
