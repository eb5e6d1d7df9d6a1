//! What a session was given at its start it keeps, whatever the files and the build say later.

use proto::SessionOptions;
use proto::params::session::Until;
use proto::record::SessionSet;
use proto::state::Kind;

use super::world::World;

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

    // A new session has what is said now.
    let fresh = world
        .create(world.create_params("one", Kind::Interactive))
        .await;
    fresh.unwrap().wait(Until::Turn).await.unwrap();
    let now = prefix(&world.sent()[2]);
    assert_eq!(now.0, "\"Do as you like.\"");
    assert!(now.1.contains("in other words"), "{}", now.1);
}
