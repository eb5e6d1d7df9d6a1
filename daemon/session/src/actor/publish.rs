//! The state of a session that others see without asking it: only the durable part. Handles see it at once, lists by the catalog.

use history_index::HistoryFeed;
use proto::params::session::SessionSummary;
use proto::state::WaitingFor;
use proto::{Seq, SessionId, Stamp};
use tokio::sync::watch;

use crate::actor::Actor;
use crate::actor::handle::PublishedState;
use crate::actor::inbox::Happened;
use crate::context::forecast;
use crate::history::summary;
use crate::journal::catalog_feed::{CatalogFeed, Written};
use crate::viewers::list_changes::ListChanges;

/// Where others see a session.
pub(crate) struct Publisher {
    seen: watch::Sender<PublishedState>,
    catalog: CatalogFeed,
    /// What the catalog was sent last.
    listed: Option<SessionSummary>,
    history: HistoryFeed,
    /// The newest record that the history index knows of.
    indexed: Seq,
    changes: ListChanges,
    /// The state to publish once the records that are being written are on disk.
    pending_state: Option<PublishedState>,
}

impl Publisher {
    pub fn new(
        seen: watch::Sender<PublishedState>,
        catalog: CatalogFeed,
        history: HistoryFeed,
        changes: ListChanges,
    ) -> Self {
        Self {
            seen,
            catalog,
            listed: None,
            history,
            indexed: Seq(0),
            changes,
            pending_state: None,
        }
    }

    /// Notifies the history index of records that have become durable.
    fn index(&mut self, session: SessionId, durable: Seq) {
        if durable > self.indexed {
            self.indexed = durable;
            self.history.written(session, durable);
        }
    }

    /// Waits until the catalog has everything.
    pub async fn flush(&self) {
        self.catalog.flush().await;
    }
}

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
        let with_agents = self.requests.budget().spent_with_agents();
        summary.tree_usage = with_agents.or(summary.tree_usage);
        let ttl = self.machine.limits().cache_ttl_ms;
        summary.cache_ttl_ms = (ttl > 0).then_some(ttl);
        // An estimate is no base for a price.
        if facts.context_tokens > 0 && !facts.context_estimated {
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

    /// The present state, as others may see it once it is on disk. `None` before the first record.
    fn present_state(&self) -> Option<PublishedState> {
        let facts = self.machine.facts();
        Some(PublishedState {
            summary: self.summary()?,
            interactions: facts.interactions.values().cloned().collect(),
            in_turn: facts.open.is_some(),
            key_variable: self.requests.route().key_variable.clone(),
            closed: None,
        })
    }

    /// Has pending records written, and keeps the state as of them: when they are on disk, newer records may be pending, but a
    /// list must show what is acknowledged by then.
    pub(crate) fn flush(&mut self) {
        if let Some(upto) = self.journal.flush() {
            let state = self.present_state();
            self.publisher.pending_state = state.filter(|state| state.summary.seq == upto);
        }
    }

    /// Publishes the state that others may see: only the durable part.
    pub(crate) fn tell_seen(&mut self) {
        let durable = self.journal.durable();
        if let Some(reason) = self.journal.read_only() {
            // Records that did not reach the disk never happened: only the reason is new.
            let closed = self.journal.closed().cloned();
            self.publisher.seen.send_modify(|seen| {
                seen.summary.read_only = Some(reason);
                seen.closed = closed;
            });
            self.publisher.changes.note(self.id);
            return;
        }
        if let Some(created) = &self.machine.facts().created {
            self.publisher.index(created.session, durable);
        }
        let newest = self.journal.last();
        let written = self
            .publisher
            .pending_state
            .take_if(|state| state.summary.seq <= durable);
        let state = if durable == newest {
            self.present_state()
        } else {
            written
        };
        let Some(state) = state else {
            return;
        };
        let summary = state.summary.clone();
        self.publisher.seen.send_replace(state);
        self.publisher.changes.note(self.id);
        // What it used is a part of theirs.
        for above in self.requests.budget().all_above() {
            self.publisher.changes.note(above);
        }
        let settled = durable == newest && self.is_settled();
        let summary = as_listed(summary);
        if settled
            || self
                .publisher
                .listed
                .as_ref()
                .is_none_or(|listed| reads_otherwise(listed, &summary))
        {
            if self.publisher.listed.as_ref() == Some(&summary) {
                return;
            }
            self.publisher.listed = Some(summary.clone());
            let happened = self.happened.clone();
            let written: Option<Written> = settled.then(|| {
                let written: Written = Box::new(move || {
                    let _ = happened.send(Happened::Cataloged(durable));
                });
                written
            });
            self.publisher.catalog.put(summary, written);
        }
    }

    /// Lists know it as it is from now on, also if it leaves with work that is left to do.
    pub(crate) fn list_once_more(&self) {
        let written = !self.journal.is_closed() && self.journal.durable() == self.journal.last();
        let summary = self.summary().filter(|_| written).map(as_listed);
        if let Some(summary) =
            summary.filter(|summary| self.publisher.listed.as_ref() != Some(summary))
        {
            self.publisher.catalog.put(summary, None);
        }
    }
}

/// As lists keep it: viewers, running work and missing answers are known of loaded sessions alone.
fn as_listed(summary: SessionSummary) -> SessionSummary {
    SessionSummary {
        attached: 0,
        children: 0,
        activity: String::new(),
        silent_since: None,
        compacting: false,
        planning: false,
        ..summary
    }
}

/// Whether a list would show something else that matters before the session rests.
fn reads_otherwise(listed: &SessionSummary, now: &SessionSummary) -> bool {
    let key = |summary: &SessionSummary| {
        (
            summary.state,
            summary.waiting_for,
            summary.turns,
            summary.name.clone(),
            summary.labels.clone(),
            summary.approval_mode,
            (summary.mode, summary.only_reads),
        )
    };
    key(listed) != key(now)
}
