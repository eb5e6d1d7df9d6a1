//! The queue of waiting requests: round robin over sessions, first in first out within a session.
//!
//! Providers with one key may have different limits. A request at its own limit is skipped and
//! keeps its position. After several skips, all others wait until it has room. Otherwise it could
//! wait forever behind requests with a larger limit.

use std::collections::VecDeque;

use proto::Pid;

use crate::gate::Ticket;

/// How often a request may be skipped: about once per place of the default limit.
const PASSED_OVER_MAX: u32 = 16;

/// The waiting requests.
#[derive(Debug, Default)]
pub struct RequestQueue {
    /// Sessions in the order of their turns, each with at least one request.
    sessions: VecDeque<(Pid, VecDeque<QueuedRequest>)>,
}

/// A waiting request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedRequest {
    pub ticket: Ticket,
    /// It may be sent while fewer requests than this are in flight.
    pub limit: usize,
    /// How often a later request went first.
    passed_over: u32,
}

impl RequestQueue {
    pub fn push(&mut self, session: Pid, ticket: Ticket, limit: usize) {
        let waiter = QueuedRequest {
            ticket,
            limit,
            passed_over: 0,
        };
        match self.sessions.iter_mut().find(|(pid, _)| *pid == session) {
            Some((_, waiters)) => waiters.push_back(waiter),
            None => self.sessions.push_back((session, VecDeque::from([waiter]))),
        }
    }

    /// The next request while this many are in flight.
    pub fn next(&self, under_way: usize) -> Option<QueuedRequest> {
        for (_, waiters) in &self.sessions {
            let Some(first) = waiters.front() else {
                continue;
            };
            if under_way < first.limit {
                return Some(*first);
            }
            if first.passed_over >= PASSED_OVER_MAX {
                break;
            }
        }
        None
    }

    /// Removes the next request. Its session moves to the end.
    pub fn take_next(&mut self, under_way: usize) -> Option<QueuedRequest> {
        let next = self.next(under_way)?;
        let (at, _) = self.place(next.ticket)?;
        for (_, waiters) in self.sessions.iter_mut().take(at) {
            if let Some(first) = waiters.front_mut() {
                first.passed_over = first.passed_over.saturating_add(1);
            }
        }
        let (session, mut waiters) = self.sessions.remove(at)?;
        waiters.pop_front();
        if !waiters.is_empty() {
            self.sessions.push_back((session, waiters));
        }
        Some(next)
    }

    /// Whether this request waits and is at its own limit.
    pub fn is_at_limit(&self, ticket: Ticket, under_way: usize) -> bool {
        self.place(ticket).is_some_and(|(at, place)| {
            let (_, waiters) = &self.sessions[at];
            under_way >= waiters[place].limit
        })
    }

    /// Removes a request. Returns whether it was queued.
    pub fn remove(&mut self, ticket: Ticket) -> bool {
        let Some((at, place)) = self.place(ticket) else {
            return false;
        };
        let (_, waiters) = &mut self.sessions[at];
        waiters.remove(place);
        if waiters.is_empty() {
            self.sessions.remove(at);
        }
        true
    }

    /// Number of other sessions with a request ahead of this one.
    pub fn sessions_before(&self, ticket: Ticket) -> Option<usize> {
        let (at, place) = self.place(ticket)?;
        Some(if place == 0 {
            at
        } else {
            self.sessions.len() - 1
        })
    }

    fn place(&self, ticket: Ticket) -> Option<(usize, usize)> {
        self.sessions
            .iter()
            .enumerate()
            .find_map(|(at, (_, waiters))| {
                let place = waiters.iter().position(|waiter| waiter.ticket == ticket)?;
                Some((at, place))
            })
    }

    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }
}
