//! How a session leaves memory, and the state that must not be lost although the log lacks it: keys and values that clients
//! brought, which files its tools have read, which signals were taken.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use contract::MemorySnapshot;
use proto::state::State;
use proto::{RequestId, SessionId};
use tokio::sync::oneshot;

use crate::actor::Actor;
use crate::actor::shutdown::SESSION_ENDED;
use crate::journal::Cause;
use crate::request::keys::Keys;

/// Sessions whose values are kept. Beyond that the one that left longest ago is as after a restart of the daemon.
const KEPT_MAX: usize = 4096;

/// State kept in memory for a session that is not loaded.
pub struct UnloadedState {
    pub keys: Arc<Keys>,
    /// Variables of its commands that are not in its log.
    pub env: BTreeMap<String, String>,
    pub signalled: VecDeque<(RequestId, bool)>,
    /// What its tools remember.
    pub memory: Option<MemorySnapshot>,
    /// Nothing of what this life of the daemon has to say of its settings is still to be said.
    pub warned: bool,
    /// Notice to show to users when the session is loaded again.
    pub word: Option<String>,
}

/// The kept state of all sessions that are not loaded.
#[derive(Default)]
pub struct UnloadedSessions(Mutex<UnloadedByAge>);

#[derive(Default)]
struct UnloadedByAge {
    /// Counts up, to know the oldest.
    clock: u64,
    kept: HashMap<SessionId, (u64, UnloadedState)>,
}

impl UnloadedSessions {
    pub fn put(&self, session: SessionId, kept: UnloadedState) {
        let mut room = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        room.clock += 1;
        let now = room.clock;
        room.kept.insert(session, (now, kept));
        if room.kept.len() > KEPT_MAX {
            let oldest = room.kept.iter().min_by_key(|(_, (at, _))| *at);
            if let Some(oldest) = oldest.map(|(session, _)| *session) {
                room.kept.remove(&oldest);
            }
        }
    }

    pub fn take(&self, session: SessionId) -> Option<UnloadedState> {
        let mut room = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        room.kept.remove(&session).map(|(_, kept)| kept)
    }
}

/// How much it is wanted that a session leaves memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvictionReason {
    /// If nobody would miss it.
    Unused,
    /// If none of its work would be lost: the session is about to be deleted.
    Deleted,
    /// Also with people attached and work to do: its log is not the one that it writes to any more.
    Forced,
}

/// A request that the session leaves memory.
pub struct EvictionRequest {
    pub reason: EvictionReason,
    /// Answered when it has left, or dropped if it stays.
    pub reply: oneshot::Sender<Box<UnloadedState>>,
}

impl Actor {
    /// Leaves, or refuses by dropping the request.
    pub(crate) fn leave_memory(&mut self, request: EvictionRequest) {
        let leaves = match request.reason {
            EvictionReason::Unused => self.may_leave(),
            EvictionReason::Deleted => self.may_be_deleted(),
            EvictionReason::Forced => true,
        };
        if !leaves {
            return;
        }
        if request.reason != EvictionReason::Unused {
            // Nothing that they do can be reported any more.
            self.stop_children(self.calls.grace_ms(), SESSION_ENDED);
        }
        self.life.parting = Some(request.reply);
    }

    /// Whether no work would be lost: no turn is open, nothing waits, and nobody waits for an answer.
    fn may_be_deleted(&self) -> bool {
        // In a session that takes no records the remaining work can never run, unless its disk is repaired.
        let rests = self.journal.is_closed()
            || (self.is_settled()
                && self.journal.is_settled()
                && self.machine.facts().waits_for_person().is_none());
        rests
            && self.replies.held.is_empty()
            && !self.has_gated()
            && self.calls.running().is_empty()
            && !self.is_closing()
            && self.life.suspending.is_empty()
            && self.requests.extractions().are_over()
            && !self.life.handed_over
    }

    /// Whether nothing would be missed: nobody is there, nothing runs, and lists know it as it is.
    fn may_leave(&self) -> bool {
        let facts = self.machine.facts();
        let closed = self.journal.closed().map(|closed| closed.cause);
        let paused = self.machine.is_idle() && facts.state.state == State::Paused;
        let rests = match closed {
            // It waits for its disk.
            Some(Cause::Disk) => false,
            // Nothing will ever happen in it.
            Some(Cause::Log | Cause::Provider | Cause::Directory) => true,
            None => {
                self.journal.is_settled()
                    && (paused || (self.is_settled() && !self.journal.is_marked()))
            }
        };
        rests
            && facts.waits_for_person().is_none()
            && facts.children.is_empty()
            && self.viewers.fanout().attached() == 0
            && !self.viewers.is_joining()
            && self.replies.held.is_empty()
            && !self.has_gated()
            && self.calls.running().is_empty()
            && self
                .replies
                .waiters
                .iter()
                .all(crate::actor::waiters::Waiter::is_gone)
            && self.requests.extractions().are_over()
            && !self.is_closing()
            && self.life.suspending.is_empty()
            && !self.life.handed_over
            && self.calls.call_environment().running_processes().is_empty()
    }

    /// What the next life of this session needs and cannot read from the log.
    pub(crate) fn unloaded_state(&mut self) -> UnloadedState {
        UnloadedState {
            keys: Arc::clone(self.requests.keys()),
            env: self.calls.environment().hidden_values().clone(),
            signalled: std::mem::take(&mut self.replies.signalled),
            memory: self.calls.call_environment().memory.snapshot(),
            warned: self.life.warning.is_none(),
            word: None,
        }
    }

    /// Takes over what an earlier life has left.
    pub(crate) fn take_over(&mut self, kept: UnloadedState) {
        self.replies.signalled = kept.signalled;
        if kept.warned {
            self.life.warning = None;
        }
        if let Some(snapshot) = kept.memory {
            self.calls.call_environment().memory.restore(snapshot);
        }
    }
}
