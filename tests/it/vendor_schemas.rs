//! Requests of whole sessions against JSON Schemas of the vendors' own types. `vendor_schemas/make.py` writes the schemas.

use std::sync::LazyLock;

use jsonschema::Validator;
use proto::hello::Role;
use serde_json::{Value, json};
use testkit::model::{Answer, Gate, Model, Place, Request, Script, Wire};
use tests::House;

use crate::scripted::{RunOutput, run, shown};

const WIRES: [Wire; 3] = [Wire::Chat, Wire::Messages, Wire::Responses];

const SETTINGS: &str = "[network]\nidle_seconds = 60\n";

fn validator(schema: &str) -> Validator {
    let schema: Value = serde_json::from_str(schema).expect("a schema");
    jsonschema::validator_for(&schema).expect("a valid schema")
}

static CHAT: LazyLock<Validator> =
    LazyLock::new(|| validator(include_str!("vendor_schemas/openai.json")));
static RESPONSES: LazyLock<Validator> =
    LazyLock::new(|| validator(include_str!("vendor_schemas/openai-responses.json")));
static MESSAGES: LazyLock<Validator> =
    LazyLock::new(|| validator(include_str!("vendor_schemas/anthropic.json")));

/// Requests that use a beta of the API.
static BETA: LazyLock<Validator> =
    LazyLock::new(|| validator(include_str!("vendor_schemas/anthropic-beta.json")));

