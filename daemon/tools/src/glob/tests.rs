//! Scenes.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;

use crate::scene::{Scene, tool_named};

fn aged(scene: &Scene, name: &str, seconds: u64) {
    let path = scene.put(name, "");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds))
        .unwrap();
}

#[tokio::test]
async fn files_are_listed_newest_first_from_the_working_directory() {
    let scene = Scene::new();
    for (name, seconds) in [
        ("a.rs", 1),
        ("src/b.rs", 3),
        ("src/deep/c.rs", 2),
        ("d.txt", 9),
    ] {
        aged(&scene, name, seconds);
    }
    aged(&scene, "src/e.txt", 5);
    let call = |pattern: &str, path: &str| json!({"pattern": pattern, "path": path});
    for (arguments, wanted) in [
        (json!({"glob": "*.rs"}), "src/b.rs\nsrc/deep/c.rs\na.rs\n"),
        (call("*.rs", "src"), "src/b.rs\nsrc/deep/c.rs\n"),
        (call("./*.txt", "."), "d.txt\n"),
        (call("../*.txt", "src"), "d.txt\n"),
        (call("*.txt", "."), "d.txt\nsrc/e.txt\n"),
        (call("nothing*", "."), "no files match\n"),
        (json!({"pattern": "../ws/a.rs"}), "a.rs\n"),
        (json!({"pattern": "../ws/src"}), "no files match\n"),
        (
            json!({"pattern": "/src/*.rs", "path": "."}),
            "no files match\n",
        ),
    ] {
        if arguments["pattern"] == "/src/*.rs" {
            // An absolute pattern is one: it leads to `/src`.
            let text = scene.fails("glob", arguments).await;
            assert!(text.contains("`/src` does not exist"), "{text}");
            continue;
        }
        assert_eq!(
            scene.ok("glob", arguments.clone()).await,
            wanted,
            "{arguments}"
        );
    }
    let absolute = format!("{}/src/**/*.rs", scene.top.join("ws").display());
    assert_eq!(
        scene.ok("glob", json!({"pattern": absolute})).await,
        "src/b.rs\nsrc/deep/c.rs\n"
    );
}

#[tokio::test]
async fn the_limit_is_reported_with_the_total() {
    let scene = Scene::new();
    for index in 0..1005_u64 {
        aged(&scene, &format!("f{index:04}"), index);
    }
    let text = scene.ok("glob", json!({"pattern": "f*"})).await;
    assert!(text.starts_with("f1004\nf1003\n"), "{text}");
    assert!(
        text.ends_with("f0005\n[the newest 1000 of 1005 files. Narrow the pattern or `path`]\n"),
        "{text}"
    );
}

#[tokio::test]
async fn closed_directories_and_bad_patterns_are_reported() {
    let scene = Scene::new();
    scene.put("denied/key", "K");
    scene.put("f", "");
    let call = |pattern: &str, path: &str| json!({"pattern": pattern, "path": path});
    for (arguments, word) in [
        (call("", "."), "the pattern is empty"),
        (call("a[", "."), "is not a glob"),
        (call("*/../x", "."), "climbs with `..`"),
        (call("*", "f"), "is the directory that is searched"),
        (call("*", "none"), "does not exist"),
        (call("*", "denied"), "deny_read"),
        (call("~/.reasonix/*", "."), "closed to tools"),
        (
            json!({"pattern": "*", "depth": 1}),
            "unknown argument `depth`",
        ),
    ] {
        let text = scene.fails("glob", arguments.clone()).await;
        assert!(text.contains(word), "{arguments}: {text}");
    }
    let all = scene
        .ok("glob", json!({"pattern": "**", "include_ignored": true}))
        .await;
    assert_eq!(all, "f\n");
}

#[tokio::test]
async fn a_pattern_that_leads_elsewhere_is_bound_to_the_judged_place() {
    let scene = Scene::new();
    scene.put("f", "");
    let (ws, out) = (scene.top.join("ws"), scene.top.join("out"));
    let call = json!({"pattern": "../out/*", "path": "."});
    let tool = tool_named("glob");
    tool.bind(&[ws.clone(), out.clone()], &scene.context);
    let text = scene.ok("glob", call.clone()).await;
    assert_eq!(text, format!("{}\n", out.join("canary").display()));
    tool.bind(&[ws], &scene.context);
    assert!(
        scene
            .fails("glob", call)
            .await
            .contains("when it was judged")
    );
}
