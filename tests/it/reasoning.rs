//! Reasoning extraction, sampling and presets with the real programs, against a vendor that keeps a usage ledger: extracted lists are shown
//! and never sent on, their cost counts, and they cannot break a turn.

use proto::hello::Role;
use proto::methods::{SessionCreate, SessionPrompt};
use proto::outcome::OutcomeKind;
use proto::record::Purpose;
use proto::{Body, Pid, RequestId};
use serde_json::{Value, json};
use testkit::model::{Answer, Fault, Gate, Model, Place, Request, Script, Usage};
use tests::House;
use tests::follow::{body, from_the_start, to};

use crate::scripted::{FAST_RETRIES, run};

/// Words that only an extraction has: they must never be sent.
const SECRET: &str = "whether-the-tests-cover-it";
/// Reasoning that is long enough to be extracted.
const TRACE: &str =
    "First I look at the file, then I decide whether it is the right one to change.";

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    tests::until(what, || is_so().then_some(()));
}

fn is_extraction(request: &Request) -> bool {
    request.json["response_format"]["type"] == "json_object"
}

/// What the vendor takes for a request, by its number.
fn usage(number: usize) -> Usage {
    let number = number as u64;
    Usage {
        prompt: 1_000 + 10 * number,
        cached: 0,
        output: 20 + number,
        reasoning: 3,
    }
}

fn thinking(mut answer: Answer) -> Answer {
    answer.reasoning = TRACE.to_owned();
    answer
}

fn lists(uncertainties: &[&str]) -> Answer {
    let lists = json!({"subgoals": ["read it"], "hypotheses": [], "uncertainties": uncertainties, "rejected_paths": []});
    Answer::text(format!("```json\n{lists}\n```"))
}

/// A step with a call, then an answer; both after some thinking.
fn conversation(extraction: impl Fn(&Request) -> Answer + Send + 'static) -> Script {
    Script::by(move |request: &Request| {
        let answer = match (is_extraction(request), request.results().len()) {
            (true, _) => extraction(request),
            (false, 0) => thinking(Answer::call("read_file", json!({"path": "a.txt"}))),
            (false, _) => thinking(Answer::text("It is done.")),
        };
        answer.usage(usage(request.number))
    })
}

fn house(model: &Model, settings: &str) -> House {
    let house = House::new();
    let entry = model.entry("model", None);
    let price =
        "price = { input = 1.0, output = 2.0 }\nefforts = [\"low\", \"medium\", \"high\"]\n";
    house.config_text(&format!(
        "{settings}\n{FAST_RETRIES}\n[[providers]]\n{entry}{price}"
    ));
    house.files("//- a.txt\nold words\n");
    house.daemon();
    house
}

fn bodies(model: &Model, wanted: impl Fn(&Request) -> bool) -> Vec<String> {
    let requests = model
        .requests()
        .into_iter()
        .filter(|request| wanted(request));
    requests
        .map(|request| String::from_utf8_lossy(&request.body).into_owned())
        .collect()
}

fn extractions(house: &House, pid: Pid) -> usize {
    house.log(pid).count("reasoning.extracted")
}

/// Checks that `stats` contains all usage that the vendor has reported.
fn assert_usage_ledger(house: &House, model: &Model) {
    let stats = house.reasonix(&["stats", "--json"]).expect_code(0).json();
    let all = (1..=model.count()).map(usage);
    let (mut prompt, mut output) = (0, 0);
    for usage in all {
        prompt += usage.prompt;
        output += usage.output;
    }
    assert_eq!(stats["requests"], model.count() as u64, "{stats}");
    assert_eq!(stats["promptTokens"], prompt, "{stats}");
    assert_eq!(stats["outputTokens"], output, "{stats}");
    assert_eq!(
        stats["total"]["usage"]["cost_micros"],
        prompt + 2 * output,
        "{stats}"
    );
}

fn purposes(house: &House) -> Vec<(String, u64)> {
    let stats = house
        .reasonix(&["stats", "--by", "purpose", "--json"])
        .expect_code(0)
        .json();
    let rows = stats["purposes"].as_array().expect("rows").iter();
    let row = |row: &Value| {
        let requests = row["usage"]["requests"].as_u64().expect("a number");
        (row["key"].as_str().expect("a key").to_owned(), requests)
    };
    let mut rows: Vec<_> = rows.map(row).collect();
    rows.sort();
    rows
}

