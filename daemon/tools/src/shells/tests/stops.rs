//! What ends a command, and what does not; how many there may be.

use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::*;

/// LockedFile open by a whole tree of processes: its end is the end of the last of them.
struct LockedFile(std::fs::File);

impl LockedFile {
    /// A pipe in the workspace; a command says `exec 9>NAME; echo up >&9` to hold it.
    fn new(scene: &Scene, name: &str) -> Self {
        let path = scene.top.join("ws").join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let flags = rustix::fs::OFlags::NONBLOCK.bits();
        let pipe = std::fs::File::options()
            .read(true)
            .custom_flags(flags.try_into().unwrap())
            .open(&path);
        Self(pipe.unwrap())
    }

    /// Reads what there is: bytes, `Some(0)` when nobody holds it, `None` when somebody does and says nothing.
    fn read(&mut self) -> Option<usize> {
        match self.0.read(&mut [0; 16]) {
            Ok(count) => Some(count),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => None,
            Err(error) => panic!("{error}"),
        }
    }

    async fn up(&mut self) {
        until("the command runs", || {
            self.read().is_some_and(|count| count > 0)
        })
        .await;
    }

    async fn gone(&mut self) {
        until("the whole tree is gone", || self.read() == Some(0)).await;
    }
}

#[tokio::test]
async fn background_command_outlives_its_turn_and_is_killed_with_the_session() {
    let scene = Scene::new();
    let mut held = LockedFile::new(&scene, "held");
    // Deaf to TERM, and not alone.
    start(
        &scene,
        "exec 9>held; trap '' TERM; sleep 999 & echo up >&9; while :; do sleep 0.1; done",
    )
    .await;
    held.up().await;
    // The turn that started it is over.
    scene.cancel.send_replace(true);
    assert_eq!(
        held.read(),
        None,
        "a stop of the turn reached the background"
    );
    let Scene {
        memory,
        context,
        numbers,
        ..
    } = scene;
    drop((memory, context));
    held.gone().await;
    until("the end is reported", || {
        !numbers.exited.lock().unwrap().is_empty()
    })
    .await;
    let exited = numbers.exited.lock().unwrap();
    assert_eq!(
        (exited[0].signal, exited[0].cause.as_deref()),
        (Some(9), Some("the session ended"))
    );
}

#[tokio::test]
async fn an_unreported_file_is_deleted_with_the_memory() {
    let scene = Scene::new();
    let id = start(&scene, "seq 5000").await;
    ended(&scene, id).await;
    let dir = scene.context.spill_dir.clone();
    let files = |dir: &Path| std::fs::read_dir(dir).unwrap().count();
    assert_eq!(files(&dir), 1);
    let Scene {
        memory, context, ..
    } = scene;
    drop((memory, context));
    until("the file is gone", || files(&dir) == 0).await;
}

#[tokio::test]
async fn a_tree_that_ignores_term_is_killed() {
    let scene = Scene::new();
    let mut held = LockedFile::new(&scene, "held");
    let id = start(
        &scene,
        "exec 9>held; trap '' TERM; (while :; do sleep 0.1; done) & echo up >&9; echo last; while :; do sleep 0.1; done",
    )
    .await;
    held.up().await;
    let before = Instant::now();
    let text = scene.ok("kill_shell", json!({ "id": id })).await;
    assert!(
        before.elapsed() < Duration::from_secs(5),
        "{:?}",
        before.elapsed()
    );
    assert!(
        text.starts_with("stopped by `kill_shell`; ended by signal 9 (KILL), ")
            && text.ends_with("\nlast\n"),
        "{text}"
    );
    held.gone().await;
    assert_eq!(
        scene.numbers.exited.lock().unwrap()[0].cause.as_deref(),
        Some("kill_shell")
    );
    let again = scene.ok("kill_shell", json!({ "id": id })).await;
    assert!(
        again.starts_with("it had ended before: stopped by `kill_shell`; ")
            && again.ends_with("\n(nothing new)\n"),
        "{again}"
    );
}

#[tokio::test]
async fn a_stop_of_the_call_that_kills_does_not_wait() {
    let scene = Scene::new();
    let mut held = LockedFile::new(&scene, "held");
    let id = start(
        &scene,
        "exec 9>held; trap '' TERM; echo up >&9; while :; do sleep 0.1; done",
    )
    .await;
    held.up().await;
    scene.cancel.send_replace(true);
    let outcome = scene.call("kill_shell", json!({ "id": id })).await;
    assert_eq!(outcome.status, CallStatus::Interrupted, "{}", outcome.text);
    held.gone().await;
}

#[tokio::test]
async fn no_more_than_sixteen_run_at_once() {
    let scene = Scene::new();
    for _ in 0..RUNNING_MAX {
        start(&scene, "sleep 999").await;
    }
    let more = json!({"command": "touch never", "run_in_background": true});
    let text = scene.fails("bash", more).await;
    assert!(
        text.starts_with("16 commands run in the background already")
            && text.contains("1 (`sleep 999`, runs), 2 (`sleep 999`, runs)")
            && text.contains("16 (`sleep 999`, runs). Stop one"),
        "{text}"
    );
    assert_eq!(scene.numbers.spawned.lock().unwrap().len(), RUNNING_MAX);
    // In the foreground there is room.
    scene.ok("bash", json!({"command": "true"})).await;
    scene.ok("kill_shell", json!({"id": 7})).await;
    start(&scene, "sleep 999").await;
    assert!(!scene.top.join("ws/never").exists());
}

#[tokio::test]
async fn limit_applies_only_if_the_call_names_one() {
    let scene = Scene::new();
    let id = started(
        &scene,
        json!({"command": "sleep 999", "run_in_background": true, "timeout_ms": 100}),
    )
    .await;
    ended(&scene, id).await;
    let text = scene.ok("bash_output", json!({ "id": id })).await;
    assert!(
        text.starts_with("stopped at its time limit of 0.1 s; ended by signal 15 (TERM), "),
        "{text}"
    );
    let tools = crate::BuiltIn::default().set(crate::Options {
        bash_timeout_ms: 50,
    });
    let bash = tools.get("bash").unwrap();
    let arguments = json!({"command": "sleep 0.5; echo done", "run_in_background": true});
    let arguments = bash.parse(&object(arguments)).unwrap();
    bash.run(arguments, scene.context.clone()).await;
    ended(&scene, id + 1).await;
    let text = scene.ok("bash_output", json!({ "id": id + 1 })).await;
    assert!(
        text.starts_with("exit code 0, ") && text.ends_with("\ndone\n"),
        "{text}"
    );
}
