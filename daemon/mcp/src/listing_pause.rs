//! How often a server that says its lists have changed is listed again: at once, and ever less often while it goes on.
//! Pure.

use std::time::{Duration, Instant};

/// The pause after the first of several changes in a row.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(16);
/// How long without a change until the next is taken in at once again.
const QUIET: Duration = Duration::from_secs(60);

/// When a server was listed for a change, and how long to wait before the next time.
#[derive(Debug, Default)]
pub struct ListingPause {
    last: Option<Instant>,
    pause: Duration,
}

impl ListingPause {
    /// A change has come: how long to wait before it is listed. Changes that come meanwhile are listed with it.
    pub fn wait(&mut self, now: Instant) -> Duration {
        let gap = self.last.map(|last| now.saturating_duration_since(last));
        self.pause = match gap {
            Some(gap) if gap < QUIET => (self.pause * 2).clamp(FIRST, LONGEST),
            Some(_) | None => Duration::ZERO,
        };
        let wait = self.pause.saturating_sub(gap.unwrap_or_default());
        self.last = Some(now + wait);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The moments, in seconds, at which changes are listed that come whenever the server can say so.
    fn listed(changes: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let start = Instant::now();
        let mut pause = ListingPause::default();
        let mut now = start;
        let mut listed = Vec::new();
        for change in changes {
            now = now.max(start + Duration::from_secs(change));
            now += pause.wait(now);
            listed.push((now - start).as_secs());
        }
        listed
    }

    #[test]
    fn first_change_is_listed_at_once_and_repeated_ones_with_growing_pauses() {
        assert_eq!(listed([5]), [5]);
        assert_eq!(listed([0; 8]), [0, 1, 3, 7, 15, 31, 47, 63]);
        assert_eq!(listed([0, 100, 101, 200]), [0, 100, 101, 200]);
    }

    #[test]
    fn server_that_never_stops_costs_a_listing_in_sixteen_seconds() {
        let listed = listed(std::iter::repeat_n(0, 1_000));
        assert!(
            listed
                .windows(2)
                .skip(5)
                .all(|pair| pair[1] - pair[0] >= 16)
        );
    }
}
