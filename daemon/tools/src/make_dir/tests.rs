//! Scenes.

use proto::record::FileState;
use serde_json::json;

use crate::scene::Scene;

#[tokio::test]
async fn directories_are_made_with_those_above_and_one_that_exists_is_fine() {
    let scene = Scene::new();
    std::fs::create_dir(scene.top.join("ws/a")).unwrap();
    let outcome = scene.call("make_dir", json!({"directory": "a/b/c"})).await;
    assert_eq!(outcome.text, "made the directory `a/b/c`");
    let changes: Vec<_> = outcome
        .changed
        .iter()
        .map(|changed| (changed.path.clone(), changed.now.clone()))
        .collect();
    let made = |name: &str| {
        let path = scene.top.join("ws").join(name);
        (path.to_string_lossy().into_owned(), FileState::Directory)
    };
    assert_eq!(changes, [made("a/b"), made("a/b/c")]);
    let outcome = scene.call("make_dir", json!({"path": "a/b"})).await;
    assert_eq!(outcome.text, "the directory `a/b` exists already");
    assert!(outcome.changed.is_empty());
    scene.put("f", "x");
    let text = scene.fails("make_dir", json!({"path": "f"})).await;
    assert!(
        text.ends_with("exists already; choose another name, or delete it first"),
        "{text}"
    );
    for path in ["../out/new", "f/x", "~/new"] {
        scene.fails("make_dir", json!({"path": path})).await;
    }
}
