//! What the actor does when protected names came while commands ran: everybody is notified at once, and the next call that
//! ends carries the question whether they are put back.

use contract::{Outcome, Quarantined};
use proto::{Body, CallId};

use crate::actor::Actor;
use crate::calls::quarantine;

impl Actor {
    pub(crate) fn take_quarantined(&mut self, items: Vec<Quarantined>) {
        for item in &items {
            self.note(Body::Notice(quarantine::notice(item)));
        }
        self.calls.add_quarantined(items);
    }

    /// Gives a call that ends the names that came since the last one. The user is asked if someone can answer.
    pub(crate) fn hand_over_quarantined(&mut self, call: &CallId, outcome: &mut Outcome) {
        let facts = self.machine.facts();
        // This call has been asked about already.
        if facts.blocked(call).is_some() {
            return;
        }
        let refused = facts.effective_permissions().refuses().is_some();
        let unasked = policy::unasked(facts.on_ask(), self.viewers.attended());
        let mut items = self.calls.take_quarantined();
        if items.is_empty() {
            return;
        }
        quarantine::note_for_model(outcome, &items);
        items.retain(|item| item.kept.is_some());
        if !refused && !unasked {
            outcome.quarantined = items;
        }
    }
}
