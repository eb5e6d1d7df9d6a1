//! What running calls and background commands report to their session.

use contract::{ElicitationAnswer, Outcome, SamplingAnswer, SamplingRequest};
use proto::CallId;
use proto::hook::HookFinished;
use proto::params::elicitation::Elicitation;
use proto::record::{AgentFinished, ChildExited, ChildSpawned, Quarantined};
use tokio::sync::oneshot;

/// Something that happened in a call, or in a command that a call left in the background.
pub enum CallEvent {
    Ended {
        call: CallId,
        outcome: Box<Outcome>,
        duration_ms: u64,
    },
    /// A running call asks the user. The answer goes to `reply`; if that is dropped, there is none.
    Asks {
        call: CallId,
        /// Distinguishes the questions of a call.
        number: u64,
        question: Box<Elicitation>,
        reply: oneshot::Sender<ElicitationAnswer>,
    },
    /// The model is to answer a text of a running call's server, which the user has approved. If `reply` is dropped,
    /// there is no answer.
    Samples {
        request: Box<SamplingRequest>,
        reply: oneshot::Sender<SamplingAnswer>,
    },
    /// A running call does not need the answer any more.
    Withdraws { call: CallId, number: u64 },
    /// A running tool has printed.
    Printed,
    /// Hooks have run, and nothing waits for them.
    HooksRan(Vec<HookFinished>),
    /// A command of the session runs in the background.
    BackgroundStarted(ChildSpawned),
    /// It has ended.
    BackgroundExited(ChildExited),
    /// A sub-agent has ended.
    AgentFinished(AgentFinished),
    /// Protected names came while commands ran, and were moved away.
    Quarantined(Vec<Quarantined>),
}
