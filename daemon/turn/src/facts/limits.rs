//! The limits of a turn, in steps and time, and what stopped at one.

use proto::outcome::TurnLimit;
use proto::state::Kind;

use super::{Facts, OpenTurn};

impl Facts {
    /// How many requests to the model this turn may make; 0: no limit.
    pub(crate) fn limit_of_steps(&self, open: &OpenTurn) -> u64 {
        let own = open.added.and_then(|added| added.steps);
        own.or(self.options.max_steps).unwrap_or_default()
    }

    /// How long the open turn may run, in milliseconds; 0: no limit.
    pub(crate) fn limit_of_time(&self) -> u64 {
        let open = self.open.as_ref();
        let own = open.and_then(|open| open.added.and_then(|added| added.ms));
        own.or(self.options.timeout_ms).unwrap_or_default()
    }

    /// Whether a prompt that continues the work after a limit is queued.
    #[must_use]
    pub fn continues(&self) -> bool {
        !self.added.is_empty()
    }

    /// Whether the queue waits for a user because a limit has stopped the work and no person has sent anything since: what
    /// other sessions send starts no turn then. A step limit does not stop a goal.
    pub(crate) fn queue_is_paused(&self) -> bool {
        let stopped = match self.at_limit {
            Some(TurnLimit::Steps) => self.goal.is_none(),
            Some(TurnLimit::Time) => true,
            None => false,
        };
        let mut queue = self.queue.iter();
        stopped && queue.all(|queued| self.sent_by_sessions.contains_key(&queued.prompt_id))
    }

    /// Whether the goal waits for a user because a turn of it ran out of time. That of a headless session ends instead:
    /// its exit reports the outcome.
    #[must_use]
    pub fn goal_is_paused(&self) -> bool {
        let interactive = self.options.kind != Some(Kind::Headless);
        interactive && self.at_limit == Some(TurnLimit::Time)
    }
}
