use proto::live::{Live, Sync};
use proto::outcome::{OutcomeKind, TurnEnded, UsageTotals};
use proto::record::{GoalEnded, GoalOutcome, GoalStarted, SessionState};
use proto::state::{State, WaitingFor};
use proto::{Body, GoalId, Seq, Stamp};

use crate::effect::Effect;
use crate::event::{Event, SessionUpdate};
use crate::model::transcript::EntryKind;
use crate::model::{Link, Model};
use crate::update::scene::{attached, live, record, record_at, take};

fn session(update: SessionUpdate) -> Event {
    Event::Session { follow: 0, update }
}

fn sync(seq: u64) -> Event {
    live(&Live::Sync(Box::new(Sync {
        seq: Seq(seq),
        epoch: 1,
        live: Vec::new(),
        interactions: Vec::new(),
        attached: 2,
    })))
}

fn state(state: State) -> Body {
    Body::SessionState(SessionState {
        state,
        waiting_for: None,
        cause: "prompt".to_owned(),
        retry_in_ms: None,
    })
}

fn ended() -> Body {
    Body::TurnEnded(TurnEnded {
        outcome: OutcomeKind::Completed,
        reason: None,
        text: "all done".to_owned(),
        error: None,
        usage: UsageTotals::default(),
        tree_usage: None,
        steps: 1,
        tool_calls: 0,
        duration_ms: 10,
        denied: Vec::new(),
        hooks: false,
        supervised: false,
    })
}

fn marks(model: &Model) -> usize {
    let entries = model.transcript.entries.iter();
    entries
        .filter(|entry| matches!(entry.kind, EntryKind::Divider { .. }))
        .count()
}

#[test]
fn a_restored_connection_leaves_one_notice() {
    let mut model = attached();
    take(&mut model, vec![record(1, &state(State::Running)), sync(1)]);
    take(
        &mut model,
        vec![session(SessionUpdate::Lost { stopped: false })],
    );
    assert!(matches!(model.link, Link::Lost(_)));
    assert_eq!(marks(&model), 0);
    take(
        &mut model,
        vec![session(SessionUpdate::Reconnected), sync(1)],
    );
    assert_eq!((marks(&model), &model.link), (1, &Link::Live));
    let session = model.session.as_ref().unwrap();
    assert!(
        session.unsure,
        "the next prompt brings keys and variables again"
    );
}

#[test]
fn a_daemon_that_was_stopped_is_called_so_until_it_is_there_again() {
    let mut model = attached();
    take(
        &mut model,
        vec![session(SessionUpdate::Lost { stopped: true })],
    );
    assert!(matches!(model.link, Link::Stopped(_)));
    assert!(crate::update::scene::say(&mut model, "words").is_empty());
    assert_eq!(model.composer.text(), "words");
    take(
        &mut model,
        vec![session(SessionUpdate::Reconnected), sync(1)],
    );
    assert_eq!(model.link, Link::Live);
}

#[test]
fn without_a_daemon_a_prompt_stays_written_and_all_goes_on_when_one_is_there() {
    let mut model = attached();
    let trouble = crate::effect::ErrorReport::new("the daemon was stopped", "start it");
    take(
        &mut model,
        vec![session(SessionUpdate::Lost { stopped: false })],
    );
    take(&mut model, vec![session(SessionUpdate::Away(trouble))]);
    assert!(matches!(model.link, Link::Away(_)));
    assert!(crate::update::scene::say(&mut model, "words").is_empty());
    assert_eq!(model.composer.text(), "words");
    take(
        &mut model,
        vec![session(SessionUpdate::Reconnected), sync(1)],
    );
    assert_eq!(model.link, Link::Live);
    assert!(
        model.toast.is_none(),
        "there is a connection: {:?}",
        model.toast
    );
    assert_eq!(crate::update::scene::say(&mut model, "words").len(), 1);
}

#[test]
fn attached_clients_are_counted_again_after_every_outage() {
    let mut model = attached();
    for _ in 0..3 {
        take(
            &mut model,
            vec![
                session(SessionUpdate::Lost { stopped: false }),
                session(SessionUpdate::Reconnected),
            ],
        );
        let presence = proto::live::ClientPresence {
            name: "other".to_owned(),
            role: proto::hello::Role::Drive,
        };
        take(
            &mut model,
            vec![live(&Live::ClientJoined(presence)), sync(1)],
        );
        assert_eq!(model.session.as_ref().unwrap().others, 1);
    }
}

#[test]
fn replayed_turn_start_sets_the_start_time_only_of_a_running_turn() {
    let turn = Body::TurnStarted(proto::record::TurnStarted {
        prompt_id: proto::PromptId::new(),
    });
    let mut model = attached();
    take(&mut model, vec![record(5, &state(State::Running))]);
    model.session.as_mut().unwrap().began = None;
    take(&mut model, vec![record(4, &turn)]);
    let began = model.session.as_ref().unwrap().began;
    assert!(began.is_some(), "replayed, and it still runs");
    take(
        &mut model,
        vec![record(6, &state(State::Idle)), record(4, &turn)],
    );
    assert_eq!(model.session.as_ref().unwrap().began, None);
}

