//! Whether a person is there, what they miss while none is, and what they are told when they come back.

use proto::params::session::SessionSummary;
use proto::state::WaitingFor;
use proto::{Body, Record, Stamp};

use crate::actor::Actor;
use crate::context::forecast;
use crate::history::summary;
use crate::viewers::absence::Left;

impl Actor {
    /// The session in short. `None` before its first record.
    pub(crate) fn summary(&self) -> Option<SessionSummary> {
        let facts = self.machine.facts();
        let mut summary = summary::of(facts, self.fanout.attached(), self.journal.read_only())?;
        summary.children = facts.children.len() as u64;
        summary.silent_since = self
            .gather
            .as_ref()
            .and_then(|gather| gather.silent_since());
        summary.compacting = self.machine.is_compacting();
        let ttl = self.machine.limits().cache_ttl_ms;
        summary.cache_ttl_ms = (ttl > 0).then_some(ttl);
        if facts.context_tokens > 0 {
            let is_same = facts.options.model == Some(facts.wire.full_model());
            let price = self.price.as_deref().filter(|_| is_same);
            let (model, tokens) = (summary.model.clone(), facts.context_tokens);
            let cold = forecast::ahead(model, tokens, 0, price, Stamp::now());
            summary.cold = Some(Box::new(cold));
        }
        Some(summary)
    }

    /// A record was appended: what a person who is not there misses by it.
    pub(crate) fn miss(&mut self, record: &Record) {
        self.absence.appended(record);
        if matches!(record.body, Body::TurnEnded(_)) {
            self.turn_ended_at = Some(record.seq);
        }
    }

    /// Everything up to the newest durable record is known to who is there, or missed by who is not.
    pub(crate) fn settle_absence(&mut self) {
        let durable = self.journal.index.durable();
        self.absence.settled(durable);
        if self.turn_ended_at.is_some_and(|seq| seq <= durable) {
            self.turn_ended_at = None;
            // A daemon that is killed knows roughly what was seen.
            if self.fanout.watched() {
                self.note_seen(self.seen_now());
            }
        }
    }

    /// A follower has come; `watched`: a person was there before.
    pub(crate) fn came(&mut self, watched: bool) {
        if !watched && self.fanout.watched() {
            self.absence.returned();
            self.note_seen(self.seen_now());
        }
    }

    /// A follower has gone; `watched`: a person was there before.
    pub(crate) fn went(&mut self, watched: bool) {
        if watched && !self.fanout.watched() {
            let left = self.seen_now();
            self.absence.left(left);
            self.note_seen(left);
        }
    }

    /// Whether something waits for a person.
    pub(crate) fn waits(&self) -> bool {
        let facts = self.machine.facts();
        facts.state.waiting_for == Some(WaitingFor::Credentials)
            || facts.waits_for_person().is_some()
    }

    /// Somebody who is there now has seen what is durable.
    fn seen_now(&self) -> Left {
        Left {
            since: Stamp::now(),
            seq: self.journal.index.durable(),
        }
    }

    pub(crate) fn note_seen(&mut self, left: Left) {
        self.seen_file.put(left.to_json());
    }
}
