//! Kills at the moments that matter most, each by itself: what recovery does is decided by where the log ends.

use proto::Body;
use proto::hello::Role;
use proto::item::CallStatus;
use proto::methods::{SessionCreate, SessionPrompt};
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::params::session::PromptParams;
use proto::state::OnAsk;
use serde_json::json;
use testkit::model::{Answer, Gate, Model, Place};
use tests::interactions::{allow_once, answer, list, next_opened};
use tests::{House, follow, soon, until};

use crate::scripted::{RunOutput, command_is_gone, command_runs};

fn bash(command: &str) -> Answer {
    Answer::call("bash", json!({"command": command}))
}

/// A house where interrupted turns end and wait for a person.
fn house(model: &Model) -> House {
    let house = House::new();
    house.settings("[daemon]\nrecover = \"idle\"\n");
    house.provider(&model.entry("model", None));
    house.daemon();
    house
}

/// The session's only turn so far ended because the daemon died, and another prompt is answered with this text.
async fn cut_off_and_going_on(house: &House, session: proto::SessionId, text: &str) -> TurnEnded {
    let client = house.client("driver", Role::Drive).await;
    let mut watching = follow::from_the_start(&client, session).await;
    let Body::TurnEnded(ended) = follow::body(&mut watching, "turn.ended").await else {
        unreachable!("asked for by kind")
    };
    assert_eq!(
        (ended.outcome, ended.reason),
        (OutcomeKind::Interrupted, Some(Reason::Shutdown))
    );
    let params = PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: session.to_string(),
        text: "Go on.".into(),
        when: proto::params::session::When::Queue,
        env: std::collections::BTreeMap::new(),
        credentials: std::collections::BTreeMap::new(),
        request_id: None,
    };
    soon("a prompt", client.call::<SessionPrompt>(&params))
        .await
        .expect("prompt");
    let Body::TurnEnded(next) = follow::body(&mut watching, "turn.ended").await else {
        unreachable!("asked for by kind")
    };
    assert_eq!(
        (next.outcome, next.text.as_str()),
        (OutcomeKind::Completed, text)
    );
    ended
}

async fn create(house: &House, on_ask: OnAsk) -> proto::params::session::CreateOutput {
    let client = house.client("creator", Role::Drive).await;
    let mut params = house.create("Begin.");
    params.options.on_ask = Some(on_ask);
    soon("a session", client.call::<SessionCreate>(&params))
        .await
        .expect("create")
}

#[tokio::test(flavor = "multi_thread")]
async fn crash_during_a_stream_ends_the_turn_and_keeps_the_prompt() {
    let gate = Gate::new();
    let words = "This is cut off in its middle.";
    // Not heard to its end, it is said again to the next prompt. On a slow machine its first half may have been seen
    // for long enough to be kept: then that was an answer, and the next one is another.
    let model = Model::start([
        Answer::text(words).held(Place::Middle, &gate),
        Answer::text(words),
    ]);
    let house = house(&model);
    let created = create(&house, OnAsk::Wait).await;
    gate.reached().await;
    house.kill_daemon_and_parent();
    gate.open();
    house.daemon();
    cut_off_and_going_on(&house, created.session, words).await;
    let request = model.requests().pop().expect("requests");
    let users = request
        .messages()
        .iter()
        .filter(|message| message["role"] == "user")
        .count();
    assert_eq!(
        users,
        2,
        "the first prompt is there: {:#?}",
        request.messages()
    );
    model.assert_prefix();
}

