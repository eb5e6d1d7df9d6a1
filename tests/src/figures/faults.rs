//! Which faults of the endpoint a run survives: each befalls the second of three answers, and the run has to end well with
//! the third.

use serde_json::json;
use testkit::model::{Answer, Fault, Model};

use super::Size;
use super::table::{Figure, plain};
use crate::House;

/// What the last answer is.
const END: &str = "All of it was read.";

/// All rows.
pub fn figures(_: Size) -> Vec<Figure> {
    let faults = faults();
    let all = faults.len();
    let lost: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = faults
            .into_iter()
            .map(|(name, faults)| (name, scope.spawn(|| survives(faults))))
            .collect();
        runs.into_iter()
            .map(|(name, run)| (name, run.join().expect("a run that does not panic")))
            .filter(|(_, survived)| !survived)
            .map(|(name, _)| name)
            .collect()
    });
    let mut value = format!("{} of {all}", all - lost.len());
    if !lost.is_empty() {
        value = format!("{value} (not: {})", lost.join(", "));
    }
    vec![plain("scripted faults survived", value, "9 of 9")]
}

fn faults() -> Vec<(&'static str, Vec<Fault>)> {
    let limited = || Fault::rate_limit("1");
    vec![
        ("429", vec![limited()]),
        ("429 three times", vec![limited(), limited(), limited()]),
        ("500", vec![Fault::status(500)]),
        ("503 three times", vec![Fault::status(503); 3]),
        ("reset", vec![Fault::Reset]),
        ("end of stream", vec![Fault::Eof]),
        ("stall", vec![Fault::Stall]),
        ("malformed event", vec![Fault::Malformed]),
        (
            "cut arguments",
            vec![Fault::CutArguments { by_limit: false }],
        ),
    ]
}

/// Whether a run comes to its end with these faults of one answer.
fn survives(faults: Vec<Fault>) -> bool {
    let read = |name: &str| Answer::call("read_file", json!({"path": name}));
    let mut second = read("two.txt");
    for fault in faults {
        second = second.fault(fault);
    }
    let model = Model::start([read("one.txt"), second, Answer::text(END)]);
    let house = House::new();
    // Only a time limit, a setting, separates a stall from a slow answer.
    house.settings("[network]\nidle_seconds = 2\n");
    house.provider(&model.entry("model", None));
    house.files("//- one.txt\nfirst words\n//- two.txt\nsecond words\n");
    house.daemon();
    let done = house.reasonix(&["run", "read both"]);
    done.code() == Some(0) && done.out.contains(END)
}
