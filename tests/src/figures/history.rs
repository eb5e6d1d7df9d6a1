//! Does it take longer to start with much history? A home with many stored sessions beside one with few.

use std::time::{Duration, Instant};

use proto::Pid;
use proto::hello::Role;
use serde_json::json;

use super::Size;
use super::basics::hello;
use super::endpoint::Endpoint;
use super::grown::{Sample, settle};
use super::table::{Figure, median, row};
use crate::wait::{BOUND, pace};
use crate::{House, Raw};

/// Between two looks at whether a daemon answers.
const LOOK: Duration = Duration::from_micros(200);

/// All rows.
pub fn figures(size: Size, endpoint: &Endpoint) -> Vec<Figure> {
    let houses = [stored(size.stored, endpoint), stored(10, endpoint)];
    let mut runs = [Vec::new(), Vec::new()];
    let mut answers = [Vec::new(), Vec::new()];
    // In turn, so that whatever else the machine does falls on both.
    for _ in 0..size.starts.min(9) {
        for (which, house) in houses.iter().enumerate() {
            answers[which].push(first_answer(house));
            house.stop_daemon();
            runs[which].push(hello(house, endpoint).0);
            house.stop_daemon();
        }
    }
    let [many, few] = answers.map(median);
    let [run_many, run_few] = runs.map(median);
    vec![
        row(
            "daemon start → first answer, 10,000 stored sessions (floor: with 10)",
            many,
            few,
            "100 ms",
        ),
        row(
            "start → request with 10,000 stored sessions (floor: with 10)",
            run_many,
            run_few,
            "1.2 ×",
        ),
    ]
}

/// From the start of the program until the newest sessions have been listed.
fn first_answer(house: &House) -> Duration {
    let begun = Instant::now();
    house.adopt(house.spawn_daemon(&[]));
    loop {
        if let Ok(mut raw) = Raw::connect(&house.socket())
            && raw.hello(Role::Watch).is_ok()
        {
            let listed = raw.call("session.list", &json!({"limit": 20}));
            assert!(listed.is_ok(), "sessions are listed: {listed:?}");
            return begun.elapsed();
        }
        assert!(begun.elapsed() < BOUND, "the daemon answers");
        pace(Instant::now() + LOOK);
    }
}

/// A home whose daemon has seen `count` stored sessions, and does not run.
fn stored(count: usize, endpoint: &Endpoint) -> House {
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    hello(&house, endpoint);
    house.stop_daemon();
    let sample = Sample::of(&house, Pid(1));
    for pid in 2..=count as u64 {
        sample.put(&house, pid, 1, |_| String::new());
    }
    settle(&house, count);
    house.stop_daemon();
    house
}
