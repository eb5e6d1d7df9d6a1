//! Scenes.

use std::os::unix::fs::PermissionsExt;

use proto::item::Display;
use serde_json::json;

use crate::scene::Scene;

#[tokio::test]
async fn an_existing_file_is_replaced_only_after_it_was_read() {
    let scene = Scene::new();
    let path = scene.put("f", "old\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = scene
        .fails("write_file", json!({"path": "f", "content": "new\n"}))
        .await;
    assert!(
        text.contains("was not read in this session") && text.contains("`read_file`"),
        "{text}"
    );
    assert!(
        scene
            .preview("write_file", json!({"path": "f", "content": "new\n"}))
            .is_err()
    );
    scene.ok("read_file", json!({"path": "f"})).await;
    let outcome = scene
        .call("write_file", json!({"path": "f", "content": "new\n"}))
        .await;
    assert_eq!(outcome.text, "replaced `f` (+1 −1 lines), now 4 bytes");
    let Display::Diff {
        diff,
        added,
        removed,
        path: shown,
    } = outcome.display
    else {
        panic!("{:?}", outcome.display)
    };
    assert_eq!(
        (diff.as_str(), added, removed, shown.as_str()),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n", 1, 1, "f")
    );
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o755
    );
    // The session knows the content that it wrote itself.
    scene
        .ok("write_file", json!({"path": "f", "content": "newer\n"}))
        .await;
    assert_eq!(scene.content("f"), "newer\n");
}

#[tokio::test]
async fn a_file_that_changed_meanwhile_is_kept() {
    let scene = Scene::new();
    scene.put("f", "old\n");
    scene.ok("read_file", json!({"path": "f"})).await;
    scene.put("f", "theirs\n");
    let text = scene
        .fails("write_file", json!({"path": "f", "content": "mine\n"}))
        .await;
    assert!(
        text.contains("was changed since it was last read"),
        "{text}"
    );
    assert_eq!(scene.content("f"), "theirs\n");
}

#[tokio::test]
async fn three_parts_make_the_exact_file() {
    let scene = Scene::new();
    for part in ["one\n", "two", "\nthree\n"] {
        scene
            .ok(
                "write_file",
                json!({"path": "new/f", "content": part, "append": true}),
            )
            .await;
    }
    assert_eq!(scene.content("new/f"), "one\ntwo\nthree\n");
    // It wrote all of it, so it may replace it.
    scene
        .ok("write_file", json!({"path": "new/f", "content": "x"}))
        .await;
    // Adding to a file that was never read does not count as having read it.
    scene.put("g", "theirs\n");
    scene
        .ok(
            "write_file",
            json!({"path": "g", "content": "mine\n", "append": true}),
        )
        .await;
    assert_eq!(scene.content("g"), "theirs\nmine\n");
    scene
        .fails("write_file", json!({"path": "g", "content": "x"}))
        .await;
}

#[tokio::test]
async fn a_preview_shows_the_diff_and_changes_nothing() {
    let scene = Scene::new();
    let shown = scene
        .preview("write_file", json!({"path": "f", "content": "a\n"}))
        .unwrap();
    assert!(
        matches!(
            shown,
            Display::Diff {
                added: 1,
                removed: 0,
                ..
            }
        ),
        "{shown:?}"
    );
    assert!(!scene.top.join("ws/f").exists());
}

#[tokio::test]
async fn changed_file_is_reported_with_its_hash_size_and_mode() {
    use proto::record::{Changed, FileState};
    let scene = Scene::new();
    let outcome = scene
        .call("write_file", json!({"path": "d/f", "content": "abc"}))
        .await;
    let path = scene.top.join("ws/d/f");
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let state = |sha256: &str| {
        use std::os::unix::fs::PermissionsExt;
        FileState::File {
            sha256: sha256.to_owned(),
            bytes: 3,
            mode: std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        }
    };
    let changed = |sha256: &str| Changed {
        path: path.to_string_lossy().into_owned(),
        now: state(sha256),
    };
    assert_eq!(outcome.changed, [changed(sha256)]);
    let outcome = scene
        .call("edit_file", json!({"path": "d/f", "old": "c", "new": "d"}))
        .await;
    let sha256 = "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9";
    assert_eq!(outcome.changed, [changed(sha256)]);
    // A write that changes nothing reports no change.
    let outcome = scene
        .call("write_file", json!({"path": "d/f", "content": "abd"}))
        .await;
    assert!(outcome.changed.is_empty());
}

#[tokio::test]
async fn a_name_of_a_directory_writes_no_file() {
    let scene = Scene::new();
    scene.put("f", "old\n");
    scene.ok("read_file", json!({"path": "f"})).await;
    for path in ["f/", "new/", "f//", "f/.", "new/.", "f/./.", "f/.//"] {
        let arguments = json!({"path": path, "content": "new\n"});
        let text = scene.fails("write_file", arguments).await;
        assert!(text.contains("directory"), "{text}");
    }
    assert_eq!(scene.content("f"), "old\n");
}
