use super::*;

#[test]
fn a_daemon_that_does_not_answer_is_waited_for_and_a_no_is_not() {
    let method = "session.attach".to_owned();
    let after = Duration::from_secs(60);
    assert!(passes(&CallError::Timeout { method, after }));
    let seq = proto::Seq(3);
    assert!(!passes(&CallError::Gap { seq }));
}
