//! An event of a session, decoded once: when it comes off the connection or out of a page of the log.

use proto::live::Live;
use proto::{Body, Event, Pid, Seq, Stamp};
use serde::Serialize;
use serde_json::value::RawValue;

/// An event with its content as a typed value.
///
/// Nobody can decode it again: its JSON text is private, and only serializing it shows that text, as it came.
#[derive(Clone, Debug, Serialize)]
pub struct DecodedEvent {
    /// `None` for a live event.
    pub seq: Option<Seq>,
    pub session: Pid,
    pub at: Stamp,
    pub turn: Option<u64>,
    kind: String,
    data: Box<RawValue>,
    #[serde(skip)]
    pub content: Content,
}

/// What an event says.
#[allow(clippy::large_enum_variant, reason = "an event is boxed as a whole")]
#[derive(Clone, Debug)]
pub enum Content {
    /// A durable event. [`Body::Unknown`] also holds one of a known kind whose data this build cannot read.
    Durable(Body),
    Live(Live),
    /// A live event that this build cannot read.
    UnknownLive,
}

impl DecodedEvent {
    /// The kind, as it is on the wire.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The record; `None` for a live event.
    #[must_use]
    pub fn body(&self) -> Option<&Body> {
        match &self.content {
            Content::Durable(body) => Some(body),
            Content::Live(_) | Content::UnknownLive => None,
        }
    }

    /// The live event that this build knows; `None` for anything else.
    #[must_use]
    pub fn live(&self) -> Option<&Live> {
        match &self.content {
            Content::Live(live) => Some(live),
            Content::Durable(_) | Content::UnknownLive => None,
        }
    }

    /// The same event with another body. `None` if the body cannot be written as JSON.
    #[must_use]
    pub fn with_body(&self, body: Body) -> Option<Self> {
        let data = RawValue::from_string(body.to_json().ok()?).ok()?;
        Some(Self {
            data,
            content: Content::Durable(body),
            ..self.clone()
        })
    }
}

impl From<Event> for DecodedEvent {
    fn from(event: Event) -> Self {
        let content = match event.seq {
            Some(_) => Content::Durable(event.body().unwrap_or_else(|_| Body::Unknown {
                kind: event.kind.clone(),
                data: event.data.clone(),
            })),
            None => match Live::decode(&event.kind, event.data.get()) {
                Some(Ok(live)) => Content::Live(live),
                Some(Err(_)) | None => Content::UnknownLive,
            },
        };
        Self {
            seq: event.seq,
            session: event.session,
            at: event.at,
            turn: event.turn,
            kind: event.kind,
            data: event.data,
            content,
        }
    }
}

#[cfg(test)]
mod tests;
