//! How long it takes to find words in all that was ever said.

use std::time::{Duration, Instant};

use proto::hello::Role;
use serde_json::json;

use super::Size;
use super::endpoint::Endpoint;
use super::grown::{Sample, settle};
use super::table::{Figure, median, ms, p95, plain};
use crate::{House, Raw};

/// Messages of a session.
const SESSION: usize = 1_000;

/// Questions that are asked.
const QUESTIONS: usize = 20;

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    let sample = Sample::make(&house, &endpoint, 10);
    let turns = (SESSION.min(size.messages / 10) / sample.messages).max(1);
    let sessions = size.messages.div_ceil(turns * sample.messages) as u64;
    for session in 0..sessions {
        sample.put(&house, session + 2, turns, |turn| word(session, turn));
    }
    settle(&house, sessions as usize + 1);
    let mut raw = house.raw_as(Role::Watch);
    let (mut times, mut whole) = (Vec::new(), true);
    for question in 0..QUESTIONS.min(size.starts * 2) as u64 {
        // Words that one message has, over all of the past.
        let wanted = word(question * sessions / QUESTIONS as u64, turns / 2);
        let (time, found) = ask(&mut raw, &wanted);
        whole &= found;
        times.push(time);
    }
    let value = |time: Duration| {
        let whole = if whole {
            ""
        } else {
            " (not all was looked at)"
        };
        format!("{}{whole}", ms(time.as_secs_f64()))
    };
    vec![
        plain(
            "history search over 1,000,000 messages, a word that one of them has, p95",
            value(p95(times.clone())),
            "50 ms",
        ),
        plain("… median", value(median(times)), "–"),
    ]
}

/// A word of one turn of one session.
fn word(session: u64, turn: usize) -> String {
    format!("needle{session}x{turn}y")
}

/// How long the answer took, and whether it says all.
fn ask(raw: &mut Raw, text: &str) -> (Duration, bool) {
    let begun = Instant::now();
    let found = raw.call("history.search", &json!({"query": text}));
    let found = found.expect("an answer");
    (
        begun.elapsed(),
        found["complete"] == true && found["hits"][0].is_object(),
    )
}
