//! Namespaces that outlive the process that opened them, as file descriptors: the loopback that a
//! session's commands share.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A network namespace and its user namespace. It exists while a process is in it or this value is
/// alive.
#[derive(Debug)]
pub struct NetworkNamespace {
    /// `None`: the user namespace of this process.
    user: Option<OwnedFd>,
    network: OwnedFd,
}

impl NetworkNamespace {
    /// The network and user namespaces of the calling process, to be handed over.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn own() -> io::Result<[OwnedFd; 2]> {
        Ok([own("net")?, own("user")?])
    }

    /// Wraps namespaces that were handed over.
    ///
    /// # Errors
    /// They are the current ones: no new namespace was opened.
    pub fn of(network: OwnedFd, user: OwnedFd) -> io::Result<Self> {
        if is_same(&network, &own("net")?)? {
            return Err(io::Error::other("no network namespace was opened"));
        }
        let shared = is_same(&user, &own("user")?)?;
        let user = (!shared).then_some(user);
        Ok(Self { user, network })
    }

    fn enter(&self) -> io::Result<()> {
        // Enters the user namespace first: it grants the right to enter the other one.
        if let Some(user) = &self.user {
            enter(user.as_fd(), LinkNameSpaceType::User)?;
        }
        enter(self.network.as_fd(), LinkNameSpaceType::Network)
    }
}

/// Starts the command in this namespace.
#[allow(
    unsafe_code,
    reason = "the standard library has no other way into a child"
)]
pub fn enter_on_start(command: &mut Command, place: Arc<NetworkNamespace>) {
    // SAFETY: between fork and exec this makes two system calls on descriptors that `place` keeps
    // open. It allocates nothing: a system error is a number.
    unsafe {
        command.pre_exec(move || place.enter());
    }
}

fn own(name: &str) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/ns/{name}");
    Ok(open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

fn is_same(one: &OwnedFd, other: &OwnedFd) -> io::Result<bool> {
    let (one, other) = (fstat(one)?, fstat(other)?);
    Ok((one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
}

fn enter(namespace: BorrowedFd<'_>, kind: LinkNameSpaceType) -> io::Result<()> {
    Ok(move_into_link_name_space(namespace, Some(kind))?)
}
