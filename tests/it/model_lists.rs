//! The lists of models that endpoints answer: kept in the home, known wherever a model is named, asked for in the
//! background.

use testkit::model::{Answer, Model};
use tests::{House, until};

use crate::scripted::{house, run};

fn models(house: &House) -> String {
    house.reasonix(&["models", "-q"]).expect_code(0).out
}

/// Waits until the provider's list was asked for in the background.
fn refreshed(house: &House) {
    until("the list of models", || {
        house.home_file("models/model.json").exists().then_some(())
    });
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
    // What is lost is asked for again; a damaged one is as good as none.
    std::fs::write(&lists, "{").expect("damage it");
    assert!(!models(&house).contains("quick-2"));
}

#[test]
fn the_list_of_a_provider_in_use_is_asked_for_once_in_the_background() {
    let model = Model::start(vec![Answer::text("Here."); 3]);
    model.list(&["model-1", "quick-2"]);
    let house = house(&model);
    assert!(!models(&house).contains("quick-2"));
    assert_eq!(model.lists_asked(), 0, "nobody uses it yet");
    run(&house, &[], "hello").expect(0, "completed");
    refreshed(&house);
    assert!(models(&house).contains("model/quick-2\n"));
    for _ in 0..2 {
        run(&house, &[], "hello").expect(0, "completed");
    }
    assert_eq!(model.lists_asked(), 1, "it is new");
    assert_eq!(model.count(), 3, "and no prompt was sent for it");
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
    refreshed(&house);
    run(&house, &["--model", "model/other"], "hello").expect(0, "completed");
    assert_eq!(model.requests()[1].json["model"], "other");
}
