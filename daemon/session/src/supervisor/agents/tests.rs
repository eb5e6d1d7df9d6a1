//! What a sub-agent is made of.

use super::*;

#[test]
fn a_call_has_one_session_and_another_call_another() {
    let (parent, call) = (SessionId::new(), CallId::from("call-1"));
    let session = session_of(parent, &call);
    assert_eq!(session, session_of(parent, &call));
    assert_ne!(session, session_of(parent, &CallId::from("call-2")));
    assert_ne!(session, session_of(SessionId::new(), &call));
}
