//! The end of a subscription, as it goes over the wire.

use super::*;

#[test]
fn the_end_of_a_subscription_says_what_went_wrong() {
    let failure = Failure::new(ErrorName::Storage, "The log is damaged.", "Look at it.");
    let frame = ended("s".into(), Some(failure.clone()));
    let frame: serde_json::Value = serde_json::from_slice(&frame).expect("JSON");
    assert_eq!(frame["method"], "event.ended");
    assert_eq!(frame["params"]["failure"]["name"], "storage");
    let read: p::EndedNotification =
        serde_json::from_value(frame["params"].clone()).expect("what the client reads");
    assert_eq!(read.failure, Some(failure));
    let frame: serde_json::Value = serde_json::from_slice(&ended("s".into(), None)).expect("JSON");
    assert_eq!(frame["params"], serde_json::json!({"subscription": "s"}));
}
