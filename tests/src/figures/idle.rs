//! What a session that does nothing costs in memory: loaded, and after it has left.
//!
//! So many stay loaded that do nothing; to load others sends those away that have done nothing for longest. So each round
//! loads as many as stay, and all of the round before leave.

use proto::hello::Role;
use serde_json::{Value, json};

use super::Size;
use super::endpoint::Endpoint;
use super::grown::{Sample, settle};
use super::spent::resident;
use super::table::{Figure, kb, plain};
use crate::wait::until;
use crate::{House, Raw};

/// Sessions that stay loaded while they do nothing.
const STAY: u64 = 64;
const ROUNDS: u64 = 10;

/// So many may stay longer, until somebody looks the next time: those that had not come to rest when the last was loaded.
const LATE: u64 = 2;

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    let sample = Sample::make(&house, &endpoint, 10);
    let turns = sample.turns_of(size.idle);
    let all = STAY * ROUNDS;
    for pid in 2..2 + all {
        sample.put(&house, pid, turns, |turn| format!("part {turn}"));
    }
    settle(&house, all as usize + 1);
    // Afresh: what making the catalog took is none of theirs.
    house.stop_daemon();
    house.daemon();
    let daemon = house.daemon_pid().expect("a daemon");
    let mut raw = house.raw_as(Role::Watch);
    let mut memory = vec![resident(daemon)];
    for round in 0..ROUNDS {
        for pid in (2 + round * STAY..).take(STAY as usize) {
            load(&mut raw, pid);
        }
        until("the sessions before to leave", || {
            (loaded(&mut raw) <= STAY + LATE).then_some(())
        });
        memory.push(resident(daemon));
    }
    // Where the first ones left, there is room that the allocator gets used to.
    let [before, first, second, .., last] = memory[..] else {
        return Vec::new();
    };
    let each = |from: u64, to: u64, sessions: u64| (to as f64 - from as f64) / sessions as f64;
    vec![
        plain(
            "memory of an idle loaded session with a log of 1 MB",
            kb(each(before, first, STAY)),
            "300 KB",
        ),
        plain(
            "… of one that has left memory: growth by each that came and went",
            kb(each(second, last, STAY * (ROUNDS - 2))),
            "0",
        ),
    ]
}

/// Has a session loaded, and leaves it alone.
fn load(raw: &mut Raw, pid: u64) {
    let session = Value::from(pid.to_string());
    let attach = json!({"session": session, "subscription": "look", "backlog": 1});
    raw.call("session.attach", &attach).expect("attach");
    raw.call("session.detach", &json!({"subscription": "look"}))
        .expect("detach");
}

fn loaded(raw: &mut Raw) -> u64 {
    let status = raw.call("daemon.status", &json!({})).expect("a status");
    status["sessions"]["loaded"].as_u64().expect("a number")
}
