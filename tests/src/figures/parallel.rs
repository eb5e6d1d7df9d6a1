//! Do commands that only read run side by side? Four at once, of half a second each.

use std::process::Command;
use std::time::Instant;

use serde_json::json;

use super::Size;
use super::endpoint::{Endpoint, Round};
use super::table::{Figure, median, row};
use crate::House;

/// What a command is. No two are the same: one that repeats others is held back.
fn command(round: usize, call: usize) -> String {
    format!("sleep 0.500{round}{call}")
}

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let rounds = size.rounds.min(5);
    let endpoint = Endpoint::start();
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    house.daemon();
    let script = (0..rounds).map(|round| {
        let call = |call| ("bash", json!({"command": command(round, call)}));
        Round::Calls((0..4).map(call).collect())
    });
    endpoint.play(script.chain([Round::Words(24)]).collect());
    let done = house.reasonix(&["run", "--approval-mode", "yolo", "wait"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let alone = (0..rounds).map(|round| {
        let begun = Instant::now();
        let status = Command::new("/bin/sh")
            .args(["-c", &command(round, 0)])
            .status();
        assert!(status.is_ok_and(|status| status.success()), "it sleeps");
        begun.elapsed()
    });
    vec![row(
        "four parallel read-only shell calls of 0.5 s (floor: one, by itself)",
        median(endpoint.gaps()),
        median(alone.collect()),
        "550 ms",
    )]
}
