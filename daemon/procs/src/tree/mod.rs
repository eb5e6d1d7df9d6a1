//! All processes below the helper: finding, terminating and killing them.
//!
//! On Linux by ancestry: the helper is a subreaper or the first process of a namespace, so every
//! living descendant is below it, whatever its session, group or parent. On other systems by the
//! command's process group.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Tree, kill_below, kill_session};
#[cfg(target_os = "linux")]
pub(crate) use proc::{Process, children, inner_number, read};

#[cfg(not(target_os = "linux"))]
mod group;
#[cfg(not(target_os = "linux"))]
pub(crate) use group::{Process, Tree, children, inner_number, kill_below, kill_session, read};

#[cfg(all(test, target_os = "linux"))]
mod tests;

/// Converts a process id to its typed form.
pub(crate) fn pid(raw: u32) -> Option<rustix::process::Pid> {
    i32::try_from(raw)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
}

/// Converts a typed process id to a number.
pub(crate) fn raw(pid: rustix::process::Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}
