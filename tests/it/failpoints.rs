//! Kills of the real session engine inside this process, at numbered points: every write and sync, every part of an
//! answer, every start and end of a call, every notification. Thousands in a minute, where real kills take hours.
//!
//! `REASONIX_FAILPOINTS=100000` kills more often; `REASONIX_FAILPOINT_SEED=…` repeats one session.

mod clients;
mod engine;
mod life;
mod verify;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tests::Chance;

use life::Scenario;
use world::{Kill, POINTS, Point};

/// Kills of the default run.
const KILLS: u64 = 2_000;
/// Kills of one session at most.
const KILLS_EACH: u64 = 10;

/// Prints the seed, and how to repeat the run.
struct Seeded(u64);

impl Drop for Seeded {
    #[allow(clippy::print_stderr, reason = "a test's own words, next to its panic")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "repeat it: REASONIX_FAILPOINT_SEED={} cargo test -p tests --test it -- --exact failpoints::thousands_of_kills",
                self.0
            );
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is not a number: `{text}`")),
    )
}

/// Where a life ends: somewhere near, or at a certain kind of point.
fn kill(chance: &mut Chance, seed: u64, first: bool) -> Kill {
    if first {
        // Over all seeds, every point of the beginning is hit.
        return Kill {
            of: None,
            nth: 1 + seed % 400,
        };
    }
    if chance.once_in(2) {
        return Kill {
            of: None,
            nth: 1 + chance.below(120),
        };
    }
    Kill {
        of: Some(POINTS[chance.index(POINTS.len())]),
        nth: 1 + chance.below(6),
    }
}

/// Plays one session under kills; returns their points.
fn play(seed: u64) -> Vec<Point> {
    let _seeded = Seeded(seed);
    let mut chance = Chance::of(seed);
    let mut scenario = Scenario::of(&mut chance);
    let mut kills = 0;
    loop {
        let kill = (kills < KILLS_EACH).then(|| kill(&mut chance, seed, kills == 0));
        if scenario.live(kill) {
            break;
        }
        kills += 1;
        scenario.world.crash(&mut chance);
    }
    verify::verify(&scenario);
    std::mem::take(&mut scenario.world.state().ends)
}

#[test]
fn sessions_survive_thousands_of_kills_at_failpoints() {
    if let Some(seed) = number("REASONIX_FAILPOINT_SEED") {
        play(seed);
        return;
    }
    let wanted = number("REASONIX_FAILPOINTS").unwrap_or(KILLS);
    let (ends, next) = (Mutex::new(Vec::new()), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while (ends.lock().expect("no panic").len() as u64) < wanted {
                    let more = play(next.fetch_add(1, Ordering::SeqCst));
                    ends.lock().expect("no panic").extend(more);
                }
            });
        }
    });
    let ends = ends.into_inner().expect("no panic");
    for point in POINTS {
        let count = ends.iter().filter(|end| **end == point).count();
        assert!(
            count * 100 >= ends.len(),
            "only {count} of {} kills were at {point:?}",
            ends.len()
        );
    }
}
