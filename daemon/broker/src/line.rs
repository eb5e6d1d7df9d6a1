//! Who is next: round robin over sessions, in the order of arrival within one.
//!
//! Providers with one key may have different limits. Whose own limit is reached is passed over, and keeps its place; so
//! many times, then all wait until there is room for it: else it would wait for ever behind those of a larger limit.

use std::collections::VecDeque;

use proto::Pid;

use crate::gate::Ticket;

/// How many times one is passed over: about as often as all places of the usual limit are given away once.
const PASSED_OVER_MAX: u32 = 16;

/// Requests that wait.
#[derive(Debug, Default)]
pub struct Line {
    /// Sessions in the order of their turns; none is without a request.
    sessions: VecDeque<(Pid, VecDeque<Waiter>)>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    pub ticket: Ticket,
    /// How many requests may be under way with it.
    pub limit: usize,
    /// How many times one behind it has gone first.
    passed_over: u32,
}

impl Waiter {
    pub fn new(ticket: Ticket, limit: usize) -> Self {
        Self {
            ticket,
            limit,
            passed_over: 0,
        }
    }
}

impl Line {
    pub fn push(&mut self, session: Pid, waiter: Waiter) {
        match self.sessions.iter_mut().find(|(pid, _)| *pid == session) {
            Some((_, waiters)) => waiters.push_back(waiter),
            None => self.sessions.push_back((session, VecDeque::from([waiter]))),
        }
    }

    /// Who is next where so many requests are under way.
    pub fn next(&self, under_way: usize) -> Option<Waiter> {
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

    /// Takes who is next; its session is last now.
    pub fn take_next(&mut self, under_way: usize) -> Option<Waiter> {
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

    /// Whether this one waits, and its own limit is reached where so many requests are under way.
    pub fn is_at_limit(&self, ticket: Ticket, under_way: usize) -> bool {
        self.place(ticket).is_some_and(|(at, place)| {
            let (_, waiters) = &self.sessions[at];
            under_way >= waiters[place].limit
        })
    }

    /// Takes this one out. True where it was there.
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

    /// How many other sessions have a request that goes before this one.
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
