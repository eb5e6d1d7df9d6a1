//! The gate before one key: decides which request may be sent. Pure; times are milliseconds of any monotonic clock.
//!
//! | the gate is | sent are | and then |
//! |---|---|---|
//! | open | as many as the limit allows | a vendor that asks to wait, or that fails so many times in a row, closes it |
//! | closed | none until its time is up | then one: the probe |
//! | probing | the probe alone | the vendor takes it: half open; it fails: closed again, for longer; it is dropped: the next one is the probe |
//! | half open | two at a time, one more with each that the vendor takes | at the limit: open; a failure closes it |
//!
//! Who waits because as many are under way as its own limit allows does not hold up those of a larger limit (`line`).
//!
//! What was sent before the gate closed goes on to its end. That it fails too says nothing new: it may name a later
//! time, but makes no wait longer by itself. That it succeeds opens nothing.

use std::collections::BTreeMap;

use proto::Pid;

use crate::line::{Line, Waiter};

/// Requests at a time just after the gate has opened.
const FIRST_WINDOW: usize = 2;
/// Failures in a row, over all sessions, that close the gate.
const FAILURES_MAX: u32 = 5;

/// Numbers of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How long it closes where the vendor names no time; doubles each time.
    pub base_ms: u64,
    pub cap_ms: u64,
    /// How long it closes at most, whatever the vendor says: then one request finds out.
    pub closed_max_ms: u64,
}

/// A request's place. Never used twice in a gate's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// How a request failed, as far as it says something of the vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The vendor asks to wait; it may say how long.
    Busy { retry_after_ms: Option<u64> },
    /// It could not be reached, or broke.
    Down,
}

/// Why a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// As many as may be are under way.
    Full,
    /// The vendor asked for it.
    Busy,
    /// It failed so many times in a row.
    Down,
    /// A probe is on its way.
    Probing,
    /// It is half open.
    Few,
}

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub why: Why,
    /// When the gate may let the next one through, where that is known.
    pub due_ms: Option<u64>,
    /// Other sessions whose requests go first.
    pub sessions_before: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Closed { until_ms: u64, why: Why },
    Probing { probe: Ticket, why: Why },
    HalfOpen { window: usize },
}

/// The gate. See the table above.
#[derive(Debug)]
pub struct Gate {
    bounds: Bounds,
    state: State,
    line: Line,
    /// What is under way, and how many closings were before it was sent.
    under_way: BTreeMap<Ticket, u32>,
    tickets: u64,
    /// How many times it has closed, ever.
    closings: u32,
    /// How many times in a row, since it was open.
    closings_in_row: u32,
    failures_in_row: u32,
}

