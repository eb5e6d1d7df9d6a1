//! Namespaces that outlive the process that opened them, as open files: the loopback that the commands of one
//! session share.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A network namespace, with the user namespace that it belongs to. Whoever is in it keeps it; when nobody is and
/// this is dropped, it is gone.
#[derive(Debug)]
pub struct Place {
    /// `None`: that of everybody here.
    user: Option<OwnedFd>,
    network: OwnedFd,
}

impl Place {
    /// The namespaces of the calling process, to be handed over: network and user.
    ///
    /// # Errors
    /// What the system says.
    pub fn own() -> io::Result<[OwnedFd; 2]> {
        Ok([own("net")?, own("user")?])
    }

    /// The place that was handed over.
    ///
    /// # Errors
    /// It is where we are already: nobody has opened anything.
    pub fn of(network: OwnedFd, user: OwnedFd) -> io::Result<Self> {
        if is_same(&network, &own("net")?)? {
            return Err(io::Error::other("no network namespace was opened"));
        }
        let shared = is_same(&user, &own("user")?)?;
        let user = (!shared).then_some(user);
        Ok(Self { user, network })
    }

    fn enter(&self) -> io::Result<()> {
        // The user namespace first: in it we have the right to enter the other.
        if let Some(user) = &self.user {
            enter(user.as_fd(), LinkNameSpaceType::User)?;
        }
        enter(self.network.as_fd(), LinkNameSpaceType::Network)
    }
}

/// Has the command started in this place.
#[allow(
    unsafe_code,
    reason = "the standard library has no other way into a child"
)]
pub fn enter_on_start(command: &mut Command, place: Arc<Place>) {
    // SAFETY: between fork and exec it makes two system calls on descriptors that `place` keeps open, and allocates
    // nothing: an error of the system is a number.
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
