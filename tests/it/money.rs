//! Money with the real programs: `stats` agrees with the vendor's own usage ledger, to the token and to the
//! millionth of a dollar (I15).

use proto::hello::Role;
use serde_json::{Value, json};
use testkit::model::{Answer, Fault, Gate, Model, Place, Request, Script, Usage, Wire};
use tests::House;

use crate::scripted::{FAST_RETRIES, run};

/// Millionths of a dollar for a million tokens: fresh, cached, got.
type Rates = [u64; 3];

const RATES: Rates = [1_234_567, 100_003, 7_654_321];
/// The request that breaks in its middle, after the vendor has reported its usage.
const BROKEN: usize = 3;

/// What the vendor takes for a request, by its number.
fn usage(number: usize) -> Usage {
    let number = number as u64;
    Usage {
        prompt: 1000 + 137 * number,
        cached: 300 + 11 * number,
        output: 17 + number,
        reasoning: 0,
    }
}

/// The billed usage: the prompt of a broken answer too, and the one token of it that was reported.
fn booked(number: usize) -> Usage {
    let usage = usage(number);
    match number {
        BROKEN => Usage { output: 1, ..usage },
        _ => usage,
    }
}

fn cost(usage: &Usage, [fresh, cached, got]: Rates) -> u64 {
    let sum = (usage.prompt - usage.cached) * fresh + usage.cached * cached + usage.output * got;
    (sum + 500_000) / 1_000_000
}

/// The vendor's usage ledger.
#[derive(Debug, Default, PartialEq)]
struct Ledger {
    requests: u64,
    prompt: u64,
    cached: u64,
    output: u64,
    micros: u64,
    unknown: u64,
}

impl Ledger {
    /// Takes in the requests from the last one that was taken in up to now.
    fn take(&mut self, model: &Model, rates: Option<Rates>) {
        for number in self.requests as usize + 1..=model.count() {
            let usage = booked(number);
            self.requests += 1;
            self.prompt += usage.prompt;
            self.cached += usage.cached;
            self.output += usage.output;
            match rates {
                Some(rates) => self.micros += cost(&usage, rates),
                None => self.unknown += 1,
            }
        }
    }

    /// As the daemon has them.
    fn of(stats: &Value) -> Self {
        let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value}"));
        Self {
            requests: number(&stats["requests"]),
            prompt: number(&stats["promptTokens"]),
            cached: number(&stats["cachedTokens"]),
            output: number(&stats["outputTokens"]),
            micros: number(&stats["total"]["usage"]["cost_micros"]),
            unknown: number(&stats["unknownCostCalls"]),
        }
    }
}

fn stats(house: &House, more: &[&str]) -> Value {
    let line = [&["stats", "--json"], more].concat();
    house.reasonix(&line).expect_code(0).json()
}

fn price([fresh, cached, got]: Rates) -> String {
    let dollars = |micros: u64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let (fresh, cached, got) = (dollars(fresh), dollars(cached), dollars(got));
    format!("price = {{ input = {fresh}, cached = {cached}, output = {got} }}\n")
}

fn script() -> Script {
    Script::by(|request: &Request| {
        let answer = match request.number {
            1 => Answer::call("read_file", json!({"path": "a.txt"})),
            BROKEN => Answer::text("This goes wrong in its middle.").fault(Fault::Eof),
            number => Answer::text(format!("Answer {number}.")),
        };
        answer.usage(usage(request.number))
    })
}

/// The config with this price, or with none.
fn configure(house: &House, model: &Model, rates: Option<Rates>) {
    let entry = model.entry_of(Wire::Messages, "model", None);
    let price = rates.map(price).unwrap_or_default();
    house.config_text(&format!("{FAST_RETRIES}\n[[providers]]\n{entry}{price}"));
}

