//! The rule against a model, over any sequence of events.

use proptest::prelude::*;

use super::*;

/// What can happen around a daemon.
#[derive(Clone, Copy, Debug)]
enum Event {
    Enters,
    Leaves,
    WorkBegins,
    WorkEnds,
    /// Time passes, in milliseconds; sleep of the machine counts too.
    Passes(u64),
    Look,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        2 => Just(Event::Enters),
        2 => Just(Event::Leaves),
        1 => Just(Event::WorkBegins),
        1 => Just(Event::WorkEnds),
        3 => (0_u64..4_000).prop_map(Event::Passes),
        1 => (0_u64..86_400_000).prop_map(Event::Passes),
        6 => Just(Event::Look),
    ];
    prop::collection::vec(event, 0..80)
}

/// What the rule could have seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Happened {
    Stir,
    BusyLook,
    QuietLook,
}

/// Whether it is time, by all that has happened: a look found nothing at least the limit ago, and nothing came after it.
fn is_time(history: &[(Duration, Happened)], now: Duration, limit: Duration) -> bool {
    let quiet = history
        .iter()
        .rev()
        .take_while(|(_, happened)| *happened == Happened::QuietLook);
    quiet.last().is_some_and(|(first, _)| now - *first >= limit)
}

proptest! {
    #[test]
    fn daemon_exits_exactly_when_it_was_idle_for_the_whole_limit(events in events(), limit in 0_u64..5_000) {
        let limit = Duration::from_millis(limit);
        let mut idle = Idle::default();
        let (mut now, mut guests, mut work) = (Duration::from_secs(7), 0_u64, false);
        let mut history = Vec::new();
        for event in events {
            match event {
                Event::Enters | Event::Leaves => {
                    guests = match event {
                        Event::Enters => guests + 1,
                        _ => guests.saturating_sub(1),
                    };
                    idle.mark_active();
                    history.push((now, Happened::Stir));
                }
                Event::WorkBegins => work = true,
                Event::WorkEnds => work = false,
                Event::Passes(ms) => now += Duration::from_millis(ms),
                Event::Look => {
                    let goes = idle.look(Activity { guests, work }, now, Some(limit));
                    let busy = guests > 0 || work;
                    prop_assert!(!(goes && busy), "it went with {guests} guests, work: {work}");
                    history.push((now, if busy { Happened::BusyLook } else { Happened::QuietLook }));
                    prop_assert_eq!(goes, is_time(&history, now, limit));
                }
            }
        }
    }

    #[test]
    fn without_a_limit_it_stays(times in prop::collection::vec(0_u64..u64::MAX / 2, 0..50)) {
        let mut idle = Idle::default();
        for time in times {
            let seen = Activity { guests: 0, work: false };
            prop_assert!(!idle.look(seen, Duration::from_millis(time), None));
        }
    }
}

#[test]
fn a_visit_starts_the_count_over_even_between_two_looks() {
    let quiet = Activity {
        guests: 0,
        work: false,
    };
    let limit = Some(Duration::from_secs(60));
    let at = Duration::from_secs;
    let mut idle = Idle::default();
    assert!(!idle.look(quiet, at(100), limit));
    assert!(!idle.look(quiet, at(159), limit));
    // Somebody comes and goes: the next look sees nobody, and still the daemon stays.
    idle.mark_active();
    assert!(!idle.look(quiet, at(160), limit));
    assert!(!idle.look(quiet, at(219), limit));
    assert!(idle.look(quiet, at(220), limit));
}

#[test]
fn sleep_counts_and_a_clock_that_stands_does_not() {
    let quiet = Activity {
        guests: 0,
        work: false,
    };
    let limit = Some(Duration::from_secs(600));
    let mut idle = Idle::default();
    for _ in 0..10_000 {
        assert!(!idle.look(quiet, Duration::from_secs(5), limit));
    }
    // The lid was closed for an hour.
    assert!(idle.look(quiet, Duration::from_secs(3_605), limit));
}

#[test]
fn the_boot_clock_only_goes_forward() {
    let before = now();
    assert!(before > Duration::ZERO);
    assert!(now() >= before);
}
