//! How a session stands: what is set of it, whether it is paused, has exited, is there again.

use proto::params::session::Exited;
use proto::record::{SessionCreated, SessionExited, SessionReopened, SessionState};
use proto::state::{Mode, State};
use proto::{Body, Record, Stamp};

use super::{Facts, Settings, Standing, content_of_set};

impl Facts {
    pub(super) fn apply_created(&mut self, created: &SessionCreated, record: &Record) {
        self.settings = Settings {
            kind: created.kind,
            provider: created.provider.clone(),
            model: created.model.clone(),
            effort: created.effort.clone(),
            posture: created.posture,
            mode: created.mode,
            read_only: created.read_only,
            on_ask: Some(created.on_ask),
            name: created.name.clone(),
            labels: created.labels.clone(),
            max_steps: created.max_steps,
            timeout_ms: created.timeout_ms,
            paused: false,
            budget: created.budget.without_zeros(),
            harvest: created.harvest,
            branch: created.branch.unwrap_or(1),
        };
        self.wire = Self::first_wire(created);
        self.created_at = record.at;
        self.created = Some(created.clone());
        self.state.cause = "created".into();
    }

    pub(super) fn apply_set(&mut self, record: &Record) {
        let Body::SessionSet(set) = &record.body else {
            return;
        };
        let settings = &mut self.settings;
        settings.posture = set.posture.unwrap_or(settings.posture);
        settings.read_only = set.read_only.unwrap_or(settings.read_only);
        settings.mode = set.mode.unwrap_or(settings.mode);
        if set.mode == Some(Mode::Plan)
            && let Some(open) = &mut self.open
        {
            // Who takes the session back to planning takes back what the plan before it was allowed.
            open.window = false;
        }
        let settings = &mut self.settings;
        settings.on_ask = set.on_ask.or(settings.on_ask);
        settings.kind = set.kind.unwrap_or(settings.kind);
        settings.max_steps = set.max_steps.unwrap_or(settings.max_steps);
        settings.timeout_ms = set.timeout_ms.unwrap_or(settings.timeout_ms);
        self.apply_asked(set);
        let settings = &mut self.settings;
        settings.harvest = set.harvest.unwrap_or(settings.harvest);
        settings.branch = set.branch.unwrap_or(settings.branch);
        self.suspended = false;
        if let Some(paused) = set.paused {
            self.pause(paused, record.at);
        }
        let settings = &mut self.settings;
        if let Some(name) = &set.name {
            settings.name = Some(name.clone()).filter(|name| !name.is_empty());
        }
        if let Some(labels) = &set.labels {
            settings.labels.clone_from(labels);
        }
        if let Some(change) = &set.budget {
            settings.budget = settings.budget.changed_by(change).without_zeros();
            // What waits goes on with it, or is refused again.
            self.over_budget = false;
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
        self.state = Standing {
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
        self.state = Standing {
            state: State::Exited,
            waiting_for: None,
            cause: "exit".into(),
        };
        self.unsettled = false;
        self.woken = false;
        self.pause(false, record.at);
        self.remember(exited.request_id, record, "exit".into(), None);
    }

    pub(super) fn apply_reopened(&mut self, reopened: &SessionReopened) {
        self.exited = None;
        self.woken = false;
        self.state = Standing {
            state: State::Idle,
            waiting_for: None,
            cause: format!("reopened by {}", reopened.by),
        };
    }

    /// Notes the beginning or the end of a pause. The open turn's time stands still in it.
    fn pause(&mut self, paused: bool, at: Stamp) {
        // An exited session is not paused, whatever an edited log says.
        self.settings.paused = paused && self.exited.is_none();
        let Some(open) = &mut self.open else { return };
        if paused {
            open.paused_at = open.paused_at.or(Some(at));
        } else if let Some(from) = open.paused_at.take() {
            open.paused_ms += since(from, at);
        }
    }
}

/// Milliseconds between two moments of the wall clock; 0 where the clock went back.
pub(super) fn since(from: Stamp, to: Stamp) -> u64 {
    u64::try_from(to.0 - from.0).unwrap_or(0)
}
