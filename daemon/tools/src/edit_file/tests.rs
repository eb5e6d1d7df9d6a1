//! Scenes.

use proto::item::Display;
use serde_json::json;

use crate::scene::Scene;

async fn read(content: &str) -> Scene {
    let scene = Scene::new();
    scene.put("f", content);
    scene.ok("read_file", json!({"path": "f"})).await;
    scene
}

#[tokio::test]
async fn the_model_gets_a_line_and_the_person_a_diff() {
    let scene = read("a\nb\nc\n").await;
    let outcome = scene
        .call("edit_file", json!({"path": "f", "old": "b", "new": "B"}))
        .await;
    assert_eq!(outcome.text, "edited `f`: 1 replacement, from line 2");
    let Display::Diff { diff, .. } = outcome.display else {
        panic!("{:?}", outcome.display)
    };
    assert_eq!(diff, "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    let text = scene
        .ok(
            "edit_file",
            json!({"path": "f", "old": "c", "new": "B", "replace_all": true}),
        )
        .await;
    assert_eq!(
        (text.as_str(), scene.content("f").as_str()),
        ("edited `f`: 1 replacement, from line 3", "a\nB\nB\n")
    );
}

#[tokio::test]
async fn failed_edit_explains_why_the_old_text_does_not_match_once() {
    let scene = read("x = 1\ny = 2\nx = 1\nlet value = compute(a, b);\n").await;
    let text = scene
        .fails(
            "edit_file",
            json!({"path": "f", "old": "x = 1", "new": "z"}),
        )
        .await;
    assert_eq!(
        text,
        "`f` was not changed: the old text is in the file 2 times, from lines 1, 3; add lines around it until it is unique, or set `replace_all`"
    );
    let text = scene
        .fails(
            "edit_file",
            json!({"path": "f", "old": "let value = compute(a, c);", "new": "z"}),
        )
        .await;
    assert!(
        text.contains("; the most similar passage is from line 4 on\nlet value = compute(a, b);\n"),
        "{text}"
    );
    // Its first line, which people see, ends in no colon.
    let outcome = scene
        .call(
            "edit_file",
            json!({"path": "f", "old": "let value = compute(a, c);", "new": "z"}),
        )
        .await;
    assert_eq!(
        outcome.display,
        Display::Line {
            text: "`f` was not changed: the old text is not in the file; the most similar passage is from line 4 on".to_owned()
        }
    );
    let text = scene
        .fails(
            "edit_file",
            json!({"path": "f", "old": "y = 2", "new": "// ... existing code ...\n"}),
        )
        .await;
    assert!(text.contains("without placeholders"), "{text}");
    assert!(scene.content("f").contains("y = 2"));
}

#[tokio::test]
async fn unread_changed_and_missing_files_are_refused() {
    let scene = Scene::new();
    scene.put("f", "a\n");
    let edit = json!({"path": "f", "old": "a", "new": "b"});
    assert!(
        scene
            .fails("edit_file", edit.clone())
            .await
            .contains("was not read")
    );
    scene.ok("read_file", json!({"path": "f"})).await;
    scene.put("f", "a \n");
    assert!(
        scene
            .fails("edit_file", edit.clone())
            .await
            .contains("was changed since")
    );
    assert!(scene.preview("edit_file", edit.clone()).is_err());
    scene.ok("read_file", json!({"path": "f"})).await;
    scene.ok("edit_file", edit).await;
    let text = scene
        .fails("edit_file", json!({"path": "none", "old": "a", "new": "b"}))
        .await;
    assert!(
        text.contains("does not exist; make it with `write_file`"),
        "{text}"
    );
}
