//! `session.wait`: many clients may wait, for different events, also for past ones.

use std::time::Duration;

use client::Client;
use proto::hello::Role;
use proto::methods::{SessionCreate, SessionSignal, SessionWait};
use proto::outcome::OutcomeKind;
use proto::params::session::{Signal, SignalParams, Until, WaitOutput, WaitParams};
use proto::state::{Kind, OnAsk};
use proto::{Pid, RequestId};
use testkit::Script;
use tests::{Gate, House, soon};

async fn wait(client: &Client, pid: Pid, until: Until, timeout_ms: Option<u64>) -> WaitOutput {
    let params = WaitParams {
        session: pid.to_string(),
        until,
        timeout_ms,
    };
    soon("the wait", client.call::<SessionWait>(&params))
        .await
        .expect("wait")
}

#[tokio::test]
async fn three_waiters_and_two_programs_get_the_same_code() {
    let house = House::playing(
        &Script::new()
            .runs(&Gate::command("gate"))
            .says("Never said."),
    );
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let client = house.client("one", Role::Drive).await;
    let mut params = house.create("work");
    (params.options.kind, params.options.on_ask) = (Some(Kind::Headless), Some(OnAsk::Allow));
    let pid = client
        .call::<SessionCreate>(&params)
        .await
        .expect("create")
        .pid;
    gate.wait();
    let programs = [house.start(&["wait", "1"]), house.start(&["wait", "1"])];
    let others = [
        house.client("two", Role::Watch).await,
        house.client("three", Role::Watch).await,
    ];
    let waits = futures::future::join3(
        wait(&client, pid, Until::Turn, None),
        wait(&others[0], pid, Until::Exit, None),
        wait(&others[1], pid, Until::Attention, None),
    );
    let kill = async {
        let params = SignalParams {
            session: pid.to_string(),
            signal: Signal::Kill,
            tree: false,
            request_id: Some(RequestId::new()),
        };
        client.call::<SessionSignal>(&params).await.expect("kill")
    };
    let ((one, two, three), _) = futures::join!(waits, kill);
    for output in [one, two, three] {
        assert!(output.done && !output.attention, "{output:?}");
        assert_eq!(output.exit_code, 137, "{output:?}");
    }
    for program in programs {
        let _ = program.done().expect_code(137);
    }
    // Whoever comes too late has nothing to wait for.
    let late = wait(&client, pid, Until::Exit, None).await;
    assert_eq!((late.done, late.exit_code), (true, 137));
    assert_eq!(
        late.exited.map(|exited| exited.outcome),
        Some(OutcomeKind::Killed)
    );
    let _ = house.reasonix(&["wait", "1"]).expect_code(137);
}

#[tokio::test]
async fn wait_on_a_finished_turn_returns_its_outcome_after_a_daemon_restart() {
    let house = House::playing(&Script::new().says("Done."));
    let _ = house.reasonix(&["run", "x"]).expect_code(0);
    let _ = house.reasonix(&["daemon", "stop"]).expect_code(0);
    house.daemon();
    let client = house.client("one", Role::Watch).await;
    let over = wait(&client, Pid(1), Until::Turn, None).await;
    assert_eq!((over.done, over.exit_code), (true, 0));
    let ended = over.ended.expect("how the turn ended");
    assert_eq!(
        (ended.outcome, ended.text.as_str()),
        (OutcomeKind::Completed, "Done.")
    );
}

#[tokio::test]
async fn a_wait_that_takes_too_long_says_so_and_the_turn_goes_on() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let client = house.client("one", Role::Drive).await;
    let mut params = house.create("work");
    params.options.on_ask = Some(OnAsk::Allow);
    let pid = client
        .call::<SessionCreate>(&params)
        .await
        .expect("create")
        .pid;
    gate.wait();
    let early = wait(&client, pid, Until::Turn, Some(20)).await;
    assert_eq!((early.done, early.exit_code), (false, 124));
    let _ = house
        .reasonix(&["wait", "--timeout", "0.02", &pid.to_string()])
        .expect_code(124);
    gate.open();
    let whole = wait(&client, pid, Until::Turn, None).await;
    assert_eq!((whole.done, whole.exit_code), (true, 0));
    // An interactive session has not exited: waiting for that only ends by its time.
    let exit = wait(&client, pid, Until::Exit, Some(20)).await;
    assert!(!exit.done);
}

#[tokio::test]
async fn a_wait_for_attention_ends_when_a_person_is_needed() {
    let house = House::playing(&Script::new().runs("touch made").says("Done."));
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client
        .call::<SessionCreate>(&house.create("work"))
        .await
        .expect("create")
        .pid;
    let output = wait(&client, pid, Until::Attention, None).await;
    assert!(output.attention, "{output:?}");
    let turn = wait(&client, pid, Until::Turn, Some(20)).await;
    assert!(!turn.done, "the turn itself is not over: {turn:?}");
}

#[tokio::test]
async fn calls_in_flight_are_answered_by_id_in_any_order() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let _ = house
        .reasonix(&["run", "--detach", "--on-ask", "allow", "x"])
        .expect_code(0);
    gate.wait();
    let mut raw = house.raw_as(Role::Drive);
    raw.patience(Duration::from_secs(20));
    // Waits are not counted: more of them than calls are allowed in flight.
    let waits: Vec<u64> = (0..40)
        .map(|_| raw.ask("session.wait", &serde_json::json!({"session": "1"})))
        .collect();
    let status = raw.ask("daemon.status", &serde_json::json!({}));
    let first = raw.frame().expect("an answer");
    assert_eq!(first["id"], status, "the later call is answered first");
    gate.open();
    let mut answered: Vec<u64> = waits
        .iter()
        .map(|_| {
            raw.frame().expect("an answer")["id"]
                .as_u64()
                .expect("an id")
        })
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, waits);
}
