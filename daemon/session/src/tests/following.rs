//! Subscribers: slow ones are fed from the log, and get the same as fast ones.

use std::time::Duration;

use proto::Seq;
use proto::params::session::{AttachParams, Signal, Until};
use serde_json::Value;

use super::fixtures::prompt;
use super::house::{begin, until, watching};
use crate::{Attach, Follow, Following};

fn attach(ephemeral: bool) -> Attach {
    Attach {
        name: "watcher".into(),
        role: proto::hello::Role::Watch,
        interactive: false,
        params: AttachParams {
            session: String::new(),
            subscription: "s".into(),
            after_seq: Some(Seq(0)),
            epoch: Some(1),
            ephemeral,
            backlog: None,
        },
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_reads_nothing_for_long_misses_nothing() {
    let house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    house.handle.wait(Until::Turn).await.unwrap();
    let (_, mut slow) = house.handle.attach(attach(true)).await.unwrap();
    let (_, mut fast) = house.handle.attach(attach(false)).await.unwrap();
    // More events than a queue holds: each prompt is at least five records.
    for number in 0..300 {
        let params = prompt(&format!("prompt {number}"));
        house.handle.prompt(params, "test".into()).await.unwrap();
    }
    house.handle.wait(Until::Turn).await.unwrap();
    let end = house.handle.summary().seq;
    assert!(end.0 > 1_200, "{end}");
    let reported = follow_to(&mut fast, end).await;
    assert!(
        reported.behind.is_empty(),
        "only followers of live events are notified"
    );
    let reported = follow_to(&mut slow, end).await;
    // It was fed from the log from the beginning, and never live before.
    assert!(reported.behind.is_empty() && reported.syncs == 1);
}

/// The notices that a follower got on its way.
#[derive(Default)]
struct Notices {
    /// By how many records it lagged, at each notice.
    behind: Vec<u64>,
    syncs: u64,
}

/// Follows until it is live after this record: every durable event once, in order.
async fn follow_to(follow: &mut Follow, end: Seq) -> Notices {
    follow_on(follow, Seq(0), end).await
}

async fn follow_on(follow: &mut Follow, from: Seq, end: Seq) -> Notices {
    let (mut last, mut reported) = (from, Notices::default());
    let mut live = from > Seq(0);
    while last < end || !live {
        let next = tokio::time::timeout(Duration::from_secs(30), follow.next()).await;
        let Following::Event { seq, text } = next.expect("no event came") else {
            panic!("the subscription ended")
        };
        if let Some(seq) = seq {
            assert_eq!(seq, last.next(), "every durable event once, in order");
            last = seq;
            continue;
        }
        let event: Value = serde_json::from_str(&text).unwrap();
        if let Some(behind) = event["data"]["behind"].as_u64() {
            assert_eq!(event["kind"], "status");
            assert!(
                behind >= 1 && last.0 + behind <= end.0,
                "{behind} behind {last}"
            );
            reported.behind.push(behind);
            live = false;
        }
        if event["kind"] == "sync" {
            assert_eq!(
                event["data"]["seq"], last.0,
                "all that was durable came before"
            );
            reported.syncs += 1;
            live = true;
        }
    }
    reported
}

#[tokio::test(flavor = "multi_thread")]
async fn each_time_that_a_follower_falls_behind_it_is_told_and_synced_again() {
    let house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    house.handle.wait(Until::Turn).await.unwrap();
    let (_, mut slow) = house.handle.attach(attach(true)).await.unwrap();
    let mut reported = follow_to(&mut slow, house.handle.summary().seq).await;
    assert_eq!((reported.behind.len(), reported.syncs), (0, 1));
    for round in 1..=2 {
        let from = house.handle.summary().seq;
        for number in 0..300 {
            let params = prompt(&format!("prompt {number}"));
            house.handle.prompt(params, "test".into()).await.unwrap();
        }
        house.handle.wait(Until::Turn).await.unwrap();
        let more = follow_on(&mut slow, from, house.handle.summary().seq).await;
        reported.behind.extend(more.behind);
        reported.syncs += more.syncs;
        assert_eq!(reported.behind.len(), round, "{:?}", reported.behind);
        assert_eq!(reported.syncs, round as u64 + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn queue_overflow_by_bytes_makes_a_follower_resync() {
    let house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    house.handle.wait(Until::Turn).await.unwrap();
    let pause = house.handle.signal(Signal::Pause, None, "test".into());
    assert!(pause.await.unwrap().delivered);
    let from = house.handle.summary().seq;
    let (_, mut slow) = house.handle.attach(attach(true)).await.unwrap();
    follow_to(&mut slow, from).await;
    let words = "word ".repeat(200 * 1024);
    for _ in 0..9 {
        house
            .handle
            .prompt(prompt(&words), "test".into())
            .await
            .unwrap();
    }
    let reported = follow_on(&mut slow, from, house.handle.summary().seq).await;
    assert_eq!(reported.behind, [1], "the ninth did not fit into 8 MiB");
    assert_eq!(reported.syncs, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn cursor_of_another_log_or_past_its_end_is_refused() {
    let mut house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    let mut foreign = attach(false);
    foreign.params.epoch = Some(2);
    let Err(refusal) = house.handle.attach(foreign).await else {
        panic!("attached with a foreign cursor")
    };
    assert_eq!(refusal.name, proto::ErrorName::CursorStale);
    let mut beyond = attach(false);
    beyond.params.after_seq = Some(Seq(9_999));
    let Err(refusal) = house.handle.attach(beyond).await else {
        panic!("attached after the end")
    };
    assert_eq!(refusal.name, proto::ErrorName::CursorStale);
}

#[tokio::test]
async fn client_that_disconnects_while_attaching_is_detached() {
    let mut house = begin("{\"text\":\"one\"}", "first");
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    let mut attaching = Box::pin(house.handle.attach(watching(true)));
    assert!(futures::poll!(&mut attaching).is_pending());
    until("it is let in", || house.handle.summary().attached == 1).await;
    // It never heard of it.
    drop(attaching);
    until("it is gone", || house.handle.summary().attached == 0).await;
}
