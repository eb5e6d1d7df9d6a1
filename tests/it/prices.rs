//! The price before the act: the forecast for the next prompt matches the vendor's bill. The provider's cache is the
//! testkit's exact one, a provider each.

use std::sync::{Arc, Mutex};

use client::CallError;
use proto::SessionOptions;
use proto::hello::Role;
use proto::methods::SessionSet;
use proto::params::forecast::{Forecast, Forecasts};
use proto::params::session::SetParams;
use serde_json::Value;
use testkit::model::cache::{BLOCK, BlockCache};
use testkit::model::{Answer, Gate, Model, Place, Request, Script, Usage, Wire};
use tests::{House, until};

use crate::faults::clock::Clock;
use crate::scripted::{FAST_RETRIES, run};

/// Tokens of the words that are still to come, and of the framing of messages: the forecast excludes them.
const NEAR: u64 = 220;

/// What the vendor has billed, a request each.
type Bills = Arc<Mutex<Vec<Usage>>>;

/// What the vendor's cache holds.
type Cache = Arc<Mutex<BlockCache>>;

/// Long answers, and an exact bill.
fn vendor() -> (Model, Bills) {
    let (model, bills, _) = vendor_with_cache();
    (model, bills)
}

fn vendor_with_cache() -> (Model, Bills, Cache) {
    let (bills, cache) = (Bills::default(), Cache::default());
    let (billed, served) = (Arc::clone(&bills), Arc::clone(&cache));
    let script = Script::by(move |request: &Request| {
        let text = match request.last_text().contains("Write a summary") {
            // As long as the forecast assumes summaries to be: 1,500 tokens.
            true => format!("SUMMARY {}", "it goes on, ".repeat(500)),
            false => format!("ANSWER {} {}", request.number, "words ".repeat(10_000)),
        };
        let output = text.len() as u64 / 4;
        let usage = Usage {
            output,
            ..served.lock().expect("cache").serve(&request.body)
        };
        billed.lock().expect("bills").push(usage);
        Answer::text(text).usage(usage)
    });
    (Model::start(script), bills, cache)
}

/// Dollars for a million tokens: fresh, cached, got.
const PRICE_ONE: &str = "price = { input = 1.0, cached = 0.1, output = 1.0 }\n";
const PRICE_TWO: &str = "price = { input = 5.0, cached = 0.5, output = 1.0 }\n";

fn newest(bills: &Bills) -> Usage {
    *bills.lock().expect("bills").last().expect("a bill")
}

/// Checks that a forecast equals the bill without the prompt's own words, and that its price fits its tokens.
#[track_caller]
fn comes_true(forecast: &Forecast, billed: Usage, fresh: u64) {
    let off = billed.prompt.abs_diff(forecast.prompt_tokens);
    assert!(off <= NEAR, "{forecast:?}, and billed {billed:?}");
    let off = billed.cached.abs_diff(forecast.cached_tokens);
    assert!(off <= BLOCK as u64, "{forecast:?}, and billed {billed:?}");
    let (cached, rest) = (
        forecast.cached_tokens,
        forecast.prompt_tokens - forecast.cached_tokens,
    );
    let tenths = rest * fresh * 10 + cached * fresh;
    assert_eq!(
        forecast.cost_micros,
        Some((tenths + 5) / 10),
        "{forecast:?}"
    );
}

fn forecasts(value: &Value) -> Forecasts {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

/// The forecast before a switch to another model.
fn forecast_before_switch(house: &House, session: &str, model: &str) -> Forecasts {
    let params = SetParams {
        session: session.to_owned(),
        options: SessionOptions {
            model: Some(model.to_owned()),
            ..SessionOptions::default()
        },
        ..SetParams::default()
    };
    house.block_on(async {
        let client = house.client("ann", Role::Drive).await;
        match client.call::<SessionSet>(&params).await {
            Err(CallError::Failure(failure)) => forecasts(&failure.details["forecasts"]),
            other => panic!("{other:?}"),
        }
    })
}

#[test]
fn forecasts_match_the_vendors_bill() {
    let ((one, of_one), (two, of_two)) = (vendor(), vendor());
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&format!("{}{PRICE_ONE}", one.entry("one", None)));
    house.provider(&format!("{}{PRICE_TWO}", two.entry("two", None)));
    house.daemon();
    let pid = run(&house, &[], "First.").expect(0, "completed").pid();
    for prompt in ["Second.", "Third."] {
        run(&house, &["-s", &pid], prompt).expect(0, "completed");
    }
    // In the current state, without a change.
    let shown = forecast_before_switch(&house, &pid, "two");
    run(&house, &["-s", &pid], "Fourth.").expect(0, "completed");
    comes_true(&shown.now, newest(&of_one), 1);
    // A fork is served by the cache of its origin.
    let forked = house
        .reasonix(&["fork", &pid, "--json"])
        .expect_code(0)
        .json();
    let forecast: Forecast =
        serde_json::from_value(forked["forecast"].clone()).expect("a forecast");
    let fork = forked["pid"].to_string();
    run(&house, &["-s", &fork], "In the fork.").expect(0, "completed");
    assert!(forecast.cached_tokens > 10_000, "{forecast:?}");
    comes_true(&forecast, newest(&of_one), 1);
    // After a compaction.
    let preview = house
        .reasonix(&["compact", &pid, "--preview", "--json"])
        .expect_code(0)
        .json();
    let shown = forecasts(&preview["forecasts"]);
    let compacted = house.reasonix(&["compact", &pid]);
    assert_eq!(compacted.code(), Some(0), "{compacted:?}");
    run(&house, &["-s", &pid], "Fifth.").expect(0, "completed");
    comes_true(&shown.then, newest(&of_one), 1);
    assert!(
        shown.then.prompt_tokens < shown.now.prompt_tokens,
        "{shown:?}"
    );
    // Another vendor knows nothing of it.
    let shown = forecast_before_switch(&house, &pid, "two");
    let switched = house.reasonix(&["model", &pid, "two", "--yes"]);
    assert_eq!(switched.code(), Some(0), "{switched:?}");
    run(&house, &["-s", &pid], "Sixth.").expect(0, "completed");
    assert_eq!(shown.then.cached_tokens, 0);
    comes_true(&shown.then, newest(&of_two), 5);
}

