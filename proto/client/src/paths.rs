//! Where this process's environment says a home is, and which socket its daemon answers on. The rule itself is
//! `proto::paths`: one for clients and daemon.

use std::path::{Path, PathBuf};

pub use proto::paths::{Paths, PathsError, SOCKET_PATH_MAX, socket_of};

/// The paths that this process's environment asks for.
///
/// # Errors
/// No home is known, or the socket that was asked for cannot exist.
pub fn from_env() -> Result<Paths, PathsError> {
    // Without a working directory only absolute paths can be meant.
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    Paths::from_lookup(&|name| std::env::var_os(name), &cwd, uid())
}

/// The paths of another home than the environment's, with a socket inside it or, if need be, beside.
#[must_use]
pub fn of_home(home: &Path) -> Paths {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    Paths {
        home: home.to_path_buf(),
        socket: socket_of(home, runtime.as_deref(), uid()),
        socket_given: false,
    }
}

fn uid() -> u32 {
    rustix::process::getuid().as_raw()
}
