//! Scenes.

use std::path::Path;
use std::time::{Duration, Instant};

use proto::item::Display;
use serde_json::json;

use crate::file_tool::FileTool;
use crate::read_file::ReadFile;
use crate::scene::Scene;
use crate::truncate::tokens;

#[tokio::test]
async fn lines_have_their_numbers() {
    let scene = Scene::new();
    scene.put("f", "one\r\n\n  three");
    assert_eq!(
        scene.ok("read_file", json!({"path": "f"})).await,
        "1\tone\n2\t\n3\t  three\n"
    );
    scene.put("empty", "");
    assert_eq!(
        scene.ok("read_file", json!({"path": "empty"})).await,
        "(empty file)"
    );
    scene.put("bom", "\u{feff}x\n");
    assert_eq!(
        scene.ok("read_file", json!({"path": "bom"})).await,
        "1\tx\n"
    );
}

#[test]
fn only_short_regular_files_are_quick() {
    let scene = Scene::new();
    let short = scene.put("short", "x");
    let long = scene.put("long", "x".repeat(64 * 1024 + 1));
    let link = short.with_file_name("link");
    std::os::unix::fs::symlink(&short, &link).unwrap();
    let is_quick = |path: &Path| ReadFile::is_quick(&[path.to_owned()]);
    assert!(is_quick(&short));
    let missing = short.with_file_name("missing");
    let directory = short.parent().unwrap();
    for other in [&long, &link, &missing, directory, Path::new("/dev/zero")] {
        assert!(!is_quick(other), "{other:?}");
    }
}

#[tokio::test]
async fn ranges_are_exact_on_a_million_lines_and_quick() {
    let scene = Scene::new();
    let content: String = (1..=1_000_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    scene.put("f", &content);
    let before = Instant::now();
    let text = scene
        .ok(
            "read_file",
            json!({"path": "f", "offset": 777_777, "limit": 2}),
        )
        .await;
    assert!(
        before.elapsed() < Duration::from_secs(10),
        "{:?}",
        before.elapsed()
    );
    assert_eq!(
        text,
        "777777\tline 777777\n777778\tline 777778\n[lines 777777–777778 of 1000000; go on with `offset` 777779]\n"
    );
    let text = scene.ok("read_file", json!({"path": "f"})).await;
    assert!(
        text.ends_with("2000\tline 2000\n[lines 1–2000 of 1000000; go on with `offset` 2001]\n")
    );
    let text = scene
        .ok("read_file", json!({"path": "f", "offset": 1_000_000}))
        .await;
    assert_eq!(text, "1000000\tline 1000000\n");
    let text = scene
        .fails("read_file", json!({"path": "f", "offset": 1_000_001}))
        .await;
    assert_eq!(
        text,
        "`f` has 1000000 lines; `offset` 1000001 is behind its end"
    );
}

#[tokio::test]
async fn the_token_limit_holds_and_says_how_to_go_on() {
    let scene = Scene::new();
    scene.put("f", format!("{}\n", "中".repeat(1000)).repeat(200));
    let text = scene.ok("read_file", json!({"path": "f"})).await;
    assert!(tokens(&text) <= 64_000, "{}", tokens(&text));
    assert!(tokens(&text) > 60_000, "{}", tokens(&text));
    assert!(
        text.contains("of 200; go on with `offset` 6"),
        "{}",
        &text[text.len() - 80..]
    );
}

#[tokio::test]
async fn long_lines_are_cut() {
    let scene = Scene::new();
    scene.put("f", format!("{}\nb\n", "é".repeat(2500)));
    let text = scene.ok("read_file", json!({"path": "f"})).await;
    assert_eq!(
        text,
        format!(
            "1\t{} [… 1000 bytes of this line left out]\n2\tb\n",
            "é".repeat(2000)
        )
    );
}

#[tokio::test]
async fn binary_file_is_reported_with_its_kind() {
    let scene = Scene::new();
    for (name, content, wanted) in [
        ("a.pdf", b"%PDF-1.7\n".as_slice(), "a PDF document"),
        ("a.ipynb", b"{}", "a notebook"),
        ("a.out", b"\x7fELF\x02", "an ELF program"),
        ("a.bin", b"a\0b", "a binary file"),
    ] {
        scene.put(name, content);
        let text = scene.fails("read_file", json!({"path": name})).await;
        assert!(
            text.contains(wanted) && text.contains("cannot be read as text"),
            "{text}"
        );
    }
    scene.put("latin", b"caf\xe9\n");
    let text = scene.ok("read_file", json!({"path": "latin"})).await;
    assert!(text.starts_with("1\tcaf\u{fffd}\n[not UTF-8"), "{text}");
}

/// 3x2 pixels.
const PNG: &str = "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d0000000b49444154789c6360c00400001400017dfe1eee0000000049454e44ae426082";

#[tokio::test]
async fn image_is_shown_and_a_damaged_one_is_not() {
    let scene = Scene::new();
    let png = hex::decode(PNG).expect("bytes");
    scene.put("a.txt", &png);
    let outcome = scene.call("read_file", json!({"path": "a.txt"})).await;
    assert_eq!(outcome.text, "[image 3x2 png]");
    assert_eq!(*outcome.images[0].bytes, *png);
    scene.put("half.png", &png[..40]);
    let text = scene.fails("read_file", json!({"path": "half.png"})).await;
    assert!(text.contains("damaged or incomplete png image"), "{text}");
}

#[tokio::test]
async fn unreadable_file_reports_what_to_do() {
    let scene = Scene::new();
    assert!(
        scene
            .fails("read_file", json!({"path": "none"}))
            .await
            .contains("does not exist; look for it with `glob`")
    );
    assert!(
        scene
            .fails("read_file", json!({"path": "."}))
            .await
            .contains("is a directory, not a file; list it with `ls`")
    );
    assert!(
        scene
            .fails("read_file", json!({"path": "denied/x"}))
            .await
            .contains("denied by `deny_read`")
    );
    assert!(
        scene
            .fails("read_file", json!({"path": "~/.reasonix/x"}))
            .await
            .contains("closed to tools")
    );
}

#[tokio::test]
async fn a_call_is_bound_to_the_place_that_was_shown() {
    let scene = Scene::new();
    scene.put("a/f", "harmless\n");
    scene.put("b/f", "other\n");
    let link = scene.top.join("ws/link");
    std::os::unix::fs::symlink("a", &link).unwrap();
    let shown = scene
        .preview("read_file", json!({"path": "link/f"}))
        .unwrap();
    assert_eq!(
        shown,
        Display::Line {
            text: format!("read {}/ws/a/f", scene.top.display())
        }
    );
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("b", &link).unwrap();
    let text = scene.fails("read_file", json!({"path": "link/f"})).await;
    assert!(
        text.contains("led to") && text.contains("nothing was done"),
        "{text}"
    );
}
