//! What runs outside of the machine. It is in no log, and gone after a crash.
//!
//! | phase | prompt | answered / broke | retry due, key | judged | a person answers | call ended | stop, time up |
//! |---|---|---|---|---|---|---|---|
//! | `Idle` | starts a turn | – | – | – | – | – | nothing (TERM, KILL: exits) |
//! | `Asking` | queued | → `Calls`, ends, or asks again / waits and tries again, or ends `failed` | tries again | – | – | – | drops the request, keeps its text, ends |
//! | `Compacting` | queued | the summary: is put in its place; or nothing changes, and what was to follow follows | asks for the summary again | – | – | – | drops the request, changes nothing, ends; at rest as `Idle`, the queue goes on (a shutdown leaves it) |
//! | `Calls` | queued | – | – | runs, asks, or closes the call | runs or closes the call | closes it; all closed → `Asking` | closes what has not started; → `Stopping` or ends |
//! | `Held` | queued | – | – | – | – | – | ends |
//! | `Rewinding` | queued | – | – | – | – | – | it is short, and ends first: then TERM and KILL exit, a shutdown leaves the queue |
//! | `Stopping` | queued | – | – | ignored | ignored | all ended → ends | a stronger reason takes over |
//! | `Ending` | queued | – | – | – | – | – | who is notified of the end is stopped (TERM: is waited for); then as at rest |
//!
//! `Ending` is between the end of a turn, which is logged, and what follows it: who asked for it (`Stop` hooks) is told
//! first, and comes back. Nobody is told when the daemon goes down, or the session is killed.
//!
//! A person answers an approval (yes or no to a call that is shown), the questions of a call, or its plan. All may be open
//! at a time. A call whose questions or plan are open is a reader that takes long: readers behind it run, writers wait.
//!
//! `Compacting` is before a request whose earlier bytes change: the context is near its end, the provider found the request
//! too long, or another model is to be asked. Then `Asking`; where the new model is not usable, or what has to stay is too
//! much, the turn ends. A person compacts at rest, also in a pause; then the queue goes on. Messages that stand
//! there for another provider, since a rewind went back over the change, are rendered before that. What works at it outside is a
//! job (`JobEnded`), and between two jobs the request for a summary. It is no state, and only what is whole is logged.
//!
//! A rewind begins at rest, in a pause and behind an exit too, and not in a hand-over. It is no state: the session
//! is as idle, paused or exited as it was, and people see `session.rewound`. What waits in the queue goes on when it is
//! over. A crash in it leaves files half put back, and that is told; the conversation is then as it was.
//!
//! "–": cannot happen, and is ignored where a late message makes it happen. In every phase: a prompt that waits can be
//! taken back, edited and moved; settings change; commands in the background come and go.

use std::collections::BTreeSet;

use proto::{CallId, ItemId};

use crate::compacting::Compacting;
use crate::input::StopReason;

/// What is going on outside.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Phase {
    /// Nothing runs.
    Idle,
    /// A request is with the provider, or waits for its next try.
    Asking(Asking),
    /// Earlier bytes of requests are changed before the next one, or because a person asked for it at rest.
    Compacting(Compacting),
    /// Calls of the newest answer are judged, asked and run.
    Calls(CallsInProgress),
    /// A turn is open, and nothing runs: its next request waits for the end of a pause. What it is, the log says.
    Held,
    /// The session goes back to the end of an earlier turn: files are restored. Prompts wait. Gone with a crash.
    Rewinding {
        /// What was to stop the session meanwhile.
        stop: Option<StopReason>,
    },
    /// The turn is to end when the calls that run have come back.
    Stopping {
        reason: StopReason,
        calls: CallsInProgress,
    },
    /// The turn has ended, and who asked for it is told before anything follows.
    Ending {
        /// What was to stop the session meanwhile.
        stop: Option<StopReason>,
    },
}

/// A request and its tries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asking {
    pub item: ItemId,
    pub attempt: u32,
    /// When the first try began, on the monotonic clock.
    pub since_ms: u64,
    pub waits: RequestWait,
}

/// What an `Asking` waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestWait {
    Answer,
    /// Its next try, at this moment of the monotonic clock.
    Retry {
        due_ms: u64,
    },
    Credentials,
    /// The end of a pause: its next try is due.
    Resume,
    /// Its turn at the vendor: it is made, and not sent yet.
    Gate {
        /// On the monotonic clock.
        since_ms: u64,
    },
}

impl RequestWait {
    /// Whether somebody outside has the request, sent or not.
    pub fn is_in_flight(self) -> bool {
        match self {
            Self::Answer | Self::Gate { .. } => true,
            Self::Retry { .. } | Self::Credentials | Self::Resume => false,
        }
    }
}

/// Calls of the newest answer, as far as they are known here and not in the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallsInProgress {
    /// The call that policy looks at now.
    pub judging: Option<CallId>,
    pub running: BTreeSet<CallId>,
    /// Results that are in, but stand behind an earlier call that is not closed.
    pub ready: Vec<PendingResult>,
}

/// A result that waits for its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PendingResult {
    pub call: CallId,
    pub status: proto::item::CallStatus,
    pub text: String,
}