#[test]
fn stats_match_the_vendors_usage_ledger() {
    let model = Model::start(script());
    let house = House::new();
    configure(&house, &model, Some(RATES));
    house.files("//- a.txt\nold words\n");
    house.daemon();
    let mut ledger = Ledger::default();
    let first = run(&house, &[], "One.").expect(0, "completed");
    let pid = first.pid();
    run(&house, &["-s", &pid], "Two.").expect(0, "completed");
    ledger.take(&model, Some(RATES));
    assert_eq!(
        ledger.requests, 4,
        "a call, an answer, one that broke, one more"
    );
    assert_eq!(Ledger::of(&stats(&house, &[])), ledger);

    // A price that changes changes no past; one that is not known is not nothing.
    house.kill_daemon_and_parent();
    configure(&house, &model, Some([9, 8, 7_000_000]));
    house.daemon();
    assert_eq!(Ledger::of(&stats(&house, &[])), ledger);
    run(&house, &["-s", &pid], "Three.").expect(0, "completed");
    ledger.take(&model, Some([9, 8, 7_000_000]));
    house.kill_daemon_and_parent();
    configure(&house, &model, None);
    house.daemon();

    let mut raw = house.raw_as(Role::Drive);
    let params =
        json!({"session": pid, "fork": proto::SessionId::new(), "at_turn": 2, "name": "other"});
    raw.call("session.fork", &params).expect("a fork");
    assert_eq!(
        Ledger::of(&stats(&house, &[])),
        ledger,
        "a fork has used nothing"
    );
    run(&house, &["-s", "other"], "Four.").expect(0, "completed");
    let _ = house.reasonix(&["rewind", &pid, "1", "-q"]).expect_code(0);
    run(&house, &["-s", &pid], "Five.").expect(0, "completed");
    ledger.take(&model, None);
    assert_eq!((ledger.requests, ledger.unknown), (7, 2));
    let stats_by_tool = stats(&house, &["--by", "tool"]);
    assert_eq!(Ledger::of(&stats_by_tool), ledger);
    assert_eq!(
        stats_by_tool["turns"], 5,
        "those of a fork's origin count once"
    );
    assert_eq!(stats_by_tool["tools"][0]["tool"], "read_file");
    assert_eq!(stats_by_tool["tools"][0]["calls"], 1);
    assert_eq!(stats_by_tool["models"][0]["key"], "model/model-1");
    assert_eq!(stats_by_tool["purposes"][0]["key"], "answer");

    // Neither deleting a session nor making the ledger again changes a sum.
    raw.call(
        "session.delete",
        &json!({"session": "other", "confirm": true}),
    )
    .expect("deleted");
    let totals = stats(&house, &[]);
    assert_eq!(Ledger::of(&totals), ledger);
    assert_eq!(totals["turns"], 5);
    drop(raw);
    let _ = house.reasonix(&["doctor", "--rebuild-index"]);
    assert_eq!(Ledger::of(&stats(&house, &[])), ledger);
    for rows in ["days", "models", "sessions", "purposes"] {
        let all = totals[rows].as_array().expect("rows").iter();
        let micros: u64 = all
            .filter_map(|row| row["usage"]["cost_micros"].as_u64())
            .sum();
        assert_eq!(micros, ledger.micros, "{rows}");
    }
    // The run itself reports the cost of its turn.
    let paid = cost(&usage(1), RATES) + cost(&usage(2), RATES);
    assert_eq!(first.result["usage"]["cost_micros"], paid);
}

#[test]
fn reported_usage_of_an_interrupted_answer_is_in_the_ledger() {
    let gate = Gate::new();
    let answer = Answer::text("A long story, slowly.")
        .paced(5, std::time::Duration::ZERO)
        .usage(usage(1))
        .held(Place::Middle, &gate);
    let model = Model::start([answer]);
    let house = House::new();
    configure(&house, &model, Some(RATES));
    house.daemon();
    let running = house.start(&["run", "--output-format", "jsonl", "Go."]);
    running.line("the beginning of the answer", |line| {
        line.contains("\"offset\"")
    });
    let _ = house.reasonix(&["kill", "-s", "INT", "1"]).expect_code(0);
    let done = running.done();
    assert_eq!(done.code(), Some(130), "{done:?}");
    let totals = stats(&house, &[]);
    assert_eq!(
        (&totals["promptTokens"], &totals["cachedTokens"]),
        (&json!(usage(1).prompt), &json!(usage(1).cached)),
        "{totals}"
    );
    gate.open();
}

#[test]
fn summaries_are_in_the_ledger_written_or_not() {
    // The fifth request, for the first summary, breaks in its middle.
    const CUT: usize = 5;
    let model = Model::start(Script::by(|request: &Request| {
        let answer = match request.last_text().contains("Write a summary") {
            true => Answer::text("So it went on, and this is what was done."),
            false => Answer::text(format!("Answer {}", "words ".repeat(3_000))),
        };
        let answer = match request.number {
            CUT => answer.fault(Fault::Eof),
            _ => answer,
        };
        answer.usage(usage(request.number))
    }));
    let house = House::new();
    configure(&house, &model, Some(RATES));
    house.daemon();
    let pid = run(&house, &[], "One.").expect(0, "completed").pid();
    for prompt in ["Two.", "Three.", "Four."] {
        run(&house, &["-s", &pid], prompt).expect(0, "completed");
    }
    let _ = house.reasonix(&["compact", &pid]).expect_code(0);
    house.kill_daemon_and_parent();
    house.daemon();
    let _ = house.reasonix(&["compact", &pid, "--undo"]).expect_code(0);
    run(&house, &["-s", &pid], "Five.").expect(0, "completed");
    let _ = house
        .reasonix(&["compact", &pid, "keep", "the", "numbers"])
        .expect_code(0);
    run(&house, &["-s", &pid], "Six.").expect(0, "completed");
    let mut ledger = Ledger::default();
    for number in 1..=model.count() {
        let usage = match number {
            CUT => Usage {
                output: 1,
                ..usage(number)
            },
            _ => usage(number),
        };
        ledger.requests += 1;
        ledger.prompt += usage.prompt;
        ledger.cached += usage.cached;
        ledger.output += usage.output;
        ledger.micros += cost(&usage, RATES);
    }
    let totals = stats(&house, &[]);
    assert_eq!(Ledger::of(&totals), ledger);
    let summaries = totals["purposes"].as_array().expect("rows").iter();
    let mut summaries = summaries.filter(|row| row["key"] == "summary");
    let summary = summaries.next().expect("summaries have a separate row");
    assert_eq!(
        summary["usage"]["requests"], 3,
        "one broke, two were written"
    );
}