#[tokio::test(flavor = "multi_thread")]
async fn crash_during_a_stream_keeps_the_saved_part_of_the_answer() {
    for recover in ["idle", "continue"] {
        let gate = Gate::new();
        let words = "Half of this is seen, and then the power of the machine is gone.";
        let model = Model::start([
            Answer::text(words).held(Place::Middle, &gate),
            Answer::text("As I said."),
        ]);
        let house = House::new();
        house.settings(&format!("[daemon]\nrecover = \"{recover}\"\n"));
        house.provider(&model.entry("model", None));
        house.daemon();
        let created = create(&house, OnAsk::Wait).await;
        gate.reached().await;
        let session = house
            .home()
            .join("sessions")
            .join(created.session.to_string());
        until("the side file", || {
            session.join("partial.json").exists().then_some(())
        });
        house.kill_daemon_and_parent();
        gate.open();
        house.daemon();
        let client = house.client("watcher", Role::Watch).await;
        let mut watching = follow::from_the_start(&client, created.session).await;
        follow::to_rest(&mut watching).await;
        let log = house.log(created.pid);
        let answers: Vec<_> = log
            .check()
            .bodies()
            .into_iter()
            .filter_map(|body| match body {
                Body::Assistant(answer) => Some((answer.finish, answer.text)),
                _ => None,
            })
            .collect();
        let (finish, kept) = &answers[0];
        assert_eq!(*finish, proto::item::Finish::Interrupted, "{recover}");
        assert!(
            !kept.is_empty() && words.starts_with(kept.as_str()),
            "{kept}"
        );
        // Under `continue` the model goes on from there.
        assert_eq!(
            answers.len(),
            if recover == "idle" { 1 } else { 2 },
            "{answers:?}"
        );
        assert!(!session.join("partial.json").exists(), "the log has it now");
        model.assert_prefix();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn crash_during_a_command_kills_its_process_and_reports_unknown_effects() {
    let model = Model::start([
        bash("echo begun >> counter.txt; sleep 4179")
            .and_call("bash", json!({"command": "echo never >> counter.txt"})),
        Answer::text("I see."),
    ]);
    let house = house(&model);
    let created = create(&house, OnAsk::Allow).await;
    until("the command's mark", || {
        house.project().join("counter.txt").exists().then_some(())
    });
    command_runs(&house, "sleep 4179");
    house.kill_daemon_and_parent();
    command_is_gone(&house, "sleep 4179");
    house.daemon();
    cut_off_and_going_on(&house, created.session, "I see.").await;
    let results = model.requests().pop().expect("requests").results();
    assert!(results[0].1.contains("unknown"), "{results:?}");
    assert!(results[1].1.contains("Not run"), "{results:?}");
    let statuses: Vec<_> = house
        .log(created.pid)
        .results()
        .into_iter()
        .map(|result| result.status)
        .collect();
    assert_eq!(statuses, [CallStatus::Unknown, CallStatus::Interrupted]);
    assert_eq!(
        house.read("counter.txt"),
        "begun\n",
        "nothing ran twice, nothing ran after"
    );
    model.assert_prefix();
}

#[tokio::test(flavor = "multi_thread")]
async fn crash_keeps_an_open_question_and_its_answer_counts() {
    let model = Model::start([bash("echo made >> counter.txt"), Answer::text("Made.")]);
    let house = house(&model);
    let created = create(&house, OnAsk::Wait).await;
    let client = house.client("approver", Role::Approve).await;
    let mut watching = follow::from_the_start(&client, created.session).await;
    let open = next_opened(&mut watching).await;
    house.kill_daemon_and_parent();
    house.daemon();
    assert_eq!(
        list(&client).await,
        std::slice::from_ref(&open),
        "the same question, the same number, the same hash"
    );
    answer(&client, &allow_once(&open)).await.expect("answer");
    let Body::TurnEnded(ended) = follow::body(&mut watching, "turn.ended").await else {
        unreachable!("asked for by kind")
    };
    assert_eq!(
        (ended.outcome, ended.text.as_str()),
        (OutcomeKind::Completed, "Made.")
    );
    assert_eq!(house.read("counter.txt"), "made\n");
    model.assert_prefix();
}

#[tokio::test(flavor = "multi_thread")]
async fn crash_between_approval_and_start_runs_nothing_unapproved() {
    // The kill comes with the answer: whatever of it reached the disk, the command ran at most once, and never unasked.
    let model = Model::start([
        bash("echo made >> counter.txt"),
        Answer::text("Made."),
        Answer::text("Made."),
    ]);
    let house = house(&model);
    let created = create(&house, OnAsk::Wait).await;
    let client = house.client("approver", Role::Approve).await;
    let mut watching = follow::from_the_start(&client, created.session).await;
    let open = next_opened(&mut watching).await;
    let answering = {
        let client = client.clone();
        tokio::spawn(async move { answer(&client, &allow_once(&open)).await })
    };
    house.kill_daemon_and_parent();
    house.daemon();
    soon("the answer", answering)
        .await
        .expect("the task")
        .expect("the answer is taken, by this daemon or the last");
    let Body::TurnEnded(ended) = follow::body(&mut watching, "turn.ended").await else {
        unreachable!("asked for by kind")
    };
    let marks = std::fs::read_to_string(house.project().join("counter.txt")).unwrap_or_default();
    let log = house.log(created.pid);
    let result = log.results().remove(0);
    match result.status {
        // It may have ended before the kill came, which then cut off what followed.
        CallStatus::Ok => assert_eq!(marks, "made\n", "{ended:?}"),
        CallStatus::Unknown => assert!(marks.len() <= 5, "{marks}"),
        CallStatus::Interrupted => assert_eq!(marks, "", "{result:?}"),
        other => panic!("{other:?}: {result:?}"),
    }
    assert_eq!(log.count("interaction.resolved"), 1);
    model.assert_strict();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_headless_run_goes_on_by_itself_and_its_client_gets_the_result() {
    let gate = Gate::new();
    let model = Model::start([
        Answer::call(
            "write_file",
            json!({"path": "a.txt", "content": "a\n", "append": true}),
        ),
        Answer::text("It is written.").held(Place::Middle, &gate),
    ]);
    let house = House::new();
    house.provider(&model.entry("model", None));
    house.daemon();
    let running = house.start(&["run", "--output-format", "jsonl", "write it"]);
    gate.reached().await;
    house.kill_daemon();
    gate.open();
    let ran = RunOutput::of(&running.done()).expect(0, "completed");
    assert_eq!(
        (ran.text(), house.read("a.txt").as_str()),
        ("It is written.", "a\n")
    );
    assert_eq!(
        model.count(),
        3,
        "only the answer that was cut off is asked for again"
    );
    model.assert_prefix();
}
