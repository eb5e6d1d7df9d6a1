//! Commands in the background: they end with their session, whatever ends it.

use proto::params::session::{Signal, Until};
use proto::record::ChildExited;
use proto::{Body, Pid};

use super::fixtures::prompt;
use super::house::{House, Scripted, a_child, begin, gone, until};

const GRACE_MS: u64 = 2_000;

/// A session at rest with a command in the background.
async fn with_a_child() -> House {
    let mut house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
    house.shells.spawned(a_child());
    until("the child is shown", || {
        house.handle.summary().children == 1
    })
    .await;
    house
}

/// Why it ended, as the log has it.
fn cause(house: &House) -> Option<String> {
    let mut ends = house
        .records()
        .into_iter()
        .filter_map(|record| match record.body {
            Body::ChildExited(child) => Some(child.cause),
            _ => None,
        });
    ends.next_back().expect("its end is in the log")
}

fn stopped(house: &House) -> Vec<u64> {
    house.script.stops.0.lock().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_stops_what_runs_in_the_background_and_kill_gives_it_no_time() {
    for (signal, grace) in [(Signal::Term, GRACE_MS), (Signal::Kill, 0)] {
        let house = with_a_child().await;
        let sent = house.handle.signal(signal, None, "ann".into()).await;
        assert!(sent.unwrap().delivered);
        until("it is stopped", || !stopped(&house).is_empty()).await;
        assert_eq!(stopped(&house), [grace], "{signal:?}");
        house.shells.exited(gone());
        until("its end is shown", || house.handle.summary().children == 0).await;
        assert_eq!(cause(&house).as_deref(), Some("the session ended"));
    }
    let house = with_a_child().await;
    house.handle.close().await.unwrap();
    assert_eq!(stopped(&house), [GRACE_MS]);
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupt_does_not_stop_a_background_command() {
    let house = with_a_child().await;
    let sent = house.handle.signal(Signal::Int, None, "ann".into()).await;
    assert!(!sent.unwrap().delivered);
    assert_eq!(stopped(&house), [0_u64; 0]);
    assert_eq!(house.handle.summary().children, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn daemon_shutdown_stops_a_background_command_and_logs_it() {
    let mut house = with_a_child().await;
    let (handle, shells) = (house.handle.clone(), std::sync::Arc::clone(&house.shells));
    let leaving = tokio::spawn(async move { handle.shutdown().await });
    until("it is stopped", || !stopped(&house).is_empty()).await;
    assert!(!leaving.is_finished(), "the session ended before its child");
    shells.exited(gone());
    leaving.await.unwrap();
    house.shutdown().await;
    assert!(matches!(
        house.records().last().unwrap().body,
        Body::ChildExited(_)
    ));
    assert_eq!(cause(&house).as_deref(), Some("the daemon stopped"));
}

#[tokio::test(flavor = "multi_thread")]
async fn log_names_who_killed_a_background_command() {
    for (killed, own, reported) in [
        (true, None, Some("killed by ann")),
        (true, Some("kill_shell"), Some("kill_shell")),
        (false, None, None),
    ] {
        let house = with_a_child().await;
        if killed {
            house
                .handle
                .child_killed(Pid(7), "ann".into())
                .await
                .unwrap();
        }
        house.shells.exited(ChildExited {
            cause: own.map(str::to_owned),
            ..gone()
        });
        until("its end is shown", || house.handle.summary().children == 0).await;
        assert_eq!(cause(&house).as_deref(), reported);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn second_shutdown_waits_for_the_first() {
    let house = with_a_child().await;
    let leaving = [(); 2].map(|()| {
        let handle = house.handle.clone();
        tokio::spawn(async move { handle.shutdown().await })
    });
    until("the session takes nothing more", || {
        !stopped(&house).is_empty()
    })
    .await;
    let refused = house.handle.prompt(prompt("more"), "ann".into()).await;
    assert_eq!(refused.unwrap_err().name, proto::ErrorName::ShuttingDown);
    assert!(!leaving.iter().any(tokio::task::JoinHandle::is_finished));
    assert_eq!(stopped(&house), [GRACE_MS]);
    house.shells.exited(gone());
    for left in leaving {
        left.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn shutdown_ignores_a_hanging_command_and_the_next_start_logs_its_exit() {
    let mut house = with_a_child().await;
    house.shutdown().await;
    assert_eq!(stopped(&house), [GRACE_MS]);
    house.load(Scripted::new(""), None).await;
    until("its end is in the log", || {
        let records = house.records();
        records
            .iter()
            .any(|record| matches!(&record.body, Body::ChildExited(child) if child.pid == Pid(7)))
    })
    .await;
    assert_eq!(house.handle.summary().children, 0);
    assert_eq!(stopped(&house), [0], "nothing of an earlier life runs on");
}