#[test]
fn nothing_is_extracted_unless_it_is_asked_for() {
    let model = Model::start(conversation(|_| lists(&[])));
    let house = house(&model, "");
    run(&house, &[], "Go.").expect(0, "completed");
    assert_eq!(model.count(), 2);
    assert_eq!(extractions(&house, Pid(1)), 0);
    assert!(
        bodies(&model, |_| true)
            .iter()
            .all(|body| !body.contains("temperature"))
    );
    model.assert_prefix();
}

#[test]
fn an_extraction_is_logged_and_counted_and_never_sent() {
    let model = Model::start(conversation(|_| lists(&[SECRET])));
    let house = house(&model, "reasoning.extract = true");
    let first = run(&house, &[], "Go.").expect(0, "completed");
    let pid = Pid(first.pid().parse().expect("a pid"));
    until("both answers are extracted", || {
        extractions(&house, pid) == 2
    });
    run(&house, &["-s", &first.pid()], "More.").expect(0, "completed");
    until("all answers are extracted", || {
        extractions(&house, pid) == 3
    });
    let log = house.log(pid);
    let found = log.bodies().into_iter().find_map(|body| match body {
        Body::ReasoningExtracted(found) => Some(found),
        _ => None,
    });
    let found = found.expect("an extraction");
    assert_eq!(
        (found.subgoals, found.uncertainties),
        (vec!["read it".to_owned()], vec![SECRET.to_owned()])
    );
    // Extracted lists are for users: no request contains them, and only the extraction request has its instructions.
    assert!(
        bodies(&model, |_| true)
            .iter()
            .all(|body| !body.contains(SECRET))
    );
    assert!(
        bodies(&model, |request| !is_extraction(request))
            .iter()
            .all(|body| !body.contains("rejected_paths"))
    );
    until("all usage is in the ledger", || {
        purposes(&house) == [("answer".into(), 3), ("extraction".into(), 3)]
    });
    assert_usage_ledger(&house, &model);
    // It says nothing of the conversation's length or of its cache.
    let summary = house
        .reasonix(&["model", &first.pid(), "--json"])
        .expect_code(0)
        .json();
    let newest = log.bodies().into_iter().rev().find_map(|body| match body {
        Body::Usage(usage) if usage.purpose == Purpose::Answer => Some(usage),
        _ => None,
    });
    let newest = newest.expect("usage of an answer");
    assert_eq!(
        summary["context_tokens"],
        newest.prompt_tokens + newest.output_tokens
    );
    assert!(
        newest.expected_cached.is_some(),
        "it is compared with the answer before"
    );
}

#[test]
fn an_extraction_that_fails_leaves_the_turn_as_it_is() {
    let model = Model::start(conversation(|request| match request.number % 2 {
        0 => Answer::text("").fault(Fault::status(400)),
        _ => Answer::text("There is nothing to list."),
    }));
    let house = house(&model, "reasoning.extract = true");
    let first = run(&house, &[], "Go.").expect(0, "completed");
    let pid = Pid(first.pid().parse().expect("a pid"));
    let notices = || {
        let bodies = house.log(pid).bodies().into_iter();
        bodies
            .filter(
                |body| matches!(body, Body::Notice(notice) if notice.text.contains("extracted")),
            )
            .count()
    };
    until("the notice", || notices() == 1);
    run(&house, &["-s", &first.pid()], "More.").expect(0, "completed");
    until("it was tried again", || {
        bodies(&model, is_extraction).len() == 3
    });
    assert_eq!((notices(), extractions(&house, pid)), (1, 0));
}

