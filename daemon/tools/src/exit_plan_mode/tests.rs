//! Scenes.

use contract::CallAction;
use serde_json::json;

use crate::scene::{Scene, object, tool_named};

#[test]
fn a_plan_is_given_to_the_session() {
    let tool = tool_named("exit_plan_mode");
    let arguments = tool.parse(&object(json!({"plan": "\n1. look\n"}))).unwrap();
    let plan = CallAction::PresentPlan("1. look".into());
    assert_eq!(tool.action(&arguments), Ok(plan));
    assert!(tool.spec().read_only && !tool.spec().deferred);
}

#[tokio::test]
async fn empty_and_overlong_plans_are_refused() {
    let scene = Scene::new();
    let empty = scene.fails("exit_plan_mode", json!({"plan": " \n"})).await;
    assert!(empty.contains("empty"), "{empty}");
    let long = json!({"plan": "x".repeat(64 * 1024 + 1)});
    let long = scene.fails("exit_plan_mode", long).await;
    assert!(long.contains("say it shorter"), "{long}");
}
