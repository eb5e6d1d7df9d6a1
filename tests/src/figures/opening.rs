//! How long until a session with a long log is there: opened from the disk, and attached to when it is open.

use std::fs;
use std::time::{Duration, Instant};

use proto::hello::Role;
use serde_json::json;

use super::Size;
use super::endpoint::Endpoint;
use super::grown::{Sample, settle};
use super::table::{Figure, median, row};
use crate::House;

/// Records of the tail that who attaches is shown.
const TAIL: u64 = 100;

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    let sample = Sample::make(&house, &endpoint, 10);
    let turns = size.records.div_ceil(sample.records(1));
    let bytes = sample.put(&house, 2, turns, |turn| format!("part {turn}"));
    settle(&house, 2);
    house.stop_daemon();
    let (mut opened, mut attached) = (Vec::new(), Vec::new());
    for _ in 0..size.starts.min(5) {
        house.daemon();
        opened.push(attach(&house));
        attached.push(attach(&house));
        house.stop_daemon();
    }
    let log = house.log(proto::Pid(2)).path;
    let reads = (0..9).map(|_| {
        let begun = Instant::now();
        let read = fs::read(&log).expect("the log");
        assert_eq!(read.len() as u64, bytes, "nothing was added to it");
        begun.elapsed()
    });
    let read = median(reads.collect());
    vec![
        row(
            "opening a session with a log of 100,000 records (floor: reading the file)",
            median(opened),
            read,
            "500 ms",
        ),
        row(
            "attach to its tail, when it is open (floor: reading the file)",
            median(attached),
            read,
            "20 ms",
        ),
    ]
}

/// Attaches as a new client until the tail has been shown.
fn attach(house: &House) -> Duration {
    let mut raw = house.raw_as(Role::Watch);
    let begun = Instant::now();
    let attach =
        json!({"session": "2", "subscription": "tail", "backlog": TAIL, "ephemeral": true});
    raw.call("session.attach", &attach).expect("attach");
    while raw.event()["event"]["kind"] != "sync" {}
    begun.elapsed()
}
