//! Signals: a repeated one hits nothing else.

use proto::RequestId;
use proto::params::session::{PromptParams, Signal, Until, When};

use super::house::begin;

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_that_is_sent_again_does_not_hit_the_next_turn() {
    // The answer takes a while: time enough for a signal, and the next turn gets the same one.
    let mut house = begin("{\"text\":\"a slow answer\",\"delay_ms\":2000}", "first");
    house.gate.open();
    (&mut house.born).await.unwrap().unwrap();
    let id = Some(RequestId::new());
    assert!(
        house
            .handle
            .signal(Signal::Int, id)
            .await
            .unwrap()
            .delivered
    );
    house.handle.wait(Until::Turn).await.unwrap();
    let again = house.handle.signal(Signal::Int, id).await.unwrap();
    assert!(again.delivered, "the same answer");
    let params = PromptParams {
        session: String::new(),
        text: "again".into(),
        when: When::Queue,
        credentials: Default::default(),
        request_id: None,
    };
    house.handle.prompt(params, "test".into()).await.unwrap();
    assert!(
        house
            .handle
            .signal(Signal::Int, id)
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
