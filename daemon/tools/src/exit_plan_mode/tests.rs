//! Scenes.

use proto::item::CallStatus;
use serde_json::json;

use crate::scene::{Scene, object, tool_named};

#[test]
fn a_plan_is_given_to_the_session() {
    let tool = tool_named("exit_plan_mode");
    let arguments = tool.parse(&object(json!({"plan": "\n1. look\n"}))).unwrap();
    assert_eq!(tool.plan(&arguments).as_deref(), Some("1. look"));
    assert!(tool.questions(&arguments).is_none());
    assert!(tool.spec().read_only && !tool.spec().deferred);
}

#[tokio::test]
async fn what_nobody_could_read_is_refused() {
    let scene = Scene::new();
    let empty = scene.fails("exit_plan_mode", json!({"plan": " \n"})).await;
    assert!(empty.contains("empty"), "{empty}");
    let long = json!({"plan": "x".repeat(64 * 1024 + 1)});
    let long = scene.fails("exit_plan_mode", long).await;
    assert!(long.contains("say it shorter"), "{long}");
}

#[tokio::test]
async fn a_call_that_runs_all_the_same_says_that_nobody_was_asked() {
    let scene = Scene::new();
    let outcome = scene.call("exit_plan_mode", json!({"plan": "x"})).await;
    assert_eq!(outcome.status, CallStatus::Failed);
    assert!(outcome.text.contains("put to nobody"), "{}", outcome.text);
}
