//! A session of sixty rounds that reads, searches, edits and runs commands: processor time, memory, and what its prompts
//! cost. Beside it the least loop that can follow the same script.

mod bill;
mod least;
pub(super) mod script;

use std::time::Instant;

use testkit::model::Wire;

use super::Size;
use super::endpoint::{Endpoint, Round};
use super::spent::{of_children, of_house, resident};
use super::table::{Figure, compared, kb, mb, median, plain, row};
use crate::{House, until};

/// Sessions at most, of which the figures are medians.
const SESSIONS: usize = 5;

/// The cost of one session.
struct SessionCost {
    /// Microseconds of processors.
    processor: u64,
    /// Bytes of daemon and client at their peak.
    memory: u64,
    /// From the client's start to its end.
    elapsed: std::time::Duration,
}

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    house.daemon();
    let (mut taken, mut floors) = (Vec::new(), Vec::new());
    let mut bodies = Vec::new();
    for number in 0..size.starts.min(SESSIONS) {
        script::plant(&house.project());
        endpoint.play(script::rounds(size.edits));
        // The first session's requests are looked at below.
        if number == 0 {
            endpoint.keep();
        }
        taken.push(session(&house, "edit them"));
        script::check(&house.project(), size.edits);
        if number == 0 {
            bodies = endpoint.bodies();
        }
        script::plant(&house.project());
        endpoint.play(script::rounds(size.edits));
        floors.push(least::session(&endpoint, &house.project()));
        script::check(&house.project(), size.edits);
    }
    let floor = |of: fn(&least::SessionCost) -> u64| median(floors.iter().map(of).collect()) as f64;
    let value = |of: fn(&SessionCost) -> u64| median(taken.iter().map(of).collect()) as f64;
    let seconds = |micros: f64| format!("{:.2} s", micros / 1e6);
    let prefix = bill::prefix(&bodies[0]) as f64;
    let tokens = |count: f64| format!("{:.1} k", count / 1e3);
    let bills = [bill::whole(&bodies), bill::bare(&bodies)];
    let breaks = breaks(&bodies);
    let all_memory = memory_of_all(&house, &endpoint, size);
    let resumed = resumed(&house, &endpoint);
    vec![
        compared(
            "60-turn edit session: CPU of daemon and client, with the commands (floor: the least loop)",
            [
                value(|taken| taken.processor),
                floor(|taken| taken.processor),
            ],
            seconds,
            "0.3 s",
        ),
        row(
            "… from start to end",
            median(taken.iter().map(|taken| taken.elapsed).collect()),
            median(floors.iter().map(|taken| taken.elapsed).collect()),
            "–",
        ),
        compared(
            "… prompt-token bill: misses + hits / 10 (floor: the conversation alone)",
            bills.map(|bill| bill as f64),
            tokens,
            "90 k",
        ),
        plain("… prefix breaks", breaks.to_string(), "0"),
        plain(
            "… prefix breaks across resume and restart of the daemon",
            resumed.to_string(),
            "0",
        ),
        plain(
            "… peak resident memory of daemon and client",
            mb(value(|taken| taken.memory)),
            "40 MB",
        ),
        plain(
            "… of all processes, with the daemon's parent and the commands",
            mb(all_memory as f64),
            "–",
        ),
        plain(
            "frozen prefix of a default session: system prompt and schemas of tools",
            kb(prefix),
            "14 KB",
        ),
    ]
}

/// One run of the client, to its end.
fn session(house: &House, prompt: &str) -> SessionCost {
    let daemon = house.daemon_pid().expect("a daemon");
    let before = of_house(house);
    let begun = Instant::now();
    let mut client = house.start(&["run", "--approval-mode", "yolo", prompt]);
    client.hang_up();
    let mut memory = 0;
    until("the session's end", || {
        memory = memory.max(resident(daemon) + resident(client.id()));
        (!client.runs()).then_some(())
    });
    let elapsed = begun.elapsed();
    drop(client.done().expect_code(0));
    SessionCost {
        processor: ((of_house(house) - before) * 1e6) as u64,
        memory,
        elapsed,
    }
}

/// Bytes of all processes of the house at their peak in one more session. To look at all of them takes time, so that nothing
/// else is measured in it.
fn memory_of_all(house: &House, endpoint: &Endpoint, size: Size) -> u64 {
    script::plant(&house.project());
    endpoint.play(script::rounds(size.edits));
    let mut client = house.start(&["run", "--approval-mode", "yolo", "edit them"]);
    client.hang_up();
    let mut peak = 0;
    until("the session's end", || {
        let processes = house.processes();
        let all = processes.iter().map(|process| resident(process.pid));
        peak = peak.max(all.sum());
        (!client.runs()).then_some(())
    });
    drop(client.done().expect_code(0));
    peak
}

/// Prefix breaks of a session that a second client goes on with, and a third one after a restart of the daemon.
fn resumed(house: &House, endpoint: &Endpoint) -> usize {
    let rounds = 6;
    endpoint.keep();
    let mut pid: Option<String> = None;
    for part in 0..3 {
        if part == 2 {
            house.stop_daemon();
            house.daemon();
        }
        script::plant(&house.project());
        endpoint.play(script::rounds(rounds));
        let mut arguments = vec!["run", "--approval-mode", "yolo"];
        if let Some(pid) = &pid {
            arguments = vec!["run", "-s", pid];
        }
        arguments.push("go on");
        drop(house.reasonix(&arguments).expect_code(0));
        let newest = house.logs().last().map(|log| log.pid().to_string());
        pid = pid.or(newest);
    }
    let bodies = endpoint.bodies();
    assert_eq!(bodies.len(), 3 * (rounds + 1), "requests of three prompts");
    breaks(&bodies)
}

/// How many requests do not extend the one before.
fn breaks(bodies: &[Vec<u8>]) -> usize {
    let pairs = bodies.windows(2);
    let broken = pairs.filter(|pair| {
        let pair = pair.iter().map(Vec::as_slice);
        Wire::Chat.check_prefix(pair).is_err()
    });
    broken.count()
}
