//! How long a turn has waited for its user, by the records of the session. Pure.

use proto::state::WaitingFor;
use proto::{Body, Stamp};

/// The times in which the newest turn waited for approvals, answers or keys.
#[derive(Debug, Default)]
pub struct UserWaits {
    ended: Vec<(Stamp, Stamp)>,
    /// When the wait began that goes on.
    since: Option<Stamp>,
}

impl UserWaits {
    /// Takes what a record says of that.
    pub fn fold(&mut self, body: &Body, at: Stamp) {
        match body {
            Body::TurnStarted(_) => *self = Self::default(),
            Body::TurnEnded(_) => self.wait(None, at),
            Body::SessionState(state) => self.wait(state.waiting_for, at),
            _ => {}
        }
    }

    /// From this moment on the session waits for this.
    pub fn wait(&mut self, waiting_for: Option<WaitingFor>, at: Stamp) {
        if waiting_for.is_some_and(WaitingFor::needs_person) {
            self.since = self.since.or(Some(at));
        } else if let Some(since) = self.since.take() {
            self.ended.push((since, at));
        }
    }

    /// Milliseconds of all waits that have ended.
    #[must_use]
    pub fn total(&self) -> u64 {
        let waits = self.ended.iter();
        waits.map(|(since, until)| millis(*since, *until)).sum()
    }

    /// Milliseconds of waiting between two moments.
    #[must_use]
    pub fn between(&self, from: Stamp, to: Stamp) -> u64 {
        let open = self.since.map(|since| (since, to));
        let waits = self.ended.iter().copied().chain(open);
        waits
            .map(|(since, until)| millis(since.max(from), until.min(to)))
            .sum()
    }
}

fn millis(from: Stamp, to: Stamp) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
