//! Who is next: round robin over sessions, in the order of arrival within one.

use std::collections::VecDeque;

use proto::Pid;

use crate::gate::Ticket;

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
}

impl Line {
    pub fn push(&mut self, session: Pid, waiter: Waiter) {
        match self.sessions.iter_mut().find(|(pid, _)| *pid == session) {
            Some((_, waiters)) => waiters.push_back(waiter),
            None => self.sessions.push_back((session, VecDeque::from([waiter]))),
        }
    }

    /// Who is next.
    pub fn first(&self) -> Option<Waiter> {
        let (_, waiters) = self.sessions.front()?;
        waiters.front().copied()
    }

    /// Takes who is next; its session is last now.
    pub fn pop(&mut self) -> Option<Waiter> {
        let (session, mut waiters) = self.sessions.pop_front()?;
        let first = waiters.pop_front();
        if !waiters.is_empty() {
            self.sessions.push_back((session, waiters));
        }
        first
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
