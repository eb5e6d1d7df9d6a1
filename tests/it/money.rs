//! Money with the real programs: what `stats` says is what the vendor's own books say, to the token and to the
//! millionth of a dollar (I15).

use proto::hello::Role;
use serde_json::{Value, json};
use testkit::model::{Answer, Fault, Gate, Model, Place, Request, Script, Usage, Wire};
use tests::House;

use crate::scripted::{HASTE, run};

/// Millionths of a dollar for a million tokens: fresh, cached, got.
type Rates = [u64; 3];

const RATES: Rates = [1_234_567, 100_003, 7_654_321];
/// The request that breaks in its middle, after the vendor has said what it took.
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

/// What has to be paid: the prompt of a broken answer too, and the one token of it that was reported.
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

/// The vendor's own books.
#[derive(Debug, Default, PartialEq)]
struct Books {
    requests: u64,
    prompt: u64,
    cached: u64,
    output: u64,
    micros: u64,
    unknown: u64,
}

impl Books {
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
    house.config_text(&format!("{HASTE}\n[[providers]]\n{entry}{price}"));
}

#[test]
fn what_stats_say_is_what_the_vendor_has_in_its_books() {
    let model = Model::start(script());
    let house = House::new();
    configure(&house, &model, Some(RATES));
    house.files("//- a.txt\nold words\n");
    house.daemon();
    let mut books = Books::default();
    let first = run(&house, &[], "One.").expect(0, "completed");
    let pid = first.pid();
    run(&house, &["-s", &pid], "Two.").expect(0, "completed");
    books.take(&model, Some(RATES));
    assert_eq!(
        books.requests, 4,
        "a call, an answer, one that broke, one more"
    );
    assert_eq!(Books::of(&stats(&house, &[])), books);

    // A price that changes changes no past; one that is not known is not nothing.
    house.kill_daemon_and_parent();
    configure(&house, &model, Some([9, 8, 7_000_000]));
    house.daemon();
    assert_eq!(Books::of(&stats(&house, &[])), books);
    run(&house, &["-s", &pid], "Three.").expect(0, "completed");
    books.take(&model, Some([9, 8, 7_000_000]));
    house.kill_daemon_and_parent();
    configure(&house, &model, None);
    house.daemon();

    let mut raw = house.raw_as(Role::Drive);
    let params =
        json!({"session": pid, "fork": proto::SessionId::new(), "at_turn": 2, "name": "other"});
    raw.call("session.fork", &params).expect("a fork");
    assert_eq!(
        Books::of(&stats(&house, &[])),
        books,
        "a fork has used nothing"
    );
    run(&house, &["-s", "other"], "Four.").expect(0, "completed");
    let _ = house.reasonix(&["rewind", &pid, "1", "-q"]).expect_code(0);
    run(&house, &["-s", &pid], "Five.").expect(0, "completed");
    books.take(&model, None);
    assert_eq!((books.requests, books.unknown), (7, 2));
    let told = stats(&house, &["--by", "tool"]);
    assert_eq!(Books::of(&told), books);
    assert_eq!(told["turns"], 5, "those of a fork's origin count once");
    assert_eq!(told["tools"][0]["tool"], "read_file");
    assert_eq!(told["tools"][0]["calls"], 1);
    assert_eq!(told["models"][0]["key"], "model/model-1");
    assert_eq!(told["purposes"][0]["key"], "answer");

    // Neither deleting a session nor making the ledger again changes a sum.
    raw.call(
        "session.delete",
        &json!({"session": "other", "confirm": true}),
    )
    .expect("deleted");
    let told = stats(&house, &[]);
    assert_eq!(Books::of(&told), books);
    assert_eq!(told["turns"], 5);
    drop(raw);
    let _ = house.reasonix(&["doctor", "--rebuild-index"]);
    assert_eq!(Books::of(&stats(&house, &[])), books);
    for rows in ["days", "models", "sessions", "purposes"] {
        let all = told[rows].as_array().expect("rows").iter();
        let micros: u64 = all
            .filter_map(|row| row["usage"]["cost_micros"].as_u64())
            .sum();
        assert_eq!(micros, books.micros, "{rows}");
    }
    // The run itself was told the cost of its turn.
    let paid = cost(&usage(1), RATES) + cost(&usage(2), RATES);
    assert_eq!(first.result["usage"]["cost_micros"], paid);
}

#[test]
fn what_was_reported_of_an_interrupted_answer_is_in_the_books() {
    let gate = Gate::new();
    let answer = Answer::text("A long story, told slowly.")
        .paced(5, std::time::Duration::ZERO)
        .usage(usage(1))
        .held(Place::Middle, &gate);
    let model = Model::start([answer]);
    let house = House::new();
    configure(&house, &model, Some(RATES));
    house.daemon();
    let running = house.start(&["run", "--output-format", "jsonl", "Tell."]);
    running.line("the beginning of the answer", |line| {
        line.contains("\"offset\"")
    });
    let _ = house.reasonix(&["kill", "-s", "INT", "1"]).expect_code(0);
    let done = running.done();
    assert_eq!(done.code(), Some(130), "{done:?}");
    let told = stats(&house, &[]);
    assert_eq!(
        (&told["promptTokens"], &told["cachedTokens"]),
        (&json!(usage(1).prompt), &json!(usage(1).cached)),
        "{told}"
    );
    gate.open();
}

#[test]
fn digests_are_in_the_books_written_or_not() {
    // The fifth request, for the first digest, breaks in its middle.
    const CUT: usize = 5;
    let model = Model::start(Script::by(|request: &Request| {
        let answer = match request.last_text().contains("Write a digest") {
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
    let mut books = Books::default();
    for number in 1..=model.count() {
        let usage = match number {
            CUT => Usage {
                output: 1,
                ..usage(number)
            },
            _ => usage(number),
        };
        books.requests += 1;
        books.prompt += usage.prompt;
        books.cached += usage.cached;
        books.output += usage.output;
        books.micros += cost(&usage, RATES);
    }
    let told = stats(&house, &[]);
    assert_eq!(Books::of(&told), books);
    let digests = told["purposes"].as_array().expect("rows").iter();
    let mut digests = digests.filter(|row| row["key"] == "digest");
    let digest = digests.next().expect("digests are told apart");
    assert_eq!(
        digest["usage"]["requests"], 3,
        "one broke, two were written"
    );
}
