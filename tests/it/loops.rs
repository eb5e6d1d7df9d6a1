//! A model in a loop: it is warned, and its turn ends; polling that waits is not a loop.

use serde_json::json;
use testkit::model::{Answer, Model};
use tests::House;

use crate::scripted::{FAST_RETRIES, run};

/// A house whose only provider is this model.
fn house(model: &Model) -> House {
    let house = House::new();
    house.settings(FAST_RETRIES);
    // The detector does not depend on the repair of calls.
    house.provider(&format!("{}repair = false\n", model.entry("model", None)));
    house.files("//- a.txt\nold words\n");
    house.daemon();
    house
}

fn bash(command: &str) -> Answer {
    Answer::call("bash", json!({"command": command}))
}

/// A call of a file tool, and a command whose result shows its duration.
#[test]
fn same_call_with_the_same_result_warns_and_then_ends_the_turn() {
    for call in [
        Answer::call("read_file", json!({"path": "a.txt"})),
        bash("cat a.txt; exit 3"),
    ] {
        let calls = std::iter::repeat_n(call, 10);
        let end = [Answer::text("I could not find it.")];
        let model = Model::start(calls.chain(end).collect::<Vec<_>>());
        let house = house(&model);
        let ran = run(&house, &["--on-ask", "allow"], "go").expect(3, "blocked");
        assert_eq!(ran.text(), "I could not find it.");
        assert_eq!(ran.all("turn.ended")[0]["reason"], "loop");
        let last = model.requests().pop().expect("a request");
        assert_eq!(last.json["tool_choice"], "none");
        let results = last.results();
        assert_eq!(results.len(), 10);
        for (place, (_, text)) in results.iter().enumerate() {
            assert!(text.contains("old words"), "{results:?}");
            let warned = text.contains("the same result 5 times in a row");
            assert_eq!(warned, place == 4, "{results:?}");
        }
        model.assert_prefix();
    }
}

#[test]
fn a_command_that_its_own_timeout_ends_may_be_repeated() {
    let polls = std::iter::repeat_n(bash("timeout 1 tail -f a.txt"), 11);
    let model = Model::start(polls.chain([Answer::text("Done.")]).collect::<Vec<_>>());
    let house = house(&model);
    run(&house, &["--on-ask", "allow"], "go").expect(0, "completed");
}

#[test]
fn a_command_that_sleeps_may_be_repeated() {
    let polls = std::iter::repeat_n(bash("sleep 1; cat a.txt"), 11);
    let model = Model::start(polls.chain([Answer::text("Done.")]).collect::<Vec<_>>());
    let house = house(&model);
    run(&house, &["--on-ask", "allow"], "go").expect(0, "completed");
    let results = model.requests().pop().expect("a request").results();
    for (_, text) in &results {
        assert!(!text.contains("in a row"), "{results:?}");
    }
}
