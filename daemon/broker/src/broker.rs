//! Gates with a clock and with those who wait: a place in one is held by a value, and given back where that is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use proto::Pid;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::brokered::Payer;
use crate::gate::{Bounds, Failure, Gate, Standing, Ticket};

/// The brokers of a daemon, by who is asked and who pays.
#[derive(Debug, Default)]
pub struct Brokers(DashMap<Payer, Arc<Broker>>);

impl Brokers {
    /// The broker of this one.
    pub(crate) fn of(&self, payer: Payer, bounds: Bounds) -> Arc<Broker> {
        // Keys come and go: what nobody uses and that has nothing to remember is forgotten.
        self.0
            .retain(|_, broker| Arc::strong_count(broker) > 1 || !broker.inner().gate.is_at_rest());
        let broker = self
            .0
            .entry(payer)
            .or_insert_with(|| Arc::new(Broker::new(bounds)));
        broker.inner().gate.set_bounds(bounds);
        Arc::clone(&broker)
    }
}

/// One gate, and who waits before it.
#[derive(Debug)]
pub(crate) struct Broker {
    inner: Mutex<Inner>,
    /// Changes whenever the gate may have.
    changed: watch::Sender<()>,
    born: Instant,
}

#[derive(Debug)]
struct Inner {
    gate: Gate,
    waiting: HashMap<Ticket, oneshot::Sender<()>>,
}

impl Broker {
    fn new(bounds: Bounds) -> Self {
        Self {
            inner: Mutex::new(Inner {
                gate: Gate::new(bounds),
                waiting: HashMap::new(),
            }),
            changed: watch::channel(()).0,
            born: Instant::now(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Changes the gate, and lets go whoever may go then.
    fn with<T>(&self, act: impl FnOnce(&mut Gate, u64) -> T) -> T {
        let mut inner = self.inner();
        let now_ms = self.now_ms();
        let came = act(&mut inner.gate, now_ms);
        for ticket in inner.gate.advance(now_ms) {
            // Where nobody listens any more its place is being dropped, and leaves the gate by that.
            if let Some(waits) = inner.waiting.remove(&ticket) {
                let _ = waits.send(());
            }
        }
        came
    }

    /// A place in the line of this broker.
    pub fn enter(self: Arc<Self>, session: Pid, limit: usize) -> Place {
        let changed = self.changed.subscribe();
        let (go, may_go) = oneshot::channel();
        let ticket = {
            let mut inner = self.inner();
            let ticket = inner.gate.enter(session, limit);
            inner.waiting.insert(ticket, go);
            ticket
        };
        self.with(|_, _| ());
        Place {
            broker: self,
            ticket,
            may_go,
            changed,
        }
    }
}

/// A request's place: in the line, then under way. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Place {
    broker: Arc<Broker>,
    ticket: Ticket,
    may_go: oneshot::Receiver<()>,
    changed: watch::Receiver<()>,
}

impl Place {
    /// Whether it may go at once. Not to be asked again after it may.
    pub fn may_go(&mut self) -> bool {
        self.may_go.try_recv().is_ok()
    }

    /// Waits until it may go (true), or `until`, or something has changed.
    pub async fn wait(&mut self, until: Instant) -> bool {
        let due = self.due().map_or(until, |due| due.min(until));
        // Nothing is lost with an arm that was not chosen: what was sent stays, and a change is seen by the next look.
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
        Some(self.broker.born + Duration::from_millis(due_ms))
    }

    /// Where it stands, and in how many milliseconds something may change.
    pub fn standing(&self) -> Option<(Standing, Option<u64>)> {
        self.broker.with(|gate, now_ms| {
            let standing = gate.standing(self.ticket)?;
            let in_ms = standing.due_ms.map(|due| due.saturating_sub(now_ms));
            Some((standing, in_ms))
        })
    }

    /// The vendor has begun to answer, or refused it for a reason of its own.
    pub fn taken(&self) {
        self.broker.with(|gate, _| gate.taken(self.ticket));
        self.broker.changed.send_replace(());
    }

    /// It came to nothing for a reason of the vendor's.
    pub fn failed(&self, failure: Failure) {
        self.broker
            .with(|gate, now_ms| gate.failed(self.ticket, failure, now_ms));
        self.broker.changed.send_replace(());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.broker.inner().waiting.remove(&self.ticket);
        self.broker
            .with(|gate, now_ms| gate.leave(self.ticket, now_ms));
        self.broker.changed.send_replace(());
    }
}
