//! Where a home is and which socket its daemon answers on. Pure: reads its arguments, touches no disk.
//!
//! One rule for clients and daemon:
//!
//! 1. Home: `$REASONIX_HOME`, else `$HOME/.reasonix`. A relative path is taken from the working directory.
//! 2. Socket: `$REASONIX_SOCKET`, else `<home>/run/reasonixd.sock`.
//! 3. If that last path is longer than 107 bytes: `<runtime>/reasonix/<hash>.sock`, with `<runtime>` =
//!    `$XDG_RUNTIME_DIR`, and `/tmp/reasonix-<uid>/<hash>.sock` if that is unset. `<hash>` is the first 16
//!    hexadecimal digits (lower case) of SHA-256 over the bytes of the home path.
//!
//! An empty variable counts as unset.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The longest path that a Unix socket may have on Linux, in bytes, without its closing NUL.
pub const SOCKET_PATH_MAX: usize = 107;

/// A home and the socket of its daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Absolute.
    pub home: PathBuf,
    pub socket: PathBuf,
    /// `$REASONIX_SOCKET` named the socket: a daemon that is started must get it too.
    pub socket_given: bool,
}

/// Why there are no paths.
#[derive(Debug, thiserror::Error)]
pub enum PathsError {
    /// Neither `REASONIX_HOME` nor `HOME` is set.
    #[error("no home: neither `REASONIX_HOME` nor `HOME` is set")]
    NoHome,
    /// The socket that was asked for has too long a path.
    #[error("the socket path `{}` has {} bytes; {SOCKET_PATH_MAX} are possible", path.display(), path.as_os_str().len())]
    TooLong { path: PathBuf },
}

impl Paths {
    /// The paths that an environment asks for.
    ///
    /// # Errors
    /// No home is known, or the socket that was asked for cannot exist.
    pub fn from_lookup(
        lookup: &dyn Fn(&str) -> Option<OsString>,
        cwd: &Path,
        uid: u32,
    ) -> Result<Self, PathsError> {
        let get = |name: &str| {
            lookup(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = match (get("REASONIX_HOME"), get("HOME")) {
            (Some(home), _) => cwd.join(home),
            (None, Some(user)) => cwd.join(user).join(".reasonix"),
            (None, None) => return Err(PathsError::NoHome),
        };
        match get("REASONIX_SOCKET") {
            Some(socket) => {
                let path = cwd.join(socket);
                if path.as_os_str().len() > SOCKET_PATH_MAX {
                    return Err(PathsError::TooLong { path });
                }
                Ok(Self {
                    home,
                    socket: path,
                    socket_given: true,
                })
            }
            None => {
                let socket = socket_of(&home, get("XDG_RUNTIME_DIR").as_deref(), uid);
                if socket.as_os_str().len() > SOCKET_PATH_MAX {
                    return Err(PathsError::TooLong { path: socket });
                }
                Ok(Self {
                    home,
                    socket,
                    socket_given: false,
                })
            }
        }
    }

    /// The daemon's log file.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.home.join("logs").join("reasonixd.log")
    }
}

/// The socket of a home: rules 2 and 3 above, without `$REASONIX_SOCKET`.
#[must_use]
pub fn socket_of(home: &Path, runtime: Option<&Path>, uid: u32) -> PathBuf {
    let inside = home.join("run").join("reasonixd.sock");
    if inside.as_os_str().len() <= SOCKET_PATH_MAX {
        return inside;
    }
    let directory = match runtime {
        Some(runtime) => runtime.join("reasonix"),
        None => PathBuf::from(format!("/tmp/reasonix-{uid}")),
    };
    directory.join(format!("{}.sock", hash(home)))
}

/// The first 16 hexadecimal digits of SHA-256 over the path's bytes.
fn hash(home: &Path) -> String {
    let digest = Sha256::digest(home.as_os_str().as_bytes());
    hex::encode(&digest[..8])
}

#[cfg(test)]
mod tests;
