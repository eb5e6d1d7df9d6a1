//! Scenes.

use std::os::unix::fs::{PermissionsExt, symlink};

use contract::tool::Touch;
use proto::item::{CallStatus, Display};
use proto::record::FileState;
use serde_json::json;

use crate::scene::{Scene, object, tool_named};

const PATCH: &str = "\
diff --git a/one b/one
--- a/one
+++ b/one
@@ -2,3 +2,3 @@
 b
-c
+C
 d
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-g
diff --git a/new/two b/new/two
new file mode 100644
--- /dev/null
+++ b/new/two
@@ -0,0 +1,2 @@
+x
+y
diff --git a/from b/to
rename from from
rename to to
--- a/from
+++ b/to
@@ -1 +1 @@
-f
+F
";

async fn scene() -> Scene {
    let scene = Scene::new();
    for (name, text) in [("one", "0\na\nb\nc\nd\n"), ("gone", "g\n"), ("from", "f\n")] {
        scene.put(name, text);
        scene.ok("read_file", json!({"path": name})).await;
    }
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scene.top.join("ws/from"), mode).unwrap();
    scene
}

fn call(patch: &str) -> serde_json::Value {
    json!({"patch": patch})
}

/// All files of the workspace.
fn files(scene: &Scene) -> Vec<(String, String)> {
    fn below(dir: &std::path::Path, found: &mut Vec<(String, String)>, top: &std::path::Path) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, found, top);
            } else {
                let name = path
                    .strip_prefix(top)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    let top = scene.top.join("ws");
    below(&top, &mut found, &top);
    found.sort();
    found
}

