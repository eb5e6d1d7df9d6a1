//! The session in short, and whether it waits for a user.

use proto::Stamp;
use proto::params::session::SessionSummary;
use proto::state::WaitingFor;

use crate::actor::Actor;
use crate::context::forecast;
use crate::history::summary;

impl Actor {
    /// The session in short. `None` before its first record.
    pub(crate) fn summary(&self) -> Option<SessionSummary> {
        let facts = self.machine.facts();
        let mut summary = summary::of(
            facts,
            self.viewers.fanout().attached(),
            self.journal.read_only(),
        )?;
        summary.children = facts.children.len() as u64;
        summary.silent_since = self
            .requests
            .in_flight()
            .and_then(|gather| gather.silent_since());
        summary.compacting = self.machine.is_compacting();
        let ttl = self.machine.limits().cache_ttl_ms;
        summary.cache_ttl_ms = (ttl > 0).then_some(ttl);
        if facts.context_tokens > 0 {
            let is_same = facts.options.model == Some(facts.wire.full_model());
            let price = self.requests.route().price.as_deref().filter(|_| is_same);
            let (model, tokens) = (summary.model.clone(), facts.context_tokens);
            let cold = forecast::ahead(model, tokens, 0, price, Stamp::now());
            summary.cold = Some(Box::new(cold));
        }
        Some(summary)
    }

    /// Whether something waits for a person.
    pub(crate) fn waits(&self) -> bool {
        let facts = self.machine.facts();
        facts.state.waiting_for == Some(WaitingFor::Credentials)
            || facts.waits_for_person().is_some()
    }
}
