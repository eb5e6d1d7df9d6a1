//! What history, other sessions and MCP servers cost: the floor is the same without them.

use std::fs;
use std::time::Duration;

use serde_json::json;

use super::basics::hello;
use super::endpoint::Endpoint;
use super::load::{self, ConcurrentLoad};
use super::table::{Figure, median, row};
use super::{Size, history};
use crate::House;
use crate::house::faulty_server;

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let mut figures = history::figures(size, &endpoint);
    for (what, beside, budget) in [
        (
            "a round of one read beside a client that reads nothing (floor: without)",
            ConcurrentLoad::DeafClient,
            "1.2 ×",
        ),
        (
            "… beside a session that prints without end",
            ConcurrentLoad::Printer,
            "2 ×",
        ),
        (
            "… beside a session that forks without end",
            ConcurrentLoad::Forks,
            "2 ×",
        ),
    ] {
        let (loaded, alone) = load::rounds_beside(size, &endpoint, beside);
        figures.push(row(what, loaded, alone, budget));
    }
    let (with, without) = starts_beside_servers(size, &endpoint);
    figures.push(row(
        "run \"hello\" with ten MCP servers, of which one hangs and one crashes: start → request (floor: without)",
        with,
        without,
        "1.2 ×",
    ));
    figures
}

/// Medians of process start → request with servers whose tools are known, and without, by turns.
fn starts_beside_servers(size: Size, endpoint: &Endpoint) -> (Duration, Duration) {
    let [with, without] = [House::new(), House::new()];
    let program = faulty_server();
    let mut entries = serde_json::Map::new();
    for number in 0..10 {
        let way = ["hang", "mortal"].get(number).unwrap_or(&"ok");
        let entry = json!({"command": program, "args": [way]});
        entries.insert(format!("s{number}"), entry);
    }
    let text = json!({"mcpServers": entries}).to_string();
    fs::write(with.home_file("mcp.json"), text).expect("write the servers");
    for house in [&with, &without] {
        house.provider_config(&endpoint.base_url());
        house.daemon();
        // The first session waits for the one that hangs, once.
        hello(house, endpoint);
    }
    let pairs = (0..size.starts).map(|_| [&with, &without].map(|house| hello(house, endpoint).0));
    let (with, without) = pairs.map(|[with, without]| (with, without)).unzip();
    (median(with), median(without))
}
