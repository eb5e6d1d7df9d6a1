//! How a session stands: what is set of it, whether it is paused, has exited, is there again.

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
        self.created_at = record.at;
        self.created = Some(created.clone());
        self.state.cause = "created".into();
    }

    pub(super) fn apply_set(&mut self, record: &Record) {
        let Body::SessionSet(set) = &record.body else {
            return;
        };
        let options = self.chosen_while_stood_in(set);
        self.options.apply(&options);
        if options.mode == Some(Mode::Plan)
            && let Some(open) = &mut self.open
        {
            // Who takes the session back to planning takes back what the plan before it was allowed.
            open.plan_approved = false;
        }
        if options.budget.is_some() {
            // What waits goes on with it, or is refused again.
            self.over_budget = false;
        }
        self.suspended = false;
        if let Some(paused) = set.paused {
            self.pause(paused);
        }
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
        self.unsettled = false;
        self.suspended = false;
    }

    pub(super) fn apply_exited(&mut self, exited: &SessionExited, record: &Record) {
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
        self.woken = false;
        self.pause(false);
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

    /// Notes the beginning or the end of a pause. The open turn's time stands still in it.
    fn pause(&mut self, paused: bool) {
        // An exited session is not paused, whatever an edited log says.
        self.paused = paused && self.exited.is_none();
    }
}
