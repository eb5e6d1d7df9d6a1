//! Many clients on one session that streams: what reaches them, how late, and what that costs the session.

use std::time::{Duration, Instant};

use proto::hello::Role;
use serde_json::{Value, json};

use super::endpoint::{Endpoint, Round};
use super::table::{Figure, compared, ms, plain, quantile, row};
use super::{Size, load};
use crate::{House, Raw};

/// Two thousand tokens a second.
const EVERY: Duration = Duration::from_micros(500);

/// The outcome of one stream.
struct Streamed {
    /// How late the tokens were with the clients, in nanoseconds.
    delays: Vec<u64>,
    /// Durable events that did not come, over all clients.
    lost: usize,
    /// From the last token's writing to the end of the turn.
    end: Duration,
}

/// The events that one client received.
#[derive(Default)]
struct Received {
    /// When a frame with text was here, and the number of the last token in it.
    text: Vec<(Instant, usize)>,
    /// Numbers of durable events.
    seqs: Vec<u64>,
}

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let many = stream(size, &endpoint, size.clients);
    let one = stream(size, &endpoint, 1);
    let p99 = |streamed: &Streamed| quantile(streamed.delays.clone(), 99) as f64 / 1e9;
    vec![
        compared(
            "64 clients, 2,000 deltas/s: written → with the client, p99 (floor: one client)",
            [p99(&many), p99(&one)],
            ms,
            "50 ms",
        ),
        plain("… durable events lost", many.lost.to_string(), "0"),
        row(
            "… the last delta → the turn's end is durable (floor: one client)",
            many.end,
            one.end,
            "as with one",
        ),
    ]
}

fn stream(size: Size, endpoint: &Endpoint, clients: usize) -> Streamed {
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let session = load::create(&house, &mut raw, "test", None);
    let watchers = (0..clients).map(|number| watcher(&house, &session, number));
    let watchers: Vec<_> = watchers.collect();
    endpoint.play(vec![Round::Paced {
        tokens: size.tokens,
        every: EVERY,
    }]);
    let threads = watchers.into_iter();
    let threads: Vec<_> = threads
        .map(|raw| std::thread::spawn(move || follow(raw)))
        .collect();
    load::prompt(&mut raw, &session, "go on");
    let ended = Instant::now();
    let received: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().expect("a client that does not panic"))
        .collect();
    let exchanges = endpoint.exchanges();
    // The first piece is the head.
    let written = &exchanges[0].pieces[1..];
    // A client may be admitted after the others' first events; it missed none if its numbers match theirs.
    let last = received
        .iter()
        .filter_map(|received| received.seqs.last())
        .max();
    let last = *last.expect("durable events");
    let lost = received.iter().map(|received| {
        let has = |seq: &u64| received.seqs.contains(seq);
        (1..=last).filter(|seq| !has(seq)).count()
    });
    Streamed {
        lost: lost.sum(),
        delays: received
            .iter()
            .flat_map(|received| delays(received, written))
            .collect(),
        end: ended.saturating_duration_since(*written.last().expect("tokens")),
    }
}

/// How late each token was, in nanoseconds.
fn delays(received: &Received, written: &[Instant]) -> Vec<u64> {
    let mut next = 0;
    let mut delays = Vec::new();
    for (at, last) in &received.text {
        let tokens = written.get(next..=*last).unwrap_or_default();
        delays.extend(tokens.iter().map(|token| {
            let late = at.saturating_duration_since(*token).as_nanos();
            u64::try_from(late).unwrap_or(u64::MAX)
        }));
        next = last + 1;
    }
    delays
}

/// A client that has received everything so far.
fn watcher(house: &House, session: &Value, number: usize) -> Raw {
    let mut raw = house.raw_as(Role::Watch);
    let attach = json!({"session": session, "subscription": format!("w{number}"), "after_seq": 0, "ephemeral": true});
    raw.call("session.attach", &attach).expect("attach");
    raw
}

/// Reads until the turn has ended.
fn follow(mut raw: Raw) -> Received {
    let mut received = Received::default();
    loop {
        let event = raw.event()["event"].take();
        let at = Instant::now();
        if let Some(seq) = event["seq"].as_u64() {
            received.seqs.push(seq);
        }
        match event["kind"].as_str() {
            Some("delta.text") => {
                let text = event["data"]["text"].as_str().unwrap_or_default();
                received.text.extend(token(text).map(|token| (at, token)));
            }
            Some("turn.ended") => return received,
            _ => {}
        }
    }
}

/// The number of the last token in a text.
fn token(text: &str) -> Option<usize> {
    let last = text.split_whitespace().rev();
    let numbers = last.map(|word| word.trim_start_matches(|letter: char| letter.is_alphabetic()));
    let mut numbers = numbers.filter_map(|word| word.trim_end_matches('.').parse().ok());
    numbers.next()
}
