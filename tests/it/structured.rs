//! `run --json-schema`: an answer that fits, one that is asked for again, and schemas that are refused before there is a session.

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::Script;
use testkit::model::{Answer, Gate, Model, Place};
use tests::{Done, House, until};

use crate::scripted;

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {"city": {"type": "string"}, "people": {"type": "integer", "minimum": 1}},
  "required": ["city", "people"],
  "additionalProperties": false
}"#;

/// A house whose model says this, with the schema in `schema.json`.
fn saying(answers: &[&str]) -> (Model, House) {
    let answers: Vec<_> = answers.iter().map(|text| Answer::text(*text)).collect();
    let model = Model::start(answers);
    let house = scripted::house(&model);
    house.files(&format!("//- schema.json\n{SCHEMA}\n"));
    (model, house)
}

/// Runs a prompt that needs an answer of the schema.
fn ask(house: &House, arguments: &[&str]) -> Done {
    let line = [
        &["run", "--json-schema", "schema.json"],
        arguments,
        &["Which city?"],
    ]
    .concat();
    house.reasonix(&line)
}

#[test]
fn an_answer_that_fits_is_all_of_standard_output() {
    let fenced = "```json\n{\"city\": \"Ulm\",\n \"people\": 128000}\n```";
    let (model, house) = saying(&[fenced]);
    let done = ask(&house, &[]).expect_code(0);
    assert_eq!(done.out, "{\"city\":\"Ulm\",\"people\":128000}\n");
    let object = ask(&house, &["--json"]).expect_code(0).json();
    assert_eq!(
        object["structured"],
        json!({"city": "Ulm", "people": 128_000})
    );
    assert_eq!(object["text"], fenced);
    let line = ask(&house, &["--output-format", "jsonl"]).expect_code(0);
    let last = line.lines().pop().expect("a result");
    assert_eq!(last["structured"]["city"], "Ulm");
    assert!(last.get("error").is_none(), "{last}");
    // The model reads the schema in the user's message, as it is in the file, and nowhere else.
    for request in model.requests() {
        let (last, before) = request.messages().split_last().expect("messages");
        assert!(request.last_text().contains(SCHEMA), "{last}");
        assert!(
            !Value::from(before)
                .to_string()
                .contains("additionalProperties\\\"")
        );
    }
    model.assert_strict();
}

#[test]
fn an_answer_that_does_not_fit_is_asked_for_again_behind_the_same_bytes() {
    let (model, house) = saying(&[
        "Ulm, of course.",
        "{\"city\": \"Ulm\", \"people\": \"many\", \"river\": \"Danube\"}",
        "{\"city\": \"Ulm\", \"people\": 128000}",
    ]);
    let done = ask(&house, &["--json"]).expect_code(0);
    let object = done.json();
    assert_eq!(object["structured"]["people"], 128_000);
    assert_eq!(object["steps"], 3, "what all turns took: {object}");
    assert!(done.err.contains("asking again (2 of 2)"), "{}", done.err);
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert!(
        requests[1]
            .last_text()
            .contains("the answer is not valid JSON")
    );
    for words in [
        "`/people`: \"many\" is not of type \"integer\"",
        "('river' was unexpected)",
    ] {
        assert!(
            requests[2].last_text().contains(words),
            "{}",
            requests[2].last_text()
        );
    }
    model.assert_prefix();
    model.assert_strict();
}

