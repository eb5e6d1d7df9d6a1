//! Scenes.

use std::os::unix::fs::symlink;

use proto::item::Display;
use proto::record::FileState;
use serde_json::json;

use crate::scene::{Scene, tool_named};

#[tokio::test]
async fn a_moved_file_stays_known_and_is_reported_at_both_places() {
    let scene = Scene::new();
    scene.put("f", "a\n");
    scene.ok("read_file", json!({"path": "f"})).await;
    let call = json!({"source_path": "f", "destination_path": "d/g"});
    let shown = scene.preview("move_file", call.clone()).unwrap();
    let text = "move `f` to `d/g`".to_owned();
    assert_eq!(shown, Display::Line { text });
    let outcome = scene.call("move_file", call).await;
    assert_eq!(outcome.text, "moved `f` to `d/g`");
    let ws = scene.top.join("ws");
    let [gone, come] = outcome.changed.as_slice() else {
        panic!("{:?}", outcome.changed)
    };
    assert_eq!(
        (gone.path.as_str(), &gone.now),
        (ws.join("f").to_str().unwrap(), &FileState::Absent)
    );
    assert_eq!(come.path, ws.join("d/g").to_string_lossy());
    assert!(
        matches!(come.now, FileState::File { bytes: 2, .. }),
        "{come:?}"
    );
    scene
        .ok("edit_file", json!({"path": "d/g", "old": "a", "new": "b"}))
        .await;
}

#[tokio::test]
async fn known_files_below_a_moved_directory_stay_known() {
    let scene = Scene::new();
    scene.put("d/in/f", "a\n");
    scene.ok("read_file", json!({"path": "d/in/f"})).await;
    let outcome = scene
        .call("move_file", json!({"from": "d", "to": "e/d"}))
        .await;
    assert_eq!(outcome.text, "moved the directory `d` to `e/d`");
    let paths: Vec<_> = outcome
        .changed
        .iter()
        .map(|changed| {
            let short = changed
                .path
                .strip_prefix(scene.top.join("ws/").to_str().unwrap());
            (short.unwrap().to_owned(), changed.now == FileState::Absent)
        })
        .collect();
    let change = |path: &str, gone| (path.to_owned(), gone);
    assert_eq!(
        paths,
        [
            change("d", true),
            change("d/in", true),
            change("d/in/f", true),
            change("e/d", false),
            change("e/d/in", false),
            change("e/d/in/f", false),
        ]
    );
    scene
        .ok(
            "edit_file",
            json!({"path": "e/d/in/f", "old": "a", "new": "b"}),
        )
        .await;
}

#[tokio::test]
async fn nothing_is_overwritten_unasked_or_unread() {
    let scene = Scene::new();
    scene.put("f", "from\n");
    scene.put("g", "to\n");
    std::fs::create_dir(scene.top.join("ws/dir")).unwrap();
    let to = |to: &str, overwrite: bool| json!({"source": "f", "destination": to, "overwrite": overwrite});
    for tool in ["move_file", "copy_file"] {
        assert_eq!(
            scene.fails(tool, to("g", false)).await,
            "`g` exists already; nothing was changed. Choose another name, or read the file and set `overwrite`"
        );
        assert!(
            scene
                .fails(tool, to("g", true))
                .await
                .contains("was not read")
        );
        assert_eq!(
            scene.fails(tool, to("dir", true)).await,
            "`dir` is a directory; `destination` is the whole new path, such as `dir/f`"
        );
        assert!(
            scene
                .fails(tool, to("f", false))
                .await
                .contains("exists already")
        );
        let none = json!({"source": "none", "destination": "x"});
        assert!(
            scene
                .fails(tool, none)
                .await
                .contains("does not exist; look for it with `glob`")
        );
    }
    scene.ok("read_file", json!({"path": "g"})).await;
    scene.put("g", "changed\n");
    assert!(
        scene
            .fails("move_file", to("g", true))
            .await
            .contains("was changed since")
    );
    assert_eq!(
        (scene.content("f"), scene.content("g")),
        ("from\n".into(), "changed\n".into())
    );
    scene.ok("read_file", json!({"path": "g"})).await;
    assert_eq!(
        scene.ok("move_file", to("g", true)).await,
        "moved `f` to `g`, in place of the file there"
    );
    assert_eq!(scene.content("g"), "from\n");
}

#[tokio::test]
async fn each_path_of_a_call_must_lead_to_its_own_judged_place() {
    let scene = Scene::new();
    scene.put("f", "x");
    scene.put("g", "y");
    let ws = scene.top.join("ws");
    let tool = tool_named("move_file");
    let call = json!({"source": "f", "destination": "h"});
    // As a whole they are the same places, but not each its own.
    for judged in [
        vec![ws.join("h"), ws.join("f")],
        vec![ws.join("f")],
        vec![ws.join("f"), ws.join("g")],
        vec![ws.join("f"), ws.join("h"), ws.join("g")],
    ] {
        tool.bind(&judged, &scene.context);
        let text = scene.fails("move_file", call.clone()).await;
        assert!(text.contains("when it was judged"), "{text}");
    }
    // The source became a link meanwhile.
    tool.bind(&[ws.join("f"), ws.join("h")], &scene.context);
    std::fs::rename(ws.join("f"), ws.join("real")).unwrap();
    symlink("real", ws.join("f")).unwrap();
    let text = scene.fails("move_file", call.clone()).await;
    assert!(text.starts_with("`f` led to"), "{text}");
    // A link is judged by its target, but the link itself is moved.
    tool.bind(&[ws.join("real"), ws.join("h")], &scene.context);
    assert_eq!(
        scene.ok("move_file", call).await,
        "moved the link `f` to `h`"
    );
    assert_eq!(scene.content("real"), "x");
}
