use contract::UserShell as _;
use proto::Pid;
use proto::item::{CallStatus, Display};
use serde_json::json;

use super::BuiltInShell;
use crate::scene::Scene;

#[tokio::test]
async fn a_users_command_begins_in_the_sessions_directory_whatever_the_models_did() {
    let scene = Scene::new();
    scene.ok("make_dir", json!({"path": "deep"})).await;
    scene
        .ok("bash", json!({"command": "cd deep && export GREETING=hi"}))
        .await;
    let line = "pwd; echo \"[$GREETING]\"; cd deep; export GREETING=ho; exit 3".to_owned();
    let outcome = BuiltInShell.run(line, Pid(9), scene.context.clone()).await;
    let cwd = scene.context.cwd.display().to_string();
    assert_eq!(outcome.status, CallStatus::Failed);
    assert!(outcome.text.starts_with("exit code 3"), "{}", outcome.text);
    assert!(
        outcome.text.contains(&format!("{cwd}\n[]\n")),
        "{}",
        outcome.text
    );
    assert!(matches!(
        outcome.display,
        Display::Command {
            exit_code: Some(3),
            output_lines: 2,
            ..
        }
    ));
    // The model's shell is where it was.
    let text = scene
        .ok(
            "bash",
            json!({"command": "basename \"$PWD\"; echo $GREETING"}),
        )
        .await;
    assert!(text.contains("deep\nhi\n"), "{text}");
}

#[tokio::test]
async fn long_output_of_a_users_command_is_cut_and_whole_in_a_file() {
    let scene = Scene::new();
    let line = "seq 1 60000".to_owned();
    let outcome = BuiltInShell.run(line, Pid(9), scene.context.clone()).await;
    assert_eq!(outcome.status, CallStatus::Ok);
    assert!(crate::truncate::tokens(&outcome.text) <= 16_000);
    let spill = outcome.spill.expect("a file holds all of it");
    let whole = std::fs::read_to_string(spill).unwrap();
    assert_eq!(whole.lines().count(), 60_000);
}
