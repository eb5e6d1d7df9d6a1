//! Decides which request may go on. Each key has a gate, and each of its models another: a request
//! passes that of its model first (`brokered`). Pure; times are milliseconds of any monotonic clock.
//!
//! | state | requests sent | next state |
//! |---|---|---|
//! | open | up to the limit | closed, if the vendor asks to wait or fails several times in a row |
//! | closed | none until its time is up | probing |
//! | probing | only the probe | half open if the vendor accepts it; closed for longer if it fails; another probe if it is dropped |
//! | half open | two at a time, one more with each that the vendor accepts | open at the limit; closed after a failure |
//!
//! A request that waits because of its own limit does not block requests with a larger limit
//! (`queue`).
//!
//! Requests sent before the gate closed run to their end. Their failure may name a later time, but
//! does not extend the wait. Their success opens nothing.

use std::collections::BTreeMap;

use proto::Pid;

use crate::queue::RequestQueue;

/// Requests in flight right after the gate opens.
const FIRST_WINDOW: usize = 2;
/// Consecutive failures, over all sessions, that close the gate.
const FAILURES_MAX: u32 = 5;

/// The gate's timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateTiming {
    /// How long the gate closes if the vendor names no time. Doubles each time.
    pub base_ms: u64,
    pub cap_ms: u64,
    /// Longest wait of the vendor that is kept. Requests fail at once where it names a longer one, so the gate closes as if
    /// it had named none, and the next request learns what the vendor says then.
    pub closed_max_ms: u64,
}

/// Identifies a request. Never reused in a gate's lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// A failure that says something about the vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VendorFailure {
    /// The vendor asks to wait, and may say how long.
    Busy { retry_after_ms: Option<u64> },
    /// It could not be reached, or the answer broke.
    Down,
}

/// Why a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// The maximum number of requests is in flight.
    Full,
    /// The vendor asked for it.
    Busy,
    /// It failed several times in a row.
    Down,
    /// A probe is in flight.
    Probing,
    /// The gate is half open.
    Few,
}

/// A waiting request's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePosition {
    pub why: WaitReason,
    /// When the gate may release the next request, if known.
    pub due_ms: Option<u64>,
    /// Number of other sessions whose requests go first.
    pub sessions_before: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GateState {
    Open,
    Closed { until_ms: u64, why: WaitReason },
    Probing { probe: Ticket, why: WaitReason },
    HalfOpen { window: usize },
}

/// The gate. See the table above.
#[derive(Debug)]
pub struct Gate {
    bounds: GateTiming,
    state: GateState,
    line: RequestQueue,
    /// Requests in flight, with the number of closings before each was sent.
    under_way: BTreeMap<Ticket, u32>,
    tickets: u64,
    /// How many times the gate has closed in total.
    closings: u32,
    /// How many times it has closed since it was last open.
    closings_in_row: u32,
    failures_in_row: u32,
}

impl Gate {
    /// Creates an open gate.
    #[must_use]
    pub fn new(bounds: GateTiming) -> Self {
        Self {
            bounds,
            state: GateState::Open,
            line: RequestQueue::default(),
            under_way: BTreeMap::new(),
            tickets: 0,
            closings: 0,
            closings_in_row: 0,
            failures_in_row: 0,
        }
    }

    /// Changes the timing.
    pub fn set_bounds(&mut self, bounds: GateTiming) {
        self.bounds = bounds;
    }

