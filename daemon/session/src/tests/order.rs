//! Durable, then acknowledged, then published, then started: proved with a disk that is held.

use std::sync::atomic::Ordering;

use proto::params::session::{AttachParams, Signal, Until};
use proto::record::SessionSet;
use proto::state::Kind;
use proto::{ErrorName, Seq, SessionOptions};

use super::house::{begin, until};
use super::world::World;
use crate::{Attach, Following};

const MARKS: &str = r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}"#;

fn attach_all() -> Attach {
    Attach {
        name: "watcher".into(),
        role: proto::hello::Role::Watch,
        interactive: false,
        params: AttachParams {
            session: String::new(),
            subscription: "s".into(),
            after_seq: Some(Seq(0)),
            epoch: None,
            ephemeral: false,
            backlog: None,
        },
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_acknowledged_published_or_started_before_it_is_on_disk() {
    let mut house = begin(MARKS, "mark it");
    until("the first sync begins", || house.gate.begun() == 1).await;
    assert!(
        house.created_on_disk.try_recv().is_err(),
        "acknowledged before it was on disk"
    );
    let (attached, mut follow) = house.handle.attach(attach_all()).await.unwrap();
    assert_eq!(
        attached.seq,
        Seq(0),
        "a record was seen that is not on disk"
    );

    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
    assert_eq!(*house.runs.lock().unwrap(), ["one"]);

    let mut last = Seq(0);
    let end = house.handle.summary().seq;
    while last < end {
        let Following::Event { seq, .. } = follow.next().await else {
            panic!("the subscription ended")
        };
        if let Some(seq) = seq {
            assert_eq!(seq, last.next(), "events come once, in order");
            last = seq;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_acknowledged_is_listed_while_more_is_written() {
    let mut house = begin(MARKS, "mark it");
    until("the first sync begins", || house.gate.begun() == 1).await;
    let mut naming = Box::pin(house.handle.set(SessionSet {
        options: SessionOptions {
            name: Some("later".into()),
            ..SessionOptions::default()
        },
        ..SessionSet::default()
    }));
    assert!(futures::poll!(&mut naming).is_pending());
    // An answer to what was asked later: the name is a record now, which waits for the next sync.
    house.handle.attach(attach_all()).await.unwrap();
    assert_eq!(house.handle.summary().seq, Seq(0));

    house.gate.let_one();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    let listed = house.handle.summary();
    assert!(listed.seq > Seq(0), "created, but not in a list");
    assert_eq!(listed.name, None, "a record was seen that is not on disk");
    assert!(futures::poll!(&mut naming).is_pending());

    house.gate.let_one();
    naming.await.unwrap();
    assert_eq!(house.handle.summary().name.as_deref(), Some("later"));
    house.gate.open();
    house.handle.wait(Until::Turn).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_changes_things_waits_for_the_disk() {
    let mut house = begin(MARKS, "mark it");
    until("the first sync begins", || house.gate.begun() == 1).await;
    // The request to the model does not wait: its answer and the start of the call gather after the held batch.
    // One sync is let through; the next one, which holds the start of the call, is held again.
    let gate = std::sync::Arc::clone(&house.gate);
    gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    gate.close();
    until("a later sync is held, or the call has run", || {
        gate.begun() >= 2 || !house.runs.lock().unwrap().is_empty()
    })
    .await;
    let started = house.runs.lock().unwrap().len();
    gate.open();
    house.handle.wait(Until::Turn).await.unwrap();
    assert_eq!(house.runs.lock().unwrap().len(), 1, "the call ran once");
    assert!(started <= 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fails_makes_the_session_read_only() {
    let mut house = begin(MARKS, "mark it");
    until("the first sync begins", || house.gate.begun() == 1).await;
    let (_, mut follow) = house.handle.attach(attach_all()).await.unwrap();
    house.gate.break_down();
    let refusal = (&mut house.created_on_disk).await.unwrap().unwrap_err();
    assert_eq!(refusal.name, ErrorName::Storage);
    assert!(
        refusal.message.contains("the disk is gone"),
        "{}",
        refusal.message
    );
    assert!(
        house.runs.lock().unwrap().is_empty(),
        "a call was started that cannot be known after a crash"
    );
    let params = proto::params::session::PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: String::new(),
        text: "again".into(),
        when: proto::params::session::When::Queue,
        credentials: Default::default(),
        env: Default::default(),
        request_id: None,
    };
    let again = house
        .handle
        .prompt(params, "test".into())
        .await
        .unwrap_err();
    assert_eq!(again.name, ErrorName::Storage);
    until("the reason is shown", || {
        house.handle.summary().read_only.is_some()
    })
    .await;
    // The turn that was to begin never was: there is nothing to interrupt.
    let interrupt = house.handle.signal(Signal::Int, None, "test".into());
    assert!(!interrupt.await.unwrap().delivered);
    // Followers are notified, and not left to wait for events that never come.
    loop {
        match follow.next().await {
            Following::Event { .. } => {}
            Following::Ended(Some(failure)) => {
                assert_eq!(failure.name, ErrorName::Storage);
                break;
            }
            Following::Ended(None) => panic!("it ended without a reason"),
        }
    }
    // It can still be read by who comes now.
    house.handle.attach(attach_all()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn session_is_found_by_its_number_before_its_first_request_goes_out() {
    let world = World::new(MARKS);
    world.disk.sync_hangs.store(true, Ordering::SeqCst);
    let params = world.create_params("mark it", Kind::Headless);
    let session = params.session;
    let supervisor = world.supervisor.clone();
    let client = crate::Client {
        name: "test".into(),
    };
    let creating = tokio::spawn(async move {
        let profile = crate::ProfileChoice::default();
        supervisor.create(params, &client, &profile).await
    });
    let sent = world.outside.sent.clone();
    until("the first request", || !sent.lock().unwrap().is_empty()).await;
    assert_eq!(world.supervisor.find_id("1").await.unwrap(), session);
    let supervisor = world.supervisor.clone();
    let finding = tokio::spawn(async move { supervisor.find("1").await });
    world.disk.sync_hangs.store(false, Ordering::SeqCst);
    creating.await.unwrap().unwrap();
    let handle = finding.await.unwrap().unwrap();
    assert_eq!(handle.id(), session);
}
