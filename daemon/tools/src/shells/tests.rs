//! Scenes with real processes: starting, looking, remembering.

use std::sync::Arc;

use proto::item::{CallStatus, Display};
use serde_json::{Value, json};

use super::*;
use crate::capture::OUTPUT_MAX;
use crate::scene::{Scene, object};
use crate::truncate::tokens;

mod floods;
mod stops;

/// Waits until the file `go` is there, then goes on.
const UNTIL_GO: &str = "while [ ! -e go ]; do sleep 0.02; done";

/// Longer than anything takes that these scenes wait for.
const PATIENCE: Duration = Duration::from_secs(120);

async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < deadline, "it never came to this: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Starts a command in the background; its number.
async fn start(scene: &Scene, command: &str) -> u64 {
    started(
        scene,
        json!({"command": command, "run_in_background": true}),
    )
    .await
}

async fn started(scene: &Scene, arguments: Value) -> u64 {
    let text = scene.ok("bash", arguments).await;
    let number = text.strip_prefix("runs in the background as ").unwrap();
    number.split_once(';').unwrap().0.parse().unwrap()
}

/// Looks until all that came holds `wanted`; state and output of the last look, and all that came.
async fn look_until(scene: &Scene, id: u64, wanted: &str) -> (String, String) {
    let deadline = Instant::now() + PATIENCE;
    let mut all = String::new();
    loop {
        let text = scene.ok("bash_output", json!({ "id": id })).await;
        let (state, output) = text.split_once('\n').unwrap();
        if output != "(nothing new)\n" {
            all.push_str(output);
        }
        if all.contains(wanted) {
            return (state.to_owned(), all);
        }
        assert!(Instant::now() < deadline, "never `{wanted}`: {text}: {all}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns when it has ended.
async fn ended(scene: &Scene, id: u64) {
    let shell = scene.memory.shells().get(Pid(id)).unwrap();
    timeout(PATIENCE, shell.ended())
        .await
        .expect("it never ended");
}

#[tokio::test]
async fn each_bash_output_call_returns_only_new_output() {
    let scene = Scene::new();
    let command = format!("echo one; echo err >&2; {UNTIL_GO}; printf 'tw'; echo o; exit 3");
    let id = started(
        &scene,
        json!({"command": command, "run_in_background": true, "description": "Counts"}),
    )
    .await;
    {
        let spawned = scene.numbers.spawned.lock().unwrap();
        let wanted = ChildSpawned {
            pid: Pid(id),
            kind: ChildKind::Shell,
            call: scene.context.call.clone(),
            command: "Counts".into(),
            user: None,
        };
        assert_eq!(*spawned, [wanted]);
    }
    let (state, all) = look_until(&scene, id, "err\n").await;
    let (state, all) = if all.contains("one\n") {
        (state, all)
    } else {
        look_until(&scene, id, "one\n").await
    };
    assert!(
        state.starts_with("running, ") && all.len() <= 8,
        "{state} {all}"
    );
    let again = scene.ok("bash_output", json!({ "id": id })).await;
    assert!(
        again.starts_with("running, ") && again.ends_with(" s\n(nothing new)\n"),
        "{again}"
    );
    assert!(scene.numbers.exited.lock().unwrap().is_empty());
    scene.put("go", "");
    ended(&scene, id).await;
    let (state, all) = look_until(&scene, id, "two\n").await;
    assert!(state.starts_with("exit code 3, "), "{state}");
    assert_eq!(all, "two\n");
    let outcome = scene.call("bash_output", json!({ "id": id })).await;
    assert!(
        outcome.text.ends_with("(nothing new)\n"),
        "{}",
        outcome.text
    );
    assert_eq!(
        outcome.display,
        Display::Command {
            exit_code: Some(3),
            signal: None,
            output_bytes: 12,
            output_lines: 3,
            head: String::new(),
            tail: String::new(),
            sandbox_stopped: false,
            stopped: None,
        }
    );
    let exited = scene.numbers.exited.lock().unwrap();
    assert_eq!(exited.len(), 1);
    assert_eq!(
        (
            exited[0].pid,
            exited[0].code,
            exited[0].signal,
            &exited[0].cause
        ),
        (Pid(id), Some(3), None, &None)
    );
}

#[tokio::test]
async fn output_is_clean_and_no_character_is_cut() {
    let scene = Scene::new();
    let command =
        format!(r"printf '\033[31m10%%\r99%%\033[0m\nhalf \344\270'; {UNTIL_GO}; printf '\255\n'");
    let id = start(&scene, &command).await;
    let (_, all) = look_until(&scene, id, "half ").await;
    assert_eq!(all, "99%\nhalf ");
    scene.put("go", "");
    let (_, all) = look_until(&scene, id, "\n").await;
    assert_eq!(all, "中\n");
}

#[tokio::test]
async fn a_filter_shows_whole_lines_that_match_and_the_others_never() {
    let scene = Scene::new();
    let command = format!(
        "echo ok 1; echo ERROR 1; printf ERR; touch said; {UNTIL_GO}; echo OR 2; echo ok 2"
    );
    let id = start(&scene, &command).await;
    until("the first lines", || scene.top.join("ws/said").exists()).await;
    let errors = json!({"id": id.to_string(), "filter": "^ERROR \\d"});
    let mut all = String::new();
    let deadline = Instant::now() + PATIENCE;
    while !all.contains("ERROR 1\n") {
        assert!(Instant::now() < deadline, "{all}");
        all = scene.ok("bash_output", errors.clone()).await;
    }
    assert!(all.ends_with(" s\nERROR 1\n"), "{all}");
    let none = scene
        .ok("bash_output", json!({ "id": id, "filter": "ok" }))
        .await;
    assert!(
        none.ends_with("(nothing new)\n"),
        "what was skipped is gone: {none}"
    );
    scene.put("go", "");
    ended(&scene, id).await;
    let last = scene.call("bash_output", errors).await;
    assert!(last.text.ends_with(" s\nERROR 2\n"), "{}", last.text);
    assert!(matches!(last.display, Display::Command { tail, .. } if tail == "ERROR 2\n"));
    let id = start(&scene, "seq 5").await;
    ended(&scene, id).await;
    let none = scene
        .ok("bash_output", json!({ "id": id, "filter": "x" }))
        .await;
    assert!(
        none.ends_with("(nothing new that matches; 5 lines skipped)\n"),
        "{none}"
    );
    let bad = scene
        .fails("bash_output", json!({ "id": id, "filter": "(" }))
        .await;
    assert!(
        bad.starts_with("`filter` cannot be read as a regular expression: "),
        "{bad}"
    );
}

#[tokio::test]
async fn a_flood_is_stopped_and_all_of_it_is_in_a_file() {
    let scene = Scene::new();
    let id = start(&scene, "yes 'a line of the flood' | head -c 100000000").await;
    ended(&scene, id).await;
    let outcome = scene.call("bash_output", json!({ "id": id })).await;
    let (state, output) = outcome.text.split_once('\n').unwrap();
    assert!(
        state.starts_with("stopped after 64 MB of output; "),
        "{state}"
    );
    assert!(tokens(&outcome.text) <= 16_000, "{}", tokens(&outcome.text));
    assert!(output.starts_with("a line of the flood\na line"));
    let spill = outcome.spill.unwrap();
    let note = output.lines().find(|line| line.starts_with("[…")).unwrap();
    // The limit of `read_file` is below that of an output.
    let wanted = format!(
        "all of it is in {}, for `grep`: it is too long for `read_file`]",
        spill.display()
    );
    assert!(note.ends_with(&wanted), "{note}");
    assert_eq!(std::fs::metadata(&spill).unwrap().len(), OUTPUT_MAX);
    let found = json!({"pattern": "flood", "path": spill.to_string_lossy(), "head_limit": 1});
    let found = scene.ok("grep", found).await;
    assert!(found.contains(":1:a line of the flood\n"), "{found}");
    assert_eq!(
        scene.numbers.exited.lock().unwrap()[0].cause.as_deref(),
        Some("too much output")
    );
}

#[tokio::test]
async fn output_too_long_for_memory_is_in_a_file_while_the_command_runs() {
    let scene = Scene::new();
    let id = start(
        &scene,
        &format!("seq 400000; touch said; {UNTIL_GO}; echo end"),
    )
    .await;
    until("all was printed", || scene.top.join("ws/said").exists()).await;
    let outcome = scene
        .call("bash_output", json!({ "id": id, "filter": "^(1|9)$" }))
        .await;
    let all = std::fs::read_to_string(outcome.spill.clone().unwrap()).unwrap();
    assert!(all.starts_with("1\n2\n3\n"));
    assert!(outcome.text.contains(" s\n1\n9\n[… "), "{}", outcome.text);
    assert!(
        outcome
            .text
            .ends_with("[`filter` saw nothing of what is no longer in memory]\n"),
        "{}",
        outcome.text
    );
    scene.put("go", "");
    ended(&scene, id).await;
    let all = std::fs::read_to_string(outcome.spill.unwrap()).unwrap();
    assert!(all.ends_with("\n399999\n400000\nend\n"));
}

#[tokio::test]
async fn output_that_the_disk_refused_counts_as_lost() {
    let mut scene = Scene::new();
    scene.context.spill_dir = scene.put("in-the-way", "a file");
    let id = start(&scene, "seq 100000").await;
    ended(&scene, id).await;
    let outcome = scene.call("bash_output", json!({ "id": id })).await;
    let note = outcome.text.lines().find(|line| line.starts_with("[…"));
    let note = note.unwrap();
    assert!(
        note.contains(" bytes left out; the rest is lost (make a file in "),
        "{note}"
    );
    assert_eq!(outcome.spill, None);
    let reported: usize = outcome
        .text
        .lines()
        .skip(1)
        .filter(|line| *line != note)
        .map(|line| line.len() + 1)
        .sum();
    let bytes = note.trim_start_matches("[… ").split(' ').next().unwrap();
    assert_eq!(
        reported + bytes.parse::<usize>().unwrap(),
        588_895,
        "{note}"
    );
}

#[tokio::test]
async fn cancelled_look_takes_no_output() {
    let scene = Scene::new();
    let id = start(&scene, "echo kept").await;
    ended(&scene, id).await;
    let shell = scene.memory.shells().get(Pid(id)).unwrap();
    let (reply, left) = oneshot::channel();
    drop(left);
    let ask = KeeperRequest::Look {
        whole_lines: false,
        reply,
    };
    shell.keeper.send(ask).await.unwrap();
    let text = scene.ok("bash_output", json!({ "id": id })).await;
    assert!(text.ends_with("\nkept\n"), "{text}");
}

/// Nothing to be stopped.
struct Nothing;

impl contract::spawn::ChildControl for Nothing {
    fn stop(&self, _: u64) {}
}

#[tokio::test]
async fn a_command_whose_keeper_crashes_has_ended() {
    let scene = Scene::new();
    let child = contract::Child {
        os_pid: 1,
        events: Box::pin(futures::stream::poll_fn(|_| panic!("a bug, for this test"))),
        control: Box::new(Nothing),
    };
    let shells = scene.memory.shells();
    shells.keep(StartedCommand {
        number: Pid(9),
        title: "lost".into(),
        run: RunningCommand::new(child, Instant::now(), None),
        slot: shells.admit().unwrap(),
        context: &scene.context,
    });
    ended(&scene, 9).await;
    until("the end is reported", || {
        !scene.numbers.exited.lock().unwrap().is_empty()
    })
    .await;
    assert_eq!(
        scene.numbers.exited.lock().unwrap()[0].cause.as_deref(),
        Some("a bug in Reasonix")
    );
    assert_eq!(shells.slots.available_permits(), RUNNING_MAX);
    let text = scene.ok("bash_output", json!({"id": 9})).await;
    assert!(
        text.starts_with("stopped by a bug in Reasonix; its end was not reported, "),
        "{text}"
    );
}

#[tokio::test]
async fn a_crashed_keeper_is_reported() {
    let scene = Scene::new();
    let (keeper, _) = mpsc::channel(1);
    let (_, ended) = watch::channel(None);
    let shell = Shell {
        title: "lost".into(),
        keeper,
        ended,
    };
    scene.memory.shells().rows().insert(Pid(9), shell);
    for tool in ["bash_output", "kill_shell"] {
        let text = scene.fails(tool, json!({"id": 9})).await;
        assert!(text.contains("a bug in Reasonix"), "{text}");
    }
}

#[tokio::test]
async fn two_background_commands_run_at_the_same_time() {
    let scene = Scene::new();
    let one = start(&scene, &format!("echo of one; {UNTIL_GO}")).await;
    let two = start(&scene, &format!("echo of two; {UNTIL_GO}; exit 1")).await;
    assert_ne!(one, two);
    assert_eq!(look_until(&scene, two, "two\n").await.1, "of two\n");
    let killed = scene.ok("kill_shell", json!({ "id": one })).await;
    assert!(
        killed.starts_with("stopped by `kill_shell`; ended by signal 15 (TERM), ")
            && killed.ends_with("\nof one\n"),
        "{killed}"
    );
    scene.put("go", "");
    ended(&scene, two).await;
    let text = scene.ok("bash_output", json!({ "id": two })).await;
    assert!(text.starts_with("exit code 1, "), "{text}");
}

#[tokio::test]
async fn only_the_newest_ended_background_commands_stay_listed() {
    let scene = Scene::new();
    let runs = start(&scene, "sleep 999").await;
    let mut last = runs;
    for _ in 0..ENDED_MAX + 2 {
        last = start(&scene, "true").await;
        ended(&scene, last).await;
    }
    // The last start forgot one command less: the one that it started has ended since.
    let text = scene.fails("bash_output", json!({ "id": runs + 1 })).await;
    assert!(
        text.starts_with(&format!(
            "no command in the background is {}: there are {runs} (`sleep 999`, runs), ",
            runs + 1
        )) && text.ends_with(&format!(
            "{last} (`true`, ended). They end with the daemon, and with the session"
        )),
        "{text}"
    );
    assert_eq!(text.matches("ended)").count(), ENDED_MAX + 1);
    scene.ok("bash_output", json!({ "id": runs })).await;
    scene.ok("bash_output", json!({ "id": last })).await;
}

#[tokio::test]
async fn unknown_id_without_background_commands_is_explained() {
    let scene = Scene::new();
    for tool in ["bash_output", "kill_shell"] {
        assert_eq!(
            scene.fails(tool, json!({"id": 5})).await,
            "no command in the background is 5: there is none. They end with the daemon, and with the session"
        );
    }
}

#[tokio::test]
async fn command_that_was_not_started_is_not_a_background_command() {
    let mut scene = Scene::new();
    let arguments = json!({"command": "ls", "run_in_background": true});
    scene.context.cwd = scene.top.join("gone");
    for _ in 0..=RUNNING_MAX {
        let text = scene.fails("bash", arguments.clone()).await;
        assert!(text.starts_with("the command was not started: "), "{text}");
    }
    scene.cancel.send_replace(true);
    let outcome = scene.call("bash", arguments).await;
    assert_eq!(outcome.status, CallStatus::Interrupted);
    assert!(scene.numbers.spawned.lock().unwrap().is_empty());
    scene.context.memory = Arc::new(());
    for (tool, arguments) in [
        ("bash", json!({"command": "ls", "run_in_background": true})),
        ("bash_output", json!({"id": 1})),
        ("kill_shell", json!({"id": 1})),
    ] {
        assert_eq!(
            scene.fails(tool, arguments).await,
            "this session keeps no commands in the background"
        );
    }
}

#[tokio::test]
async fn background_command_starts_like_a_foreground_one() {
    let mut scene = Scene::new();
    scene.put("sub/x", "");
    scene.context.cwd = scene.top.join("ws/sub");
    let own = ("OF_THE_SESSION".to_owned(), "yes".to_owned());
    Arc::make_mut(&mut scene.context.env).push(own);
    // All but what the shell itself counts.
    let command = "pwd; env | grep -v '^_=' | sort; readlink /proc/self/fd/0; umask";
    let front = scene.ok("bash", json!({ "command": command })).await;
    let id = start(&scene, command).await;
    ended(&scene, id).await;
    let back = scene.ok("bash_output", json!({ "id": id })).await;
    let output = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(output(&front), output(&back));
    assert!(output(&back).contains("/ws/sub\n") && back.contains("OF_THE_SESSION=yes\n"));
}

#[test]
fn the_preview_says_that_it_runs_in_the_background() {
    let scene = Scene::new();
    let arguments = json!({"command": "make\nmake test", "run_in_background": true});
    assert_eq!(
        scene.preview("bash", arguments).unwrap(),
        Display::Line {
            text: "in the background: make\nmake test".into()
        }
    );
}