#[tokio::test]
async fn a_patch_changes_makes_deletes_and_renames() {
    let scene = scene().await;
    let shown = scene.preview("apply_patch", call(PATCH)).unwrap();
    let outcome = scene.call("apply_patch", json!({"diff": PATCH})).await;
    assert_eq!(
        outcome.text,
        "patched 4 files:\nM one (+1 −1)\n[`one`, hunk 1: applied 1 lines further down]\nD gone (+0 −1)\nA new/two (+2 −0)\nR from -> to (+1 −1)"
            .replace("M one (+1 −1)\n[`one`, hunk 1: applied 1 lines further down]", "[`one`, hunk 1: applied 1 lines further down]\nM one (+1 −1)")
    );
    let content = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert_eq!(
        files(&scene),
        [
            content("new/two", "x\ny\n"),
            content("one", "0\na\nb\nC\nd\n"),
            content("to", "F\n")
        ]
    );
    let mode = std::fs::metadata(scene.top.join("ws/to"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o755);
    assert_eq!(shown, outcome.display);
    let Display::Diff {
        path,
        added: 4,
        removed: 3,
        ..
    } = &outcome.display
    else {
        panic!("{:?}", outcome.display)
    };
    assert_eq!(path, "4 files");
    let changed: Vec<_> = outcome
        .changed
        .iter()
        .map(|changed| {
            let name = changed.path.rsplit("/ws/").next().unwrap();
            (name, changed.now == FileState::Absent)
        })
        .collect();
    assert_eq!(
        changed,
        [
            ("one", false),
            ("gone", true),
            ("new/two", false),
            ("to", false),
            ("from", true)
        ]
    );
    // All that it wrote is known.
    for (name, old) in [("one", "C"), ("new/two", "x"), ("to", "F")] {
        scene
            .ok("edit_file", json!({"path": name, "old": old, "new": "z"}))
            .await;
    }
}

#[tokio::test]
async fn one_hunk_that_fails_is_named_and_no_file_is_changed() {
    let scene = scene().await;
    let before = files(&scene);
    let patch = PATCH.replace("-f\n", "-other\n");
    assert_eq!(
        scene.fails("apply_patch", call(&patch)).await,
        "nothing was changed: `from`, hunk 1 of 1: its old lines are not in the file (expected at line 1); nothing in the file is similar\nExpected:\nother"
    );
    for (patch, word) in [
        (PATCH.replace("new/two", "one"), "the patch has `one` twice"),
        ("--- /dev/null\n+++ b/one\n@@ -0,0 +1 @@\n+x\n".to_owned(), "`one` exists already"),
        ("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-h\n".to_owned(), "hunk 1 of 1"),
        ("--- a/none\n+++ b/none\n@@ -1 +1 @@\n-h\n+i\n".to_owned(), "does not exist"),
        ("--- a/one\n+++ b/one\n@@ -1 +1 @@\n-0\n+0\n".to_owned(), "has what the patch would change it to"),
        ("--- a/../out/canary\n+++ b/../out/canary\n@@ -1 +1 @@\n-CANARY\n+X\n".to_owned(), "outside the writable directories"),
        ("--- a/one\n+++ b/one\n@@ -1 +1 @@\n-0\n+1\n--- a/./one\n+++ b/./one\n@@ -2 +2 @@\n-a\n+b\n".to_owned(), "in two ways"),
    ] {
        let text = scene.fails("apply_patch", call(&patch)).await;
        assert!(text.contains(word), "{word}: {text}");
        assert_eq!(files(&scene), before);
    }
    let outcome = scene.call("apply_patch", call("hello")).await;
    assert_eq!(outcome.status, CallStatus::Refused);
    assert_eq!(
        outcome.text,
        "the patch cannot be read: there is no file header in the patch; each file begins with `--- a/path` and `+++ b/path`. Nothing was changed"
    );
}

#[tokio::test]
async fn all_guards_are_checked_before_anything_is_written() {
    let scene = scene().await;
    scene.put("from", "f\nchanged\n");
    let before = files(&scene);
    let text = scene.fails("apply_patch", call(PATCH)).await;
    assert!(text.contains("`from` was changed since"), "{text}");
    assert_eq!(files(&scene), before);
    let scene = Scene::new();
    scene.put("f", "a\n");
    let text = scene
        .fails(
            "apply_patch",
            call("*** Begin Patch\n*** Delete File: f\n*** End Patch\n"),
        )
        .await;
    assert!(text.contains("was not read in this session"), "{text}");
}

#[tokio::test]
async fn a_write_that_fails_leaves_every_file_as_it_was() {
    let scene = scene().await;
    let mode = std::fs::Permissions::from_mode(0o444);
    std::fs::set_permissions(scene.top.join("ws/gone"), mode).unwrap();
    let before = files(&scene);
    let text = scene.fails("apply_patch", call(PATCH)).await;
    assert!(
        text.contains("is read-only") && text.ends_with("No file was changed"),
        "{text}"
    );
    assert_eq!(files(&scene), before);
}

#[tokio::test]
async fn links_are_patched_at_their_targets_but_not_deleted() {
    let scene = scene().await;
    symlink("gone", scene.top.join("ws/l")).unwrap();
    let delete = "--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n";
    let text = scene.fails("apply_patch", call(delete)).await;
    assert!(text.contains("`l` is a link to `gone`"), "{text}");
    scene
        .ok(
            "apply_patch",
            call("--- a/l\n+++ b/l\n@@ -1 +1 @@\n-g\n+h\n"),
        )
        .await;
    assert_eq!(scene.content("gone"), "h\n");
    assert!(scene.top.join("ws/l").is_symlink());
}

#[test]
fn every_path_of_a_patch_is_touched_once_and_in_order() {
    let tool = tool_named("apply_patch");
    let touched = |patch: &str| tool.touches(&object(call(patch)));
    let edit = |path: &str| Touch {
        path: path.to_owned(),
        edit: true,
    };
    assert_eq!(
        touched(PATCH),
        [
            edit("one"),
            edit("gone"),
            edit("new/two"),
            edit("from"),
            edit("to")
        ]
    );
    assert!(touched("junk").is_empty());
}

#[tokio::test]
async fn each_path_is_held_to_its_judged_place() {
    let scene = scene().await;
    let ws = scene.top.join("ws");
    let tool = tool_named("apply_patch");
    let mut judged: Vec<_> = ["one", "gone", "new/two", "from", "to"]
        .map(|name| ws.join(name))
        .into();
    judged.swap(0, 1);
    tool.bind(&judged, &scene.context);
    let text = scene.fails("apply_patch", call(PATCH)).await;
    assert!(text.contains("when it was judged"), "{text}");
    judged.swap(0, 1);
    tool.bind(&judged, &scene.context);
    scene.ok("apply_patch", call(PATCH)).await;
}
