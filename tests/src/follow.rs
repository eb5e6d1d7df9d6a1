//! Following a session in a test: events to the one that is waited for.

use client::{Client, DecodedEvent, Follow, FollowEvent, FollowFrom};
use proto::{Body, Event, Seq};

use crate::wait::soon;

/// An event as it came over the connection.
///
/// # Panics
/// It is no JSON.
#[must_use]
pub fn wire(event: &DecodedEvent) -> Event {
    let text = serde_json::to_string(event).expect("an event as JSON");
    serde_json::from_str(&text).expect("an event")
}

/// Follows a session from its first record.
///
/// # Panics
/// The session does not exist.
pub async fn from_the_start(client: &Client, session: impl ToString) -> Follow {
    soon(
        "an attachment",
        client.follow(&session.to_string(), FollowFrom::After(Seq(0)), true),
    )
    .await
    .expect("follow the session")
}

/// The events up to the first that fits, that one included.
///
/// # Panics
/// It did not come in time.
pub async fn to(follow: &mut Follow, what: &str, fits: impl Fn(&Event) -> bool) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        match soon(what, follow.next()).await {
            Ok(FollowEvent::Event(event)) => {
                let event = wire(&event);
                let last = fits(&event);
                events.push(event);
                if last {
                    return events;
                }
            }
            Ok(FollowEvent::Reconnected) => {}
            Err(error) => panic!("follow to {what}: {error}; so far: {:?}", kinds(&events)),
        }
    }
}

/// The events up to the end of a turn, that one included.
///
/// # Panics
/// It did not come in time.
pub async fn to_end_of_turn(follow: &mut Follow) -> Vec<Event> {
    to(follow, "the end of the turn", |event| {
        event.kind == "turn.ended"
    })
    .await
}

/// The events up to the rest of an interactive session: its turn has ended and none follows.
///
/// # Panics
/// It did not come in time.
pub async fn to_rest(follow: &mut Follow) -> Vec<Event> {
    to(follow, "the session to be idle", |event| {
        event.seq.is_some()
            && event.kind == "session.state"
            && event.data.get().contains(r#""state":"idle""#)
    })
    .await
}

/// The events up to an event of this kind, and that event's body.
///
/// # Panics
/// It did not come in time, or does not read.
pub async fn body(follow: &mut Follow, kind: &str) -> Body {
    let events = to(follow, kind, |event| event.kind == kind).await;
    events
        .last()
        .expect("an event")
        .body()
        .expect("an event that reads")
}

/// The kinds of events, in order.
#[must_use]
pub fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

/// The durable events: number, kind and data, in order.
#[must_use]
pub fn durable(events: &[Event]) -> Vec<(u64, String, String)> {
    let durable = events.iter().filter_map(|event| {
        Some((
            event.seq?.0,
            event.kind.clone(),
            event.data.get().to_owned(),
        ))
    });
    durable.collect()
}
