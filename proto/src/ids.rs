//! Names and numbers of things. Two `u64` with two meanings are two types.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::fmt::StdFmtWrite;
use jiff::fmt::temporal::DateTimePrinter;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// The number after this one; the last one has none and stays.
            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// The place of a record in its session's log, counted from 1. 0 means "before the first".
    Seq
}
number! {
    /// A session seen as something that runs: a small number, never used again. 0 is the daemon.
    Pid
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new one, sortable by time (UUID version 7).
            #[must_use]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

uuid_id! {
    /// A session for ever. Made by the client that creates it, so that a repeated create is the same session.
    SessionId
}

impl SessionId {
    /// The id of the prompt that starts the turn after restart `number` of the session.
    #[must_use]
    pub fn restart_prompt(self, number: u64) -> PromptId {
        numbered_prompt(self.0, number)
    }
}

uuid_id! {
    /// A prompt, from the moment it is accepted.
    PromptId
}
uuid_id! {
    /// A goal, from its start.
    GoalId
}

impl GoalId {
    /// The id of the prompt that starts its turn `number`.
    #[must_use]
    pub fn prompt(self, number: u64) -> PromptId {
        numbered_prompt(self.0, number)
    }
}

/// The id of a prompt that follows from another id and a number.
fn numbered_prompt(of: Uuid, number: u64) -> PromptId {
    // The low 48 bits are random in a UUID of version 7: version and variant stay.
    const RANDOM: u128 = (1 << 48) - 1;
    PromptId(Uuid::from_u128(
        of.as_u128() ^ (u128::from(number) & RANDOM),
    ))
}

uuid_id! {
    /// Chosen by a client for one request; repeating the request with the same id has no further effect.
    RequestId
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

text_id! {
    /// A tool call, as the model named it (made unique within its session by the daemon).
    CallId
}
text_id! {
    /// A message, or the message that an answer in progress will become: `m<turn>.<n>`.
    ItemId
}
text_id! {
    /// Something that waits for the user: `<pid>.<n>`, short enough to be typed.
    InteractionId
}

/// 9999-12-30T22:00:00Z, the last second of the calendar in all time zones.
const STAMP_MAX: i64 = 253_402_207_200_000;

/// A time of day in milliseconds since 1970, written as RFC 3339 with milliseconds, UTC. For display only: durations
/// are measured on the monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub i64);

impl Stamp {
    /// The current time of day.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
        let at = Timestamp::from_millisecond(self.0.clamp(0, STAMP_MAX));
        let at = at.map_err(|_| fmt::Error)?;
        let printed = PRINTER.print_timestamp(&at, StdFmtWrite(f));
        printed.map_err(|_| fmt::Error)
    }
}

impl FromStr for Stamp {
    type Err = jiff::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let at: Timestamp = text.parse()?;
        Ok(Self(at.as_millisecond().max(0)))
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Stamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Stamp".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "date-time"})
    }
}

#[cfg(test)]
mod tests;
