//! The first figures: what the product costs apart from the model, each beside a floor that is measured in the same run.
//!
//! Wall times of one machine mean little; the ratio to the floor does. `benches/figures.rs` prints the table; a smoke
//! test runs it small.

mod endpoint;
mod floors;
mod history;
mod interface;
mod load;
mod search;
mod walls;

use std::process::Stdio;
use std::time::{Duration, Instant};

use proto::hello::Role;
use proto::methods::{ApprovalList, DaemonStatus};
use proto::params::Empty;

use crate::House;
use endpoint::{Endpoint, Round};
use load::Beside;

/// One row of the table.
#[derive(Clone, Debug)]
pub struct Figure {
    pub what: &'static str,
    /// As measured, with its unit.
    pub value: String,
    pub floor: String,
    /// Value over floor; `None` where they cannot be compared.
    pub ratio: Option<f64>,
    pub budget: &'static str,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub starts: usize,
    pub rounds: usize,
    pub tokens: usize,
    pub calls: usize,
    /// Sessions of a home with much history.
    pub stored: usize,
    /// Files of a large tree.
    pub files: usize,
    /// Lines of a long transcript.
    pub lines: usize,
    /// Keys that are pressed.
    pub keys: usize,
}

/// Enough for medians.
pub const FULL: Size = Size {
    starts: 15,
    rounds: 60,
    tokens: 20_000,
    calls: 500,
    stored: 10_000,
    files: 20_000,
    lines: 100_000,
    keys: 200,
};
/// Enough to see that it runs.
pub const SMOKE: Size = Size {
    starts: 2,
    rounds: 3,
    tokens: 200,
    calls: 5,
    stored: 30,
    files: 200,
    lines: 400,
    keys: 5,
};

/// Measures everything.
///
/// # Panics
/// Something does not work: then there is nothing to measure.
#[must_use]
pub fn measure(size: Size) -> Vec<Figure> {
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

    let (p50, p95) = rounds(size, &house, &endpoint, 1);
    figures.push(row("added per round of one read, p50", p50, trip, "0.5 ms"));
    figures.push(row("added per round of one read, p95", p95, trip, "2 ms"));
    let (four, _) = rounds(size, &house, &endpoint, 4);
    figures.push(row(
        "added per round of four reads, p50",
        four,
        trip,
        "0.5 ms",
    ));

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
    figures.extend(beside(size, &endpoint));
    figures.extend(walls::figures(size, &endpoint));
    figures.extend(search::figures(size));
    figures.extend(interface::figures(size, &endpoint));
    figures
}

/// Measures the terminal interface alone.
///
/// # Panics
/// Something does not work.
#[must_use]
pub fn measure_interface(size: Size) -> Vec<Figure> {
    interface::figures(size, &Endpoint::start())
}

/// Measures what walls cost alone.
///
/// # Panics
/// Something does not work.
#[must_use]
pub fn measure_walls(size: Size) -> Vec<Figure> {
    walls::figures(size, &Endpoint::start())
}

/// What history and other sessions cost: the floor is the same without them.
fn beside(size: Size, endpoint: &Endpoint) -> Vec<Figure> {
    let (many, few) = history::cold_starts(size, endpoint);
    let mut figures = vec![row(
        "start → request with 10,000 stored sessions (floor: with 10)",
        many,
        few,
        "1.2 ×",
    )];
    for (what, beside, budget) in [
        (
            "a round of one read beside a client that reads nothing (floor: without)",
            Beside::DeafClient,
            "1.2 ×",
        ),
        (
            "… beside a session that prints without end",
            Beside::Printer,
            "2 ×",
        ),
        (
            "… beside a session that forks without end",
            Beside::Forks,
            "2 ×",
        ),
    ] {
        let (loaded, alone) = load::rounds_beside(size, endpoint, beside);
        figures.push(row(what, loaded, alone, budget));
    }
    figures
}

fn row(what: &'static str, value: Duration, floor: Duration, budget: &'static str) -> Figure {
    let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    let ratio = value.as_secs_f64() / floor.as_secs_f64().max(1e-9);
    Figure {
        what,
        value: ms(value),
        floor: ms(floor),
        ratio: Some(ratio),
        budget,
    }
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

fn hello(house: &House, endpoint: &Endpoint) -> (Duration, Duration) {
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
        .arrivals()
        .first()
        .expect("a request")
        .0
        .duration_since(begun);
    (first, exit)
}

/// p50 and p95 of the time from an answer's end to the next request, over rounds of so many parallel reads.
fn rounds(size: Size, house: &House, endpoint: &Endpoint, reads: usize) -> (Duration, Duration) {
    for number in 0..reads {
        house.files(&format!("//- read_{number}.txt\nline one\nline two\n"));
    }
    let mut script = vec![Round::Reads(reads); size.rounds];
    script.push(Round::Words(24));
    endpoint.play(script);
    let done = house.reasonix(&["run", "read them"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let arrivals = endpoint.arrivals();
    let mut added: Vec<_> = arrivals
        .windows(2)
        .map(|pair| pair[1].0.duration_since(pair[0].1))
        .collect();
    added.sort();
    (added[added.len() / 2], added[added.len() * 95 / 100])
}

/// Time from the request to the client's end for one long answer, and for a reader that only reads the bytes.
fn long_answer(size: Size, house: &House, endpoint: &Endpoint) -> (Duration, Duration) {
    endpoint.play(vec![Round::Words(size.tokens)]);
    let done = house.reasonix(&["run", "speak"]);
    let ended = Instant::now();
    assert_eq!(done.code(), Some(0), "{done:?}");
    let value = ended.duration_since(endpoint.arrivals()[0].0);
    endpoint.play(vec![Round::Words(size.tokens)]);
    (value, floors::read_answer(endpoint))
}

/// Medians of a call of the protocol, and of an echo over a Unix socket.
fn round_trip(size: Size, house: &House) -> (Duration, Duration) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let call = runtime.block_on(async {
        let client = house.client("bench", Role::Watch).await;
        let mut times = Vec::new();
        for _ in 0..size.calls {
            let begun = Instant::now();
            client
                .call::<ApprovalList>(&Default::default())
                .await
                .expect("an answer");
            times.push(begun.elapsed());
        }
        median(times)
    });
    (call, floors::echo(size.calls))
}

fn memory(house: &House) -> Vec<Figure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let after = runtime.block_on(async {
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
        runtime.block_on(async {
            let client = house.client("bench", Role::Watch).await;
            client
                .call::<DaemonStatus>(&Empty {})
                .await
                .expect("an answer")
                .memory_bytes
        })
    };
    let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    vec![
        Figure {
            what: "resident memory: daemon idle",
            value: mb(idle),
            floor: "–".into(),
            ratio: None,
            budget: "20 MB",
        },
        Figure {
            what: "… after all of the above",
            value: mb(after),
            floor: "–".into(),
            ratio: None,
            budget: "40 MB",
        },
    ]
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The table, as Markdown.
#[must_use]
pub fn table(figures: &[Figure]) -> String {
    let mut text =
        String::from("| what | figure | floor | ratio | budget |\n|---|---|---|---|---|\n");
    for Figure {
        what,
        value,
        floor,
        ratio,
        budget,
    } in figures
    {
        let ratio = ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.1}"));
        text.push_str(&format!(
            "| {what} | {value} | {floor} | {ratio} | {budget} |\n"
        ));
    }
    text
}