/// Fails the test unless the body of a request is one of the vendor's types.
pub fn assert_valid(request: &Request) {
    let schema = match request.wire {
        Wire::Chat => &CHAT,
        Wire::Responses => &RESPONSES,
        Wire::Messages if request.beta.is_some() => &BETA,
        Wire::Messages => &MESSAGES,
    };
    let body: Value = serde_json::from_slice(&request.body).expect("a body of JSON");
    let errors: Vec<_> = schema
        .iter_errors(&body)
        .map(|error| format!("{}: {error:.300}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "{:?}, request {}: {errors:#?}\n{body:#}",
        request.wire,
        request.number
    );
}

/// Two calls for `Read.`, a command that is denied for `Run.`, half an answer for `Wait.`; otherwise long answers.
fn script(gate: Gate) -> Script {
    Script::by(move |request: &Request| {
        let long = format!("Answer {}. {}", request.number, "words ".repeat(2_000));
        let prompt = request.last_text();
        match request.last()["role"].as_str() {
            Some("tool") => Answer::text(long).reasoning("That is all."),
            _ if prompt.contains("Write a summary") => Answer::text("SUMMARY: files were read."),
            _ if prompt.contains("Read.") => Answer::text("I look. ")
                .reasoning("Which file?\nBoth: 世界.")
                .and_call("read_file", json!({"path": "a.txt"}))
                .and_call("read_file", json!({"path": "none.txt"})),
            _ if prompt.contains("Run.") => {
                Answer::call("bash", json!({"command": "curl http://127.0.0.1:9/"}))
            }
            _ if prompt.contains("Wait.") => Answer::text("Half of this is lost. ")
                .paced(8, std::time::Duration::ZERO)
                .held(Place::End, &gate),
            _ => Answer::text(long).reasoning("It is simple."),
        }
    })
}

/// Tools, a denied call, an interrupted turn, a compaction, a rewind, samples and a fork. Returns the session.
fn whole_session(house: &House, gate: &Gate, model: &str) -> String {
    let pid = run(house, &["--model", model], "Read.")
        .expect(0, "completed")
        .pid();
    let says = |options: &[&str], prompt: &str| -> RunOutput {
        let session = [&["-s", &pid], options].concat();
        run(house, &session, prompt).expect(0, "completed")
    };
    let does = |arguments: &[&str]| {
        let done = house.reasonix(arguments);
        assert_eq!(done.code(), Some(0), "{arguments:?}: {done:?}");
    };
    run(house, &["-s", &pid, "--on-ask", "deny"], "Run.").expect(3, "blocked");
    let waiting = house.start(&["run", "-s", &pid, "--output-format", "jsonl", "Wait."]);
    shown(&waiting, "Half of");
    let mut raw = house.raw_as(Role::Drive);
    raw.call("session.interrupt", &json!({"session": pid}))
        .expect("interrupt");
    let ended = waiting.done();
    assert!(ended.out.contains("\"interrupted\""), "{ended:?}");
    gate.open();
    says(&[], "Talk.");
    does(&["compact", &pid]);
    says(&[], "Talk more.");
    says(&[], "Talk of what goes.");
    does(&["rewind", &pid, "4"]);
    does(&["model", &pid, "--samples", "2"]);
    says(&[], "Talk twice.");
    does(&["model", &pid, "--samples", "1"]);
    says(&["--fork"], "Talk otherwise.");
    pid
}

#[test]
fn requests_of_whole_sessions_are_valid_by_the_vendors_types() {
    for wire in WIRES {
        let gate = Gate::new();
        let model = Model::start(script(gate.clone()));
        let house = House::new();
        house.settings(SETTINGS);
        for wire in WIRES {
            house.provider(&model.entry_of(wire, wire.kind(), None));
        }
        house.files("//- a.txt\nold words\n");
        house.daemon();
        let pid = whole_session(&house, &gate, wire.kind());
        for other in WIRES.into_iter().filter(|other| *other != wire) {
            let switched = house.reasonix(&["model", &pid, other.kind(), "--yes"]);
            assert_eq!(switched.code(), Some(0), "{switched:?}");
            run(&house, &["-s", &pid], "Read.").expect(0, "completed");
        }
        model.assert_strict();
        let requests = model.requests();
        requests.iter().for_each(assert_valid);
        let count = |wire: Wire| {
            requests
                .iter()
                .filter(|request| request.wire == wire)
                .count()
        };
        assert!(WIRES.into_iter().all(|wire| count(wire) >= 2), "{wire:?}");
        let log = house.log(proto::Pid(pid.parse().expect("a pid")));
        let resets = log.check().count("cache.reset");
        assert!(
            resets >= 4,
            "a compaction, a rewind, two switches: {resets}"
        );
        assert!(
            requests
                .iter()
                .any(|request| request.last_text().contains("Write a summary"))
        );
    }
}

/// The schemas refuse what the vendors refuse: otherwise the test above would show nothing.
#[test]
fn the_schemas_refuse_unknown_members_and_wrong_types() {
    for (schema, body) in [
        (
            &CHAT,
            json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "a", "colour": 1}]}),
        ),
        (
            &CHAT,
            json!({"model": "m", "stream": true, "messages": [{"role": "tool", "content": "a"}]}),
        ),
        (
            &RESPONSES,
            json!({"model": "m", "stream": true, "input": [{"type": "function_call", "name": "a"}]}),
        ),
        (
            &RESPONSES,
            json!({"model": "m", "stream": true, "colour": 1}),
        ),
        (
            &MESSAGES,
            json!({"model": "m", "stream": true, "max_tokens": 9, "messages": [{"role": "system", "content": 7}]}),
        ),
        (
            &MESSAGES,
            json!({"model": "m", "stream": true, "messages": []}),
        ),
        (
            &BETA,
            json!({"model": "m", "stream": true, "max_tokens": 9, "messages": [], "compaction": {"type": "colour"}}),
        ),
        (
            &MESSAGES,
            json!({"model": "m", "stream": true, "max_tokens": 9, "messages": [], "compaction": {"type": "summarize"}}),
        ),
        (
            &RESPONSES,
            json!({"model": "m", "stream": true, "input": [{"type": "compaction", "id": "a"}]}),
        ),
    ] {
        assert!(!schema.is_valid(&body), "{body}");
    }
}