    /// Queues a request of a session. It may be sent while fewer than `limit` (at least 1) are in
    /// flight. It waits until `advance` names it.
    pub fn enter(&mut self, session: Pid, limit: usize) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.line.push(session, ticket, limit.max(1));
        ticket
    }

    /// Removes a request that has ended or was dropped, in any state. Calling it again changes
    /// nothing.
    pub fn leave(&mut self, ticket: Ticket, now_ms: u64) {
        if self.line.remove(ticket) {
            return;
        }
        self.under_way.remove(&ticket);
        if let GateState::Probing { probe, why } = self.state
            && probe == ticket
        {
            // The probe gave no result: the next request may probe.
            let until_ms = now_ms;
            self.state = GateState::Closed { until_ms, why };
        }
    }

    /// The vendor started to answer a request, or refused it for a reason of the request.
    pub fn taken(&mut self, ticket: Ticket) {
        let Some(sent_after) = self.under_way.get(&ticket) else {
            return;
        };
        if *sent_after < self.closings {
            return;
        }
        self.failures_in_row = 0;
        match self.state {
            GateState::Open | GateState::Closed { .. } => {}
            GateState::Probing { .. } => {
                self.state = GateState::HalfOpen {
                    window: FIRST_WINDOW,
                };
            }
            GateState::HalfOpen { window } => {
                let window = window + 1;
                self.state = GateState::HalfOpen { window };
                // It accepts more than the probe, so the outage is over.
                self.closings_in_row = 0;
            }
        }
    }

    /// A request failed for a reason of the vendor. It is not in flight anymore.
    pub fn failed(&mut self, ticket: Ticket, failure: VendorFailure, now_ms: u64) {
        let Some(sent_after) = self.under_way.remove(&ticket) else {
            return;
        };
        let news = sent_after == self.closings;
        if news {
            self.failures_in_row = self.failures_in_row.saturating_add(1);
        }
        match failure {
            VendorFailure::Busy { retry_after_ms } => {
                let kept_ms = retry_after_ms.filter(|ms| *ms <= self.bounds.closed_max_ms);
                if news {
                    self.close(WaitReason::Busy, kept_ms, now_ms);
                } else if let Some(after_ms) = kept_ms {
                    self.close_until(now_ms.saturating_add(after_ms));
                }
            }
            VendorFailure::Down => {
                // A failed probe closes the gate. Any other single failure does not, even soon
                // after a closing.
                let probed = matches!(self.state, GateState::Probing { .. });
                let enough = probed || self.failures_in_row >= FAILURES_MAX;
                if news && enough {
                    self.close(WaitReason::Down, None, now_ms);
                }
            }
        }
    }

    fn close(&mut self, why: WaitReason, after_ms: Option<u64>, now_ms: u64) {
        self.closings = self.closings.saturating_add(1);
        self.closings_in_row = self.closings_in_row.saturating_add(1);
        let doublings = match self.failures_in_row {
            // As long as the last failure alone would have waited.
            many if why == WaitReason::Down && many >= FAILURES_MAX => many,
            _ => self.closings_in_row,
        };
        let after_ms = after_ms.unwrap_or_else(|| {
            let doubled = 1_u64 << doublings.saturating_sub(1).min(20);
            let backoff = self.bounds.base_ms.saturating_mul(doubled);
            backoff.min(self.bounds.cap_ms)
        });
        let until_ms = now_ms.saturating_add(after_ms);
        self.state = GateState::Closed { until_ms, why };
    }

    /// A request that was sent before the gate closed names a later time.
    fn close_until(&mut self, later_ms: u64) {
        if let GateState::Closed { until_ms, .. } = &mut self.state {
            *until_ms = later_ms.max(*until_ms);
        }
    }

    /// Releases all requests that may go now, and returns them.
    pub fn advance(&mut self, now_ms: u64) -> Vec<Ticket> {
        let mut let_go = Vec::new();
        while let Some(next) = self.line.next(self.under_way.len()) {
            match self.state {
                GateState::Open => {}
                GateState::Closed { until_ms, why } => {
                    if now_ms < until_ms {
                        break;
                    }
                    let probe = next.ticket;
                    self.state = GateState::Probing { probe, why };
                }
                GateState::Probing { .. } => break,
                GateState::HalfOpen { window } => {
                    if window >= next.limit {
                        self.state = GateState::Open;
                        self.closings_in_row = 0;
                    } else if self.under_way_since_closing() >= window {
                        break;
                    }
                }
            }
            self.line.take_next(self.under_way.len());
            self.under_way.insert(next.ticket, self.closings);
            let_go.push(next.ticket);
        }
        let_go
    }

    fn under_way_since_closing(&self) -> usize {
        let since = |sent_after: &&u32| **sent_after == self.closings;
        self.under_way.values().filter(since).count()
    }

    /// The position of a waiting request. `None` if it does not wait.
    #[must_use]
    pub fn standing(&self, ticket: Ticket) -> Option<QueuePosition> {
        let sessions_before = self.line.sessions_before(ticket)?;
        let at_limit = self.line.is_at_limit(ticket, self.under_way.len());
        let (why, due_ms) = match self.state {
            // Whatever the vendor says, it first waits for one of those to end.
            _ if at_limit => (WaitReason::Full, None),
            GateState::Open => (WaitReason::Full, None),
            GateState::Closed { until_ms, why } => (why, Some(until_ms)),
            GateState::Probing { .. } => (WaitReason::Probing, None),
            GateState::HalfOpen { .. } => (WaitReason::Few, None),
        };
        Some(QueuePosition {
            why,
            due_ms,
            sessions_before,
        })
    }

    /// When to call `advance` again although nothing happened. `None` if time alone releases
    /// nothing.
    #[must_use]
    pub fn due_ms(&self) -> Option<u64> {
        let next = self.line.next(self.under_way.len());
        match self.state {
            GateState::Closed { until_ms, .. } if next.is_some() => Some(until_ms),
            GateState::Open
            | GateState::Closed { .. }
            | GateState::Probing { .. }
            | GateState::HalfOpen { .. } => None,
        }
    }

    /// Whether a request has been released, and the gate has closed since.
    #[must_use]
    pub fn closed_since_release(&self, ticket: Ticket) -> bool {
        let released = self.under_way.get(&ticket);
        released.is_some_and(|sent_after| *sent_after < self.closings)
    }

    /// Number of requests in flight.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Whether the gate is in its initial state.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.state == GateState::Open
            && self.failures_in_row == 0
            && self.under_way.is_empty()
            && self.line.is_empty()
    }
}
