//! The first figures: starts, rounds of reads, a long answer, a call of the protocol, memory.

use std::process::Stdio;
use std::time::{Duration, Instant};

use proto::hello::Role;
use proto::methods::{DaemonStatus, InteractionList};
use proto::params::Empty;

use super::endpoint::{Endpoint, Round};
use super::spent::processor_time;
use super::table::{Figure, mb, median, ms, p95, plain, row};
use super::{Size, floors};
use crate::House;

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let mut figures = Vec::new();
    let endpoint = Endpoint::start();
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    let start = floors::process_start(size.starts);
    let trip = floors::loopback(&endpoint, size.calls.min(200));
    let sync = floors::sync(&house.home(), size.starts);

    let cold = cold_start(size, &endpoint);
    house.daemon();
    let (first, exit) = warm_start(size, &house, &endpoint);
    let floor = start + trip;
    figures.push(row(
        "run \"hello\", daemon warm: start → request",
        first,
        floor,
        "10 ms",
    ));
    figures.push(row("the same, daemon not running", cold, floor, "60 ms"));
    let synced = floor + sync * 2;
    figures.push(row(
        "start → exit (floor: process + round trip + two syncs)",
        exit,
        synced,
        "15 ms + two syncs",
    ));

    let one = rounds(size, &house, &endpoint, 1);
    let p50 = "added per round of one read, p50";
    figures.push(row(p50, one.p50, trip, "0.5 ms"));
    figures.push(row(
        "added per round of one read, p95",
        one.p95,
        trip,
        "2 ms",
    ));
    let time = ms(one.processor_time);
    figures.push(plain("… the daemon's processor time a round", time, "–"));
    let four = rounds(size, &house, &endpoint, 4);
    let p50 = "added per round of four reads, p50";
    figures.push(row(p50, four.p50, trip, "0.5 ms"));
    let time = ms(four.processor_time);
    let what = "… the daemon's processor time a round of four";
    figures.push(plain(what, time, "–"));

    let (answer, bare) = long_answer(size, &house, &endpoint);
    figures.push(row(
        "an answer of 20,000 tokens, after start",
        answer,
        bare,
        "150 ms",
    ));

    let (call, echo) = round_trip(size, &house);
    figures.push(row("RPC round trip, median", call, echo, "0.1 ms"));
    figures.extend(memory(&house));
    house.stop_daemon();
    figures
}

/// Medians of process start → request, and process start → exit.
fn warm_start(size: Size, house: &House, endpoint: &Endpoint) -> (Duration, Duration) {
    let (mut firsts, mut exits) = (Vec::new(), Vec::new());
    for _ in 0..size.starts {
        let (first, exit) = hello(house, endpoint);
        firsts.push(first);
        exits.push(exit);
    }
    (median(firsts), median(exits))
}

/// Median of process start → request, with a daemon that has to be started.
fn cold_start(size: Size, endpoint: &Endpoint) -> Duration {
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    let mut firsts = Vec::new();
    for _ in 0..size.starts.min(5) {
        firsts.push(hello(&house, endpoint).0);
        house.stop_daemon();
    }
    median(firsts)
}

/// One run of `hello`: process start → request, and process start → exit.
pub fn hello(house: &House, endpoint: &Endpoint) -> (Duration, Duration) {
    endpoint.play(vec![Round::Words(24)]);
    let begun = Instant::now();
    let mut run = house
        .command(&["run", "hello"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the client");
    let status = run.wait().expect("the client ends");
    let exit = begun.elapsed();
    assert!(status.success(), "the run failed: {status}");
    let first = endpoint
        .exchanges()
        .first()
        .expect("a request")
        .arrived
        .duration_since(begun);
    (first, exit)
}

/// What rounds cost.
struct RoundCosts {
    /// Of the time from an answer's end to the next request.
    p50: Duration,
    p95: Duration,
    /// Seconds that the daemon has of a processor for a round.
    processor_time: f64,
}

/// Rounds of so many parallel reads.
fn rounds(size: Size, house: &House, endpoint: &Endpoint, reads: usize) -> RoundCosts {
    for number in 0..reads {
        house.files(&format!("//- read_{number}.txt\nline one\nline two\n"));
    }
    let mut script = vec![Round::Reads(reads); size.rounds];
    script.push(Round::Words(24));
    endpoint.play(script);
    let daemon = house.daemon_pid().expect("a daemon");
    let before = processor_time(daemon);
    let done = house.reasonix(&["run", "read them"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let spent = processor_time(daemon) - before;
    let added = endpoint.gaps();
    RoundCosts {
        p50: median(added.clone()),
        p95: p95(added),
        processor_time: spent / f64::from(u32::try_from(size.rounds).expect("few rounds")),
    }
}

/// Time from the request to the client's end for one long answer, and for a reader that only reads the bytes.
fn long_answer(size: Size, house: &House, endpoint: &Endpoint) -> (Duration, Duration) {
    endpoint.play(vec![Round::Words(size.tokens)]);
    let done = house.reasonix(&["run", "speak"]);
    let ended = Instant::now();
    assert_eq!(done.code(), Some(0), "{done:?}");
    let value = ended.duration_since(endpoint.exchanges()[0].arrived);
    endpoint.play(vec![Round::Words(size.tokens)]);
    (value, floors::read_answer(endpoint))
}

/// Medians of a call of the protocol, and of an echo over a Unix socket.
fn round_trip(size: Size, house: &House) -> (Duration, Duration) {
    let call = house.block_on(async {
        let client = house.client("bench", Role::Watch).await;
        let mut times = Vec::new();
        for _ in 0..size.calls {
            let begun = Instant::now();
            client
                .call::<InteractionList>(&Default::default())
                .await
                .expect("an answer");
            times.push(begun.elapsed());
        }
        median(times)
    });
    (call, floors::echo(size.calls))
}

fn memory(house: &House) -> Vec<Figure> {
    let after = house.block_on(async {
        let client = house.client("bench", Role::Watch).await;
        client
            .call::<DaemonStatus>(&Empty {})
            .await
            .expect("an answer")
            .memory_bytes
    });
    let idle = {
        let house = House::new();
        house.provider_config("http://127.0.0.1:9/v1");
        house.daemon();
        house.block_on(async {
            let client = house.client("bench", Role::Watch).await;
            client
                .call::<DaemonStatus>(&Empty {})
                .await
                .expect("an answer")
                .memory_bytes
        })
    };
    vec![
        plain("resident memory: daemon idle", mb(idle as f64), "20 MB"),
        plain("… after all of the above", mb(after as f64), "40 MB"),
    ]
}
