//! The cost of the sandbox: a round of one command that does nothing, with and without it.

use std::time::Duration;

use proto::hello::Role;
use serde_json::json;

use super::Size;
use super::endpoint::{Endpoint, Round};
use super::table::{Figure, median, row};
use crate::{House, skip};

/// One row for each layer that works here.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let rows = [
        (
            "bubblewrap",
            "a round of one command that does nothing, sandboxed with bubblewrap (floor: no sandbox)",
        ),
        ("direct", "… sandboxed with direct system calls"),
    ];
    let measured = rows.into_iter().filter_map(|(layer, what)| {
        let held = rounds(size, &endpoint, layer, "enforce")?;
        let free = rounds(size, &endpoint, layer, "off")?;
        Some(row(what, held, free, "3 ×"))
    });
    measured.collect()
}

/// p50 of the time from an answer's end to the next request. `None`: the layer does not work here.
fn rounds(size: Size, endpoint: &Endpoint, layer: &str, bash: &str) -> Option<Duration> {
    let house = House::new();
    house.settings(&format!(
        "[sandbox]\nlayer = \"{layer}\"\nbash = \"{bash}\"\n"
    ));
    house.provider_config(&endpoint.base_url());
    house.daemon();
    let status = house.raw_as(Role::Watch).call("daemon.status", &json!({}));
    let layers = status.expect("a status")["confinement"].to_string();
    let full = !layers.contains("no sandbox") && !layers.contains("partial");
    if skip::unless(full, &format!("the sandbox's layer `{layer}`")) {
        return None;
    }
    let mut script = vec![Round::Runs; size.rounds];
    script.push(Round::Words(24));
    endpoint.play(script);
    let done = house.reasonix(&["run", "--approval-mode", "yolo", "run it"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    Some(median(endpoint.gaps()))
}
