//! That the daemon is to stop, stored before it is done: `<home>/run/stop`.
//!
//! The parent starts a daemon again that crashed. One that crashed while it was stopping is not to come back, and one
//! that was to go when it is idle is still to. Whoever is started by the same parent right after reads it here; for
//! anybody else it is an old story. It is never taken back: a daemon may be killed at the very last moment too, and a
//! parent whose daemon has ended well starts none. A power cut undoes the wish together with what it was about, so
//! nothing is synced.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::time::Duration;

use proto::params::daemon::ShutdownMode;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use store::home::Home;

use crate::idle;

/// A stop takes 10 s at most, and a parent starts again at once: what is older was about another life.
const FRESH: Duration = Duration::from_secs(30);

/// A wish is some hundred bytes.
const SIZE_MAX: u64 = 4096;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Wish {
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

    /// Whether it is the program that keeps a daemon running. A shell or a service manager that starts one a second time
    /// means it.
    fn is_keeper(&self) -> bool {
        let program = |pid: &str| {
            let meta = fs::metadata(format!("/proc/{pid}/exe")).ok()?;
            Some((meta.dev(), meta.ino()))
        };
        let own = program("self");
        own.is_some() && own == program(&self.pid.to_string())
    }
}

/// When a process was started, by the kernel's word.
fn started(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything: what counts comes behind the last one.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

fn path(home: &Home) -> PathBuf {
    home.run().join("stop")
}

/// Stores it. A harder wish replaces a softer one: the caller knows.
///
/// # Errors
/// It is not stored: a crash from now on may undo it.
pub fn store(home: &Home, mode: ShutdownMode) -> io::Result<()> {
    let wish = Wish {
        mode,
        parent: Parent::ours(),
        at_ms: millis(idle::now()),
    };
    let (path, temporary) = (path(home), home.run().join("stop.tmp"));
    let text = serde_json::to_vec(&wish)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.custom_flags(i32::try_from(OFlags::NOFOLLOW.bits()).map_err(io::Error::other)?);
    let mut file = options.open(&temporary)?;
    file.write_all(&text)?;
    fs::rename(&temporary, &path)
}

/// What the daemon before us was asked and did not come to, where we stand in its place. A wish holds once.
pub fn take(home: &Home) -> Option<ShutdownMode> {
    let parent = Parent::ours();
    let held = take_as(home, &parent);
    held.filter(|_| parent.is_keeper())
}

fn take_as(home: &Home, parent: &Parent) -> Option<ShutdownMode> {
    let text = read(home)?;
    // Where it cannot be removed it becomes an old story by its age and its parent.
    let _ = fs::remove_file(path(home));
    let wish: Wish = serde_json::from_str(&text).ok()?;
    still_holds(&wish, parent, idle::now()).then_some(wish.mode)
}

fn read(home: &Home) -> Option<String> {
    use std::io::Read as _;
    let mut text = String::new();
    let file = fs::File::open(path(home)).ok()?;
    file.take(SIZE_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Whether a wish is about the daemon that this parent has just started again.
fn still_holds(wish: &Wish, parent: &Parent, now: Duration) -> bool {
    let age = millis(now).checked_sub(wish.at_ms);
    let fresh = match wish.mode {
        ShutdownMode::Now | ShutdownMode::HandOver => age.is_some_and(|age| age <= millis(FRESH)),
        // The last turn may take its time.
        ShutdownMode::Idle => age.is_some(),
    };
    fresh && wish.parent == *parent
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
