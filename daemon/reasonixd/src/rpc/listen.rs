//! The socket: made, guarded, accepted from.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use interprocess::local_socket::tokio::{Listener, prelude::*};
use interprocess::local_socket::{GenericFilePath, ListenerOptions};
use interprocess::os::unix::local_socket::ListenerOptionsExt as _;
use jsonrpsee::Methods;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{conn, peer};
use crate::daemon::Daemon;

/// Connections at a time.
const CONNECTIONS_MAX: usize = 512;

/// How often it is looked whether the socket's file is still there. A client waits longer than this for a daemon.
const LOOK: Duration = Duration::from_secs(1);

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    #[error("the socket's path `{}` is longer than the {max} bytes that the system takes: set REASONIX_SOCKET to a shorter one", .path.display())]
    TooLong { path: PathBuf, max: usize },
    #[error("the socket's directory `{}` must belong to you and be closed to others (mode 0700): mend it with `chmod 700`", .path.display())]
    Open { path: PathBuf },
    #[error("{doing} `{}`", .path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

/// A listening socket. Its file is removed at the end, if it is still ours.
pub struct Socket {
    listener: Listener,
    path: PathBuf,
    inode: u64,
}

impl Socket {
    /// Binds the socket. The home's lock is held: whatever stands at the path is dead.
    ///
    /// # Errors
    /// The path is too long, its directory is not private, or the system does not want it.
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        const PATH_MAX: usize = 107;
        if path.as_os_str().len() > PATH_MAX {
            return Err(SocketError::TooLong {
                path: path.to_path_buf(),
                max: PATH_MAX,
            });
        }
        let io = |doing, source| SocketError::Io {
            doing,
            path: path.to_path_buf(),
            source,
        };
        let directory = path.parent().unwrap_or(Path::new("/"));
        if !directory.exists() {
            let made = fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory);
            made.map_err(|error| io("make the directory of the socket", error))?;
        }
        let meta = fs::metadata(directory)
            .map_err(|error| io("look at the directory of the socket", error))?;
        if meta.uid() != rustix::process::geteuid().as_raw() || meta.mode() & 0o022 != 0 {
            return Err(SocketError::Open {
                path: directory.to_path_buf(),
            });
        }
        if fs::symlink_metadata(path).is_ok() {
            fs::remove_file(path).map_err(|error| io("remove the dead socket", error))?;
        }
        let name = path
            .to_fs_name::<GenericFilePath>()
            .map_err(|error| io("name the socket", error))?;
        let options = ListenerOptions::new()
            .name(name)
            .mode(0o600)
            .reclaim_name(false);
        let listener = options
            .create_tokio()
            .map_err(|error| io("bind the socket", error))?;
        // The mode was set before the bind; where the system ignores that, it is set again.
        let mode = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
        mode.map_err(|error| io("close the socket to others", error))?;
        let inode = fs::symlink_metadata(path)
            .map_err(|error| io("look at the socket", error))?
            .ino();
        Ok(Self {
            listener,
            path: path.to_path_buf(),
            inode,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether nothing stands at the path any more. Something else that stands there is not ours to replace.
    fn is_gone(&self) -> bool {
        fs::symlink_metadata(&self.path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Another daemon may have taken the path over: its socket is not ours to remove.
        let ours = fs::symlink_metadata(&self.path).is_ok_and(|meta| meta.ino() == self.inode);
        if ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A socket in place of one that has lost its name. Connections of the old one go on.
fn made_again(old: Socket) -> Socket {
    match Socket::bind(&old.path) {
        Ok(new) => {
            tracing::warn!(path = %new.path.display(), "the socket was removed, and has been made again");
            new
        }
        Err(error) => {
            tracing::error!(%error, "the socket was removed, and cannot be made again");
            old
        }
    }
}

/// Accepts until `stop`. Only our own user gets an answer (I10).
pub async fn serve(
    mut socket: Socket,
    daemon: Arc<Daemon>,
    methods: Methods,
    stop: CancellationToken,
) {
    let connections = TaskTracker::new();
    let number = AtomicU64::new(0);
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            // Logging out removes a runtime directory, and cleaners remove old files: nobody could reach the sessions
            // of a daemon whose socket has no name.
            _ = look.tick() => {
                if socket.is_gone() {
                    socket = made_again(socket);
                }
                continue;
            }
            accepted = socket.listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                // No more descriptors, for instance: others leave, then it works again.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Ok(creds) = stream.peer_creds() else {
            continue;
        };
        if creds.euid() != Some(rustix::process::geteuid().as_raw()) {
            tracing::warn!(user = ?creds.euid(), "a connection of another user was dropped");
            continue;
        }
        let descends = creds
            .pid()
            .and_then(|pid| u32::try_from(pid).ok())
            .is_none_or(|pid| peer::descends(pid, std::process::id()));
        let full = connections.len() >= CONNECTIONS_MAX;
        let number = number.fetch_add(1, Ordering::Relaxed) + 1;
        connections.spawn(conn::serve(
            stream,
            number,
            descends,
            full,
            Arc::clone(&daemon),
            methods.clone(),
            stop.child_token(),
        ));
    }
    drop(socket);
    connections.close();
    connections.wait().await;
}
