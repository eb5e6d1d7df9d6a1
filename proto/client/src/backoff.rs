//! How long to wait before trying again: longer each time, and never quite the same.

use std::time::Duration;

/// The first pause; the very first try again comes at once.
const FIRST: Duration = Duration::from_millis(10);

/// No pause is longer, but for the jitter.
const MOST: Duration = Duration::from_secs(2);

/// Pauses between tries that came to nothing.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    tries: u32,
}

impl Backoff {
    /// A try came to something: the next failure is a first one again.
    pub(crate) fn reset(&mut self) {
        self.tries = 0;
    }

    /// The pause before the next try: none at first, then doubling. `chance` (0 to 255) takes up to a half off, so
    /// that clients that lost the same daemon do not come back as one.
    fn next(&mut self, chance: u8) -> Duration {
        let tries = self.tries;
        self.tries = tries.saturating_add(1);
        if tries == 0 {
            return Duration::ZERO;
        }
        let whole = FIRST.saturating_mul(1 << (tries - 1).min(16)).min(MOST);
        whole - whole / 2 * u32::from(chance) / 255
    }

    /// Waits so long. Cancel-safe: a pause that was cancelled counts as a try.
    pub(crate) async fn pause(&mut self) {
        let pause = self.next(uuid::Uuid::new_v4().as_bytes()[0]);
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_bound_and_differ_by_chance() {
        let pauses = |chance| {
            let mut backoff = Backoff::default();
            (0..40).map(|_| backoff.next(chance)).collect::<Vec<_>>()
        };
        let (longest, shortest) = (pauses(0), pauses(255));
        assert_eq!(longest[0], Duration::ZERO);
        assert_eq!(longest[1], FIRST);
        assert!(longest.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!(longest.last(), Some(&MOST));
        assert_eq!(shortest.last(), Some(&(MOST / 2)));
        assert!(shortest[1..].iter().all(|pause| !pause.is_zero()));
    }

    #[test]
    fn reset_backoff_starts_without_a_pause() {
        let mut backoff = Backoff::default();
        backoff.next(0);
        backoff.next(0);
        backoff.reset();
        assert_eq!(backoff.next(0), Duration::ZERO);
    }
}
