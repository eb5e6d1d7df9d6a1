//! How many commands of sessions run at a time: each holds some of the daemon's file descriptors.
//!
//! Only a number; a command beyond it waits for the end of another one. Processes of the daemon itself (session 0) have no
//! place here: MCP servers run as long as the daemon does.

use std::sync::Arc;

use rustix::process::{Resource, getrlimit};
use tokio::sync::Semaphore;

/// What the daemon needs besides commands: connections, logs of loaded sessions, databases.
const RESERVED: u64 = 400;
/// Of one command: three sockets and pipes, two process handles, the watch of its directory, its control group, and what
/// is open for a moment while it starts. Measured: 8.
const PER_COMMAND: u64 = 12;
const FEWEST: u64 = 4;
/// More processes than any machine runs at a time.
const MOST: u64 = 100_000;

/// How many commands this process has the descriptors for. Call it after the limit was raised.
#[must_use]
pub(crate) fn of_this_process() -> usize {
    commands(getrlimit(Resource::Nofile).current)
}

fn commands(descriptors: Option<u64>) -> usize {
    let room = descriptors.map_or(MOST, |limit| limit.saturating_sub(RESERVED) / PER_COMMAND);
    usize::try_from(room.clamp(FEWEST, MOST)).unwrap_or(usize::MAX)
}

/// The places of commands.
pub(crate) fn places(count: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)))
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn number_of_commands_follows_the_limit_of_descriptors() {
        for (descriptors, expected) in [
            (Some(64), 4),
            (Some(1_024), 52),
            (Some(1_048_576), 87_348),
            (None, 100_000),
        ] {
            assert_eq!(commands(descriptors), expected, "{descriptors:?}");
        }
    }
}
