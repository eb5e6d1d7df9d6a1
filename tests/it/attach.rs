//! Clients come and go; the work does not care, and who comes later sees all of it.

use client::{Client, Follow, FollowEvent, FollowFrom};
use proto::hello::Role;
use proto::live::{Delta, Live, Sync};
use proto::methods::{SessionCreate, SessionPrompt};
use proto::params::session::{CreateOutput, PromptParams, When};
use proto::{Body, Event, Pid, RequestId, Seq};
use rustix::process::Signal;
use std::time::Duration;
use testkit::Script;
use tests::follow::{body, durable, from_the_start, kinds, to, to_end_of_turn, to_rest, wire};
use tests::log::Log;
use tests::{Gate, House, Proxy, soon, until};

/// What subscribers must have got of a log.
fn records(log: &Log) -> Vec<(u64, String, String)> {
    log.lines
        .iter()
        .map(|line| (line.seq.0, line.kind.clone(), line.data.clone()))
        .collect()
}

async fn create(house: &House, client: &Client, prompt: &str) -> CreateOutput {
    client
        .call::<SessionCreate>(&house.create(prompt))
        .await
        .expect("create a session")
}

/// A script whose first call waits at a gate.
fn gated() -> Script {
    Script::new()
        .runs(&Gate::command("gate"))
        .says("It is done.")
}

#[tokio::test]
async fn a_turn_ends_although_its_client_was_killed() {
    let house = House::playing(&gated());
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let running = house.start(&["run", "--on-ask", "allow", "work"]);
    gate.wait();
    running.signal(Signal::KILL);
    let _ = running.done();
    gate.open();

    let client = house.client("second", Role::Watch).await;
    let mut follow = from_the_start(&client, Pid(1)).await;
    let events = to(&mut follow, "the exit", |event| {
        event.kind == "session.exited"
    })
    .await;
    let log = house.log(Pid(1));
    assert_eq!(
        durable(&events),
        records(log.check()),
        "the second client sees all that happened"
    );
    let Some(Body::TurnEnded(ended)) = log
        .bodies()
        .into_iter()
        .find(|body| body.kind() == "turn.ended")
    else {
        panic!("no end of the turn: {:?}", log.kinds());
    };
    assert_eq!((ended.exit_code(), ended.text.as_str()), (0, "It is done."));
}

#[tokio::test]
async fn client_attached_during_an_answer_gets_every_word_exactly_once() {
    let words: String = (0..400).map(|number| format!("word{number} ")).collect();
    let house = House::playing(
        &Script::new()
            .says(&words)
            .in_pieces(7, Duration::from_millis(2)),
    );
    house.daemon();
    let first = house.client("first", Role::Drive).await;
    let created = create(&house, &first, "talk").await;
    let mut follow = from_the_start(&first, created.pid).await;
    let mut others = Vec::new();
    for number in 0..4 {
        // The first has seen more each time.
        to(&mut follow, "some words", |event| {
            event.kind == "delta.text"
        })
        .await;
        let late = house.client(&format!("late {number}"), Role::Watch).await;
        let from = if number % 2 == 0 {
            FollowFrom::After(Seq(0))
        } else {
            FollowFrom::Snapshot { backlog: 0 }
        };
        others.push(
            soon(
                "an attachment",
                late.follow(&created.pid.to_string(), from, true),
            )
            .await
            .expect("attach"),
        );
    }
    for (number, other) in others.iter_mut().enumerate() {
        let events = to_end_of_turn(other).await;
        assert_eq!(streamed(&events), words, "late {number}");
    }
    to_rest(&mut follow).await;
    house.log(created.pid).check();
}

/// The text of the answer in progress in these events: the text in `sync`, and the deltas after it.
fn streamed(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events.iter().filter(|event| event.seq.is_none()) {
        let deltas: Vec<Delta> = match Live::decode(&event.kind, event.data.get()) {
            Some(Ok(Live::Sync(sync))) => sync.live,
            Some(Ok(Live::Text(delta))) => vec![delta],
            _ => Vec::new(),
        };
        for delta in deltas {
            assert_eq!(
                delta.offset,
                text.len() as u64,
                "a delta starts at the end of the text before it"
            );
            text.push_str(&delta.text);
        }
    }
    text
}

