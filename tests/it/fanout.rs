//! Many clients on one session: all see the same, and none waits for another.

use std::time::Duration;

use proto::hello::Role;
use proto::methods::{SessionCreate, SessionWait};
use proto::params::session::{Until, WaitParams};
use serde_json::{Value, json};
use testkit::Script;
use tests::follow::{durable, from_the_start, to_rest};
use tests::{House, Raw, soon, until};

#[tokio::test]
async fn three_clients_see_the_same_events_in_the_same_order() {
    let mut script = Script::new();
    for number in 0..10 {
        script = script.runs(&format!("echo {number}"));
    }
    let house = House::playing(
        &script
            .says("Some words at the end.")
            .in_pieces(4, Duration::from_millis(1)),
    );
    house.daemon();
    let driver = house.client("driver", Role::Drive).await;
    let created = driver
        .call::<SessionCreate>(&house.create("count"))
        .await
        .expect("create");
    let mut follows = Vec::new();
    for (name, role) in [
        ("one", Role::Drive),
        ("two", Role::Approve),
        ("three", Role::Watch),
    ] {
        let client = house.client(name, role).await;
        follows.push(from_the_start(&client, created.pid).await);
    }
    let mut seen = Vec::new();
    for follow in &mut follows {
        seen.push(durable(&to_rest(follow).await));
    }
    let log = house.log(created.pid);
    let expected: Vec<_> = log
        .check()
        .lines
        .iter()
        .map(|line| (line.seq.0, line.kind.clone(), line.data.clone()))
        .collect();
    for seen in seen {
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn attached_clients_are_notified_of_attach_and_detach() {
    let house = House::playing(&Script::new().says("Hello."));
    house.daemon();
    let one = house.client("one", Role::Drive).await;
    let created = one
        .call::<SessionCreate>(&house.create("hello"))
        .await
        .expect("create");
    let mut follow = from_the_start(&one, created.pid).await;
    to_rest(&mut follow).await;
    let two = house.client("two", Role::Watch).await;
    let other = from_the_start(&two, created.pid).await;
    let joined = tests::follow::to(&mut follow, "two to join", |event| {
        event.kind == "client.joined"
    })
    .await;
    let data: Value =
        serde_json::from_str(joined.last().expect("an event").data.get()).expect("JSON");
    assert_eq!(data, json!({"name": "two", "role": "watch"}));
    drop(other);
    drop(two);
    let left = tests::follow::to(&mut follow, "two to leave", |event| {
        event.kind == "client.left"
    })
    .await;
    let data: Value =
        serde_json::from_str(left.last().expect("an event").data.get()).expect("JSON");
    assert_eq!(data["name"], "two");
}

/// A turn of more than 2,000 records: rounds of many small reads, each another one: the same over and over is a loop.
fn flood() -> Script {
    let read = |limit: usize| ("read_file", json!({"path": "page.txt", "limit": limit}));
    let reads: Vec<(&str, Value)> = (1..=52).map(read).collect();
    (0..10)
        .fold(Script::new(), |script, _| script.calls_all(&reads))
        .says("All is read.")
}

#[tokio::test]
async fn a_client_that_reads_nothing_delays_nobody_and_catches_up_exactly() {
    let house = House::playing(&flood());
    let page: String = (0..60)
        .map(|line| {
            format!("line {line} of a page that fills the queues of whoever does not read\n")
        })
        .collect();
    house.files(&format!("//- page.txt\n{page}"));
    house.daemon();
    let client = house.client("quick", Role::Drive).await;
    let mut params = house.create("");
    params.prompt = None;
    let created = client.call::<SessionCreate>(&params).await.expect("create");

    let mut stuck = house.raw_as(Role::Watch);
    let attach = json!({"session": created.pid.to_string(), "subscription": "stuck", "after_seq": 0, "ephemeral": true});
    stuck.call("session.attach", &attach).expect("attach");
    let mut follow = from_the_start(&client, created.pid).await;
    let prompt = json!({"session": created.pid.to_string(), "text": "read"});
    client
        .call_raw("session.prompt", &prompt)
        .await
        .expect("prompt");
    // The quick one and the waiting one are done although not a byte was read on the other connection.
    let events = to_rest(&mut follow).await;
    let wait = WaitParams {
        session: created.pid.to_string(),
        until: Until::Turn,
        timeout_ms: None,
    };
    let waited = soon("the wait", client.call::<SessionWait>(&wait))
        .await
        .expect("wait");
    assert_eq!(waited.exit_code, 0);
    let expected = durable(&events);
    assert!(expected.len() > 2_000, "{} records", expected.len());

    // Now the other one reads.
    let caught_up = read_to(&mut stuck, expected.last().expect("a record").0);
    assert_eq!(caught_up.len(), expected.len());
    for (got, (seq, kind, data)) in caught_up.iter().zip(&expected) {
        assert_eq!((&got["seq"], &got["kind"]), (&json!(seq), &json!(kind)));
        let data: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(got["data"], data, "record {seq}");
    }
    house.log(created.pid).check();
}

/// The durable events of a raw subscription, up to this number.
fn read_to(raw: &mut Raw, last: u64) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let event = raw.event()["event"].take();
        let seq = event["seq"].as_u64();
        if seq.is_some() {
            events.push(event);
        }
        if seq == Some(last) {
            return events;
        }
    }
}

#[tokio::test]
async fn thirty_sessions_at_once_all_come_to_their_ends() {
    let house = House::playing(
        &Script::new()
            .runs("echo one")
            .says("Done, in several pieces.")
            .in_pieces(5, Duration::from_millis(1)),
    );
    house.daemon();
    let client = house.client("many", Role::Drive).await;
    let mut created = Vec::new();
    for number in 0..30 {
        created.push(
            client
                .call::<SessionCreate>(&house.create(&format!("prompt {number}")))
                .await
                .expect("create"),
        );
    }
    let waits = created.iter().map(|created| {
        let params = WaitParams {
            session: created.pid.to_string(),
            until: Until::Turn,
            timeout_ms: None,
        };
        let client = client.clone();
        async move {
            client
                .call::<SessionWait>(&params)
                .await
                .expect("wait")
                .exit_code
        }
    });
    let codes = soon("thirty turns", futures::future::join_all(waits)).await;
    assert!(codes.iter().all(|code| *code == 0), "{codes:?}");
    until("all logs to be whole", || {
        house
            .logs()
            .iter()
            .all(|log| log.kinds().last() == Some(&"session.state"))
            .then_some(())
    });
    for log in house.logs() {
        log.check();
        assert_eq!(log.count("turn.ended"), 1);
    }
}
