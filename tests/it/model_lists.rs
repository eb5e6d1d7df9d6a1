//! The lists of models that endpoints answer: kept in the home, known wherever a model is named, asked for in the
//! background when they are old.

use testkit::model::{Answer, Model};
use tests::{House, until};

use crate::scripted::{house, run};

fn models(house: &House) -> String {
    house.reasonix(&["models", "-q"]).expect_code(0).out
}

#[test]
fn a_model_that_only_the_endpoint_lists_is_known() {
    let model = Model::start(vec![Answer::text("Here."); 2]);
    model.list(&["model-1", "quick-2", "deep/slow"]);
    let house = house(&model);
    let config = std::fs::read_to_string(house.home_file("config.toml")).expect("the config");
    let _ = house.reasonix(&["models", "--refresh"]).expect_code(0);
    assert!(models(&house).contains("model/deep/slow\n"));
    for (reference, sent) in [("quick-2", "quick-2"), ("model/deep/slow", "deep/slow")] {
        run(&house, &["--model", reference], "hello").expect(0, "completed");
        let request = model.requests().pop().expect("a request");
        assert_eq!(request.json["model"], sent);
    }
    let unknown = house
        .reasonix(&["run", "--model", "quick", "hello"])
        .expect_code(64);
    assert!(
        unknown.err.contains("Unknown model `quick`."),
        "{unknown:?}"
    );
    assert!(
        unknown
            .err
            .contains("Did you mean `model/quick-2`? 2 more: `reasonix models`."),
        "{unknown:?}"
    );
    assert!(!models(&house).contains("quick\n"));
    let after = std::fs::read_to_string(house.home_file("config.toml")).expect("the config");
    assert_eq!(after, config, "the list is no part of the config");
    let lists = house.home_file("models/model.json");
    // A lost list is asked for again; a damaged one counts as lost.
    std::fs::write(&lists, "{").expect("damage it");
    assert!(!models(&house).contains("quick-2"));
}

#[test]
fn set_up_stores_nothing_for_a_model_that_is_not_listed_or_not_named() {
    let model = Model::start([]);
    model.list(&["model-1", "quick-2"]);
    let house = tests::House::new();
    let config = house.home_file("config.toml");
    let key_file = house.home_file("key");
    std::fs::create_dir_all(house.home()).expect("the home");
    std::fs::write(&key_file, "sk-canary-4711").expect("a key");
    let set_up = |more: &[&str]| {
        let url = model.base_url();
        let mut arguments = vec![
            "setup",
            "--provider",
            "mine",
            "--key-stdin",
            "--base-url",
            &url,
        ];
        arguments.extend(more);
        let key = std::fs::File::open(&key_file).expect("a key");
        let mut command = house.command(&arguments);
        tests::program::run(command.stdin(key))
    };
    let unlisted = set_up(&["--model", "quick"]).expect_code(64);
    for words in [
        "lists no model `quick`",
        "Did you mean `quick-2`?",
        "--no-probe",
    ] {
        assert!(unlisted.err.contains(words), "{unlisted:?}");
    }
    let unnamed = set_up(&["--no-probe"]).expect_code(64);
    assert!(unnamed.err.contains("--model NAME"), "{unnamed:?}");
    for file in ["config.toml", "credentials.toml"] {
        let text = std::fs::read_to_string(house.home_file(file)).unwrap_or_default();
        assert!(
            !text.contains("mine") && !text.contains("sk-canary"),
            "{text}"
        );
    }
    let _ = set_up(&["--model", "quick", "--no-probe"]).expect_code(0);
    let text = std::fs::read_to_string(config).expect("the config");
    assert!(text.contains("\"quick\""), "{text}");
}

#[test]
fn an_old_list_of_a_provider_in_use_is_asked_for_once_in_the_background() {
    let model = Model::start(vec![Answer::text("Here."); 5]);
    model.list(&["model-1", "quick-2"]);
    let house = house(&model);
    run(&house, &[], "hello").expect(0, "completed");
    assert_eq!(model.lists_asked(), 0, "nobody wanted a list");
    let _ = house.reasonix(&["models", "--refresh"]).expect_code(0);
    assert_eq!(model.lists_asked(), 1);
    let asked = model.count();
    let file = house.home_file("models/model.json");
    let list = std::fs::read_to_string(&file).expect("the list");
    let mut list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    list["at"] = "2026-01-01T00:00:00.000Z".into();
    let old = list.to_string();
    std::fs::write(&file, &old).expect("make it old");
    run(&house, &[], "hello").expect(0, "completed");
    until("a new list", || {
        (std::fs::read_to_string(&file).ok()? != old).then_some(())
    });
    for _ in 0..2 {
        run(&house, &[], "hello").expect(0, "completed");
    }
    assert_eq!(model.lists_asked(), 2, "it is new");
    assert_eq!(model.count(), asked + 3, "and no prompt was sent for it");
}

#[test]
fn any_model_is_accepted_where_the_endpoint_has_no_list() {
    let model = Model::start(vec![Answer::text("Here."); 2]);
    let house = house(&model);
    let unknown = house
        .reasonix(&["run", "--model", "model/other", "hello"])
        .expect_code(64);
    assert!(
        unknown.err.contains("Unknown model `model/other`."),
        "{unknown:?}"
    );
    run(&house, &[], "hello").expect(0, "completed");
    let _ = house.reasonix(&["models", "--refresh"]).expect_code(0);
    run(&house, &["--model", "model/other"], "hello").expect(0, "completed");
    let request = model.requests().pop().expect("a request");
    assert_eq!(request.json["model"], "other");
}