#[test]
fn after_the_third_answer_that_does_not_fit_the_run_fails() {
    let (model, house) = saying(&["no", "no", "{\"city\": 1, \"people\": 0}"]);
    let done = ask(&house, &[]).expect_code(1);
    assert_eq!(done.out, "", "nothing that does not fit");
    for words in [
        "does not fit the JSON Schema",
        "`/city`: 1 is not of type \"string\"",
        "`/people`: 0 is less than the minimum of 1",
    ] {
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
    assert_eq!(model.requests().len(), 3, "asked again twice");
    for format in ["json", "jsonl"] {
        model.push((0..3).map(|_| Answer::text("no")));
        let done = ask(&house, &["--output-format", format]).expect_code(1);
        let last = done.lines().pop().expect("a result");
        assert_eq!(
            (&last["outcome"], &last["text"]),
            (&json!("failed"), &json!("no"))
        );
        assert!(last.get("structured").is_none(), "{last}");
        let message = last["error"]["message"].as_str().expect("a message");
        assert!(
            message.contains("the answer is not valid JSON"),
            "{message}"
        );
    }
}

#[test]
fn sessions_that_go_on_and_forks_answer_by_the_schema_too() {
    let fits = "{\"city\": \"Ulm\", \"people\": 1}";
    let (model, house) = saying(&["Hello.", fits, "wrong", fits, fits]);
    let _ = house.reasonix(&["run", "hello"]).expect_code(0);
    for arguments in [&["-s", "1"][..], &["-c"], &["-s", "1", "--fork"]] {
        let done = ask(&house, arguments).expect_code(0);
        assert_eq!(
            done.out, "{\"city\":\"Ulm\",\"people\":1}\n",
            "{arguments:?}"
        );
    }
    assert_eq!(model.requests().len(), 5);
    model.assert_prefix();
}

#[test]
fn a_turn_that_is_not_completed_keeps_its_own_code_and_prints_no_json() {
    let (_model, house) = saying(&[]);
    let model = Model::start(vec![
        Answer::call("bash", json!({"command": "true"})),
        Answer::text("Partly."),
    ]);
    house.provider(&model.entry("short", None));
    let done = ask(&house, &["--model", "short", "--max-steps", "1"]).expect_code(2);
    assert_eq!(done.out, "");
}

#[test]
fn samples_are_chosen_first_and_the_chosen_one_must_fit() {
    let fits = "{\"city\": \"Ulm\", \"people\": 1}";
    let (model, house) = saying(&["one", fits]);
    let done = ask(&house, &["--samples", "2"]).expect_code(0);
    assert_eq!(done.out, "{\"city\":\"Ulm\",\"people\":1}\n");
    assert_eq!(model.requests().len(), 4, "two samples of each answer");
}

#[test]
fn a_schema_that_cannot_be_used_is_refused_before_there_is_a_session() {
    let house = House::playing(&Script::new().says("Never said."));
    house.files(
        "//- broken.json\n{\n  \"type\": \"object\",\n}\n\
         //- wrong.json\n{\n  \"properties\": {\n    \"a\": {\"type\": \"strng\"}\n  }\n}\n\
         //- remote.json\n{\n  \"$ref\": \"https://a.example/s.json\"\n}\n\
         //- file.json\n{\"items\":\n {\"$ref\": \"file:///etc/passwd\"}}\n",
    );
    for (file, words) in [
        (
            "none.json",
            "cannot read the JSON Schema `none.json`: No such file",
        ),
        (".", "it is not a regular file"),
        ("broken.json", "broken.json:3: invalid JSON"),
        (
            "wrong.json",
            "wrong.json:3: `/properties/a/type`: \"strng\"",
        ),
        (
            "remote.json",
            "remote.json:2: `/$ref`: refers to `https://a.example/s.json`",
        ),
        (
            "file.json",
            "file.json:2: `/items/$ref`: refers to `file:///etc/passwd`",
        ),
    ] {
        let done = house
            .reasonix(&["run", "--json-schema", file, "x"])
            .expect_code(64);
        assert!(done.err.contains(words), "{file}: {}", done.err);
        assert_eq!(done.out, "");
        let done = house
            .reasonix(&["run", "--json", "--json-schema", file, "x"])
            .expect_code(64);
        assert_eq!(done.json()["error"]["name"], "usage");
    }
    let done = house
        .reasonix(&["run", "--json-schema", "wrong.json", "--detach", "x"])
        .expect_code(64);
    assert!(
        done.err.contains("cannot be used with `--detach`"),
        "{}",
        done.err
    );
    let arguments = [
        "run",
        "--json-schema",
        "wrong.json",
        "--input-format",
        "jsonl",
    ];
    let _ = house.reasonix(&arguments).expect_code(64);
    assert!(
        !house.home().join("sessions").exists(),
        "no session, and no daemon"
    );
}

#[test]
fn an_interrupt_while_it_is_asked_again_ends_the_run() {
    let gate = Gate::new();
    let model = Model::start(vec![
        Answer::text("no"),
        Answer::text("never").held(Place::Before, &gate),
    ]);
    let house = scripted::house(&model);
    house.files(&format!("//- schema.json\n{SCHEMA}\n"));
    let running = house.start(&["run", "--json-schema", "schema.json", "x"]);
    until("the second request", || gate.is_reached().then_some(()));
    running.signal(Signal::INT);
    let done = running.done().expect_code(130);
    assert_eq!(done.out, "");
    gate.open();
}
