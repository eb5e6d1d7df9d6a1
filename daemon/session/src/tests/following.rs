//! Subscribers: slow ones are fed from the log, and get the same as fast ones.

use proto::Seq;
use proto::params::session::{AttachParams, PromptParams, Until, When};

use super::house::begin;
use crate::{Attach, Following};

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
        let params = PromptParams {
            session: String::new(),
            text: format!("prompt {number}"),
            when: When::Queue,
            credentials: Default::default(),
            request_id: None,
        };
        house.handle.prompt(params, "test".into()).await.unwrap();
    }
    house.handle.wait(Until::Turn).await.unwrap();
    let end = house.handle.summary().seq;
    assert!(end.0 > 1_200, "{end}");
    for follow in [&mut fast, &mut slow] {
        let mut last = Seq(0);
        while last < end {
            let Following::Event { seq, .. } = follow.next().await else {
                panic!("the subscription ended")
            };
            if let Some(seq) = seq {
                assert_eq!(seq, last.next());
                last = seq;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_of_another_log_is_told_so() {
    let mut house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    (&mut house.born).await.unwrap().unwrap();
    let mut foreign = attach(false);
    foreign.params.epoch = Some(2);
    let Err(refusal) = house.handle.attach(foreign).await else {
        panic!("attached with a foreign cursor")
    };
    assert_eq!(refusal.name, proto::ErrorName::CursorStale);
    let mut beyond = attach(false);
    beyond.params.after_seq = Some(Seq(9_999));
    let Err(refusal) = house.handle.attach(beyond).await else {
        panic!("attached behind the end")
    };
    assert_eq!(refusal.name, proto::ErrorName::CursorStale);
}
