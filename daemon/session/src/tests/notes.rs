//! Changes by others are reported once, with the next prompt or result, and the report stays there.

use std::sync::atomic::Ordering;

use proto::params::session::Until;
use proto::state::Kind;

use super::fixtures::prompt;
use super::world::World;

const TALK: &str = r#"{"text":"Hello."}
{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"two"}}]}
{"text":"Marked."}
{"text":"Again."}"#;

fn change(world: &World, words: &str) {
    *world.outside.memory.changed.lock().unwrap() = Some(words.to_owned());
}

/// The part after the earlier request's messages, which must be unchanged in this one.
fn fresh<'a>(before: &str, now: &'a str) -> &'a str {
    let messages = |body: &'a str| body.rsplit_once("],\"tool_choice\"").unwrap().0;
    let before = before.rsplit_once("],\"tool_choice\"").unwrap().0;
    messages(now).strip_prefix(before).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_in_a_rest_comes_with_the_next_prompt_and_later_ones_with_results() {
    let mut world = World::new(TALK);
    let session = world.begin("hello").await;
    change(&world, "`a` changed:\n-1\n+2");
    world.prompt(&session, "mark it").await.unwrap();
    let sent = world.sent();
    assert_eq!(sent.len(), 4);
    let reported = "\"text\":\"mark it\",\"context\":\"[Changed by somebody else since you read it:\\n`a` changed:\\n-1\\n+2\\n]\"";
    let new = fresh(&sent[0], &sent[1]);
    assert!(new.contains(reported), "{new}");
    for pair in sent.windows(2) {
        fresh(&pair[0], &pair[1]);
    }
    assert_eq!(sent[3].matches("Changed by somebody else").count(), 1);
    // Each mark may change files.
    assert_eq!(world.outside.memory.accepted.load(Ordering::SeqCst), 2);

    world.restart().await;
    world.prompt(&session, "again").await.unwrap();
    let sent = world.sent();
    let new = fresh(&sent[3], &sent[4]);
    assert!(!new.contains("Changed by"), "reported once: {new}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_in_a_turn_comes_with_the_result_of_the_next_call() {
    const SLOW: &str = r#"{"text":"I mark.","delay_ms":200,"tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}"#;
    let world = World::new(SLOW);
    let handle = world
        .create(world.create_params("mark it", Kind::Interactive))
        .await
        .unwrap();
    change(&world, "`a` was deleted");
    // In a turn a prompt does not take the note from the call.
    handle
        .prompt(prompt("and this"), "test".into())
        .await
        .unwrap();
    handle.wait(Until::Turn).await.unwrap();
    let sent = world.sent();
    let new = fresh(&sent[0], &sent[1]);
    assert!(
        new.contains("marked\\n\\n[Changed by somebody else since you read it: `a` was deleted]\""),
        "{new}"
    );
}
