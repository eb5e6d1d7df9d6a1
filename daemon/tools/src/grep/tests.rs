//! Scenarios; the tests of `workspace` cover the search itself.

use proto::item::CallStatus;
use serde_json::json;

use crate::scene::Scene;
use crate::truncate::tokens;

fn tree() -> Scene {
    let scene = Scene::new();
    scene.put("src/a.rs", "one\nneedle\nthree\nfour\nfive\nneedle\n");
    scene.put("b.md", "Needle\n");
    scene
}

#[tokio::test]
async fn output_as_rg_prints_it() {
    let scene = tree();
    let grep = |arguments| scene.ok("grep", arguments);
    assert_eq!(
        grep(json!({"pattern": "needle"})).await,
        "src/a.rs:2:needle\nsrc/a.rs:6:needle\n"
    );
    assert_eq!(
        grep(json!({"pattern": "needle", "after": 1, "case_insensitive": true})).await,
        "b.md:1:Needle\n--\nsrc/a.rs:2:needle\nsrc/a.rs-3-three\n--\nsrc/a.rs:6:needle\n"
    );
    assert_eq!(
        grep(json!({"pattern": "(?i)needle", "output_mode": "files_with_matches"})).await,
        "b.md\nsrc/a.rs\n"
    );
    assert_eq!(
        grep(json!({"pattern": "needle", "output_mode": "count"})).await,
        "src/a.rs:2\n"
    );
    assert_eq!(
        grep(json!({"pattern": "four\\nfive", "multiline": true})).await,
        "src/a.rs:4:four\nsrc/a.rs:5:five\n"
    );
    assert_eq!(
        grep(
            json!({"pattern": "NEEDLE", "-i": true, "type": "rust", "path": "src", "head_limit": 1})
        )
        .await,
        "src/a.rs:2:needle\n[1 more lines; 2 matches in 1 files in all. Narrow the search or raise `head_limit`]\n"
    );
    assert_eq!(
        grep(json!({"pattern": "needle", "glob": "*.md"})).await,
        "no matches\n"
    );
}

#[tokio::test]
async fn long_grep_output_is_cut_and_the_omissions_are_reported() {
    let scene = Scene::new();
    scene.put("f", format!("{} needle\n", "x".repeat(700)).repeat(400));
    let text = scene.ok("grep", json!({"pattern": "needle"})).await;
    assert!(tokens(&text) <= 16_100, "{}", tokens(&text));
    assert!(
        text.contains(" [… 207 bytes]\n") && text.contains("bytes left out; narrow the pattern")
    );
    assert!(text.ends_with(
        "[150 more lines; 400 matches in 1 files in all. Narrow the search or raise `head_limit`]\n"
    ));
}

#[tokio::test]
async fn mistakes_are_explained() {
    let scene = tree();
    assert!(
        scene
            .fails("grep", json!({"pattern": "("}))
            .await
            .contains("not a regular expression")
    );
    assert!(
        scene
            .fails("grep", json!({"pattern": "x", "type": "nothing"}))
            .await
            .contains("use `glob`")
    );
    assert!(
        scene
            .fails("grep", json!({"pattern": "x", "path": "none"}))
            .await
            .contains("does not exist")
    );
    assert!(
        scene
            .fails("grep", json!({"pattern": "x", "path": "~/.reasonix"}))
            .await
            .contains("closed to tools")
    );
}

#[tokio::test]
async fn a_cancelled_search_is_interrupted() {
    let scene = tree();
    scene.cancel.send_replace(true);
    let outcome = scene.call("grep", json!({"pattern": "needle"})).await;
    // It may have been done before it heard; then its result counts.
    assert!(
        matches!(outcome.status, CallStatus::Interrupted | CallStatus::Ok),
        "{}",
        outcome.text
    );
}
