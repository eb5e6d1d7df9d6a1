use proto::item::Display;
use serde_json::json;

use crate::scene::Scene;

#[tokio::test]
async fn person_sees_the_whole_fact_and_later_the_change() {
    let scene = Scene::new();
    let mut fact = json!({
        "name": "tabs", "description": "Use tabs", "type": "feedback", "content": "Always.",
    });
    let Display::Diff { path, diff, .. } = scene.preview("remember", fact.clone()).unwrap() else {
        panic!("no diff");
    };
    assert_eq!(path, "user/memory/tabs.md");
    for line in [
        "+description: \"Use tabs\"",
        "+type: \"feedback\"",
        "+Always.",
    ] {
        assert!(diff.contains(line), "{diff}");
    }
    scene.ok("remember", fact.clone()).await;
    fact["content"] = "Never.".into();
    let preview = scene.preview("remember", fact.clone()).unwrap();
    let Display::Diff { diff, .. } = preview.clone() else {
        panic!("no diff");
    };
    assert!(diff.contains("-Always.\n+Never."), "{diff}");
    // The same question has the same words, whenever it is asked.
    assert_eq!(scene.preview("remember", fact.clone()).unwrap(), preview);
    scene.ok("remember", fact).await;
    let file = scene.top.join("home/.reasonix/memory/tabs.md");
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(&format!("source: \"{}\"", scene.context.session_id)));
    let Display::Diff { diff, .. } = scene.preview("forget", json!({"name": "tabs"})).unwrap()
    else {
        panic!("no diff");
    };
    assert!(diff.contains("-Never."), "{diff}");
    scene.ok("forget", json!({"name": "tabs"})).await;
    let gone = scene.fails("forget", json!({"name": "tabs"})).await;
    assert_eq!(gone, "There is no fact `tabs`.");
}

#[tokio::test]
async fn invalid_fact_is_refused_before_the_user_is_asked() {
    let scene = Scene::new();
    let preview = |name: &str, content: &str| {
        let fact = json!({"name": name, "description": "d", "type": "user", "content": content});
        scene
            .preview("remember", fact)
            .map_err(|outcome| outcome.text)
    };
    let error = preview("../config", "x").unwrap_err();
    assert!(error.contains("cannot be the name of a fact"), "{error}");
    let error = preview("a", "\u{1b}]52;c;x\u{7}").unwrap_err();
    assert!(error.contains("control characters"), "{error}");
    let error = scene
        .preview("forget", json!({"name": "none"}))
        .unwrap_err();
    assert_eq!(error.text, "There is no fact `none`.");
}
