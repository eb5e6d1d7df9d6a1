//! Decides when an unused daemon stops. Pure: the caller passes the activity and the time.
//!
//! Time is that of the boot clock: a laptop's sleep counts, a jump of the system clock does not. Asked by the gate, under
//! the lock that also lets clients in.

use std::time::Duration;

/// What keeps a daemon running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Connections, and calls that outlive theirs.
    pub guests: u64,
    /// A session is unfinished, a command runs in the background, or an `[[autostart]]` server runs or is being restarted.
    pub work: bool,
}

/// How long there has been nothing to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Idle {
    /// The first look that found nothing, since the last one that found something.
    since: Option<Duration>,
}

impl Idle {
    /// Something is going on, or was between two looks: the count starts over.
    pub fn mark_active(&mut self) {
        self.since = None;
    }

    /// Looks, and says whether it is time to go. `now` is on the boot clock; without a `limit` it never is.
    pub fn look(&mut self, seen: Activity, now: Duration, limit: Option<Duration>) -> bool {
        if seen.guests > 0 || seen.work {
            self.mark_active();
            return false;
        }
        let since = *self.since.get_or_insert(now);
        limit.is_some_and(|limit| now.saturating_sub(since) >= limit)
    }
}

/// The boot clock. It goes on while the machine sleeps, and never jumps.
pub fn now() -> Duration {
    #[cfg(target_os = "linux")]
    const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
    // Elsewhere the monotonic clock is the nearest there is.
    #[cfg(not(target_os = "linux"))]
    const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(CLOCK);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

#[cfg(test)]
mod tests;
