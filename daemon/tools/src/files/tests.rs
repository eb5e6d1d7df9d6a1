//! Attempts to get at files outside, by calls of the tools from end to end.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proto::item::CallStatus;
use serde_json::{Value, json};

use crate::scene::Scene;

/// A tree with every kind of way out.
fn hostile() -> Scene {
    let scene = Scene::new();
    let ws = scene.top.join("ws");
    std::fs::create_dir(ws.join("..a")).unwrap();
    std::fs::create_dir(scene.top.join("ws-evil")).unwrap();
    symlink(scene.top.join("out/canary"), ws.join("l")).unwrap();
    symlink(scene.top.join("out"), ws.join("dl")).unwrap();
    symlink(scene.top.join("out/created"), ws.join("dangling")).unwrap();
    symlink("/", ws.join("root")).unwrap();
    symlink("denied", ws.join("secret-link")).unwrap();
    for name in ["a.txt.tmp", ".a.txt.tmp"] {
        symlink(scene.top.join("out/canary"), ws.join(name)).unwrap();
    }
    std::fs::hard_link(scene.top.join("out/canary"), ws.join("h")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        ws.join("fifo"),
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    scene.put("denied/key", "K\n");
    scene.put("f", "CANARY\n");
    scene
}

fn intact(scene: &Scene) {
    assert_eq!(
        std::fs::read_to_string(scene.top.join("out/canary")).unwrap(),
        "CANARY\n"
    );
    let mut names: Vec<_> = std::fs::read_dir(scene.top.join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["canary", "d"]);
    assert_eq!(
        std::fs::read_dir(scene.top.join("ws-evil"))
            .unwrap()
            .count(),
        0
    );
}

fn write(path: &str) -> Value {
    json!({"path": path, "content": "NEW\n"})
}

#[tokio::test]
async fn writes_inside_succeed() {
    let scene = hostile();
    let top = scene.top.to_string_lossy().into_owned();
    for path in [
        "./a.txt",
        &format!("{top}/ws/b.txt"),
        "..a/b..c.txt",
        "...",
        "e\u{301}.txt",
        &format!("{top}/extra/a.txt"),
    ] {
        scene.ok("write_file", write(path)).await;
        let real = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("{top}/ws/{path}")
        };
        assert_eq!(std::fs::read_to_string(real).unwrap(), "NEW\n", "{path}");
    }
    scene.ok("read_file", json!({"path": "f"})).await;
    intact(&scene);
}

#[tokio::test]
async fn writes_outside_fail_and_change_nothing() {
    let scene = hostile();
    let top = scene.top.to_string_lossy().into_owned();
    let below = top.trim_start_matches('/').to_owned();
    let long = format!("{}b", "a/".repeat(4000));
    for path in [
        "../out/canary".to_owned(),
        format!("{top}/out/canary"),
        "..//out//canary".to_owned(),
        format!("{top}/ws-evil/x"),
        format!("{top}/ws"),
        "~/x".to_owned(),
        format!("/proc/self/root{top}/out/canary"),
        format!("/proc/self/fd/../../../../../..{top}/out/canary"),
        long,
        "dl/canary".to_owned(),
        "dl/stolen".to_owned(),
        "dangling".to_owned(),
        format!("root/{below}/out/canary"),
        "a\u{200b}/../../out/canary".to_owned(),
        "fifo".to_owned(),
        "l".to_owned(),
        "f/x".to_owned(),
    ] {
        for tool in ["write_file", "append"] {
            let mut arguments = write(&path);
            if tool == "append" {
                arguments["append"] = json!(true);
            }
            let outcome =
                tokio::time::timeout(Duration::from_secs(2), scene.call("write_file", arguments))
                    .await;
            assert_eq!(
                outcome.expect("it blocked").status,
                CallStatus::Failed,
                "{tool} {path:.100}"
            );
        }
        intact(&scene);
    }
    assert!(!scene.top.join("home/x").exists());
    // Names that only look like a way out are names.
    scene
        .ok("write_file", write("..\u{2215}out\u{2215}canary"))
        .await;
    intact(&scene);
}

#[tokio::test]
async fn edits_through_links_fail() {
    let scene = hostile();
    for path in ["l", "dl/canary"] {
        // Reading outside is allowed; it does not make the file writable.
        scene.ok("read_file", json!({"path": path})).await;
        let text = scene
            .fails(
                "edit_file",
                json!({"path": path, "old": "CANARY", "new": "NEW"}),
            )
            .await;
        assert!(text.contains("outside the writable directories"), "{text}");
        intact(&scene);
    }
}

#[tokio::test]
async fn the_other_name_of_a_hard_link_is_untouched() {
    let scene = hostile();
    scene.ok("read_file", json!({"path": "h"})).await;
    scene.ok("write_file", write("h")).await;
    scene.ok("write_file", write("a.txt")).await;
    intact(&scene);
}

#[tokio::test]
async fn no_file_tool_reads_a_denied_path() {
    let scene = hostile();
    for path in [
        "denied/key",
        "secret-link/key",
        "/proc/self/environ",
        "~/.reasonix/credentials.toml",
    ] {
        scene.fails("read_file", json!({"path": path})).await;
        scene
            .fails("grep", json!({"pattern": ".", "path": path}))
            .await;
        scene
            .fails("edit_file", json!({"path": path, "old": "K", "new": "N"}))
            .await;
    }
    let found = scene
        .ok(
            "grep",
            json!({"pattern": "^K$|CANARY", "include_ignored": true}),
        )
        .await;
    assert_eq!(found, "f:1:CANARY\nh:1:CANARY\n");
}

/// A directory and a file are swapped with links to the outside while calls go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_race_leads_outside() {
    let scene = Arc::new(Scene::new());
    std::fs::create_dir(scene.top.join("ws-evil")).unwrap();
    let ws = scene.top.join("ws");
    std::fs::create_dir(ws.join("d")).unwrap();
    symlink(scene.top.join("out"), ws.join("d.link")).unwrap();
    scene.put("f", "x");
    symlink(scene.top.join("out/canary"), ws.join("f.link")).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let (ws, done) = (ws.clone(), Arc::clone(&done));
        move || {
            let swap = |from: &str, to: &str| drop(std::fs::rename(ws.join(from), ws.join(to)));
            while !done.load(Ordering::Relaxed) {
                for name in ["d", "f"] {
                    let (real, link) = (format!("{name}.real"), format!("{name}.link"));
                    swap(name, &real);
                    swap(&link, name);
                    swap(name, &link);
                    swap(&real, name);
                }
            }
        }
    });
    let mut written = 0;
    let until = Instant::now() + Duration::from_secs(5);
    while Instant::now() < until && written < 300 {
        for path in ["d/canary", "f"] {
            scene.call("read_file", json!({"path": path})).await;
            let outcome = scene
                .call(
                    "write_file",
                    json!({"path": path, "content": format!("NEW {written}\n")}),
                )
                .await;
            written += u32::from(outcome.status == CallStatus::Ok);
        }
    }
    done.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert!(
        written > 0,
        "no write ever succeeded: the scene shows nothing"
    );
    intact(&scene);
}
