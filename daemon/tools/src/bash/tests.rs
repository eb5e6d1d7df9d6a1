//! Scenes with real processes.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::item::{CallStatus, Display};
use serde_json::json;

use crate::capture::OUTPUT_MAX;
use crate::scene::Scene;
use crate::truncate::tokens;

/// The output without the line that holds the time it took.
fn output(text: &str) -> &str {
    text.split_once('\n').unwrap().1
}

#[tokio::test]
async fn exit_code_duration_and_both_streams() {
    let scene = Scene::new();
    let outcome = scene
        .call(
            "bash",
            json!({"command": "echo out; echo err >&2; pwd; exit 3"}),
        )
        .await;
    assert_eq!(outcome.status, CallStatus::Failed);
    assert!(
        outcome.text.starts_with("exit code 3, 0."),
        "{}",
        outcome.text
    );
    let cwd = scene.top.join("ws").to_string_lossy().into_owned();
    assert_eq!(output(&outcome.text), format!("out\nerr\n{cwd}\n"));
    let Display::Command {
        exit_code,
        signal,
        output_bytes,
        tail,
        ..
    } = outcome.display
    else {
        panic!()
    };
    assert_eq!(
        (exit_code, signal, output_bytes),
        (Some(3), None, 9 + cwd.len() as u64)
    );
    assert_eq!(tail, output(&outcome.text));
    assert_eq!(
        output(&scene.ok("bash", json!({"command": "true"})).await),
        "(no output)\n"
    );
    let text = scene
        .fails("bash", json!({"command": "kill -KILL $$"}))
        .await;
    assert!(text.starts_with("ended by signal 9 (KILL), "), "{text}");
}

#[tokio::test]
async fn output_is_clean_and_shown_as_it_comes() {
    let scene = Scene::new();
    let command = r"printf '\033[31mred\033[0m\n10%%\r100%%\ndone \007\n'";
    assert_eq!(
        output(&scene.ok("bash", json!({"command": command})).await),
        "red\n100%\ndone \n"
    );
    assert_eq!(scene.shown.text(), "red\n10%\n100%\ndone \n");
}

