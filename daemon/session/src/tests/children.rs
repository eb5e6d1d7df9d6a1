//! Commands in the background: they end with their session, whatever ends it.

use proto::params::session::{Signal, Until};
use proto::record::{ChildExited, ChildKind, ChildSpawned};
use proto::{Body, CallId, Pid};

use super::house::{House, Scripted, begin, until};

const GRACE_MS: u64 = 2_000;

/// A session at rest with a command in the background.
async fn with_a_child() -> House {
    let mut house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    (&mut house.born).await.unwrap().unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
    house.shells.spawned(ChildSpawned {
        pid: Pid(7),
        kind: ChildKind::Shell,
        call: CallId("c".into()),
        command: "sleep 1000".into(),
    });
    until("the child is shown", || {
        house.handle.summary().children == 1
    })
    .await;
    house
}

fn gone() -> ChildExited {
    ChildExited {
        pid: Pid(7),
        code: None,
        signal: Some(15),
        cause: None,
    }
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
    }
    let house = with_a_child().await;
    house.handle.close().await.unwrap();
    assert_eq!(stopped(&house), [GRACE_MS]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_leaves_it_alone() {
    let house = with_a_child().await;
    let sent = house.handle.signal(Signal::Int, None, "ann".into()).await;
    assert!(!sent.unwrap().delivered);
    assert_eq!(stopped(&house), [0_u64; 0]);
    assert_eq!(house.handle.summary().children, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_daemon_is_its_end_and_the_log_says_so() {
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
}

#[tokio::test(start_paused = true)]
async fn a_child_that_does_not_end_does_not_keep_the_daemon_and_the_next_life_writes_its_end() {
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
