//! The stored request to stop the daemon: `<home>/run/stop`. It is stored before the daemon stops.
//!
//! The parent restarts a daemon that crashed. A daemon that crashed while it was stopping must not come back. One that was
//! to stop when idle must still do so. The next daemon of the same parent reads the request here; every other daemon
//! ignores it. The request is never removed early: a daemon may be killed at the very last moment too, and a parent starts
//! no other daemon after one that has ended well.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use proto::params::daemon::ShutdownMode;
use serde::{Deserialize, Serialize};
use store::home::Home;

use crate::idle;
use crate::settings::{read, write};

/// A stop takes 10 s at most, and a parent restarts at once: an older request was for an earlier daemon.
const FRESH: Duration = Duration::from_secs(30);

/// The longest stored request, in bytes.
const SIZE_MAX: u64 = 4096;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StopRequest {
    mode: ShutdownMode,
    /// Who had started the daemon that was asked, so that a later start by somebody else counts as one.
    parent: Parent,
    /// When it was asked, on the boot clock.
    at_ms: u64,
}

/// A process, and not another one with its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Parent {
    pid: i32,
    /// When it was started, in the system's ticks; absent where the system does not say.
    started: Option<u64>,
}

impl Parent {
    fn ours() -> Self {
        let pid = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
        Self {
            pid,
            started: started(pid),
        }
    }
}

/// When the kernel started a process.
fn started(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may hold anything: the fields follow the last one.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

fn path(home: &Home) -> PathBuf {
    home.run().join("stop")
}

/// Stores a request. A more urgent request replaces a less urgent one: the caller sees to that.
///
/// # Errors
/// It is not stored: a crash from now on may undo it.
pub fn store(home: &Home, mode: ShutdownMode) -> io::Result<()> {
    let request = StopRequest {
        mode,
        parent: Parent::ours(),
        at_ms: millis(idle::now()),
    };
    write::replace_own(&path(home), &serde_json::to_string(&request)?)
}

/// The request that the daemon before this one did not carry out, if this one replaces it. A request holds once.
/// `is_restarted`: our parent starts daemons again. It has to say so itself, as its program is closed to an ordinary user.
/// A shell or a service manager that starts a daemon a second time means a new one.
pub fn take(home: &Home, is_restarted: bool) -> Option<ShutdownMode> {
    let held = take_as(home, &Parent::ours());
    held.filter(|_| is_restarted)
}

fn take_as(home: &Home, parent: &Parent) -> Option<ShutdownMode> {
    let text = read::no_link_up_to(&path(home), SIZE_MAX).ok();
    // If it cannot be removed, its age and its parent make it void.
    let _ = fs::remove_file(path(home));
    let request: StopRequest = serde_json::from_str(&text?).ok()?;
    still_holds(&request, parent, idle::now()).then_some(request.mode)
}

/// Whether a request is for the daemon that this parent has just restarted.
fn still_holds(request: &StopRequest, parent: &Parent, now: Duration) -> bool {
    let age = millis(now).checked_sub(request.at_ms);
    let fresh = match request.mode {
        ShutdownMode::Now | ShutdownMode::HandOver => age.is_some_and(|age| age <= millis(FRESH)),
        // The last turn may take long.
        ShutdownMode::Idle => age.is_some(),
    };
    fresh && request.parent == *parent
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
