//! What the assembly says once about every process that will be started.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How `Procs` works.
#[derive(Clone, Debug)]
pub struct Options {
    pub helper: Helper,
    pub limits: Limits,
    /// The file mode mask of commands. `None`: the daemon's own at the time of the start. A daemon that
    /// narrows its mask for its own files says here what the person's was.
    pub umask: Option<u32>,
}

impl Options {
    /// The daemon's own binary as helper, and the limits that are on by default.
    ///
    /// # Errors
    /// Where the daemon cannot find its own binary.
    pub fn of_this_binary() -> io::Result<Self> {
        Ok(Self {
            helper: Helper::this_binary()?,
            limits: Limits::default(),
            umask: None,
        })
    }
}

/// The program that calls [`crate::child::child_main`], and how it is told to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    pub program: PathBuf,
    /// Arguments before our own; `main` recognises the helper by them.
    pub arguments: Vec<OsString>,
}

impl Helper {
    /// The running binary, called as `<binary> child`.
    ///
    /// # Errors
    /// Where the system cannot name the running binary.
    pub fn this_binary() -> io::Result<Self> {
        Ok(Self {
            program: this_binary()?,
            arguments: vec![OsString::from("child")],
        })
    }
}

/// The running binary. On Linux by the link that still holds after an update has replaced the file, so
/// that daemon and helper are always of the same build.
///
/// # Errors
/// Where the system cannot name the running binary.
pub fn this_binary() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe()
    }
}

/// Resource limits of every command, as far as the system's own allow. `None`: not limited by us.
/// Core files are always off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processes and threads of the user. The kernel does not apply it to root.
    pub processes: Option<u64>,
    pub open_files: Option<u64>,
    /// Address space of one process, in bytes. Off by default: many runtimes reserve far more than they use.
    pub address_space: Option<u64>,
    /// Size of one file, in bytes.
    pub file_size: Option<u64>,
}

impl Default for Limits {
    /// Ends a fork bomb before it ends the machine; leaves the rest to the system.
    fn default() -> Self {
        Self {
            processes: Some(16_384),
            open_files: None,
            address_space: None,
            file_size: None,
        }
    }
}
