//! No process is left behind, whatever a command does to detach it.

use super::*;

async fn leaves_nothing(script: &str, mark: &str) {
    let done = run(sh(script)).await;
    assert_eq!(code(&done), Some(0));
    assert_eq!(with_argument(mark), Vec::<String>::new());
    assert!(done.exit.unwrap().swept >= 1, "{done:?}");
}

#[tokio::test]
async fn a_background_job_ends_with_its_command() {
    let mark = mark(1);
    leaves_nothing(&format!("sleep {mark} &"), &mark).await;
}

#[tokio::test]
async fn a_new_unix_session_does_not_escape_the_kill() {
    let mark = mark(2);
    leaves_nothing(&format!("setsid sh -c 'sleep {mark} &' & wait"), &mark).await;
}

#[tokio::test]
async fn a_double_fork_does_not_escape_the_kill() {
    let mark = mark(3);
    leaves_nothing(
        &format!("(setsid sh -c '(setsid sleep {mark} >/dev/null 2>&1 &) &' &)"),
        &mark,
    )
    .await;
}

#[tokio::test]
async fn a_stopped_process_is_killed_too() {
    let mark = mark(4);
    leaves_nothing(&format!("sleep {mark} & kill -STOP $!"), &mark).await;
}

#[tokio::test]
async fn several_leftover_processes_are_counted() {
    let mark = mark(5);
    let done = run(sh(&format!("for i in 1 2 3 4 5; do sleep {mark} & done"))).await;
    assert_eq!(
        done.exit,
        Some(ChildExit {
            code: Some(0),
            signal: None,
            swept: 5,
            over_memory: None,
        })
    );
}

#[tokio::test]
async fn a_killed_daemon_leaves_nothing() {
    let mark = mark(6);
    let script = format!(
        "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM; sleep {mark} & wait' & sleep {mark} & wait"
    );
    let mut host = std::process::Command::new(env!("CARGO_BIN_EXE_procs-probe"))
        .args([HOST, "sh", "-c", &script])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("both sleep", || with_argument(&mark).len() == 2).await;
    host.kill().unwrap();
    host.wait().unwrap();
    until("nothing is left", || with_argument(&mark).is_empty()).await;
    until("no shell is left", || with_argument(&script).is_empty()).await;
}

#[tokio::test]
async fn a_killed_helper_kills_its_command() {
    let mark = mark(7);
    let procs = procs();
    let script = format!("sleep {mark} & wait");
    let child = procs.spawn(SESSION, sh(&script)).await.unwrap();
    let helper = holder(child.os_pid);
    until("it sleeps", || !with_argument(&mark).is_empty()).await;
    assert!(kill("-KILL", &helper));
    let exit = finish(child).await.exit.unwrap();
    assert_eq!((exit.code, exit.signal), (None, Some(9)));
    until("nothing is left", || with_argument(&mark).is_empty()).await;
    assert_eq!(procs.count(), 0);
}

#[tokio::test]
async fn a_helper_asked_to_end_kills_its_processes_first() {
    let mark = mark(8);
    let procs = procs();
    let script = format!("trap '' TERM; setsid sleep {mark} & wait; sleep {mark}");
    let child = procs.spawn(SESSION, sh(&script)).await.unwrap();
    let helper = holder(child.os_pid);
    until("it sleeps", || !with_argument(&mark).is_empty()).await;
    assert!(kill("-TERM", &helper));
    let exit = finish(child).await.exit.unwrap();
    assert_eq!((exit.signal, exit.swept), (Some(9), 1));
    assert_eq!(with_argument(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn a_helper_stopped_by_its_command_still_obeys() {
    let procs = procs();
    let mut child = procs
        .spawn(SESSION, sh("kill -STOP $PPID; echo stopped; sleep 1000"))
        .await
        .unwrap();
    line(&mut child).await;
    child.control.stop(0);
    assert_eq!(finish(child).await.exit.unwrap().signal, Some(9));
    assert_eq!(procs.count(), 0);
}

#[tokio::test]
async fn a_command_cannot_survive_by_stopping_its_helper() {
    let procs = procs();
    let script = "helper=$PPID; (setsid sh -c \"while kill -STOP $helper; do :; done\" &) ; echo ready; sleep 1000";
    let mut child = procs.spawn(SESSION, sh(script)).await.unwrap();
    line(&mut child).await;
    let begun = Instant::now();
    child.control.stop(0);
    assert_eq!(finish(child).await.exit.unwrap().signal, Some(9));
    assert!(
        begun.elapsed() < Duration::from_secs(3),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(procs.count(), 0);
}

#[tokio::test]
async fn a_killed_daemon_leaves_no_stopped_helper() {
    let mark = mark(9);
    let script = format!("kill -STOP $PPID; setsid sleep {mark} & sleep {mark}");
    let mut host = std::process::Command::new(env!("CARGO_BIN_EXE_procs-probe"))
        .args([HOST, "sh", "-c", &script])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("both sleep", || with_argument(&mark).len() == 2).await;
    host.kill().unwrap();
    host.wait().unwrap();
    until("nothing is left", || with_argument(&mark).is_empty()).await;
}

#[tokio::test]
async fn a_process_outside_the_tree_that_holds_the_pipe_does_not_delay_the_exit() {
    // A pipe opened by name in `/proc` represents a server that received the descriptor.
    let procs = procs();
    let child = procs.spawn(SESSION, sh("sleep 1000")).await.unwrap();
    let pipe = std::fs::OpenOptions::new()
        .write(true)
        .open(format!("/proc/{}/fd/1", child.os_pid))
        .unwrap();
    child.control.stop(0);
    assert_eq!(finish(child).await.exit.unwrap().signal, Some(9));
    drop(pipe);
}