#[test]
fn a_preset_switches_model_effort_and_samples_together() {
    let model = Model::start(Script::by(|request: &Request| {
        Answer::text("Yes.").usage(usage(request.number))
    }));
    let other = Model::start(Script::by(|request: &Request| {
        Answer::text("No.").usage(usage(request.number))
    }));
    let slow = "[presets.slow]\nmodel = \"other\"\neffort = \"medium\"\nsamples = 2\n";
    let house = house(&model, slow);
    house.provider(&format!(
        "{}price = {{ input = 3.0, output = 3.0 }}\nefforts = [\"low\", \"medium\"]\n",
        other.entry("other", None)
    ));
    let ran = run(&house, &["--preset", "fast"], "Go.").expect(0, "completed");
    let efforts = || {
        let requests = model.requests().into_iter();
        requests
            .map(|request| request.json["reasoning_effort"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(efforts(), ["low"]);
    let pid = ran.pid();
    // The cache starts empty: this needs a confirmation.
    let refused = house.reasonix(&["model", &pid, "--preset", "slow"]);
    assert_ne!(refused.code(), Some(0), "{refused:?}");
    let set = house
        .reasonix(&["model", &pid, "--preset", "slow", "--yes", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(
        (&set["model"], &set["effort"], &set["samples"]),
        (&json!("other/model-1"), &json!("medium"), &json!(2))
    );
    let more = run(&house, &["-s", &pid], "More.").expect(0, "completed");
    assert_eq!((more.text(), model.count()), ("No.", 1));
    let requests = other.requests().into_iter();
    let efforts: Vec<_> = requests
        .filter(|request| temperature(request).is_some())
        .map(|request| request.json["reasoning_effort"].clone())
        .collect();
    assert_eq!(efforts, ["medium", "medium"], "two samples");
    let unknown = house.reasonix(&["run", "--preset", "quick", "Go."]);
    assert_ne!(unknown.code(), Some(0));
    assert!(
        unknown.err.contains("fast, smart, max, slow"),
        "{unknown:?}"
    );
}

/// At which temperature a sample is asked for; `None`: it is none.
fn temperature(request: &Request) -> Option<f64> {
    request.json["temperature"].as_f64()
}

/// Words of the sample at a temperature.
fn words(at: f64) -> &'static str {
    match at {
        at if at < 0.25 => "cold",
        at if at < 0.75 => "tepid",
        _ => "boiling",
    }
}

/// Three samples: the cold one is the least sure of itself, the tepid one the surest.
fn samples(answer: impl Fn(&Request, Answer) -> Answer + Send + 'static) -> Script {
    Script::by(move |request: &Request| {
        let said = request.last_text();
        let made = match temperature(request) {
            Some(at) => {
                let mut answer = Answer::text(format!("The answer is {}.", words(at)));
                answer.reasoning = format!("{TRACE} It is {} in here.", words(at));
                answer
            }
            None if said.contains("cold in here") => lists(&["one", "two"]),
            None if said.contains("tepid in here") => lists(&[]),
            None if said.contains("boiling in here") => lists(&[SECRET]),
            None => Answer::text("It is no sample."),
        };
        answer(request, made.usage(usage(request.number)))
    })
}

#[test]
fn the_surest_sample_is_the_answer_and_all_are_paid() {
    let model = Model::start(samples(|_, answer| answer));
    let house = house(&model, "");
    let first = run(&house, &["--samples", "3"], "Go.").expect(0, "completed");
    assert_eq!(first.text(), "The answer is tepid.");
    let pid = Pid(first.pid().parse().expect("a pid"));
    assert_eq!(model.count(), 6, "three samples, and an extraction of each");
    let log = house.log(pid);
    log.check();
    assert_eq!(
        (log.count("message.assistant"), extractions(&house, pid)),
        (1, 1)
    );
    let expected = [
        ("answer".into(), 1),
        ("extraction".into(), 3),
        ("sample".into(), 2),
    ];
    until("all usage is in the ledger", || {
        purposes(&house) == expected
    });
    assert_usage_ledger(&house, &model);
    assert_eq!(
        first.result["usage"]["requests"], 6,
        "the turn has paid for all: {}",
        first.result
    );
    // They differ in their last member alone.
    let heads = bodies(&model, |request| temperature(request).is_some());
    let heads: Vec<_> = heads
        .iter()
        .map(|body| body.rsplit_once(",\"temperature\":").expect("at the end").0)
        .collect();
    assert!(heads.windows(2).all(|pair| pair[0] == pair[1]));

    let set = house
        .reasonix(&["model", &first.pid(), "--samples", "1", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(set["samples"], 1);
    run(&house, &["-s", &first.pid()], "More.").expect(0, "completed");
    let next = bodies(&model, |_| true).pop().expect("a request");
    assert!(
        next.contains("is tepid") && !next.contains("is cold") && !next.contains("is boiling"),
        "{next}"
    );
    assert!(
        !next.contains(SECRET) && !next.contains("temperature"),
        "{next}"
    );
}

#[test]
fn a_sample_that_fails_is_left_out() {
    let model = Model::start(samples(|request, answer| match temperature(request) {
        Some(at) if words(at) == "tepid" => answer.fault(Fault::status(400)),
        _ => answer,
    }));
    let house = house(&model, "");
    let ran = run(&house, &["--samples", "3"], "Go.").expect(0, "completed");
    assert_eq!(ran.text(), "The answer is boiling.");
    let ran = {
        let model = Model::start(samples(|_, answer| answer.fault(Fault::status(400))));
        house.config_text(&format!(
            "{FAST_RETRIES}\n[[providers]]\n{}",
            model.entry("model", None)
        ));
        run(&house, &["--samples", "2"], "Go.")
    };
    assert_eq!(ran.result["outcome"], "failed", "{ran:?}");
}

#[test]
fn reported_usage_of_dropped_samples_is_in_the_ledger() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(samples(move |request, answer| match temperature(request) {
        Some(at) if words(at) == "boiling" => answer.held(Place::Middle, &held),
        _ => answer,
    }));
    let house = house(&model, "");
    let mut params = house.create("Go.");
    params.prompt = None;
    params.options.samples = Some(3);
    house.block_on(async {
        let client = house.client("one", Role::Drive).await;
        let created = client.call::<SessionCreate>(&params).await;
        let pid = created.expect("create").pid;
        // Live events reach only clients that already follow.
        let mut follow = from_the_start(&client, pid).await;
        to(&mut follow, "the end of the replay", |event| {
            event.kind == "sync"
        })
        .await;
        let prompt =
            json!({"session": pid.to_string(), "text": "Go.", "request_id": RequestId::new()});
        let prompt = serde_json::from_value(prompt).expect("a prompt");
        client.call::<SessionPrompt>(&prompt).await.expect("prompt");
        to(&mut follow, "two samples to be in", |event| {
            event.data.get().contains("\"samples_in\":2")
        })
        .await;
        let _ = house.reasonix(&["kill", "-s", "INT", "1"]).expect_code(0);
        let Body::TurnEnded(ended) = body(&mut follow, "turn.ended").await else {
            panic!("the end of the turn")
        };
        assert_eq!(ended.outcome, OutcomeKind::Interrupted, "{ended:?}");
    });
    let expected = [("extraction".into(), 2), ("sample".into(), 2)];
    until("all usage is in the ledger", || {
        purposes(&house) == expected
    });
    gate.open();
}

#[test]
fn a_restart_in_the_middle_of_samples_goes_on() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(samples(move |request, answer| match request.number {
        ..=3 => answer.held(Place::Before, &held),
        _ => answer,
    }));
    let house = house(&model, "");
    let line = ["run", "--samples", "3", "--detach", "Go."];
    let _ = house.reasonix(&line).expect_code(0);
    until("the samples are asked for", || model.count() == 3);
    house.kill_daemon_and_parent();
    house.daemon();
    gate.open();
    until("the turn has ended", || {
        house.log(Pid(1)).count("turn.ended") == 1
    });
    let log = house.log(Pid(1));
    let said = log.bodies().into_iter().find_map(|body| match body {
        Body::Assistant(message) => Some(message.text),
        _ => None,
    });
    assert_eq!(said.as_deref(), Some("The answer is tepid."));
}

#[test]
fn samples_and_extractions_are_no_way_around_a_budget() {
    let model = Model::start(conversation(|_| lists(&[])));
    let house = house(&model, "");
    let budget = proto::budget::Budget {
        steps: Some(4),
        ..proto::budget::Budget::default()
    };
    let mut raw = house.raw_as(proto::hello::Role::Drive);
    let mut params = house.create("Go.");
    (params.options.budget, params.options.samples) = (Some(budget), Some(3));
    let params = serde_json::to_value(&params).expect("JSON");
    let created = raw.call("session.create", &params).expect("a session");
    let waited = json!({"session": created["pid"].to_string()});
    let ended = raw.call("session.wait", &waited).expect("its end");
    // Three samples and an extraction; the other extractions, and what follows, are not sent.
    assert_eq!(model.count(), 4, "{ended}");
    assert_eq!(ended["ended"]["outcome"], "budget_exceeded", "{ended}");
    assert_usage_ledger(&house, &model);
}
