//! A namespace seen from outside: its first process, held by a handle, and the numbers that count out here.

use std::io;
use std::time::Duration;

use rustix::process::Pid;
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::tree;

/// The first process of a namespace. When it has ended, the kernel has ended all the others before.
pub(crate) struct First {
    pid: Pid,
    #[cfg(target_os = "linux")]
    handle: std::os::fd::OwnedFd,
}

impl First {
    /// The one that this process has opened a namespace for. `None`: it has ended already, or the system
    /// does not tell.
    pub fn below(opener: Pid) -> Option<Self> {
        let pid = tree::children(opener).into_iter().next()?;
        Self::hold(opener, pid).ok().flatten()
    }

    #[cfg(target_os = "linux")]
    fn hold(opener: Pid, pid: Pid) -> io::Result<Option<Self>> {
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        // The opener has one child in its life: if it is its child still, the handle is of the same one.
        let same = tree::read(pid).is_some_and(|now| now.parent == opener.as_raw_nonzero().get());
        if !same || tree::inner_number(pid) != Some(1) {
            return Ok(None);
        }
        Ok(Some(Self { pid, handle }))
    }

    #[cfg(not(target_os = "linux"))]
    fn hold(_opener: Pid, pid: Pid) -> io::Result<Option<Self>> {
        let _ = pid;
        Ok(None)
    }

    /// Its number out here.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The number out here of the process that has this one in there, if it is a child of the first.
    pub fn child(&self, inner: u32) -> Option<Pid> {
        tree::children(self.pid)
            .into_iter()
            .find(|child| tree::inner_number(*child) == Some(inner))
    }

    /// Lets it go on, where somebody out here has stopped it.
    pub fn wake(&self) {
        #[cfg(target_os = "linux")]
        // A failure means that it has ended.
        let _ = pidfd_send_signal(&self.handle, Signal::CONT);
    }

    /// Blocks until nothing is left in the namespace, but not longer than this.
    pub fn ended(&self, within: Duration) {
        #[cfg(target_os = "linux")]
        {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            let within = Timespec::try_from(within).ok();
            // Nothing but the end wakes it, or the time: either way there is no more to wait for.
            let _ = poll(
                &mut [PollFd::new(&self.handle, PollFlags::IN)],
                within.as_ref(),
            );
        }
        #[cfg(not(target_os = "linux"))]
        let _ = within;
    }
}
