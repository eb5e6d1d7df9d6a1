//! The socket: made, guarded, accepted from.

use std::fs;
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use interprocess::local_socket::tokio::{Listener, prelude::*};
use interprocess::local_socket::{GenericFilePath, ListenerOptions};
use interprocess::os::unix::local_socket::ListenerOptionsExt as _;
use jsonrpsee::Methods;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{conn, peer};
use crate::daemon::Daemon;
use crate::gate::ShutdownReason;

/// Connections at a time.
const CONNECTIONS_MAX: usize = 512;

/// How often it is looked whether the home and the socket's file are still there. A client waits longer than this for a
/// daemon.
const LOOK: Duration = Duration::from_secs(1);

/// After a connection that could not be accepted: the first wait, and the longest.
const ACCEPT_WAIT: Duration = Duration::from_millis(50);
const ACCEPT_WAIT_MAX: Duration = Duration::from_secs(1);

/// How long a socket that somebody listens on may take to die. A killed daemon's lock is gone before its socket is.
const DYING: Duration = Duration::from_secs(2);

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    #[error("the socket's path `{}` is longer than the {max} bytes that the system takes: set REASONIX_SOCKET to a shorter one", .path.display())]
    TooLong { path: PathBuf, max: usize },
    #[error("the socket's directory `{}` must belong to you and be closed to others (mode 0700): fix it with `chmod 700`", .path.display())]
    Open { path: PathBuf },
    #[error("`{}` exists and is not a socket of yours, so it was not removed. Move it, or set REASONIX_SOCKET to another path", .path.display())]
    Foreign { path: PathBuf },
    #[error("another program listens on `{}`: set REASONIX_SOCKET to another path", .path.display())]
    Taken { path: PathBuf },
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
    file: (u64, u64),
}

/// What is at the socket's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum There {
    Ours,
    Nothing,
    SomethingElse,
}

