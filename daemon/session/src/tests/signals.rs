//! Signals: a repeated one hits nothing else.

use proto::params::session::{PromptParams, Signal, Until, When};
use proto::{Body, RequestId};

use super::fixtures::prompt;
use super::house::{Scripted, begin, begin_with, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_that_is_sent_again_does_not_hit_the_next_turn() {
    // The answer takes a while: time enough for a signal, and the next turn gets the same one.
    let mut house = begin("{\"text\":\"a slow answer\",\"delay_ms\":2000}", "first");
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    let id = Some(RequestId::new());
    assert!(
        house
            .handle
            .signal(Signal::Int, id, "test".into())
            .await
            .unwrap()
            .delivered
    );
    house.handle.wait(Until::Turn).await.unwrap();
    let again = house
        .handle
        .signal(Signal::Int, id, "test".into())
        .await
        .unwrap();
    assert!(again.delivered, "the same answer");
    let params = PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: String::new(),
        text: "again".into(),
        when: When::Queue,
        credentials: Default::default(),
        env: Default::default(),
        request_id: None,
    };
    house.handle.prompt(params, "test".into()).await.unwrap();
    assert!(
        house
            .handle
            .signal(Signal::Int, id, "test".into())
            .await
            .unwrap()
            .delivered
    );
    let ended = house.handle.wait(Until::Turn).await.unwrap().ended.unwrap();
    assert_eq!(
        ended.outcome,
        proto::outcome::OutcomeKind::Completed,
        "the next turn was hit"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_session_without_a_prompt_or_turn_is_not_unfinished() {
    let slow = "{\"text\":\"one\"}\n{\"text\":\"a slow answer\",\"delay_ms\":2000}";
    let mut house = begin(slow, "first");
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
    let pause = || house.handle.signal(Signal::Pause, None, "ann".into());
    assert!(pause().await.unwrap().delivered);
    assert_eq!(house.handle.summary().state, proto::state::State::Paused);
    assert!(!house.handle.is_unfinished());
    house
        .handle
        .prompt(prompt("again"), "ann".into())
        .await
        .unwrap();
    assert!(house.handle.is_unfinished(), "a prompt waits");
    let resume = house.handle.signal(Signal::Resume, None, "ann".into());
    assert!(resume.await.unwrap().delivered);
    until("its turn has begun", || house.handle.summary().queued == 0).await;
    assert!(pause().await.unwrap().delivered);
    assert!(house.handle.is_unfinished(), "a turn is open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_is_on_disk_when_it_is_answered_and_says_whether_there_was_anything_to_do() {
    let mut house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
    let send = |signal, id| house.handle.signal(signal, id, "ann".into());
    assert!(!send(Signal::Resume, None).await.unwrap().delivered);

    let id = Some(RequestId::new());
    house.gate.close();
    let begun = house.gate.begun();
    let handle = house.handle.clone();
    let pausing = tokio::spawn(async move { handle.signal(Signal::Pause, id, "ann".into()).await });
    until("the pause is on its way to the disk", || {
        house.gate.begun() > begun
    })
    .await;
    assert!(!pausing.is_finished(), "acknowledged before it was on disk");
    house.gate.open();
    assert!(pausing.await.unwrap().unwrap().delivered);
    assert!(!send(Signal::Pause, None).await.unwrap().delivered);
    assert_eq!(house.handle.summary().state, proto::state::State::Paused);

    // A signal sent in a pause waits; a repeated one gets the first answer, and pauses nothing again.
    house
        .handle
        .prompt(prompt("second"), "ann".into())
        .await
        .unwrap();
    assert_eq!(house.handle.summary().queued, 1);
    assert!(send(Signal::Resume, None).await.unwrap().delivered);
    assert!(send(Signal::Pause, id).await.unwrap().delivered);
    let ended = house.handle.wait(Until::Turn).await.unwrap().ended.unwrap();
    assert_eq!(ended.outcome, proto::outcome::OutcomeKind::Completed);
    assert_eq!(house.handle.summary().turns, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_lets_what_runs_end_and_the_next_step_waits_for_the_end_of_it() {
    let script = Scripted::new(
        r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}"#,
    );
    script.leave.forget_permits(1_000);
    let house = begin_with(script, "mark it", |_, _| {});
    house.gate.open();
    until("the call runs", || !house.runs.lock().unwrap().is_empty()).await;
    let send = |signal| house.handle.signal(signal, None, "ann".into());
    assert!(send(Signal::Pause).await.unwrap().delivered);
    house.script.leave.add_permits(1);
    let asked = |house: &super::house::House| {
        let answers = house.records().into_iter();
        let answers = answers.filter(|record| matches!(record.body, Body::Assistant(_)));
        answers.count()
    };
    until("the call has its result", || {
        house
            .records()
            .iter()
            .any(|record| matches!(record.body, Body::Tool(_)))
    })
    .await;
    let waiting = house.handle.wait(Until::Turn);
    let early = tokio::time::timeout(std::time::Duration::from_millis(100), waiting).await;
    assert!(early.is_err(), "it went on in the pause");
    assert_eq!(asked(&house), 1);
    assert!(send(Signal::Resume).await.unwrap().delivered);
    let ended = house.handle.wait(Until::Turn).await.unwrap().ended.unwrap();
    assert_eq!(ended.text, "Marked.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_turn_outlives_the_daemon_and_goes_on_when_it_is_resumed() {
    const SCRIPT: &str = r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}"#;
    let script = Scripted::new(SCRIPT);
    script.leave.forget_permits(1_000);
    let mut house = begin_with(script, "mark it", |_, _| {});
    house.gate.open();
    until("the call runs", || !house.runs.lock().unwrap().is_empty()).await;
    let pause = house.handle.signal(Signal::Pause, None, "ann".into());
    assert!(pause.await.unwrap().delivered);
    house.script.leave.add_permits(1);
    until("the call has its result", || {
        house
            .records()
            .iter()
            .any(|record| matches!(record.body, Body::Tool(_)))
    })
    .await;
    house.shutdown().await;
    house
        .load(Scripted::new(SCRIPT), Some(turn::RecoverPolicy::Idle))
        .await;
    assert_eq!(house.handle.summary().state, proto::state::State::Paused);
    let ended = |record: &proto::Record| matches!(record.body, Body::TurnEnded(_));
    assert!(!house.records().iter().any(ended), "the turn was ended");
    let resume = house.handle.signal(Signal::Resume, None, "ben".into());
    assert!(resume.await.unwrap().delivered);
    house.handle.wait(Until::Turn).await.unwrap();
    let ran_again = house.runs.lock().unwrap().clone();
    assert!(ran_again.is_empty(), "{ran_again:?}");
    let texts = house
        .records()
        .into_iter()
        .filter_map(|record| match record.body {
            Body::Assistant(said) => Some(said.text),
            _ => None,
        });
    assert_eq!(texts.collect::<Vec<_>>(), ["I mark.", "Marked."]);
}
