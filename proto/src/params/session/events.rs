//! Events of a session: followed as they come, and read back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::Event;
use crate::{Failure, Pid, Seq, SessionId};

/// Parameters of `session.attach`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttachParams {
    pub session: String,
    /// Chosen by the caller; every event of the subscription has it.
    pub subscription: String,
    /// Replay every durable event after this one. Absent: a `snapshot` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_seq: Option<Seq>,
    /// Epoch of `after_seq`; absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Also live events, which have no `seq`: deltas, output of running tools.
    #[serde(default)]
    pub ephemeral: bool,
    /// Without `after_seq`: number of recent durable events to replay after the snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlog: Option<u64>,
}

/// Answer of `session.attach`. The events follow as notifications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttachOutput {
    pub session: SessionId,
    pub pid: Pid,
    pub epoch: u64,
    /// The newest durable record at that moment.
    pub seq: Seq,
}

/// Parameters of `session.detach`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetachParams {
    pub subscription: String,
}

/// The notification `event`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventNotification {
    pub subscription: String,
    pub event: Event,
}

/// The notification `event.ended`, the last of a subscription that the client has not ended itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndedNotification {
    pub subscription: String,
    /// The error; absent: the session was unloaded from memory, or the client has closed its sending side and has all
    /// events. Otherwise a client can attach again. Not named `error`: JSON-RPC libraries would take the notification for a
    /// response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Parameters of `session.read`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadParams {
    pub session: String,
    /// First record to return, from 1.
    pub from_seq: Seq,
    /// Maximum number of events; 0 or absent: 200. A page also ends before 512 KiB.
    #[serde(default)]
    pub limit: u64,
}

/// Answer of `session.read`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReadOutput {
    pub events: Vec<Event>,
    /// Start of the next page; absent on the last page.
    #[serde(default)]
    pub next: Option<Seq>,
    pub epoch: u64,
}

/// Parameters of `session.event`: one durable event that is too large for a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventParams {
    pub session: String,
    pub seq: Seq,
    /// Bytes of the JSON text that the client has already.
    #[serde(default)]
    pub offset: u64,
}

/// A piece of a long text: at most 512 KiB, cut between characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PieceOutput {
    pub text: String,
    /// Total bytes.
    pub total: u64,
    /// Start of the next piece; absent at the end.
    #[serde(default)]
    pub next: Option<u64>,
}
