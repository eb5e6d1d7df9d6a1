//! The first process of a namespace, seen from outside: a handle, and process ids outside.

use std::io;
use std::time::Duration;

use rustix::process::Pid;
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::tree;

/// The first process of a namespace. When it has ended, the kernel has already killed all others.
pub(crate) struct InitProcess {
    pid: Pid,
    #[cfg(target_os = "linux")]
    handle: std::os::fd::OwnedFd,
}

impl InitProcess {
    /// The first process in the namespace that this opener created. `None` if it has already ended,
    /// or the system does not report it.
    pub fn below(opener: Pid) -> Option<Self> {
        let pid = tree::children(opener).into_iter().next()?;
        Self::hold(opener, pid).ok().flatten()
    }

    #[cfg(target_os = "linux")]
    fn hold(opener: Pid, pid: Pid) -> io::Result<Option<Self>> {
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        // The opener has only one child in its life: if this is still its child, the handle refers
        // to the right process.
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

    /// Its process id outside.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The process id outside of a child of the first process, by its id inside.
    pub fn child(&self, inner: u32) -> Option<Pid> {
        tree::children(self.pid)
            .into_iter()
            .find(|child| tree::inner_number(*child) == Some(inner))
    }

    /// Resumes it if a process outside has stopped it.
    pub fn wake(&self) {
        #[cfg(target_os = "linux")]
        // An error means that it has ended.
        let _ = pidfd_send_signal(&self.handle, Signal::CONT);
    }

    /// Blocks until the namespace is empty, up to this duration.
    pub fn ended(&self, within: Duration) {
        #[cfg(target_os = "linux")]
        {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            let within = Timespec::try_from(within).ok();
            // Returns when it ends or the time is up. In both cases there is nothing more to wait
            // for.
            let _ = poll(
                &mut [PollFd::new(&self.handle, PollFlags::IN)],
                within.as_ref(),
            );
        }
        #[cfg(not(target_os = "linux"))]
        let _ = within;
    }
}
