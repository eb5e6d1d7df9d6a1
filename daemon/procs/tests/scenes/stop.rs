//! Stopping commands.

use super::*;

#[tokio::test]
async fn a_stop_signals_the_whole_tree_at_once() {
    let procs = procs();
    let script = "trap 'wait; echo outer; exit 4' TERM; setsid sh -c \"trap 'echo inner; exit' TERM; echo ready; while :; do sleep 0.01; done\" & wait";
    let mut child = procs.spawn(SESSION, sh(script)).await.unwrap();
    line(&mut child).await;
    child.control.stop(20_000);
    let done = finish(child).await;
    assert_eq!(done.out, "inner\nouter\n");
    assert_eq!(
        done.exit,
        Some(ChildExit {
            code: Some(4),
            signal: None,
            swept: 0,
            over_memory: None,
        })
    );
}

#[tokio::test]
async fn a_command_that_ignores_the_stop_is_killed_after_the_grace_period() {
    let mark = mark(10);
    let procs = procs();
    let script =
        format!("trap '' TERM; setsid sleep {mark} & echo ready; while :; do sleep 0.05; done");
    let mut child = procs.spawn(SESSION, sh(&script)).await.unwrap();
    line(&mut child).await;
    until("it sleeps", || !with_argument(&mark).is_empty()).await;
    let begun = Instant::now();
    child.control.stop(2000);
    let exit = finish(child).await.exit.unwrap();
    let took = begun.elapsed();
    assert_eq!(exit.signal, Some(9));
    assert!(exit.swept >= 1);
    assert!(
        (Duration::from_millis(2000)..Duration::from_millis(3000)).contains(&took),
        "{took:?}"
    );
    assert_eq!(with_argument(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn a_second_stop_may_only_be_sooner() {
    let procs = procs();
    let mut child = procs
        .spawn(
            SESSION,
            sh("trap '' TERM; echo ready; while :; do sleep 0.05; done"),
        )
        .await
        .unwrap();
    line(&mut child).await;
    let begun = Instant::now();
    child.control.stop(60_000);
    child.control.stop(u64::MAX);
    child.control.stop(0);
    assert_eq!(finish(child).await.exit.unwrap().signal, Some(9));
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_stopped_command_receives_the_term_signal() {
    let procs = procs();
    let mut child = procs
        .spawn(
            SESSION,
            sh("trap 'exit 5' TERM; echo ready; kill -STOP $$; sleep 1000"),
        )
        .await
        .unwrap();
    line(&mut child).await;
    let stat = format!("/proc/{}/stat", child.os_pid);
    until("it has stopped", || {
        std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "))
    })
    .await;
    child.control.stop(20_000);
    assert_eq!(code(&finish(child).await), Some(5));
}

#[tokio::test]
async fn a_burst_of_forks_does_not_outrun_the_kill() {
    let mark = mark(11);
    // Four loops of 400, and none starts another: if the kill fails, the machine hardly notices.
    let bomb = format!(
        "trap '' TERM; bomb() {{ i=0; while [ $i -lt 400 ]; do i=$((i+1)); (sleep {mark} &) ; done; }}; \
         setsid sh -c 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); (setsid sleep {mark} &); done' & \
         (bomb &) ; (bomb &) ; echo ready; bomb; sleep {mark}"
    );
    let procs = procs();
    let mut child = procs.spawn(SESSION, sh(&bomb)).await.unwrap();
    line(&mut child).await;
    until("the fork bomb has grown", || {
        with_argument(&mark).len() > 150
    })
    .await;
    let begun = Instant::now();
    child.control.stop(0);
    let done = finish(child).await;
    let took = begun.elapsed();
    assert_eq!(with_argument(&mark), Vec::<String>::new());
    assert!(done.exit.unwrap().swept > 100, "{done:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[tokio::test]
async fn a_child_is_killed_when_its_handle_is_dropped() {
    let mark = mark(12);
    let procs = procs();
    let child = procs
        .spawn(
            SESSION,
            sh(&format!(
                "trap '' TERM; setsid sleep {mark} & wait; sleep {mark}"
            )),
        )
        .await
        .unwrap();
    until("it sleeps", || !with_argument(&mark).is_empty()).await;
    drop(child);
    tokio::time::timeout(PATIENCE, procs.session_gone(SESSION))
        .await
        .expect("it goes");
    assert_eq!(with_argument(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn a_flooding_child_is_killed_when_its_handle_is_dropped() {
    let procs = procs();
    let mut child = procs
        .spawn(SESSION, command(&["cat", "/dev/zero"]))
        .await
        .unwrap();
    assert!(matches!(
        child.events.next().await,
        Some(ChildEvent::Stdout(_))
    ));
    drop(child.events);
    tokio::time::timeout(PATIENCE, procs.session_gone(SESSION))
        .await
        .expect("it goes");
}

#[tokio::test]
async fn a_command_completes_after_its_control_is_dropped() {
    let procs = procs();
    let Child {
        os_pid,
        events,
        control,
    } = procs.spawn(SESSION, sh("echo on; exit 6")).await.unwrap();
    drop(control);
    let nothing = Box::new(NoControl);
    let done = finish(Child {
        os_pid,
        events,
        control: nothing,
    })
    .await;
    assert_eq!((done.out.as_str(), code(&done)), ("on\n", Some(6)));
}

struct NoControl;

impl contract::spawn::ChildControl for NoControl {
    fn stop(&self, _grace_ms: u64) {}
}