#[tokio::test]
async fn attaching_without_a_cursor_gives_the_state_and_then_the_border() {
    let house = House::playing(&gated().says("And then that."));
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let client = house.client("one", Role::Drive).await;
    let mut params = house.create("work");
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    let created = client.call::<SessionCreate>(&params).await.expect("create");
    gate.wait();
    let queued = PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: created.pid.to_string(),
        text: "and then".into(),
        when: When::Queue,
        env: std::collections::BTreeMap::new(),
        credentials: Default::default(),
        request_id: Some(RequestId::new()),
    };
    let queued = client
        .call::<SessionPrompt>(&queued)
        .await
        .expect("queue a prompt");

    let mut follow = client
        .follow(
            &created.pid.to_string(),
            FollowFrom::Snapshot { backlog: 2 },
            true,
        )
        .await
        .expect("attach");
    let events = to(&mut follow, "sync", |event| event.kind == "sync").await;
    let kinds = kinds(&events);
    assert_eq!(kinds.first().copied(), Some("snapshot"), "{kinds:?}");
    assert_eq!(
        kinds.len(),
        4,
        "two records of backlog between snapshot and sync: {kinds:?}"
    );
    let Some(Ok(Live::Snapshot(snapshot))) = Live::decode("snapshot", events[0].data.get()) else {
        panic!("a snapshot")
    };
    assert_eq!(snapshot.session.state, proto::state::State::Running);
    assert_eq!(
        snapshot
            .queue
            .iter()
            .map(|queued| queued.prompt_id)
            .collect::<Vec<_>>(),
        [queued.prompt_id]
    );
    let sync: Sync = serde_json::from_str(events[3].data.get()).expect("a sync");
    assert_eq!(
        events[2].seq,
        Some(sync.seq),
        "the backlog ends at the sync"
    );
    gate.open();
    to_end_of_turn(&mut follow).await;
    to_rest(&mut follow).await;
    house.log(created.pid).check();
}

/// A client that connects through a proxy.
async fn through(house: &House, proxy: &Proxy, name: &str) -> Client {
    let mut options = house.client_options(name);
    options.paths.socket = proxy.path().to_path_buf();
    options.role = Role::Watch;
    Client::connect(options)
        .await
        .expect("connect through the proxy")
}

