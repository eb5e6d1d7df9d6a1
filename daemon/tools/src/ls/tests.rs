//! Scenes.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::scene::Scene;

#[tokio::test]
async fn a_tree_with_sizes() {
    let scene = Scene::new();
    scene.put("src/deep/er/x", "1");
    scene.put("src/lib.rs", vec![b'x'; 12_345]);
    scene.put("Cargo.toml", "12345");
    scene.put("target/debug/x", "");
    scene.put("target/y", "");
    scene.put("denied/key", "K");
    symlink(scene.top.join("out"), scene.top.join("ws/link")).unwrap();
    let wanted = format!(
        "denied/  [closed to tools]\nsrc/\n  deep/\n  lib.rs  12.3 KB\ntarget/  [folded: 2 entries]\nCargo.toml  5 B\nlink -> {}\n",
        scene.top.join("out").display()
    )
    .replace("denied/  [", "denied  [");
    assert_eq!(scene.ok("ls", json!({})).await, wanted);
    assert_eq!(
        scene.ok("ls", json!({"path": "src", "depth": "3"})).await,
        "deep/\n  er/\n    x  1 B\nlib.rs  12.3 KB\n"
    );
    assert_eq!(
        scene.ok("ls", json!({"path": "link"})).await,
        "d/\ncanary  7 B\n"
    );
}

#[tokio::test]
async fn limits_are_reported() {
    let scene = Scene::new();
    for index in 0..1100 {
        scene.put(&format!("many/{index:04}"), "");
    }
    scene.put("z", "");
    let text = scene.ok("ls", json!({})).await;
    assert!(text.starts_with("many/\n  0000  0 B\n"), "{text}");
    assert!(
        text.ends_with("  0997  0 B\n  [102 more]\nz  0 B\n[1000 entries shown; 102 more, and 0 directories that were not opened. List a part with `path`]\n"),
        "{text}"
    );
    for depth in [0, 6] {
        let text = scene.fails("ls", json!({"depth": depth})).await;
        assert_eq!(text, format!("`depth` must be 1 to 5, not {depth}"));
    }
    std::fs::create_dir(scene.top.join("ws/void")).unwrap();
    assert_eq!(scene.ok("ls", json!({"path": "void"})).await, "empty\n");
    assert!(
        scene
            .fails("ls", json!({"path": "z"}))
            .await
            .contains("`read_file`")
    );
    for path in ["none", "~/.reasonix", "denied"] {
        scene.put("denied/x", "");
        scene.fails("ls", json!({"path": path})).await;
    }
}

#[test]
fn sizes_are_short() {
    for (bytes, wanted) in [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (999_999, "999.9 KB"),
        (1_000_000, "1.0 MB"),
        (u64::MAX, "1844674.4 TB"),
    ] {
        assert_eq!(size(bytes), wanted);
    }
}
