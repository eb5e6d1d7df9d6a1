//! The work that runs outside the machine. It is not logged, and is lost in a crash.
//!
//! | phase | prompt | answered / broke | retry due, key | judged | a user answers | call ended | stop, time up |
//! |---|---|---|---|---|---|---|---|
//! | `Idle` | starts a turn | – | – | – | – | – | nothing (TERM, KILL: exits) |
//! | `Asking` | queued | → `Calls`, ends, or asks again / waits and tries again, or ends `failed` | tries again | – | – | – | drops the request, keeps its text, ends |
//! | `Planning` | queued | – | – | – | – | – | stops the planner, ends |
//! | `Compacting` | queued | the summary replaces the old messages; if it failed, nothing changes; then the pending request is sent | asks for the summary again | – | – | – | drops the request, changes nothing, ends; at rest as `Idle`, the queue goes on (a shutdown leaves it) |
//! | `Calls` | queued | – | – | runs, asks, or closes the call | runs or closes the call | closes it; all closed → `Asking` | closes what has not started; → `Stopping` or ends |
//! | `Held` | queued | – | – | – | – | – | ends |
//! | `Rewinding` | queued | – | – | – | – | – | a rewind is short, and finishes first: then TERM and KILL exit, a shutdown leaves the queue |
//! | `Stopping` | queued | – | – | ignored | ignored | all ended → ends | a stronger reason takes over |
//! | `Ending` | queued | – | – | – | – | – | stops the `Stop` hooks (TERM: waits for them); then as in `Idle` |
//!
//! `Ending` follows the end of a turn, which is logged. `Stop` hooks run first; nothing else starts until they have
//! finished. They do not run when the daemon shuts down or the session is killed.
//!
//! A user answers an approval request (yes or no to a call), the questions of a call, or its plan. Several may be open
//! at the same time. A call with open questions or an open plan counts as a long read-only call: later read-only calls
//! run, writing calls wait. A running call may ask the user too, for an MCP server: it keeps running, the answer goes to
//! it, and the question is closed when it ends, is stopped, or the daemon hands over or dies.
//!
//! `Compacting` comes before a request whose earlier bytes change: the context is nearly full, the provider found the
//! request too long, or the model changes. `Asking` follows. The turn ends instead if the new model is not usable, or if
//! the messages that must stay are too large. A user can compact while the session is idle or paused; then the queue
//! continues. If a rewind went back past a change of provider, the messages for the other provider are rendered again
//! first. The work outside is done in jobs (`JobEnded`), with the request for a summary between two jobs. A compaction
//! is not a session state, and is logged only when it is complete.
//!
//! `Planning` comes before the first request of a turn, if the session has a planner (see `planning`). Its end, with or
//! without a plan, leads to that request.
//!
//! A rewind starts while the session is idle, paused or exited, but not in a hand-over. It is not a session state: the
//! session stays idle, paused or exited, and clients see `session.rewound`. Queued prompts start when it is finished.
//! After a crash during a rewind some files may be restored and others not. Users are notified of that, and the
//! conversation is unchanged.
//!
//! "–": cannot happen; ignored if it is caused by a late message. In every phase, queued prompts can be withdrawn,
//! edited and moved, settings can change, and background commands can start and end.

use std::collections::{BTreeMap, BTreeSet};

use proto::{CallId, InteractionId, ItemId};

use crate::compacting::Compacting;
use crate::input::StopReason;

/// The work that is in progress outside the machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Phase {
    /// Nothing runs.
    Idle,
    /// A request is at the provider, or waits for its next try.
    Asking(Asking),
    /// Earlier bytes of requests change: before the next request, or because a user asked for it while idle.
    Compacting(Compacting),
    /// The planner, a session of its own, works on the prompt of the turn.
    Planning,
    /// The calls of the newest answer are judged, approved and run.
    Calls(CallsInProgress),
    /// A turn is open, and nothing runs: its next request waits for the end of a pause. The log defines that request.
    Held,
    /// A rewind to the end of an earlier turn restores files. Prompts wait. Lost in a crash.
    Rewinding {
        /// A request to stop the session that arrived meanwhile.
        stop: Option<StopReason>,
    },
    /// The turn ends as soon as the running calls have returned.
    Stopping {
        reason: StopReason,
        calls: CallsInProgress,
    },
    /// The turn has ended, and its `Stop` hooks run before anything else starts.
    Ending {
        /// A request to stop the session that arrived meanwhile.
        stop: Option<StopReason>,
    },
}

/// A request and its current try.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asking {
    pub item: ItemId,
    pub attempt: u32,
    /// When the first try began, on the monotonic clock.
    pub since_ms: u64,
    /// Since when nothing listens at the provider's address, on the monotonic clock. `None`: something did at the last try.
    pub not_running_since_ms: Option<u64>,
    pub waits: RequestWait,
}

/// What an `Asking` waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestWait {
    Answer,
    /// The time of its next try, on the monotonic clock.
    Retry {
        due_ms: u64,
    },
    Credentials,
    /// The end of a pause; its next try is due.
    Resume,
    /// Its turn in the provider's queue: it is built, but not sent yet.
    Gate {
        /// On the monotonic clock.
        since_ms: u64,
    },
}

impl RequestWait {
    /// Whether the request has been handed out for sending.
    pub fn is_in_flight(self) -> bool {
        match self {
            Self::Answer | Self::Gate { .. } => true,
            Self::Retry { .. } | Self::Credentials | Self::Resume => false,
        }
    }
}

/// State of the newest answer's calls that is not in the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallsInProgress {
    /// The call that the policy is judging.
    pub judging: Option<CallId>,
    pub running: BTreeSet<CallId>,
    /// Open questions of running calls, each by its number in its call.
    pub questions: BTreeMap<InteractionId, u64>,
    /// Results that have arrived, but whose earlier calls are not all closed.
    pub ready: Vec<PendingResult>,
}

/// A result that waits for the results of earlier calls.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PendingResult {
    pub call: CallId,
    pub status: proto::item::CallStatus,
    pub text: String,
    pub images: Vec<proto::item::Image>,
}
