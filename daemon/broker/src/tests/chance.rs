//! For any events of sessions and vendor: limits hold, a closed gate is probed once, and every
//! request gets its turn.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proto::Pid;

use crate::gate::{Gate, GateTiming, Ticket, VendorFailure, WaitReason};

const BOUNDS: GateTiming = GateTiming {
    base_ms: 500,
    cap_ms: 30_000,
    closed_max_ms: 600_000,
};

/// An event. Numbers select among the existing items.
#[derive(Clone, Debug)]
enum Event {
    /// A session, and the index of a limit.
    Enter(u64, usize),
    LeaveWaiting(usize),
    LeaveUnderWay(usize),
    Taken(usize),
    Busy(usize, Option<u64>),
    Down(usize),
    Later(u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0_u64..6, any::<usize>()).prop_map(|(session, at)| Event::Enter(session, at)),
        1 => any::<usize>().prop_map(Event::LeaveWaiting),
        2 => any::<usize>().prop_map(Event::LeaveUnderWay),
        3 => any::<usize>().prop_map(Event::Taken),
        1 => (any::<usize>(), proptest::option::of(0_u64..20_000)).prop_map(|(at, ms)| Event::Busy(at, ms)),
        1 => any::<usize>().prop_map(Event::Down),
        4 => (1_u64..4_000).prop_map(Event::Later),
    ]
}

/// A gate, with a model of its surroundings.
struct GateModel {
    gate: Gate,
    /// Limits of providers with the same key.
    limits: [usize; 2],
    now_ms: u64,
    /// Waiting requests with their limits.
    waiting: BTreeMap<Ticket, usize>,
    under_way: BTreeSet<Ticket>,
    /// Requests sent before the latest closing.
    old: BTreeSet<Ticket>,
    closed: bool,
    /// No request has been accepted since the latest closing. Besides the old ones, at most this
    /// one is in flight.
    probe: Option<Ticket>,
}

fn pick<T: Copy>(from: impl ExactSizeIterator<Item = T>, at: usize) -> Option<T> {
    let mut from = from;
    let len = from.len();
    from.nth(at.checked_rem(len)?)
}