#[tokio::test]
async fn a_follower_gets_every_event_once_however_often_its_connection_breaks() {
    let mut script = Script::new();
    for number in 0..40 {
        script = script.runs(&format!("echo round {number}"));
    }
    let house = House::playing(&script.says("All rounds are done."));
    house.daemon();
    let proxy = Proxy::start(&house.root().join("p"), &house.socket());
    let driver = house.client("driver", Role::Drive).await;
    // A few kilobytes a connection: the log is some hundred long, and every break is inside a frame.
    let follower = through(&house, &proxy, "follower").await;
    proxy.cut_after(6_000);
    let mut params = house.create("forty rounds");
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    let created = driver.call::<SessionCreate>(&params).await.expect("create");
    let mut follow = from_the_start(&follower, created.pid).await;
    let mut breaks = 0;
    let events = soon("the end of forty rounds", async {
        let mut events = Vec::new();
        loop {
            match follow.next().await.expect("follow through breaks") {
                FollowEvent::Reconnected => breaks += 1,
                FollowEvent::Event(event) => {
                    let event = wire(&event);
                    let last = event.data.get().contains(r#""state":"idle""#);
                    events.push(event);
                    if last {
                        return events;
                    }
                }
            }
        }
    })
    .await;
    let log = house.log(created.pid);
    assert_eq!(durable(&events), records(log.check()));
    assert!(
        breaks >= 3,
        "the connection broke {breaks} times, over {} connections",
        proxy.connections()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_ends_right_after_hello_is_only_another_try() {
    let house = House::playing(&Script::new().says("Hello."));
    house.daemon();
    let proxy = Proxy::start(&house.root().join("p"), &house.socket());
    for _ in 0..60 {
        // Closed with the answer to hello; soon after, connections last again.
        proxy.close_after(1);
        let before = proxy.connections();
        let options = {
            let mut options = house.client_options("follower");
            options.paths.socket = proxy.path().to_path_buf();
            options
        };
        let connecting = tokio::spawn(Client::connect(options));
        while proxy.connections() < before + 2 && !connecting.is_finished() {
            tests::wait::step().await;
        }
        proxy.close_after(0);
        let connected = soon("a connection", connecting).await.expect("no panic");
        if let Err(error) = connected {
            panic!("it gave up: {error:?}");
        }
    }
}

#[tokio::test]
async fn a_follower_goes_on_through_the_death_of_the_daemon_without_a_gap_or_a_double() {
    let house = House::playing(&gated());
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let client = house.client("one", Role::Drive).await;
    let mut params = house.create("work");
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    let created = client.call::<SessionCreate>(&params).await.expect("create");
    let mut follow = from_the_start(&client, created.pid).await;
    let mut events = to(&mut follow, "the command", |event| {
        event.kind == "tool.started"
    })
    .await;
    gate.wait();
    // Its parent starts it again; the client waits for that.
    house.kill_daemon();
    events.extend(to_rest(&mut follow).await);
    let log = house.log(created.pid);
    assert_eq!(durable(&events), records(log.check()));
    let end = events
        .iter()
        .rev()
        .find(|event| event.kind == "turn.ended")
        .map(|event| event.body().expect("a body"));
    let Some(Body::TurnEnded(ended)) = end else {
        panic!("no end")
    };
    assert_eq!(
        ended.outcome,
        proto::outcome::OutcomeKind::Interrupted,
        "an interactive session waits for its person"
    );
    assert_eq!(log.results()[0].status, proto::item::CallStatus::Unknown);
    // The next prompt continues at the same position in the script.
    let next = PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: created.pid.to_string(),
        text: "go on".into(),
        when: When::Queue,
        env: std::collections::BTreeMap::new(),
        credentials: Default::default(),
        request_id: Some(RequestId::new()),
    };
    client.call::<SessionPrompt>(&next).await.expect("a prompt");
    events.extend(to_rest(&mut follow).await);
    let log = house.log(created.pid);
    assert_eq!(durable(&events), records(log.check()));
}

#[tokio::test]
async fn a_follower_sees_out_a_daemon_that_is_stopped_and_started_by_hand() {
    let house = House::playing(&Script::new().says("One.").says("Two."));
    house.daemon();
    let client = house.client("patient", Role::Drive).await;
    let created = create(&house, &client, "first").await;
    let mut follow = from_the_start(&client, created.pid).await;
    let mut events = to_rest(&mut follow).await;
    house.stop_daemon();
    house.daemon();
    let _ = house.reasonix(&["run", "-s", "1", "second"]).expect_code(0);
    events.extend(to_rest(&mut follow).await);
    let log = house.log(created.pid);
    assert_eq!(durable(&events), records(log.check()));
    assert_eq!(
        events
            .iter()
            .filter(|event| event.kind == "turn.ended")
            .count(),
        2
    );
}

#[tokio::test]
async fn plain_attach_shows_what_was_and_takes_prompts() {
    let house = House::playing(
        &Script::new()
            .says("The first answer.")
            .says("The second answer."),
    );
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let created = create(&house, &client, "first").await;
    let mut follow = from_the_start(&client, created.pid).await;
    to_rest(&mut follow).await;
    let mut attached = house.start(&["attach", "--plain", &created.pid.to_string()]);
    attached.line("the first answer", |line| {
        line.contains("The first answer.")
    });
    attached.say("second\n");
    attached.line("the second answer", |line| {
        line.contains("The second answer.")
    });
    attached.say("/quit\n");
    let _ = attached.done().expect_code(0);
    assert_eq!(house.log(created.pid).check().count("turn.ended"), 2);
    // The session is still there.
    let listed = house.reasonix(&["ps", "--json"]).expect_code(0).json();
    assert_eq!(listed["processes"][0]["state"], "idle");
}

#[tokio::test]
async fn a_second_daemon_life_gives_new_sessions_and_old_ones_alike() {
    let house = House::playing(&Script::new().says("One."));
    house.daemon();
    let _ = house.reasonix(&["run", "first"]).expect_code(0);
    house.kill_daemon();
    let back = house.wait_for_daemon();
    let client = house.client("one", Role::Drive).await;
    assert_eq!(client.hello().await.daemon.pid, back);
    let created = create(&house, &client, "second").await;
    assert!(created.pid > Pid(1), "numbers are never used again");
    let mut follow: Follow = from_the_start(&client, Pid(1)).await;
    let ended = body(&mut follow, "session.exited").await;
    assert!(matches!(ended, Body::SessionExited(exited) if exited.exit_code == 0));
    assert_eq!(
        follow.last(),
        Some(Seq(house.log(Pid(1)).lines.len() as u64))
    );
    until("the second session to be done", || {
        (house.log(created.pid).count("turn.ended") == 1).then_some(())
    });
}
