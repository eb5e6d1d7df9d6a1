//! Prompts that wait, and are changed while they do.

use proto::params::session::{
    EditParams, PromptParams, QueueOutput, ReorderParams, Signal, Until, When,
};
use proto::{Body, ErrorName, PromptId, RequestId};

use super::fixtures::prompt;
use super::house::{House, Scripted, begin, begin_with, until};

/// A session that is paused, at rest, with three prompts that wait.
async fn with_three() -> (House, Vec<PromptId>) {
    let mut house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
    let signal = house.handle.signal(Signal::Pause, None, "ann".into());
    assert!(signal.await.unwrap().delivered);
    let mut ids = Vec::new();
    for text in ["a", "b", "c"] {
        let made = house.handle.prompt(prompt(text), "ann".into()).await;
        ids.push(made.unwrap().prompt_id);
    }
    (house, ids)
}

fn edit(prompt_id: PromptId, text: &str, request_id: Option<RequestId>) -> EditParams {
    EditParams {
        session: String::new(),
        prompt_id,
        text: text.into(),
        steer: None,
        request_id,
    }
}

fn reorder(prompt_id: PromptId, position: u64, request_id: Option<RequestId>) -> ReorderParams {
    ReorderParams {
        session: String::new(),
        prompt_id,
        position,
        request_id,
    }
}

fn texts(output: &QueueOutput) -> Vec<&str> {
    let queue = output.queue.iter();
    queue.map(|queued| queued.text.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_for_now_is_told_what_is_in_its_way() {
    let (house, _) = with_three().await;
    let now = PromptParams {
        when: When::Now,
        ..prompt("now")
    };
    let refused = house.handle.prompt(now, "ann".into()).await.unwrap_err();
    assert_eq!(refused.name, ErrorName::Busy);
    assert_eq!(refused.message, "Other prompts are queued before it.");
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_prompts_are_edited_and_moved_once_per_request_id() {
    let (house, ids) = with_three().await;
    let (one, two) = (Some(RequestId::new()), Some(RequestId::new()));
    let by = || "ann".to_owned();
    let edited = house
        .handle
        .edit(edit(ids[1], "B", one), by())
        .await
        .unwrap();
    assert_eq!(texts(&edited), ["a", "B", "c"]);
    let moved = house
        .handle
        .reorder(reorder(ids[2], 0, two), by())
        .await
        .unwrap();
    assert_eq!(texts(&moved), ["c", "a", "B"]);
    let seq = house.handle.summary().seq;
    let again = house
        .handle
        .edit(edit(ids[1], "B", one), by())
        .await
        .unwrap();
    assert_eq!(texts(&again), ["c", "a", "B"]);
    let again = house
        .handle
        .reorder(reorder(ids[2], 0, two), by())
        .await
        .unwrap();
    assert_eq!(texts(&again), ["c", "a", "B"]);
    assert_eq!(house.handle.summary().seq, seq, "a repeat was done again");
    let other = house.handle.edit(edit(ids[1], "else", one), by()).await;
    assert_eq!(other.unwrap_err().name, ErrorName::RequestIdReused);

    let far = house
        .handle
        .reorder(reorder(ids[2], 99, None), by())
        .await
        .unwrap();
    assert_eq!(texts(&far), ["a", "B", "c"]);
    let empty = house.handle.edit(edit(ids[1], "  ", None), by()).await;
    assert_eq!(empty.unwrap_err().name, ErrorName::InvalidParams);
    let strange = house
        .handle
        .edit(edit(PromptId::new(), "x", None), by())
        .await;
    let strange = strange.unwrap_err();
    assert_eq!(strange.name, ErrorName::NotFound);
    assert!(!strange.hint.is_empty());

    let resume = house.handle.signal(Signal::Resume, None, by());
    assert!(resume.await.unwrap().delivered);
    house.handle.wait(Until::Turn).await.unwrap();
    let said: Vec<String> = house
        .records()
        .into_iter()
        .filter_map(|record| match record.body {
            Body::User(message) => Some(message.text),
            _ => None,
        })
        .collect();
    assert_eq!(
        said,
        ["first", "a", "B", "c"],
        "they are said as they stood"
    );
    let late = house
        .handle
        .edit(edit(ids[1], "too late", None), by())
        .await;
    assert_eq!(late.unwrap_err().name, ErrorName::NotFound);
    // Where "as it was" cannot be looked up any more, a repeat still gets its answer.
    let again = house
        .handle
        .edit(edit(ids[1], "B", one), by())
        .await
        .unwrap();
    assert!(texts(&again).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_queue_is_answered_when_it_is_on_disk() {
    let (house, ids) = with_three().await;
    house.gate.close();
    let begun = house.gate.begun();
    let (handle, id) = (house.handle.clone(), ids[0]);
    let editing = tokio::spawn(async move { handle.edit(edit(id, "A", None), "ann".into()).await });
    until("the change is on its way to the disk", || {
        house.gate.begun() > begun
    })
    .await;
    assert!(!editing.is_finished(), "acknowledged before it was on disk");
    house.gate.open();
    assert_eq!(texts(&editing.await.unwrap().unwrap()), ["A", "b", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_queued_after_an_interrupted_turn_is_reported_and_wait_returns() {
    const SCRIPT: &str = r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}"#;
    let script = Scripted::new(SCRIPT);
    script.leave.forget_permits(1_000);
    let mut house = begin_with(script, "mark it", |_, _| {});
    house.gate.open();
    until("the call runs", || !house.runs.lock().unwrap().is_empty()).await;
    let queued = house.handle.prompt(prompt("and then this"), "ann".into());
    queued.await.unwrap();
    house
        .crash(Scripted::new(SCRIPT), Some(turn::RecoverPolicy::Idle))
        .await;
    let waited = house.handle.wait(Until::Turn).await.unwrap();
    assert_eq!(
        waited.ended.unwrap().outcome,
        proto::outcome::OutcomeKind::Interrupted
    );
    assert_eq!(house.handle.summary().queued, 1);
    let reported = house.records().into_iter().any(|record| {
        matches!(record.body, Body::Notice(notice) if notice.text.contains("One queued prompt"))
    });
    assert!(reported);
}
