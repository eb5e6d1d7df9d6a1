//! Fixtures for tests of `update`: a model, keys by their names, an attached session.

use std::time::{Duration, Instant};

use proto::params::session::{SessionSummary, SetParams};
use proto::state::State;
use proto::{Pid, SessionId};

use super::update;
use crate::effect::{Answer, Call, Effect};
use crate::event::Event;
use crate::keymap;
use crate::model::session::Session;
use crate::model::{LaunchContext, Link, Model, ViewOptions};

/// An interface before its first prompt.
pub fn fresh() -> Model {
    let place = LaunchContext {
        home: Some("/user/me".into()),
        model: "fake/model".to_owned(),
        ..LaunchContext::of("/proj")
    };
    Model::new(ViewOptions::default(), place, Instant::now())
}

/// One that follows session 7, which does nothing.
pub fn attached() -> Model {
    let mut model = fresh();
    model.session = Some(Session::new(SessionId::new(), Pid(7)));
    model.link = Link::Live;
    model
}

/// One whose session is at work.
pub fn busy() -> Model {
    let mut model = attached();
    if let Some(session) = &mut model.session {
        session.state = State::Running;
    }
    model
}

/// Presses keys by their names in the table, each a second after the previous event.
pub fn press(model: &mut Model, keys: &[&str]) -> Vec<Effect> {
    let mut effects = Vec::new();
    for name in keys {
        let key = keymap::key(name).unwrap_or_else(|| panic!("`{name}` is not a key"));
        let now = model.now + Duration::from_secs(1);
        effects.extend(update(model, Event::Key(key), now));
    }
    effects.retain(|effect| !matches!(effect, Effect::Title(_)));
    effects
}

/// Writes text, key by key, and presses Enter.
pub fn say(model: &mut Model, text: &str) -> Vec<Effect> {
    model.composer.set(text);
    super::submit::send(model, proto::params::session::When::Queue)
}

/// The one call among effects.
pub fn call(effects: &[Effect]) -> &Call {
    match effects {
        [Effect::Call(call)] => call,
        other => panic!("one call was expected: {other:?}"),
    }
}

/// The answer to a change of options. `summary` changes the session as it is then.
pub fn was_set(params: &SetParams, summary: impl FnOnce(&mut SessionSummary)) -> Answer {
    let mut now = crate::model::list::fixtures::summary(7, "", 0);
    summary(&mut now);
    Answer::Set {
        params: Box::new(params.clone()),
        summary: Box::new(now),
    }
}

/// The words above the composer.
pub fn toast(model: &Model) -> &str {
    model
        .toast
        .as_ref()
        .map_or("", |toast| toast.words.as_str())
}

/// A record as it comes from the daemon.
pub fn record(seq: u64, body: &proto::Body) -> Event {
    record_at(0, seq, body)
}

/// A record written at this moment.
pub fn record_at(at: i64, seq: u64, body: &proto::Body) -> Event {
    let data = body.to_json().unwrap();
    let event = event(Some(proto::Seq(seq)), body.kind(), &data);
    session_event(proto::Event {
        at: proto::Stamp(at),
        ..event
    })
}

/// Something live.
pub fn live(live: &proto::live::Live) -> Event {
    session_event(event(None, live.kind(), &live.to_json().unwrap()))
}

fn event(seq: Option<proto::Seq>, kind: &str, data: &str) -> proto::Event {
    proto::Event {
        seq,
        session: Pid(7),
        at: proto::Stamp(0),
        turn: Some(1),
        kind: kind.to_owned(),
        data: serde_json::value::RawValue::from_string(data.to_owned()).unwrap(),
    }
}

fn session_event(event: proto::Event) -> Event {
    Event::Session {
        follow: 0,
        update: crate::event::SessionUpdate::Record(Box::new(event.into())),
    }
}

/// Takes events at one moment.
pub fn take(model: &mut Model, events: Vec<Event>) -> Vec<Effect> {
    let now = model.now;
    let mut effects = Vec::new();
    for event in events {
        effects.extend(update(model, event, now));
    }
    effects.retain(|effect| !matches!(effect, Effect::Title(_)));
    effects
}
