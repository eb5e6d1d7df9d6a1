//! Ten thousand events, three clients whose connections break at any byte, a daemon that is killed: each client ends
//! with the log's own sequence, every event once (I5).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use client::{Client, FollowEvent, FollowFrom};
use proto::hello::Role;
use proto::methods::SessionCreate;
use proto::{Event, Seq, SessionId};
use serde_json::{Value, json};
use testkit::Script;
use tests::follow::{durable, wire};
use tests::{House, Proxy, soon, until};

/// Records of the session at least.
const EVENTS: u64 = 10_000;
/// Connections that are cut at least, all clients together.
const CUTS: u64 = 50;
const KILLS: u64 = 5;
const CLIENTS: usize = 3;

/// Rounds of many small reads: each is judged, started and finished, and its result sent to the model. Each is another
/// one: the same over and over is a loop.
fn flood() -> Script {
    let read = |limit: usize| ("read_file", json!({"path": "page.txt", "limit": limit}));
    let reads: Vec<(&str, Value)> = (1..=50).map(read).collect();
    (0..51)
        .fold(Script::new(), |script, _| script.calls_all(&reads))
        .says("All is read.")
}

/// Follows to the session's rest; everything durable that came, and how often the connection broke.
async fn follow(client: Client, session: SessionId, newest: Arc<AtomicU64>) -> (Vec<Event>, u64) {
    let mut follow = client
        .follow(&session.to_string(), FollowFrom::After(Seq(0)), true)
        .await
        .expect("follow the session");
    let (mut events, mut breaks) = (Vec::new(), 0);
    loop {
        match follow.next().await.expect("follow through everything") {
            FollowEvent::Reconnected => breaks += 1,
            FollowEvent::Event(event) if event.seq.is_none() => {}
            FollowEvent::Event(event) => {
                let event = wire(&event);
                newest.fetch_max(event.seq.map_or(0, |seq| seq.0), Ordering::SeqCst);
                let rests =
                    event.kind == "session.state" && event.data.get().contains(r#""state":"idle""#);
                events.push(event);
                if rests {
                    return (events, breaks);
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_events_arrive_once_through_fifty_breaks_and_five_kills() {
    let house = House::playing(&flood());
    house.settings("[daemon]\nrecover = \"continue\"");
    house.files("//- page.txt\na line of a page\n");
    house.daemon();
    let driver = house.client("driver", Role::Drive).await;
    let created = driver
        .call::<SessionCreate>(&house.create("Read it all."))
        .await
        .expect("create");
    let newest = Arc::new(AtomicU64::new(0));
    let mut proxies = Vec::new();
    let mut following = Vec::new();
    for number in 0..CLIENTS {
        let proxy = Proxy::start(&house.root().join(format!("p{number}")), &house.socket());
        let mut options = house.client_options(&format!("client {number}"));
        options.paths.socket = proxy.path().to_path_buf();
        options.role = Role::Watch;
        let client = Client::connect(options).await.expect("connect");
        proxy.cut_between(10_000, 250_000, number as u64);
        let newest = Arc::clone(&newest);
        following.push(tokio::spawn(follow(client, created.session, newest)));
        proxies.push(proxy);
    }
    for kill in 1..=KILLS {
        tokio::task::block_in_place(|| {
            let due = kill * EVENTS / (KILLS + 1);
            until("enough events to kill the daemon again", || {
                (newest.load(Ordering::SeqCst) >= due).then_some(())
            });
            house.kill_daemon_and_parent();
            house.daemon();
        });
    }
    let mut breaks = 0;
    let mut all = Vec::new();
    for task in following {
        let (events, broke) = soon("the end of the session", task)
            .await
            .expect("a follower");
        breaks += broke;
        all.push(durable(&events));
    }
    let log = house.log(created.pid);
    let records: Vec<_> = log
        .check()
        .lines
        .iter()
        .map(|line| (line.seq.0, line.kind.clone(), line.data.clone()))
        .collect();
    assert!(records.len() as u64 >= EVENTS, "{} records", records.len());
    for (number, seen) in all.iter().enumerate() {
        assert!(
            *seen == records,
            "client {number} saw {} of {} records",
            seen.len(),
            records.len()
        );
    }
    assert!(breaks >= CUTS, "{breaks} breaks");
}
