//! Scenes.

use std::os::unix::fs::symlink;

use proto::item::Display;
use proto::record::{Changed, FileState};
use serde_json::json;

use crate::scene::Scene;

#[tokio::test]
async fn delete_preview_shows_what_the_call_then_deletes() {
    let scene = Scene::new();
    let path = scene.put("f", "a\nb\n");
    let shown = scene.preview("delete_file", json!({"path": "f"})).unwrap();
    let Display::Diff {
        diff,
        removed: 2,
        added: 0,
        ..
    } = &shown
    else {
        panic!("{shown:?}")
    };
    assert_eq!(diff, "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n");
    let outcome = scene.call("delete_file", json!({"file": "f"})).await;
    assert_eq!(outcome.text, "deleted `f`");
    assert_eq!(outcome.display, shown);
    let path = path.to_string_lossy().into_owned();
    let now = FileState::Absent;
    assert_eq!(outcome.changed, [Changed { path, now }]);
    assert!(!scene.top.join("ws/f").exists());
    let line = |name: &str| match scene.preview("delete_file", json!({"path": name})) {
        Ok(Display::Line { text }) => text,
        other => panic!("{other:?}"),
    };
    scene.put("large", vec![b'x'; 70_000]);
    scene.put("binary", b"a\0b");
    symlink("large", scene.top.join("ws/l")).unwrap();
    assert_eq!(line("large"), "delete large (70000 bytes)");
    assert_eq!(line("binary"), "delete binary (3 bytes)");
    assert_eq!(line("l"), "delete the link l (to large)");
    assert_eq!(
        scene.ok("delete_file", json!({"path": "l"})).await,
        "deleted the link `l`"
    );
    assert!(scene.top.join("ws/large").exists());
}

#[tokio::test]
async fn a_directory_goes_only_when_it_is_empty() {
    let scene = Scene::new();
    scene.put("d/f", "x");
    assert_eq!(
        scene.fails("delete_file", json!({"path": "d"})).await,
        format!(
            "the directory `{}` is not empty: it has 1 entries; look into it with `ls`, then delete it with `bash` (`rm -r`)",
            scene.top.join("ws/d").display()
        )
    );
    scene.ok("delete_file", json!({"path": "d/f"})).await;
    assert_eq!(
        scene.ok("delete_file", json!({"path": "d"})).await,
        "deleted the directory `d`"
    );
    for path in [".", "../out/canary", "none", "~/.reasonix/spill"] {
        scene.fails("delete_file", json!({"path": path})).await;
    }
}
