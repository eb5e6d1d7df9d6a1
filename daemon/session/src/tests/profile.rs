//! What a session was given at its start it keeps, whatever the files and the build say later.

use proto::params::session::Until;
use proto::record::{Rules, SessionSet};
use proto::state::Kind;
use proto::{Body, SessionOptions};

use super::tools::Rockets;
use super::world::World;
use crate::ProfileChoice;

const THREE: &str = r#"{"text":"one"}
{"text":"two"}
{"text":"three"}"#;

/// System prompt and tools of a request.
fn prefix(body: &str) -> (String, String) {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    (body["system"].to_string(), body["tools"].to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn another_model_gets_the_text_that_was_frozen_at_the_start() {
    let mut world = World::new(THREE);
    *world.outside.system_prompt.lock().unwrap() = "Review only.".into();
    let handle = world
        .create(world.create_params("one", Kind::Interactive))
        .await;
    let handle = handle.unwrap();
    handle.wait(Until::Turn).await.unwrap();
    let session = handle.id().to_string();
    let frozen = prefix(&world.sent()[0]);
    assert_eq!(frozen.0, "\"Review only.\"");

    // Later files say something else, and another build describes its tools in other words.
    *world.outside.system_prompt.lock().unwrap() = "Do as you like.".into();
    *world.outside.tool_description.lock().unwrap() = "Marks in other words.".into();
    world.restart().await;
    let handle = world.supervisor.find(&session).await.unwrap();
    let options = SessionOptions {
        model: Some("script/other".into()),
        ..SessionOptions::default()
    };
    let set = SessionSet {
        options,
        ..SessionSet::default()
    };
    handle.set(set).await.unwrap();
    world.prompt(&session, "two").await.unwrap();
    let sent = world.sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(prefix(&sent[1]), frozen);

    // A new session has the present settings.
    let fresh = world
        .create(world.create_params("one", Kind::Interactive))
        .await;
    fresh.unwrap().wait(Until::Turn).await.unwrap();
    let now = prefix(&world.sent()[2]);
    assert_eq!(now.0, "\"Do as you like.\"");
    assert!(now.1.contains("in other words"), "{}", now.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_reset_says_whether_the_model_or_only_the_effort_changed() {
    let world = World::new(THREE);
    let params = world.create_params("one", Kind::Interactive);
    let handle = world.create(params).await.unwrap();
    handle.wait(Until::Turn).await.unwrap();
    let session = handle.id().to_string();
    let effort = SessionOptions {
        effort: Some("high".to_owned()),
        ..SessionOptions::default()
    };
    let model = SessionOptions {
        model: Some("script/other".to_owned()),
        ..SessionOptions::default()
    };
    for options in [effort, model] {
        let set = SessionSet {
            options,
            ..SessionSet::default()
        };
        handle.set(set).await.unwrap();
        world.prompt(&session, "more").await.unwrap();
    }
    let records = super::fixtures::records(&world.home.session_dir(handle.id()));
    let reasons = records.into_iter().filter_map(|record| match record.body {
        Body::CacheReset(reset) => Some(reset.reason),
        _ => None,
    });
    assert_eq!(reasons.collect::<Vec<_>>(), ["effort", "switch"]);
}

const CALLS: &str = r#"{"text":"one"}
{"tool_calls":[{"name":"mark","arguments":{}}]}
{"text":"three"}"#;

/// A session without tools but the given ones, with another system prompt and a rule.
fn chosen(tools: &[&str]) -> ProfileChoice {
    ProfileChoice {
        system_prompt: Some("Explore.".into()),
        append_system_prompt: None,
        tools: Some(tools.iter().map(|name| (*name).to_owned()).collect()),
        pinned: Vec::new(),
    }
}

/// Everything of a request before its messages.
fn before_messages(body: &str) -> &str {
    body.split_once("\"messages\"").unwrap().0
}

async fn results(world: &World, session: &str) -> Vec<String> {
    let handle = world.supervisor.find(session).await.unwrap();
    let records = super::fixtures::records(&world.home.session_dir(handle.id()));
    let results = records.into_iter().filter_map(|record| match record.body {
        Body::Tool(message) => Some(message.text),
        _ => None,
    });
    results.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_tools_has_none_after_a_restart() {
    let mut world = World::new(CALLS);
    let params = world.create_params("one", Kind::Interactive);
    let handle = world.create_as(params, &chosen(&[])).await.unwrap();
    handle.wait(Until::Turn).await.unwrap();
    let session = handle.id().to_string();
    drop(handle);
    world.restart().await;
    world.prompt(&session, "two").await.unwrap();
    let results = results(&world, &session).await;
    assert!(
        matches!(&*results, [result] if result.contains("no tool `mark`")),
        "{results:?}"
    );
    let sent = world.sent();
    assert_eq!(prefix(&sent[0]), ("\"Explore.\"".into(), "[]".into()));
    assert_eq!(before_messages(&sent[1]), before_messages(&sent[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_profile_is_the_same_after_a_restart() {
    let mut world = World::new(CALLS);
    world.outside.tools.lock().unwrap().push(Rockets::tool());
    let mut params = world.create_params("one", Kind::Interactive);
    params.options.rules = Some(Rules {
        deny: vec!["mark".to_owned()],
        ..Rules::default()
    });
    let handle = world.create_as(params, &chosen(&["mark"])).await.unwrap();
    handle.wait(Until::Turn).await.unwrap();
    let session = handle.id().to_string();
    drop(handle);
    // The config says something else by now.
    *world.outside.system_prompt.lock().unwrap() = "Do as you like.".into();
    world.restart().await;
    world.prompt(&session, "two").await.unwrap();
    let results = results(&world, &session).await;
    assert!(
        matches!(&*results, [result] if result.contains("denied")),
        "{results:?}"
    );
    let sent = world.sent();
    let (system, tools) = prefix(&sent[0]);
    assert_eq!(system, "\"Explore.\"");
    assert!(
        tools.contains("mark") && !tools.contains("tool_search"),
        "{tools}"
    );
    for body in &sent[1..] {
        assert_eq!(before_messages(body), before_messages(&sent[0]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_with_an_unknown_tool_is_refused() {
    let world = World::new(CALLS);
    let params = world.create_params("one", Kind::Interactive);
    let Err(failure) = world.create_as(params, &chosen(&["marc"])).await else {
        panic!("there is no such tool")
    };
    assert_eq!(failure.message, "Unknown tool `marc`.");
}
