//! What a sub-agent is made of.

use super::*;

#[test]
fn agent_session_id_is_derived_from_its_parent_and_call_id() {
    let (parent, call) = (SessionId::new(), CallId::from("call-1"));
    let session = session_of(parent, &call);
    assert_eq!(session, session_of(parent, &call));
    assert_ne!(session, session_of(parent, &CallId::from("call-2")));
    assert_ne!(session, session_of(SessionId::new(), &call));
}
