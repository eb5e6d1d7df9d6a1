//! Scenes.

use proto::item::CallStatus;
use serde_json::json;

use crate::scene::Scene;

#[tokio::test]
async fn a_copy_of_a_known_file_is_known_and_the_source_stays() {
    let scene = Scene::new();
    scene.put("f", "a\n");
    scene.ok("read_file", json!({"path": "f"})).await;
    let outcome = scene
        .call("copy_file", json!({"src": "f", "dst": "d/g"}))
        .await;
    assert_eq!(outcome.text, "copied `f` to `d/g`");
    assert_eq!(outcome.changed.len(), 1);
    for name in ["f", "d/g"] {
        scene
            .ok("edit_file", json!({"path": name, "old": "a", "new": "b"}))
            .await;
    }
}

#[tokio::test]
async fn a_file_outside_may_be_copied_in_but_none_out() {
    let scene = Scene::new();
    scene.put("f", "a\n");
    scene
        .ok(
            "copy_file",
            json!({"source": "../out/canary", "destination": "c"}),
        )
        .await;
    assert_eq!(scene.content("c"), "CANARY\n");
    for to in ["../out/c", "~/c"] {
        let text = scene
            .fails("copy_file", json!({"source": "f", "destination": to}))
            .await;
        assert!(text.contains("outside the writable directories"), "{text}");
    }
    scene
        .fails(
            "move_file",
            json!({"source": "../out/canary", "destination": "d"}),
        )
        .await;
    scene.put("denied/key", "K\n");
    scene
        .fails(
            "copy_file",
            json!({"source": "denied/key", "destination": "d"}),
        )
        .await;
    assert!(!scene.top.join("ws/d").exists());
}

#[tokio::test]
async fn a_copy_that_is_stopped_leaves_nothing() {
    let scene = Scene::new();
    scene.put("d/f", "a\n");
    scene.cancel.send(true).unwrap();
    let outcome = scene
        .call("copy_file", json!({"source": "d", "destination": "e"}))
        .await;
    assert_eq!(outcome.status, CallStatus::Interrupted, "{}", outcome.text);
    assert!(outcome.changed.is_empty());
    assert_eq!(std::fs::read_dir(scene.top.join("ws")).unwrap().count(), 1);
}
