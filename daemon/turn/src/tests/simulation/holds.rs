//! Invariants after every step, of the machine and of the work outside it.

use proto::state::{State, WaitingFor};

use super::Simulation;

impl Simulation {
    pub(super) fn holds(&self) {
        assert_eq!(
            self.shadow,
            *self.machine.facts(),
            "the machine knows what the log says, and nothing else"
        );
        let window = self.check.open.as_ref().is_some_and(|open| open.window);
        let permissions = self.machine.facts().effective_permissions();
        assert_eq!(
            permissions.plan_approved, window,
            "the window of an approved plan"
        );
        let outside = &self.outside;
        let works = outside.request.is_some()
            || !outside.running.is_empty()
            || !outside.held.is_empty()
            || outside.rewinding.is_some()
            || outside.notifying
            // A stop leaves a job running until its late end.
            || (outside.job.is_some() && self.machine.is_compacting());
        if self.machine.is_idle() {
            assert!(!works, "idle, and something runs");
            assert!(outside.planning.is_none(), "idle, and the planner works");
            assert!(!self.is_asked(), "idle, and a question is open");
            self.check.shown.agrees_with(self.machine.facts());
        }
        if self.handing {
            let quiet = outside.request.is_none() && !works;
            assert_eq!(
                self.machine.is_suspended(),
                quiet,
                "it is suspended when nothing runs"
            );
        }
        let standing = &self.machine.facts().state;
        if self.check.paused {
            assert_eq!(
                standing.state,
                State::Paused,
                "people see that it is paused"
            );
            return;
        }
        assert_ne!(standing.state, State::Paused, "people see that it goes on");
        let waits_for = standing.waiting_for;
        let open = self.check.interactions.values();
        let wanted = open.map(|open| open.request.kind()).min();
        let asked = waits_for.and_then(|waits| match waits {
            WaitingFor::Interaction(kind) => Some(kind),
            WaitingFor::Retry | WaitingFor::Restart | WaitingFor::Credentials => None,
        });
        assert_eq!(asked, wanted, "people see what waits for them");
        // If a user waits for a summary while no turn is open, the session has no separate state for that.
        if outside.gated && self.machine.facts().open.is_some() {
            assert_eq!(
                waits_for,
                Some(WaitingFor::Retry),
                "people see that a request waits for its turn"
            );
        }
        let keyless = waits_for == Some(WaitingFor::Credentials);
        assert_eq!(
            keyless,
            self.machine.wants_credentials(),
            "people see whether a key is missing"
        );
        let comes = works
            || outside.planning.is_some()
            || !outside.judging.is_empty()
            || !outside.retries.is_empty()
            || !outside.restarts.is_empty();
        if !comes && !self.is_asked() && !self.handing {
            assert!(
                self.machine.is_idle() || self.machine.wants_credentials(),
                "stuck: nothing will ever happen"
            );
        }
    }
}
