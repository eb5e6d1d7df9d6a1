//! Everything below the helper: how it is found, asked to end, and killed.
//!
//! On Linux by ancestry: the helper is a subreaper, so every living descendant is below it, whatever it did
//! to its session, its group or its parents. Elsewhere by the command's process group.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Tree, kill_session};

#[cfg(not(target_os = "linux"))]
mod group;
#[cfg(not(target_os = "linux"))]
pub(crate) use group::{Tree, kill_session};

#[cfg(all(test, target_os = "linux"))]
mod tests;

/// How commands are held together here, for status.
#[must_use]
pub fn mechanism() -> &'static str {
    if cfg!(target_os = "linux") {
        "subreaper and sweep"
    } else {
        "process group"
    }
}

/// The typed form of a process id.
pub(crate) fn pid(raw: u32) -> Option<rustix::process::Pid> {
    i32::try_from(raw)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
}