#[test]
fn cost_after_cache_expiry_is_shown_and_matches_the_bill() {
    let (model, bills, cache) = vendor_with_cache();
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&format!(
        "{}{PRICE_ONE}",
        model.entry_of(Wire::Messages, "one", None)
    ));
    let Some(clock) = Clock::begin(&house) else {
        return;
    };
    // The cache of an hour ago has expired: its lifetime is five minutes.
    clock.set("-3600");
    let pid = run(&house, &[], "First.").expect(0, "completed").pid();
    run(&house, &["-s", &pid], "Second.").expect(0, "completed");
    clock.set("+0");
    *cache.lock().expect("cache") = BlockCache::default();
    let listed = house.reasonix(&["ls", "--json"]).expect_code(0).json();
    let cold: Forecast = serde_json::from_value(listed[0]["cold"].clone()).expect("a forecast");
    let asked = house
        .reasonix(&["run", "-s", &pid, "Third."])
        .expect_code(0);
    let words = format!(
        "the prompt cache has expired; the next prompt: {}",
        cold.words()
    );
    assert!(asked.err.contains(&words), "{words}: {}", asked.err);
    assert_eq!(cold.cached_tokens, 0);
    let billed = newest(&bills);
    assert_eq!(billed.cached, 0);
    comes_true(&cold, billed, 1);
    // The cache is warm again.
    let again = house
        .reasonix(&["run", "-s", &pid, "Fourth."])
        .expect_code(0);
    assert!(!again.err.contains("has expired"), "{}", again.err);
}

#[test]
fn unknown_price_is_not_shown_as_zero() {
    let ((one, _), (two, _)) = (vendor(), vendor());
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&one.entry("one", None));
    house.provider(&two.entry("two", None));
    house.daemon();
    let pid = run(&house, &[], "First.").expect(0, "completed").pid();
    let asked = house.reasonix(&["model", &pid, "two"]);
    assert_ne!(asked.code(), Some(0), "{asked:?}");
    assert!(
        asked.err.contains("price unknown") && asked.err.contains("--yes"),
        "{asked:?}"
    );
}

#[test]
fn a_compaction_brings_its_key_and_is_stopped_by_ctrl_c() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request: &Request| {
        let usage = Usage {
            prompt: request.body.len() as u64 / 4,
            ..Usage::default()
        };
        match request.last_text().contains("Write a summary") {
            true => Answer::text("SUMMARY: it went on.").held(Place::Before, &held),
            false => Answer::text("words ".repeat(10_000)),
        }
        .usage(usage)
    }));
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&model.entry("one", Some("ONES_KEY")));
    house.daemon();
    let with_key = |line: &[&str]| {
        let mut command = house.command(line);
        command.env("ONES_KEY", "sk-ones-5511");
        command
    };
    let mut line = vec!["run", "First."];
    let mut pid = String::new();
    for _ in 0..3 {
        let done = tests::program::run(&mut with_key(&line));
        assert_eq!(done.code(), Some(0), "{done:?}");
        if pid.is_empty() {
            let listed = house.reasonix(&["ls", "-q"]);
            pid = listed.out.trim().to_owned();
        }
        line = vec!["run", "-s", &pid, "And again."];
    }
    // The next daemon has no key: the command brings it.
    house.kill_daemon_and_parent();
    house.daemon();
    let mut compacting = with_key(&["compact", &pid]);
    let child = compacting
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    until("the summary request", || gate.is_reached().then_some(()));
    let to = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(to, rustix::process::Signal::INT).expect("is there");
    let done = child.wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(130), "{said}");
    assert!(said.contains("nothing changed"), "{said}");
    gate.open();
    let log = house.log(proto::Pid(pid.parse().expect("a pid")));
    assert_eq!(log.check().count("cache.reset"), 0);
    let done = tests::program::run(&mut with_key(&["compact", &pid]));
    assert_eq!(done.code(), Some(0), "{done:?}");
}
