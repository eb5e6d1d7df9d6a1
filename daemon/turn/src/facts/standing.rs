//! The session's options and status: created, set, paused, exited, reopened.

use proto::params::session::Exited;
use proto::record::{SessionCreated, SessionExited, SessionReopened, SessionState};
use proto::state::{Mode, State};
use proto::{Body, Record, SessionOptions};

use super::{Facts, SessionStatus, content_of_set};

impl Facts {
    pub(super) fn apply_created(&mut self, created: &SessionCreated, record: &Record) {
        self.options = SessionOptions::default();
        self.options.apply(&created.options);
        self.wire = Self::first_wire(created);
        self.window_given = created.context_window;
        self.created_at = record.at;
        self.created = Some(created.clone());
        self.state.cause = "created".into();
    }

    pub(super) fn apply_set(&mut self, record: &Record) {
        let Body::SessionSet(set) = &record.body else {
            return;
        };
        let options = self.apply_fallback(set);
        self.options.apply(&options);
        if options.mode == Some(Mode::Plan)
            && let Some(open) = &mut self.open
        {
            // Returning to plan mode withdraws the approval of the earlier plan.
            open.plan_approved = false;
        }
        if options.budget.is_some() {
            // Queued prompts start, or are refused again.
            self.over_budget = false;
        }
        if let Some(window) = set.context_window {
            self.wire.context_window = window.tokens;
            // The limit was computed for another window.
            self.no_compaction_below = 0;
            if !window.refused {
                self.window_given = window.tokens;
            }
        }
        self.suspended = false;
        if let Some(paused) = set.paused {
            self.set_paused(paused, set.tree == Some(true));
        }
        self.added_dirs.extend(set.added_dir.clone());
        if let Some(revoked) = &set.revoked {
            self.grants.retain(|scope| scope.rule != *revoked);
        }
        self.remember(
            set.request_id,
            record,
            format!("set {}", content_of_set(set)),
            None,
        );
    }

    pub(super) fn apply_state(&mut self, state: &SessionState) {
        self.state = SessionStatus {
            state: state.state,
            waiting_for: state.waiting_for,
            cause: state.cause.clone(),
        };
        // The end of a turn whose restart waits is final only if the restart is taken back.
        self.unsettled &= self.supervision.is_due();
        self.suspended = false;
    }

    pub(super) fn apply_exited(&mut self, exited: &SessionExited, record: &Record) {
        // They end with it.
        self.background_agents.clear();
        self.exited = Some(Exited {
            outcome: exited.outcome,
            reason: exited.reason,
            exit_code: exited.exit_code,
        });
        self.state = SessionStatus {
            state: State::Exited,
            waiting_for: None,
            cause: "exit".into(),
        };
        self.unsettled = false;
        self.goal_exited();
        self.take_back_restart();
        self.woken = false;
        self.set_paused(false, false);
        self.remember(exited.request_id, record, "exit".into(), None);
    }

    pub(super) fn apply_reopened(&mut self, reopened: &SessionReopened) {
        self.exited = None;
        self.woken = false;
        self.state = SessionStatus {
            state: State::Idle,
            waiting_for: None,
            cause: format!("reopened by {}", reopened.by),
        };
    }

    /// Notes the start or the end of a pause.
    fn set_paused(&mut self, paused: bool, tree: bool) {
        // An exited session is not paused, whatever an edited log says.
        self.paused = paused && self.exited.is_none();
        self.tree_paused = self.paused && tree;
    }
}
