//! Scenes.

use proto::item::{CallStatus, Display};
use proto::record::FileState;
use serde_json::{Value, json};

use crate::scene::Scene;

async fn read(content: &str) -> Scene {
    let scene = Scene::new();
    scene.put("f", content);
    scene.ok("read_file", json!({"path": "f"})).await;
    scene
}

fn edits(edits: &Value) -> Value {
    json!({"file_path": "f", "edits": edits})
}

#[tokio::test]
async fn edits_are_made_in_order_each_on_the_result_of_the_one_before() {
    let scene = read("a\nb\nc\nc\n").await;
    let call = edits(&json!([
        {"old_string": "a", "new_string": "b"},
        {"old": "b\nb", "new": "d"},
        {"old_str": "c", "new_str": "e", "replace_all": "true"},
    ]));
    let shown = scene.preview("multi_edit", call.clone()).unwrap();
    let outcome = scene.call("multi_edit", call).await;
    assert_eq!(outcome.text, "edited `f`: 3 edits, 4 replacements");
    assert_eq!(scene.content("f"), "d\ne\ne\n");
    let Display::Diff { diff, .. } = &outcome.display else {
        panic!("{:?}", outcome.display)
    };
    assert_eq!(
        diff,
        "--- a/f\n+++ b/f\n@@ -1,4 +1,3 @@\n-a\n-b\n-c\n-c\n+d\n+e\n+e\n"
    );
    assert_eq!(shown, outcome.display);
    let [changed] = outcome.changed.as_slice() else {
        panic!("{:?}", outcome.changed)
    };
    assert_eq!(changed.path, scene.top.join("ws/f").to_string_lossy());
    let FileState::File {
        bytes: 6, sha256, ..
    } = &changed.now
    else {
        panic!("{changed:?}")
    };
    assert_eq!(sha256.len(), 64);
    // It is known as it is now.
    scene
        .ok("edit_file", json!({"path": "f", "old": "d", "new": "D"}))
        .await;
}

#[tokio::test]
async fn one_edit_that_fails_is_named_and_nothing_is_changed() {
    let scene = read("let a = 1;\nlet b = 2;\n").await;
    let text = scene
        .fails(
            "multi_edit",
            edits(&json!([
                {"old": "let a = 1;", "new": "let a = 9;"},
                {"old": "let b = 3;", "new": "let b = 9;"},
            ])),
        )
        .await;
    assert_eq!(
        text,
        "`f` was not changed: edit 2 of 2 (after those before it): the old text is not in the file; the most similar passage is from line 2 on\nlet b = 2;\nCopy it exactly, without line numbers."
    );
    let text = scene
        .fails("multi_edit", edits(&json!([{"old": "let", "new": "var"}])))
        .await;
    assert_eq!(
        text,
        "`f` was not changed: edit 1 of 1: the old text is in the file 2 times, from lines 1, 2; add lines around it until it is unique, or set `replace_all`"
    );
    let text = scene
        .fails(
            "multi_edit",
            edits(&json!([{"old": "1", "new": "2"}, {"old": "a = 2", "new": "a = 1"}])),
        )
        .await;
    assert!(text.contains("take each other back"), "{text}");
    assert_eq!(scene.content("f"), "let a = 1;\nlet b = 2;\n");
}

#[tokio::test]
async fn arguments_that_are_not_a_list_of_edits_are_refused() {
    let scene = read("a\n").await;
    for (wrong, word) in [
        (json!([]), "`edits` is empty"),
        (json!("x"), "must be a list"),
        (json!(["x"]), "must be an object"),
        (json!([{"old": "a"}]), "new_string"),
        (json!([{"old": "a", "new": "b", "line": 3}]), "line"),
        (
            json!([{"old": "a", "new_string": 3}]),
            "`new_string` must be a text",
        ),
        (json!([{"old": "a", "new": 3}]), "expected a string"),
    ] {
        let outcome = scene.call("multi_edit", edits(&wrong)).await;
        assert_eq!(
            outcome.status,
            CallStatus::Refused,
            "{wrong} {}",
            outcome.text
        );
        assert!(outcome.text.contains(word), "{wrong}: {}", outcome.text);
    }
    // A list that came as text is a list.
    scene
        .ok(
            "multi_edit",
            edits(&json!("[{\"old\": \"a\", \"new\": \"b\"}]")),
        )
        .await;
}

#[tokio::test]
async fn unread_or_changed_file_is_not_edited() {
    let scene = Scene::new();
    scene.put("f", "a\n");
    let call = edits(&json!([{"old": "a", "new": "b"}]));
    assert!(
        scene
            .fails("multi_edit", call.clone())
            .await
            .contains("was not read")
    );
    scene.ok("read_file", json!({"path": "f"})).await;
    scene.put("f", "a and more\n");
    assert!(
        scene
            .fails("multi_edit", call)
            .await
            .contains("was changed since")
    );
    assert_eq!(scene.content("f"), "a and more\n");
}
