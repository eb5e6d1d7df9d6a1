use proto::PromptId;
use proto::record::{SessionState, TurnStarted};
use proto::state::State;

use super::*;

fn state(waiting_for: Option<WaitingFor>) -> Body {
    Body::SessionState(SessionState {
        state: State::Waiting,
        waiting_for,
        cause: String::new(),
        retry_in_ms: None,
    })
}

#[test]
fn only_waits_for_the_user_within_the_span_count() {
    let mut waits = UserWaits::default();
    let between = |waits: &UserWaits, from, to| waits.between(Stamp(from), Stamp(to));
    let user = || state(Some(WaitingFor::Credentials));
    waits.fold(&state(Some(WaitingFor::Retry)), Stamp(10));
    assert_eq!(between(&waits, 0, 100), 0);
    waits.fold(&user(), Stamp(100));
    // The next question follows at once.
    waits.fold(&user(), Stamp(150));
    assert_eq!(between(&waits, 0, 180), 80, "it goes on");
    waits.fold(&state(None), Stamp(200));
    waits.fold(&user(), Stamp(300));
    waits.fold(&state(Some(WaitingFor::Retry)), Stamp(310));
    assert_eq!(between(&waits, 0, 1000), 110);
    assert_eq!(between(&waits, 180, 305), 25);
    assert_eq!(between(&waits, 500, 400), 0);
    assert_eq!(waits.total(), 110);
    let prompt_id = PromptId::new();
    waits.fold(&Body::TurnStarted(TurnStarted { prompt_id }), Stamp(400));
    assert_eq!(between(&waits, 0, 1000), 0, "of another turn");
}