#[tokio::test]
async fn command_gets_empty_stdin_and_the_session_environment() {
    let mut scene = Scene::new();
    let mut env = scene.context.env.to_vec();
    env.push(("PAGER".to_owned(), "value-of-PAGER".to_owned()));
    env.push(("KEPT".to_owned(), "value-of-KEPT".to_owned()));
    scene.context.env = Arc::new(env);
    let text = scene
        .ok("bash", json!({"command": "cat; env | sort"}))
        .await;
    for line in [
        "GIT_PAGER=cat",
        "GIT_TERMINAL_PROMPT=0",
        "KEPT=value-of-KEPT",
        "PAGER=cat",
        "TERM=dumb",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
    // Nothing of this process's own.
    assert!(
        std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !text.contains("CARGO_MANIFEST_DIR")
    );
}

#[tokio::test]
async fn long_output_keeps_both_ends_and_the_whole_in_a_file() {
    let scene = Scene::new();
    let outcome = scene
        .call("bash", json!({"command": "seq 1 200000; echo the end"}))
        .await;
    assert_eq!(outcome.status, CallStatus::Ok);
    assert!(tokens(&outcome.text) <= 16_000, "{}", tokens(&outcome.text));
    assert!(
        output(&outcome.text).starts_with("1\n2\n3\n")
            && outcome.text.ends_with("\n200000\nthe end\n")
    );
    let spill = outcome.spill.unwrap();
    assert!(outcome.text.contains(&format!(
        "all of it is in {}, for `read_file`",
        spill.display()
    )));
    let meta = std::fs::metadata(&spill).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    let Display::Command {
        output_bytes, tail, ..
    } = outcome.display
    else {
        panic!()
    };
    assert_eq!(meta.len(), output_bytes);
    assert!(tail.chars().count() <= 4000 && tail.contains("the end\n"));
    let read = scene
        .ok(
            "read_file",
            json!({"path": spill.to_string_lossy(), "offset": 100_000, "limit": 1}),
        )
        .await;
    assert!(read.starts_with("100000\t100000\n"), "{read}");
}

#[tokio::test]
async fn output_that_fits_in_the_event_leaves_no_file() {
    let scene = Scene::new();
    let outcome = scene.call("bash", json!({"command": "seq 1 800"})).await;
    assert_eq!(
        (outcome.spill, output(&outcome.text).lines().count()),
        (None, 800)
    );
    assert_eq!(
        std::fs::read_dir(&scene.context.spill_dir).unwrap().count(),
        0
    );
}

#[tokio::test]
async fn output_cut_in_the_event_is_complete_and_clean_in_a_file() {
    let scene = Scene::new();
    let colored = r"for i in $(seq 1 402); do printf '\033[31mline %s\033[0m of many\n' $i; done";
    let outcome = scene.call("bash", json!({"command": colored})).await;
    assert!(
        !outcome.text.contains("left out"),
        "the model has all of it"
    );
    let Display::Command {
        output_lines, tail, ..
    } = outcome.display
    else {
        panic!()
    };
    assert_eq!(output_lines, 402);
    assert!(!tail.contains("line 1 of"), "the event has the end alone");
    let all = std::fs::read_to_string(outcome.spill.unwrap()).unwrap();
    let lines: Vec<_> = (1..=402)
        .map(|line| format!("line {line} of many"))
        .collect();
    assert_eq!(all.lines().collect::<Vec<_>>(), lines);
}

#[tokio::test]
async fn a_flood_is_stopped_and_reported() {
    let scene = Scene::new();
    let outcome = scene.call("bash", json!({"command": "yes"})).await;
    assert_eq!(outcome.status, CallStatus::Failed);
    assert!(
        outcome
            .text
            .starts_with("stopped after 64 MB of output; ended by signal 15"),
        "{}",
        &outcome.text[..80]
    );
    let Display::Command { stopped, .. } = &outcome.display else {
        panic!("{:?}", outcome.display)
    };
    let stopped = stopped.as_deref();
    assert_eq!(stopped, Some("stopped after 64 MB of output"));
    assert_eq!(
        std::fs::metadata(outcome.spill.unwrap()).unwrap().len(),
        OUTPUT_MAX
    );
    assert!(tokens(&outcome.text) <= 16_000);
}

#[tokio::test]
async fn the_time_limit_ends_the_whole_group_and_keeps_the_output() {
    let scene = Scene::new();
    let command = "echo before; sleep 999 & sleep 999";
    let before = Instant::now();
    let outcome = scene
        .call("bash", json!({"command": command, "timeout_ms": 300}))
        .await;
    assert!(
        before.elapsed() < Duration::from_secs(10),
        "{:?}",
        before.elapsed()
    );
    assert_eq!(outcome.status, CallStatus::Failed);
    assert!(
        outcome
            .text
            .starts_with("stopped at its time limit of 0.3 s; ended by signal 15 (TERM), "),
        "{}",
        outcome.text
    );
    assert!(
        output(&outcome.text).starts_with("before\n"),
        "{}",
        outcome.text
    );
}

#[tokio::test]
async fn a_command_that_ignores_term_is_killed() {
    let scene = Scene::new();
    let outcome = scene
        .call(
            "bash",
            json!({"command": "trap '' TERM; while :; do sleep 0.1; done", "timeout_ms": 200}),
        )
        .await;
    assert!(
        outcome.text.contains("ended by signal 9 (KILL)"),
        "{}",
        outcome.text
    );
}

#[tokio::test]
async fn a_cancelled_command_is_interrupted() {
    let scene = Arc::new(Scene::new());
    let call = tokio::spawn({
        let scene = Arc::clone(&scene);
        async move {
            // A separate program prints this: a shell that is signalled between a fork and its exec loses the TERM, and
            // is ended by the KILL after the grace period.
            let command = "sh -c 'echo started; exec sleep 999'";
            let arguments = json!({"command": command, "timeout_ms": 0});
            scene.call("bash", arguments).await
        }
    });
    let until = Instant::now() + Duration::from_secs(20);
    while !scene.shown.text().contains("started") {
        assert!(Instant::now() < until, "the command never started");
        tokio::task::yield_now().await;
    }
    scene.cancel.send_replace(true);
    let outcome = call.await.unwrap();
    assert_eq!(outcome.status, CallStatus::Interrupted);
    assert!(
        outcome
            .text
            .starts_with("stopped by the user; ended by signal 15"),
        "{}",
        outcome.text
    );
    let late = scene.call("bash", json!({"command": "touch never"})).await;
    assert_eq!(late.status, CallStatus::Interrupted);
    assert!(!scene.top.join("ws/never").exists());
}

#[tokio::test]
async fn invalid_commands_are_refused() {
    let scene = Scene::new();
    assert!(
        scene
            .fails("bash", json!({"command": " "}))
            .await
            .contains("empty")
    );
    assert!(
        scene
            .fails("bash", json!({"command": "ls", "timeout_ms": 600_001}))
            .await
            .contains("at most 600000")
    );
    let mut scene = scene;
    scene.context.cwd = scene.top.join("gone");
    assert!(
        scene
            .fails("bash", json!({"command": "ls"}))
            .await
            .starts_with("the command was not started: ")
    );
}
