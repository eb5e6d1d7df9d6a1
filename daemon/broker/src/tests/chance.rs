//! Whatever sessions and vendor do: never too many at a time, one probe before a gate that was closed, and everybody's turn.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proto::Pid;

use crate::gate::{Bounds, Failure, Gate, Ticket, Why};

const BOUNDS: Bounds = Bounds {
    base_ms: 500,
    cap_ms: 30_000,
    closed_max_ms: 600_000,
};

/// Something that can happen. Numbers choose among what there is.
#[derive(Clone, Debug)]
enum Event {
    Enter(u64),
    LeaveWaiting(usize),
    LeaveUnderWay(usize),
    Taken(usize),
    Busy(usize, Option<u64>),
    Down(usize),
    Later(u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0_u64..6).prop_map(Event::Enter),
        1 => any::<usize>().prop_map(Event::LeaveWaiting),
        2 => any::<usize>().prop_map(Event::LeaveUnderWay),
        3 => any::<usize>().prop_map(Event::Taken),
        1 => (any::<usize>(), proptest::option::of(0_u64..20_000)).prop_map(|(at, ms)| Event::Busy(at, ms)),
        1 => any::<usize>().prop_map(Event::Down),
        4 => (1_u64..4_000).prop_map(Event::Later),
    ]
}

/// A gate with those around it.
struct World {
    gate: Gate,
    limit: usize,
    now_ms: u64,
    waiting: BTreeMap<Ticket, u64>,
    under_way: BTreeSet<Ticket>,
    /// Those sent before the newest closing.
    old: BTreeSet<Ticket>,
    closed: bool,
    /// Since the newest closing nothing has been taken: at most this one is under way besides the old.
    probe: Option<Ticket>,
}

fn pick<T: Copy>(from: impl ExactSizeIterator<Item = T>, at: usize) -> Option<T> {
    let mut from = from;
    let len = from.len();
    from.nth(at.checked_rem(len)?)
}

impl World {
    fn new(limit: usize) -> Self {
        Self {
            gate: Gate::new(BOUNDS),
            limit,
            now_ms: 0,
            waiting: BTreeMap::new(),
            under_way: BTreeSet::new(),
            old: BTreeSet::new(),
            closed: false,
            probe: None,
        }
    }

    fn play(&mut self, event: &Event) {
        match event {
            Event::Enter(session) => {
                let ticket = self.gate.enter(Pid(*session), self.limit);
                self.waiting.insert(ticket, *session);
            }
            Event::LeaveWaiting(at) => {
                if let Some(ticket) = pick(self.waiting.keys().copied(), *at) {
                    self.waiting.remove(&ticket);
                    self.gate.leave(ticket, self.now_ms);
                }
            }
            Event::LeaveUnderWay(at) => {
                if let Some(ticket) = pick(self.under_way.iter().copied(), *at) {
                    self.end(ticket);
                    self.gate.leave(ticket, self.now_ms);
                    self.gate.leave(ticket, self.now_ms);
                }
            }
            Event::Taken(at) => {
                if let Some(ticket) = pick(self.under_way.iter().copied(), *at) {
                    self.gate.taken(ticket);
                    if self.probe == Some(ticket) {
                        (self.closed, self.probe) = (false, None);
                    }
                }
            }
            Event::Busy(at, retry_after_ms) => {
                let failure = Failure::Busy {
                    retry_after_ms: *retry_after_ms,
                };
                self.fail(*at, failure);
            }
            Event::Down(at) => self.fail(*at, Failure::Down),
            Event::Later(ms) => self.now_ms += ms,
        }
        self.advance();
    }

    fn end(&mut self, ticket: Ticket) {
        self.under_way.remove(&ticket);
        self.old.remove(&ticket);
        if self.probe == Some(ticket) {
            self.probe = None;
        }
    }

    fn fail(&mut self, at: usize, failure: Failure) {
        let Some(ticket) = pick(self.under_way.iter().copied(), at) else {
            return;
        };
        let news = !self.old.contains(&ticket);
        self.end(ticket);
        self.gate.failed(ticket, failure, self.now_ms);
        // Whether it has closed shows in what it says to one more that would come.
        let look = self.gate.enter(Pid(99), self.limit);
        let why = self.gate.standing(look).expect("it waits").why;
        self.gate.leave(look, self.now_ms);
        if news && matches!(why, Why::Busy | Why::Down) {
            self.closed = true;
            self.probe = None;
            self.old = self.under_way.clone();
        }
    }

    fn advance(&mut self) {
        for ticket in self.gate.advance(self.now_ms) {
            assert!(self.waiting.remove(&ticket).is_some(), "it waited");
            self.under_way.insert(ticket);
            if self.closed {
                assert_eq!(self.probe, None, "one probe until it answers");
                self.probe = Some(ticket);
            }
        }
        assert_eq!(self.gate.under_way(), self.under_way.len());
        assert!(self.under_way.len() <= self.limit, "never more than may be");
    }
}