impl Gate {
    /// An open gate.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            state: State::Open,
            line: Line::default(),
            under_way: BTreeMap::new(),
            tickets: 0,
            closings: 0,
            closings_in_row: 0,
            failures_in_row: 0,
        }
    }

    /// Other numbers from now on.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
    }

    /// A request of a session wants to be sent, at most as the `limit`-th that is under way (at least 1). It waits until
    /// `advance` names it.
    pub fn enter(&mut self, session: Pid, limit: usize) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.line.push(session, Waiter::new(ticket, limit.max(1)));
        ticket
    }

    /// A request has ended, or is dropped, wherever it stands. A second time it changes nothing.
    pub fn leave(&mut self, ticket: Ticket, now_ms: u64) {
        if self.line.remove(ticket) {
            return;
        }
        self.under_way.remove(&ticket);
        if let State::Probing { probe, why } = self.state
            && probe == ticket
        {
            // It told nothing: the next one may.
            let until_ms = now_ms;
            self.state = State::Closed { until_ms, why };
        }
    }

    /// The vendor has begun to answer a request, or refused it for a reason of the request's own.
    pub fn taken(&mut self, ticket: Ticket) {
        let Some(sent_after) = self.under_way.get(&ticket) else {
            return;
        };
        if *sent_after < self.closings {
            return;
        }
        self.failures_in_row = 0;
        match self.state {
            State::Open | State::Closed { .. } => {}
            State::Probing { .. } => {
                self.state = State::HalfOpen {
                    window: FIRST_WINDOW,
                };
            }
            State::HalfOpen { window } => {
                let window = window + 1;
                self.state = State::HalfOpen { window };
                // It takes more than the probe: what closed it is over.
                self.closings_in_row = 0;
            }
        }
    }

    /// A request came to nothing for a reason of the vendor's. It is not under way any more.
    pub fn failed(&mut self, ticket: Ticket, failure: Failure, now_ms: u64) {
        let Some(sent_after) = self.under_way.remove(&ticket) else {
            return;
        };
        let news = sent_after == self.closings;
        if news {
            self.failures_in_row = self.failures_in_row.saturating_add(1);
        }
        match failure {
            Failure::Busy { retry_after_ms } => {
                if news {
                    self.close(Why::Busy, retry_after_ms, now_ms);
                } else if let Some(after_ms) = retry_after_ms {
                    self.close_until(
                        now_ms.saturating_add(after_ms.min(self.bounds.closed_max_ms)),
                    );
                }
            }
            Failure::Down => {
                // A probe that fails says enough. Else one failure is no more than that, also soon after a closing.
                let probed = matches!(self.state, State::Probing { .. });
                let enough = probed || self.failures_in_row >= FAILURES_MAX;
                if news && enough {
                    self.close(Why::Down, None, now_ms);
                }
            }
        }
    }

    fn close(&mut self, why: Why, after_ms: Option<u64>, now_ms: u64) {
        self.closings = self.closings.saturating_add(1);
        self.closings_in_row = self.closings_in_row.saturating_add(1);
        let doublings = match self.failures_in_row {
            // As long as the last of them alone would have waited.
            many if why == Why::Down && many >= FAILURES_MAX => many,
            _ => self.closings_in_row,
        };
        let after_ms = after_ms.unwrap_or_else(|| {
            let doubled = 1_u64 << doublings.saturating_sub(1).min(20);
            let backoff = self.bounds.base_ms.saturating_mul(doubled);
            backoff.min(self.bounds.cap_ms)
        });
        let until_ms = now_ms.saturating_add(after_ms.min(self.bounds.closed_max_ms));
        self.state = State::Closed { until_ms, why };
    }

    /// A request that was sent before the gate closed names a later time.
    fn close_until(&mut self, later_ms: u64) {
        if let State::Closed { until_ms, .. } = &mut self.state {
            *until_ms = later_ms.max(*until_ms);
        }
    }

    /// Lets go whatever may go now, and names it.
    pub fn advance(&mut self, now_ms: u64) -> Vec<Ticket> {
        let mut let_go = Vec::new();
        while let Some(next) = self.line.next(self.under_way.len()) {
            match self.state {
                State::Open => {}
                State::Closed { until_ms, why } => {
                    if now_ms < until_ms {
                        break;
                    }
                    let probe = next.ticket;
                    self.state = State::Probing { probe, why };
                }
                State::Probing { .. } => break,
                State::HalfOpen { window } => {
                    if window >= next.limit {
                        self.state = State::Open;
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

    /// Where a request stands that waits; `None`: it does not wait.
    #[must_use]
    pub fn standing(&self, ticket: Ticket) -> Option<Standing> {
        let sessions_before = self.line.sessions_before(ticket)?;
        let at_limit = self.line.is_at_limit(ticket, self.under_way.len());
        let (why, due_ms) = match self.state {
            // Whatever the vendor says meanwhile, it waits for an end of those.
            _ if at_limit => (Why::Full, None),
            State::Open => (Why::Full, None),
            State::Closed { until_ms, why } => (why, Some(until_ms)),
            State::Probing { .. } => (Why::Probing, None),
            State::HalfOpen { .. } => (Why::Few, None),
        };
        Some(Standing {
            why,
            due_ms,
            sessions_before,
        })
    }

    /// When the gate is to be looked at again although nothing happened. `None` where time alone lets nobody go.
    #[must_use]
    pub fn due_ms(&self) -> Option<u64> {
        let next = self.line.next(self.under_way.len());
        match self.state {
            State::Closed { until_ms, .. } if next.is_some() => Some(until_ms),
            State::Open | State::Closed { .. } | State::Probing { .. } | State::HalfOpen { .. } => {
                None
            }
        }
    }

    /// How many are under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Whether it is as a new one: nothing waits, nothing is under way, nothing is remembered.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.state == State::Open
            && self.failures_in_row == 0
            && self.under_way.is_empty()
            && self.line.is_empty()
    }
}
