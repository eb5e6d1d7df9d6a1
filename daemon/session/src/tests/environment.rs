//! Values of the environment that are in memory only: lost with the daemon, brought again by a client.

use std::collections::BTreeMap;

use proto::params::session::{InspectOutput, InspectPart, Until};

use super::fixtures::prompt;
use super::house::{House, Scripted, begin_with};

const MARKS: &str = r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}
{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"two"}}]}
{"text":"Marked."}"#;

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// What `inspect` would say: shown, hidden, lost.
async fn reported(house: &House) -> (Vec<String>, Vec<String>, Vec<String>) {
    let InspectOutput::Env {
        shown,
        hidden,
        lost,
        ..
    } = house.handle.inspect(InspectPart::Env).await.unwrap()
    else {
        panic!("another part was answered")
    };
    (shown.into_keys().collect(), hidden, lost)
}

fn seen(house: &House) -> BTreeMap<String, String> {
    let seen = house.script.seen_env.lock().unwrap().clone();
    seen.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_restores_only_lost_environment_values() {
    let mut house = begin_with(Scripted::new(MARKS), "first", |created, env| {
        created.env = pairs(&[("PATH", "/bin")]);
        created.env_names = vec!["PROJECT".into(), "VENDOR_KEY".into()];
        *env = pairs(&[("PATH", "/bin"), ("PROJECT", "x")]);
    });
    house.gate.open();
    house.handle.wait(Until::Turn).await.unwrap();
    assert_eq!(seen(&house), pairs(&[("PATH", "/bin"), ("PROJECT", "x")]));
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(
        reported(&house).await,
        (
            names(&["PATH"]),
            names(&["PROJECT"]),
            names(&["VENDOR_KEY"])
        )
    );

    house.crash(Scripted::new(MARKS), None).await;
    assert_eq!(
        reported(&house).await,
        (
            names(&["PATH"]),
            names(&[]),
            names(&["PROJECT", "VENDOR_KEY"])
        )
    );
    let mut again = prompt("again");
    again.env = pairs(&[
        ("PROJECT", "y"),
        ("PATH", "/elsewhere"),
        ("VENDOR_KEY", "a key"),
        ("LD_PRELOAD", "evil.so"),
    ]);
    house.handle.prompt(again, "test".into()).await.unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
    assert_eq!(*house.runs.lock().unwrap(), ["two"]);
    assert_eq!(seen(&house), pairs(&[("PATH", "/bin"), ("PROJECT", "y")]));
    assert_eq!(
        reported(&house).await,
        (
            names(&["PATH"]),
            names(&["PROJECT"]),
            names(&["VENDOR_KEY"])
        )
    );

    let mut third = prompt("third");
    third.env = pairs(&[("PROJECT", "z")]);
    house.handle.prompt(third, "test".into()).await.unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
    assert_eq!(
        seen(&house)["PROJECT"],
        "y",
        "a present value is not replaced"
    );
    let log = std::fs::read_to_string(house.dir().join("log.jsonl")).unwrap();
    for value in ["\"y\"", "a key", "evil.so", "/elsewhere"] {
        assert!(!log.contains(value), "{value} is in the log");
    }
}
