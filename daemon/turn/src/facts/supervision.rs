//! Supervision as a fold: restarts of the session, and the failures of turns in a row.

use std::collections::VecDeque;

use proto::outcome::{OutcomeKind, TurnEnded};
use proto::params::session::QueuedPrompt;
use proto::record::{RestartPrompt, SessionGaveUp, SessionRestarted};
use proto::state::OnAsk;
use proto::{PromptId, Stamp};

use super::Facts;
use crate::supervision::fingerprint;

/// How many of the newest restarts are remembered: more than any window may have.
const REMEMBERED: usize = 1_000;

/// What supervision knows about a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestartHistory {
    /// Number of restarts of the session.
    pub restarts: u64,
    /// When the newest restarts were, oldest first. A prompt of a user clears them.
    recent: VecDeque<Stamp>,
    /// How many turns in a row ended with the same failure.
    pub same_failures: u32,
    /// What that failure was.
    failure: Option<String>,
    /// Restarts since the newest turn that was completed or that a user asked for.
    pub(crate) in_row: u32,
    /// When the newest restart may start its turn; `None`: it has, or was taken back.
    due: Option<Stamp>,
    /// The newest restart.
    pub newest: Option<SessionRestarted>,
    /// The prompts of restarts that waited at the newest one: users may move them behind others.
    prompts: Vec<RestartPrompt>,
    /// That the session gave up after its newest turn.
    pub gave_up: Option<SessionGaveUp>,
    /// A turn has ended, and neither a restart nor the giving up is logged yet.
    pub(crate) undecided: bool,
    /// How the newest turn handled approval requests, if its prompt said so.
    pub(crate) on_ask: Option<OnAsk>,
    /// A person has denied a call of the newest turn.
    pub(crate) denied: bool,
}

impl RestartHistory {
    /// Number of restarts within `window_ms` before this moment.
    pub(crate) fn restarts_since(&self, at: Stamp, window_ms: u64) -> u64 {
        let window_ms = i64::try_from(window_ms).unwrap_or(i64::MAX);
        let recent = self.recent.iter();
        let within = recent.filter(|restart| at.0.saturating_sub(restart.0) < window_ms);
        within.count() as u64
    }

    /// Whether a restart waits for its turn to start.
    pub(crate) fn is_due(&self) -> bool {
        self.due.is_some()
    }

    /// How long it still waits. However the clock was set: never longer than it was to.
    pub(crate) fn wait_left_ms(&self, now: Stamp) -> u64 {
        let most = self.newest.as_ref().map_or(0, |newest| newest.wait_ms);
        let left = self.due.map_or(0, |due| due.0.saturating_sub(now.0));
        u64::try_from(left).unwrap_or(0).min(most)
    }

    /// The prompt of the newest restart.
    pub(crate) fn prompt(&self) -> Option<&RestartPrompt> {
        self.newest.as_ref()?.prompt.as_ref()
    }
}

impl Facts {
    /// Whether this prompt is that of a restart, with its own text.
    pub(crate) fn is_restart(&self, prompt: &QueuedPrompt) -> bool {
        let mut prompts = self.supervision.prompts.iter();
        prompts.any(|own| own.prompt_id == prompt.prompt_id && own.text == prompt.text)
    }

    /// The prompt goes before those that wait: the work that failed continues first.
    pub(super) fn apply_restarted(&mut self, restarted: &SessionRestarted, at: Stamp) {
        let history = &mut self.supervision;
        history.undecided = false;
        history.restarts = restarted.number.max(history.restarts + 1);
        history.recent.push_back(at);
        if history.recent.len() > REMEMBERED {
            history.recent.pop_front();
        }
        history.in_row = history.in_row.saturating_add(1);
        let wait_ms = i64::try_from(restarted.wait_ms).unwrap_or(i64::MAX);
        history.due = Some(Stamp(at.0.saturating_add(wait_ms)));
        history.newest = Some(restarted.clone());
        let queue = &self.queue;
        let waits = |id| queue.iter().any(|queued| queued.prompt_id == id);
        history.prompts.retain(|prompt| waits(prompt.prompt_id));
        history.prompts.extend(restarted.prompt.clone());
        if let Some(prompt) = &restarted.prompt {
            self.queue.push_front(QueuedPrompt {
                untyped: Vec::new(),
                prompt_id: prompt.prompt_id,
                text: prompt.text.clone(),
                steer: false,
                on_ask: prompt.on_ask,
                by: "reasonix".to_owned(),
            });
        }
        if let Some(goal) = &mut self.goal {
            goal.turn.restarted = true;
        }
    }

    /// A user says something, or the goal has ended: a restart that waits starts no turn.
    pub(super) fn take_back_restart(&mut self) {
        self.supervision.due = None;
    }

    /// A prompt that waited was taken back: it may be that of a restart.
    pub(super) fn restart_unqueued(&mut self, prompt: PromptId) {
        let own = self.supervision.prompt();
        if own.is_some_and(|own| own.prompt_id == prompt) {
            self.take_back_restart();
        }
    }

    pub(super) fn apply_gave_up(&mut self, gave_up: &SessionGaveUp) {
        self.supervision.undecided = false;
        self.supervision.gave_up = Some(gave_up.clone());
    }

    /// A turn starts. One that a user has asked for starts with no restarts and failures counted.
    pub(super) fn supervised_turn_started(&mut self, prompt: PromptId, on_ask: Option<OnAsk>) {
        let restart = self.supervision.prompt();
        let by_restart = restart.is_some_and(|own| own.prompt_id == prompt);
        let by_goal = self
            .goal
            .as_ref()
            .and_then(|goal| goal.continued.as_ref())
            .is_some_and(|continued| continued.prompt_id == prompt);
        let by_session = self.sent_by_sessions.contains_key(&prompt);
        let history = &mut self.supervision;
        history.undecided = false;
        history.due = None;
        history.gave_up = None;
        history.on_ask = on_ask;
        history.denied = false;
        if !(by_restart || by_goal || by_session) {
            history.in_row = 0;
            history.recent.clear();
            (history.same_failures, history.failure) = (0, None);
        }
    }

    pub(super) fn supervised_turn_ended(&mut self, ended: &TurnEnded) {
        let history = &mut self.supervision;
        history.undecided = true;
        if ended.outcome == OutcomeKind::Completed {
            history.in_row = 0;
        }
        let failure = fingerprint(ended);
        history.same_failures = match &failure {
            None => 0,
            Some(_) if failure == history.failure => history.same_failures.saturating_add(1),
            Some(_) => 1,
        };
        history.failure = failure;
    }
}