impl Socket {
    /// Binds the socket. The home's lock is held, so a socket of ours that nobody listens on is a dead daemon's, and is
    /// replaced. Nothing else is.
    ///
    /// # Errors
    /// The path is too long or taken, its directory is not private, or the system does not want it.
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
        check_directory(path)?;
        clear(path)?;
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
        let meta = fs::symlink_metadata(path).map_err(|error| io("look at the socket", error))?;
        Ok(Self {
            listener,
            path: path.to_path_buf(),
            file: (meta.dev(), meta.ino()),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is at its path. What cannot be looked at just now is taken for ours.
    fn there(&self) -> There {
        match fs::symlink_metadata(&self.path) {
            Ok(meta) if (meta.dev(), meta.ino()) == self.file => There::Ours,
            Ok(_) => There::SomethingElse,
            Err(error) if error.kind() == io::ErrorKind::NotFound => There::Nothing,
            Err(_) => There::Ours,
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Another daemon may have taken the path over: its socket is not ours to remove.
        if self.there() == There::Ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes the socket's directory if there is none, and checks that nobody else can put anything into it.
fn check_directory(path: &Path) -> Result<(), SocketError> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    let io = |doing, source| SocketError::Io {
        doing,
        path: directory.to_path_buf(),
        source,
    };
    let user = rustix::process::geteuid().as_raw();
    if fs::symlink_metadata(directory).is_err() {
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory);
        made.map_err(|error| io("make the directory of the socket", error))?;
    }
    let named = fs::symlink_metadata(directory);
    let named = named.map_err(|error| io("look at the directory of the socket", error))?;
    let meta = fs::metadata(directory)
        .map_err(|error| io("look at the directory of the socket", error))?;
    // A link of another user's would lead wherever they like.
    if named.uid() != user || meta.uid() != user || meta.mode() & 0o022 != 0 {
        return Err(SocketError::Open {
            path: directory.to_path_buf(),
        });
    }
    Ok(())
}

/// Removes the socket that a dead daemon of ours has left.
fn clear(path: &Path) -> Result<(), SocketError> {
    let due = Instant::now() + DYING;
    loop {
        let Ok(meta) = fs::symlink_metadata(path) else {
            // Nothing is in the way; or the bind reports the obstacle.
            return Ok(());
        };
        let ours = meta.uid() == rustix::process::geteuid().as_raw();
        if !meta.file_type().is_socket() || !ours {
            return Err(SocketError::Foreign {
                path: path.to_path_buf(),
            });
        }
        if !is_live(path) {
            return fs::remove_file(path).or_else(|source| match source.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(SocketError::Io {
                    doing: "remove the dead socket",
                    path: path.to_path_buf(),
                    source,
                }),
            });
        }
        if Instant::now() >= due {
            return Err(SocketError::Taken {
                path: path.to_path_buf(),
            });
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether somebody listens there. Does not wait: one whose queue is full listens too.
fn is_live(path: &Path) -> bool {
    use rustix::net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let tried = SocketAddrUnix::new(path).and_then(|address| {
        let probe = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&probe, &address)
    });
    !matches!(
        tried,
        Err(rustix::io::Errno::CONNREFUSED | rustix::io::Errno::NOENT)
    )
}

/// Looks whether home and socket are still there, and does what can be done.
fn look(socket: Socket, daemon: &Daemon) -> Socket {
    if daemon.hold.is_lost() {
        if daemon.gate.shutdown_reason() != Some(ShutdownReason::HomeGone) {
            tracing::error!(home = %daemon.home.root().display(), "the home was removed or replaced: the daemon ends");
        }
        let wrong = "the daemon's home was removed or replaced: its sessions are read-only, and the daemon stops";
        daemon.problems.set("home", Some(wrong.to_owned()));
        daemon.gate.ask(ShutdownReason::HomeGone);
        // Making the socket again would make the directories of a home that is gone.
        return socket;
    }
    let (socket, wrong) = match socket.there() {
        There::Ours => (socket, None),
        There::Nothing => made_again(socket),
        There::SomethingElse => {
            let wrong = format!(
                "another file is at the socket's path `{}`, so clients cannot reach this daemon: move it away, and the socket is created again",
                socket.path.display()
            );
            (socket, Some(wrong))
        }
    };
    if daemon.problems.set("socket", wrong.clone())
        && let Some(wrong) = wrong
    {
        tracing::error!("{wrong}");
    }
    socket
}

/// A socket in place of one that has lost its name, or why there is none. Connections of the old one go on.
///
/// Logging out removes a runtime directory, and cleaners remove old files: nobody could reach the sessions of a daemon
/// whose socket has no name.
fn made_again(old: Socket) -> (Socket, Option<String>) {
    match Socket::bind(&old.path) {
        Ok(new) => {
            tracing::warn!(path = %new.path.display(), "the socket was removed, and has been made again");
            (new, None)
        }
        Err(error) => {
            let reason = store::reason(&error);
            (
                old,
                Some(format!(
                    "the socket was removed and cannot be created again: {reason}"
                )),
            )
        }
    }
}

/// How long to wait after connections that could not be accepted: no more descriptors, for instance. Others leave, then
/// it works again; until then it must not cost all of a processor, or all of the log.
#[derive(Default)]
struct Refusals {
    in_a_row: u32,
}

impl Refusals {
    /// One more. The wait before the next try.
    fn refused(&mut self, error: &io::Error) -> Duration {
        if self.in_a_row == 0 {
            tracing::warn!(%error, "a connection could not be accepted; retrying");
        }
        let wait = ACCEPT_WAIT.saturating_mul(1 << self.in_a_row.min(10));
        self.in_a_row = self.in_a_row.saturating_add(1);
        wait.min(ACCEPT_WAIT_MAX)
    }

    /// It works. Whether it did not before.
    fn accepted(&mut self) -> bool {
        let tries = std::mem::take(&mut self.in_a_row);
        if tries > 0 {
            tracing::info!(tries, "connections are accepted again");
        }
        tries > 0
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
    let mut refusals = Refusals::default();
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // What a killed helper leaves goes to the parent program: whatever is below that was started by us as well.
    let root = procs::supervisor::SupervisorProcess::of_this_process()
        .map_or_else(std::process::id, procs::supervisor::SupervisorProcess::pid);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            _ = ticks.tick() => {
                socket = look(socket, &daemon);
                continue;
            }
            accepted = socket.listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                let wait = refusals.refused(&error);
                let wrong = format!("connections cannot be accepted: {error}");
                daemon.problems.set("accept", Some(wrong));
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = tokio::time::sleep(wait) => {}
                }
                continue;
            }
        };
        if refusals.accepted() {
            daemon.problems.set("accept", None);
        }
        let Ok(creds) = stream.peer_creds() else {
            continue;
        };
        if creds.euid() != Some(rustix::process::geteuid().as_raw()) {
            tracing::warn!(user = ?creds.euid(), "a connection of another user was dropped");
            continue;
        }
        let pid = creds.pid().and_then(|pid| u32::try_from(pid).ok());
        let origin = peer::origin(pid, root);
        let full = connections.len() >= CONNECTIONS_MAX;
        let number = number.fetch_add(1, Ordering::Relaxed) + 1;
        connections.spawn(conn::serve(
            stream,
            number,
            origin,
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

#[cfg(test)]
mod tests;
