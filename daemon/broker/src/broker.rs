//! Gates with a clock and waiting requests. A value represents a request's place in a gate, and
//! dropping it leaves the gate.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use proto::Pid;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::brokered::Payer;
use crate::gate::{Gate, GateTiming, QueuePosition, Ticket, VendorFailure};

/// What a gate stands before: a key, or one of the models that it pays for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GateScope {
    pub payer: Payer,
    /// `None`: all models of the key.
    pub model: Option<String>,
}

/// The brokers of a daemon.
#[derive(Debug, Default)]
pub struct Brokers(DashMap<GateScope, Arc<Broker>>);

impl Brokers {
    /// Returns the broker of this scope, creating it if needed.
    pub(crate) fn get_or_create(&self, scope: GateScope, bounds: GateTiming) -> Arc<Broker> {
        // Keys come and go: an unused broker without state is removed.
        self.0
            .retain(|_, broker| Arc::strong_count(broker) > 1 || !broker.inner().gate.is_at_rest());
        let broker = self
            .0
            .entry(scope)
            .or_insert_with(|| Arc::new(Broker::new(bounds)));
        broker.inner().gate.set_bounds(bounds);
        Arc::clone(&broker)
    }
}

/// One gate, and the requests waiting at it.
#[derive(Debug)]
pub(crate) struct Broker {
    inner: Mutex<Inner>,
    /// Notifies whenever the gate may have changed.
    changed: watch::Sender<()>,
    started: Instant,
}

#[derive(Debug)]
struct Inner {
    gate: Gate,
    waiting: HashMap<Ticket, oneshot::Sender<()>>,
}

impl Broker {
    fn new(bounds: GateTiming) -> Self {
        Self {
            inner: Mutex::new(Inner {
                gate: Gate::new(bounds),
                waiting: HashMap::new(),
            }),
            changed: watch::channel(()).0,
            started: Instant::now(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Changes the gate, then releases the requests that may go.
    fn with<T>(&self, act: impl FnOnce(&mut Gate, u64) -> T) -> T {
        let mut inner = self.inner();
        let now_ms = self.now_ms();
        let came = act(&mut inner.gate, now_ms);
        for ticket in inner.gate.advance(now_ms) {
            // If nobody listens, the place is being dropped and leaves the gate itself.
            if let Some(waits) = inner.waiting.remove(&ticket) {
                let _ = waits.send(());
            }
        }
        came
    }

    /// Queues a request at this broker.
    pub fn enter(self: Arc<Self>, session: Pid, limit: usize) -> RequestPlace {
        let changed = self.changed.subscribe();
        let (go, may_go) = oneshot::channel();
        let ticket = {
            let mut inner = self.inner();
            let ticket = inner.gate.enter(session, limit);
            inner.waiting.insert(ticket, go);
            ticket
        };
        self.with(|_, _| ());
        RequestPlace {
            broker: self,
            ticket,
            may_go,
            changed,
        }
    }
}

/// A request's place: first queued, then in flight. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct RequestPlace {
    broker: Arc<Broker>,
    ticket: Ticket,
    may_go: oneshot::Receiver<()>,
    changed: watch::Receiver<()>,
}

impl RequestPlace {
    /// Whether the request may be sent now. Do not call it again after it returned true.
    pub fn may_go(&mut self) -> bool {
        self.may_go.try_recv().is_ok()
    }

    /// Waits until the request may be sent (true), or until `until` or a change of the gate
    /// (false).
    pub async fn wait(&mut self, until: Instant) -> bool {
        let due = self.due().map_or(until, |due| due.min(until));
        // Dropping the other arm loses nothing: a sent message stays in its channel, and the next
        // check sees a change.
        tokio::select! {
            biased;
            gone = &mut self.may_go => return gone.is_ok(),
            _ = self.changed.changed() => {}
            () = tokio::time::sleep_until(due) => {}
        }
        false
    }

    fn due(&self) -> Option<Instant> {
        let due_ms = self.broker.with(|gate, _| gate.due_ms())?;
        Some(self.broker.started + Duration::from_millis(due_ms))
    }

    /// Its position, and in how many milliseconds something may change.
    pub fn standing(&self) -> Option<(QueuePosition, Option<u64>)> {
        self.broker.with(|gate, now_ms| {
            let standing = gate.standing(self.ticket)?;
            let in_ms = standing.due_ms.map(|due| due.saturating_sub(now_ms));
            Some((standing, in_ms))
        })
    }

    /// Whether the gate has closed since it released the request.
    pub fn closed_since_release(&self) -> bool {
        self.broker
            .with(|gate, _| gate.closed_since_release(self.ticket))
    }

    /// The vendor started to answer, or refused the request for a reason of the request.
    pub fn taken(&self) {
        self.broker.with(|gate, _| gate.taken(self.ticket));
        self.broker.changed.send_replace(());
    }

    /// The request failed for a reason of the vendor.
    pub fn failed(&self, failure: VendorFailure) {
        self.broker
            .with(|gate, now_ms| gate.failed(self.ticket, failure, now_ms));
        self.broker.changed.send_replace(());
    }
}

impl Drop for RequestPlace {
    fn drop(&mut self) {
        self.broker.inner().waiting.remove(&self.ticket);
        self.broker
            .with(|gate, now_ms| gate.leave(self.ticket, now_ms));
        self.broker.changed.send_replace(());
    }
}
