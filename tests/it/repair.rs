//! Calls that a model gets wrong, from the wire to the log: taken up, closed; and left alone if repair is
//! switched off.

use serde_json::{Value, json};
use testkit::model::{Answer, Call, Model};
use tests::House;

use crate::scripted::{FAST_RETRIES, RunOutput, run};

/// A house whose only provider is this model, with more in its entry.
fn house(model: &Model, more: &str) -> House {
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&format!("{}{more}", model.entry("model", None)));
    house.files("//- a.txt\nold words\n");
    house.daemon();
    house
}

fn read() -> Answer {
    Answer::call("read_file", json!({"path": "a.txt"}))
}

fn broken_off(name: &str, arguments: &str) -> Answer {
    Answer::text("").with(Call {
        id: None,
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    })
}

fn results(model: &Model) -> Vec<(String, String)> {
    model.requests().pop().expect("a request").results()
}

/// The records of repaired calls only.
fn repairs(ran: &RunOutput) -> Vec<&Value> {
    ran.all("calls.repaired")
}

#[test]
fn a_call_written_as_text_is_made_and_its_changes_need_approval() {
    let words = r#"I look first. {"name": "read_file", "arguments": {"path": "a.txt"}}"#;
    let writes = r#"<|DSML|invoke name="write_file"><|DSML|parameter name="path">b.txt</|DSML|parameter><|DSML|parameter name="content">x</|DSML|parameter></|DSML|invoke>"#;
    let model = Model::start([
        Answer::text(words),
        Answer::text("Now the other.").reasoning(writes),
        Answer::text("Done."),
    ]);
    let house = house(&model, "");
    // A yes to everything is none to what may have been quoted.
    let ran = run(&house, &["--on-ask", "allow"], "go");
    assert_eq!(ran.text(), "Done.", "{ran:#?}");
    let results = results(&model);
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(results[0].1.contains("old words"), "{results:?}");
    assert!(
        results[1].1.contains("the call was written as text"),
        "{results:?}"
    );
    assert!(!house.project().join("b.txt").exists());
    let taken: Vec<_> = repairs(&ran)
        .iter()
        .map(|made| made["taken_up"].clone())
        .collect();
    assert_eq!(taken, [json!([results[0].0]), json!([results[1].0])]);
    model.assert_strict();
}

#[test]
fn a_call_that_breaks_off_is_closed_and_runs_only_where_half_does_no_harm() {
    let model = Model::start([
        broken_off("read_file", r#"{"path":"a.txt"#),
        broken_off("write_file", r#"{"path":"b.txt","content":"half of"#),
        broken_off("todo_write", r#"{"todos":["#),
        broken_off("read_file", "no arguments"),
        Answer::text("Done."),
    ]);
    let house = house(&model, "");
    let ran = run(&house, &["--on-ask", "allow"], "go").expect(0, "completed");
    let results = results(&model);
    assert!(results[0].1.contains("old words"), "{results:?}");
    for (_, text) in &results[1..3] {
        assert!(text.contains("Make a smaller call"), "{results:?}");
    }
    assert!(!results[3].1.contains("smaller"), "{results:?}");
    assert!(!house.project().join("b.txt").exists());
    assert_eq!(repairs(&ran).len(), 3);
    // A repaired call is sent back repaired, any other call as it came.
    let last = model.requests().pop().expect("a request");
    let sent: Vec<_> = last
        .messages()
        .iter()
        .filter_map(|message| message["tool_calls"][0]["function"]["arguments"].as_str())
        .collect();
    assert_eq!(
        sent,
        [
            r#"{"path":"a.txt"}"#,
            r#"{"path":"b.txt","content":"half of"}"#,
            r#"{"todos":[]}"#,
            "no arguments"
        ]
    );
    model.assert_prefix();
}

#[test]
fn nothing_is_repaired_if_repair_is_off() {
    let model = Model::start([
        read(),
        read(),
        read(),
        broken_off("read_file", r#"{"path":"a.txt"#),
        Answer::text(r#"{"name": "read_file", "arguments": {"path": "a.txt"}}"#),
    ]);
    let house = house(&model, "repair = false\n");
    let ran = run(&house, &[], "go").expect(0, "completed");
    assert_eq!(repairs(&ran), Vec::<&Value>::new());
    let results = results(&model);
    assert!(results[2].1.contains("old words"), "{results:?}");
    assert!(!results[3].1.contains("old words"), "{results:?}");
}