impl GateModel {
    fn new(limits: [usize; 2]) -> Self {
        Self {
            gate: Gate::new(BOUNDS),
            limits,
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
            Event::Enter(session, at) => {
                let limit = self.limits[at % self.limits.len()];
                let ticket = self.gate.enter(Pid(*session), limit);
                self.waiting.insert(ticket, limit);
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
                let failure = VendorFailure::Busy {
                    retry_after_ms: *retry_after_ms,
                };
                self.fail(*at, failure);
            }
            Event::Down(at) => self.fail(*at, VendorFailure::Down),
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

    fn fail(&mut self, at: usize, failure: VendorFailure) {
        let Some(ticket) = pick(self.under_way.iter().copied(), at) else {
            return;
        };
        let news = !self.old.contains(&ticket);
        self.end(ticket);
        self.gate.failed(ticket, failure, self.now_ms);
        // Whether it closed shows in the position of one more request.
        let look = self.gate.enter(Pid(99), usize::MAX);
        let why = self.gate.standing(look).expect("it waits").why;
        self.gate.leave(look, self.now_ms);
        if news && matches!(why, WaitReason::Busy | WaitReason::Down) {
            self.closed = true;
            self.probe = None;
            self.old = self.under_way.clone();
        }
    }

    fn advance(&mut self) {
        for ticket in self.gate.advance(self.now_ms) {
            let limit = self.waiting.remove(&ticket).expect("it waited");
            self.under_way.insert(ticket);
            assert!(self.under_way.len() <= limit, "the limit holds");
            if self.closed {
                assert_eq!(self.probe, None, "one probe until it answers");
                self.probe = Some(ticket);
            }
        }
        assert_eq!(self.gate.under_way(), self.under_way.len());
        assert_eq!(
            self.gate.advance(self.now_ms),
            [],
            "all possible requests were released"
        );
        // Otherwise waiting requests would poll repeatedly.
        let due_ms = self.gate.due_ms();
        assert!(
            due_ms.is_none_or(|due_ms| due_ms > self.now_ms),
            "{due_ms:?}"
        );
    }
}

proptest! {
    #[test]
    fn limits_hold_one_probe_runs_and_every_request_is_served(
        limits in [1_usize..6, 1_usize..6],
        events in proptest::collection::vec(event(), 0..200),
    ) {
        let mut world = GateModel::new(limits);
        for event in &events {
            world.play(event);
        }
        // Quiet phase: the vendor accepts everything, requests end, time passes.
        let mut rounds = 0;
        while !(world.waiting.is_empty() && world.under_way.is_empty()) {
            rounds += 1;
            assert!(rounds < 2_000, "no request waits forever");
            world.play(&Event::Later(1_000));
            world.play(&Event::Taken(rounds));
            world.play(&Event::LeaveUnderWay(rounds));
        }
    }

    #[test]
    fn sessions_take_turns_even_if_one_has_many_requests(
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

/// Queues requests and releases as many as possible.
fn sent(gate: &mut Gate, count: u64, now_ms: u64) -> Vec<Ticket> {
    for session in 0..count {
        gate.enter(Pid(session), 16);
    }
    gate.advance(now_ms)
}

const SMALL: usize = 2;
const LARGE: usize = 16;

#[test]
fn a_request_at_its_own_limit_does_not_block_larger_limits() {
    let mut gate = Gate::new(BOUNDS);
    assert_eq!(sent(&mut gate, 2, 0).len(), 2);
    let small = gate.enter(Pid(10), SMALL);
    let large = gate.enter(Pid(11), LARGE);
    assert_eq!(gate.advance(0), [large]);
    gate.leave(large, 0);
    assert_eq!(gate.advance(0), []);
    assert_eq!(
        gate.standing(small).map(|position| position.why),
        Some(WaitReason::Full)
    );
}

#[test]
fn time_wakes_no_request_that_is_at_its_own_limit() {
    let mut gate = Gate::new(BOUNDS);
    let first = sent(&mut gate, 3, 0);
    let small = gate.enter(Pid(10), SMALL);
    let busy = VendorFailure::Busy {
        retry_after_ms: Some(1_000),
    };
    gate.failed(first[0], busy, 0);
    assert_eq!((gate.advance(2_000), gate.due_ms()), (vec![], None));
    let standing = gate.standing(small).expect("it waits");
    assert_eq!((standing.why, standing.due_ms), (WaitReason::Full, None));
    // A request with a larger limit is the probe.
    let large = gate.enter(Pid(11), LARGE);
    assert_eq!(gate.due_ms(), Some(1_000));
    assert_eq!(gate.advance(2_000), [large]);
    gate.leave(large, 2_000);
    // The request with the small limit is next as soon as there is room for it.
    gate.leave(first[1], 3_000);
    assert_eq!(gate.advance(3_000), [small]);
}

#[test]
fn a_small_limit_gets_its_turn_although_a_larger_one_is_always_full() {
    let mut gate = Gate::new(BOUNDS);
    let mut under_way = sent(&mut gate, 16, 0);
    let small = gate.enter(Pid(100), SMALL);
    for session in 0..1_000 {
        // There is always another one, and they end one by one.
        gate.enter(Pid(session % 50), LARGE);
        gate.leave(under_way.remove(0), 0);
        under_way.extend(gate.advance(0));
        if under_way.contains(&small) {
            assert!(session < 50, "{session}");
            return;
        }
    }
    panic!("it waits forever");
}

#[test]
fn the_gate_opens_gradually_after_a_successful_probe() {
    let mut gate = Gate::new(BOUNDS);
    let busy = VendorFailure::Busy {
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
fn without_a_retry_time_each_closing_is_twice_as_long() {
    let mut gate = Gate::new(BOUNDS);
    let busy = VendorFailure::Busy {
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
fn five_consecutive_failures_close_the_gate_for_all_sessions() {
    let mut gate = Gate::new(BOUNDS);
    for session in 0..9 {
        let ticket = gate.enter(Pid(session), 16);
        assert_eq!(gate.advance(0), [ticket], "open");
        if session == 4 {
            gate.taken(ticket);
            gate.leave(ticket, 0);
        } else {
            gate.failed(ticket, VendorFailure::Down, 0);
        }
    }
    let ticket = gate.enter(Pid(9), 16);
    assert_eq!(gate.advance(0), [ticket], "four and four");
    gate.failed(ticket, VendorFailure::Down, 0);
    gate.enter(Pid(1), 16);
    assert_eq!(gate.advance(7_999), []);
    assert_eq!(gate.advance(8_000).len(), 1);
}

#[test]
fn a_wait_beyond_the_maximum_closes_the_gate_as_if_none_were_named() {
    let mut gate = Gate::new(BOUNDS);
    let mut now_ms = 5;
    for (wait_ms, closed_ms) in [
        (BOUNDS.closed_max_ms, BOUNDS.closed_max_ms),
        (BOUNDS.closed_max_ms + 1, 2 * BOUNDS.base_ms),
        (u64::MAX, 4 * BOUNDS.base_ms),
    ] {
        let ticket = sent(&mut gate, 1, now_ms)[0];
        let busy = VendorFailure::Busy {
            retry_after_ms: Some(wait_ms),
        };
        gate.failed(ticket, busy, now_ms);
        gate.enter(Pid(1), 16);
        now_ms += closed_ms;
        assert_eq!(gate.due_ms(), Some(now_ms), "{wait_ms}");
        let probe = gate.advance(now_ms)[0];
        gate.leave(probe, now_ms);
    }
}