#[test]
fn the_time_of_a_turn_leaves_waiting_for_the_user_out() {
    let turn = Body::TurnStarted(proto::record::TurnStarted {
        prompt_id: proto::PromptId::new(),
    });
    let waiting = Body::SessionState(SessionState {
        state: State::Waiting,
        waiting_for: Some(WaitingFor::Credentials),
        cause: String::new(),
        retry_in_ms: None,
    });
    let Body::TurnEnded(ended) = ended() else {
        panic!("it is an end");
    };
    let ended = Body::TurnEnded(TurnEnded {
        duration_ms: 80_000,
        ..ended
    });
    let mut model = attached();
    let mut then = |at: i64, seq, body: &Body| {
        model.clock = Stamp(at);
        take(&mut model, vec![record_at(at, seq, body)]);
        let width = model.look.columns.into();
        let rows = crate::view::status::above(&model, width).rows;
        let rows: Vec<_> = rows.iter().map(ToString::to_string).collect();
        rows.join("")
    };
    then(0, 1, &turn);
    then(0, 2, &state(State::Running));
    then(8_000, 3, &waiting);
    let shown = then(68_000, 4, &state(State::Running));
    assert!(shown.contains(" 8 s "), "{shown}");
    then(80_000, 5, &ended);
    let entry = &model.transcript.entries.last().unwrap().kind;
    assert!(
        matches!(entry, EntryKind::Ended { ended, .. } if ended.duration_ms == 20_000),
        "{entry:?}"
    );
}

#[test]
fn events_of_an_earlier_subscription_are_dropped() {
    let mut model = attached();
    let old = Event::Session {
        follow: 99,
        update: SessionUpdate::Lost { stopped: false },
    };
    take(&mut model, vec![old]);
    assert_eq!(model.link, Link::Live);
}

#[test]
fn replayed_records_do_not_change_state_and_the_last_seq_is_noted() {
    let mut model = attached();
    take(&mut model, vec![record(5, &state(State::Running))]);
    let session = model.session.as_ref().unwrap();
    assert!(session.busy());
    assert_eq!(model.seen.get(&session.id), Some(&Seq(5)));
    // A replay of known records changes nothing.
    take(&mut model, vec![record(4, &state(State::Idle))]);
    assert!(model.session.as_ref().unwrap().busy());
}

#[test]
fn the_end_of_a_turn_rings_only_without_focus() {
    let mut model = attached();
    take(&mut model, vec![record(1, &state(State::Running))]);
    assert!(take(&mut model, vec![record(2, &ended())]).is_empty());
    take(&mut model, vec![Event::Focus(false)]);
    let effects = take(&mut model, vec![record(3, &ended())]);
    let notifies = |effects: &[Effect]| matches!(effects, [Effect::Bell, Effect::Notify(words)] if words.contains("all done"));
    assert!(notifies(&effects), "{effects:?}");
    model.look.bell = false;
    assert!(take(&mut model, vec![record(4, &ended())]).is_empty());
}

#[test]
fn missed_events_do_not_ring() {
    let mut model = attached();
    take(&mut model, vec![record(1, &state(State::Running))]);
    take(
        &mut model,
        vec![
            Event::Focus(false),
            session(SessionUpdate::Lost { stopped: false }),
        ],
    );
    let missed = vec![
        session(SessionUpdate::Reconnected),
        record(2, &ended()),
        sync(2),
    ];
    assert!(take(&mut model, missed).is_empty());
    assert_eq!(take(&mut model, vec![record(3, &ended())]).len(), 2);
}

fn goal_started() -> Body {
    Body::GoalStarted(GoalStarted {
        goal: GoalId::default(),
        text: "make it work".to_owned(),
        max_turns: 50,
        check: None,
        research: None,
        by: "ann".to_owned(),
        request_id: None,
    })
}

#[test]
fn turns_of_a_goal_ring_not_before_it_is_paused_or_ends() {
    let mut model = attached();
    let told = |effects: &[Effect]| match effects {
        [Effect::Bell, Effect::Notify(words)] => words.clone(),
        [] => String::new(),
        other => panic!("{other:?}"),
    };
    let happens = |model: &mut Model, seq, body: &Body| take(model, vec![record(seq, body)]);
    happens(&mut model, 1, &goal_started());
    take(&mut model, vec![Event::Focus(false)]);
    let Body::TurnEnded(completed) = ended() else {
        panic!("it is an end");
    };
    let effects = happens(&mut model, 2, &ended());
    assert_eq!(told(&effects), "", "the goal goes on");
    let timeout = Body::TurnEnded(TurnEnded {
        outcome: OutcomeKind::Interrupted,
        reason: Some(proto::outcome::Reason::Timeout),
        ..completed
    });
    let effects = happens(&mut model, 3, &timeout);
    assert!(told(&effects).contains("paused at its time limit"));
    let waits = Body::SessionState(SessionState {
        state: State::Waiting,
        waiting_for: Some(WaitingFor::Credentials),
        cause: "the key is refused".to_owned(),
        retry_in_ms: None,
    });
    // The keys of this process are offered too.
    let effects = happens(&mut model, 4, &waits);
    let notified = effects
        .iter()
        .any(|effect| matches!(effect, Effect::Notify(words) if words.contains("refused")));
    assert!(notified, "{effects:?}");
    let over = Body::GoalEnded(GoalEnded {
        goal: GoalId::default(),
        outcome: GoalOutcome::Blocked,
        reason: "no network".to_owned(),
        turns: 3,
        by: None,
        request_id: None,
    });
    let effects = happens(&mut model, 5, &over);
    assert_eq!(
        told(&effects),
        "reasonix: goal blocked after 3 turns: no network"
    );
    let effects = happens(&mut model, 6, &ended());
    assert!(told(&effects).contains("all done"), "a turn of no goal");
}