proptest! {
    #[test]
    fn never_too_many_one_probe_and_everybody_is_served(
        limit in 1_usize..6,
        events in proptest::collection::vec(event(), 0..200),
    ) {
        let mut world = World::new(limit);
        for event in &events {
            world.play(event);
        }
        // Peace: the vendor takes everything, requests end, time passes.
        let mut rounds = 0;
        while !(world.waiting.is_empty() && world.under_way.is_empty()) {
            rounds += 1;
            assert!(rounds < 2_000, "nobody waits for ever");
            world.play(&Event::Later(1_000));
            world.play(&Event::Taken(rounds));
            world.play(&Event::LeaveUnderWay(rounds));
        }
    }

    #[test]
    fn sessions_take_turns_however_much_one_of_them_wants(
        greedy in 1_usize..50,
        others in 1_u64..20,
    ) {
        let mut gate = Gate::new(BOUNDS);
        let mut sessions = BTreeMap::new();
        for _ in 0..greedy {
            sessions.insert(gate.enter(Pid(100), 1), 100);
        }
        for session in 0..others {
            sessions.insert(gate.enter(Pid(session), 1), session);
        }
        let mut order = Vec::new();
        while let Some(ticket) = gate.advance(0).pop() {
            order.push(sessions[&ticket]);
            gate.leave(ticket, 0);
        }
        assert_eq!(order.len(), sessions.len());
        let first: Vec<_> = (0..others).collect();
        assert_eq!(order[0], 100);
        assert_eq!(order[1..=first.len()], first, "all others before its second");
    }
}

/// Enters and lets go as many as may.
fn sent(gate: &mut Gate, count: u64, now_ms: u64) -> Vec<Ticket> {
    for session in 0..count {
        gate.enter(Pid(session), 16);
    }
    gate.advance(now_ms)
}

#[test]
fn it_opens_step_by_step_after_a_probe_was_taken() {
    let mut gate = Gate::new(BOUNDS);
    let busy = Failure::Busy {
        retry_after_ms: Some(1_000),
    };
    let first = sent(&mut gate, 40, 0);
    assert_eq!(first.len(), 16);
    for ticket in &first {
        gate.failed(*ticket, busy, 10);
    }
    assert_eq!(
        gate.advance(1_009),
        [],
        "not before the time that was named"
    );
    let probe = gate.advance(1_010);
    assert_eq!((probe.len(), gate.advance(60_000).len()), (1, 0));
    gate.taken(probe[0]);
    let two = gate.advance(60_000);
    assert_eq!(two.len(), 1, "the probe is still under way");
    gate.taken(two[0]);
    assert_eq!(gate.advance(60_000).len(), 1);
    gate.leave(probe[0], 60_000);
    assert_eq!(gate.advance(60_000).len(), 1);
}

#[test]
fn without_a_time_each_closing_is_twice_as_long() {
    let mut gate = Gate::new(BOUNDS);
    let busy = Failure::Busy {
        retry_after_ms: None,
    };
    let (mut now_ms, mut waits) = (0, Vec::new());
    for _ in 0..8 {
        let ticket = gate.enter(Pid(1), 16);
        assert_eq!(gate.advance(now_ms), [ticket]);
        gate.failed(ticket, busy, now_ms);
        let next = gate.enter(Pid(2), 16);
        let due_ms = gate.due_ms().expect("it is closed");
        waits.push(due_ms - now_ms);
        gate.leave(next, now_ms);
        now_ms = due_ms;
    }
    assert_eq!(
        waits,
        [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]
    );
}

#[test]
fn five_failures_in_a_row_close_it_over_all_sessions_and_a_success_between_does_not() {
    let mut gate = Gate::new(BOUNDS);
    for session in 0..9 {
        let ticket = gate.enter(Pid(session), 16);
        assert_eq!(gate.advance(0), [ticket], "open");
        if session == 4 {
            gate.taken(ticket);
            gate.leave(ticket, 0);
        } else {
            gate.failed(ticket, Failure::Down, 0);
        }
    }
    let ticket = gate.enter(Pid(9), 16);
    assert_eq!(gate.advance(0), [ticket], "four and four");
    gate.failed(ticket, Failure::Down, 0);
    gate.enter(Pid(1), 16);
    assert_eq!(gate.advance(7_999), []);
    assert_eq!(gate.advance(8_000).len(), 1);
}

#[test]
fn no_vendor_closes_it_for_longer_than_may_be() {
    let mut gate = Gate::new(BOUNDS);
    let ticket = sent(&mut gate, 1, 0)[0];
    let year = Failure::Busy {
        retry_after_ms: Some(u64::MAX),
    };
    gate.failed(ticket, year, 5);
    gate.enter(Pid(1), 16);
    assert_eq!(gate.due_ms(), Some(600_005));
}
