//! Calls that the sandbox blocked, as a fold: their outcome, and the decision about an unsandboxed run.

use proto::CallId;
use proto::record::{Quarantined, ToolBlocked};

use super::Facts;
use super::open::{CallStage, OpenCall};

impl OpenCall {
    /// Whether the call runs unsandboxed, or did when the daemon died.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.blocked.is_some() && matches!(self.stage, CallStage::Started { .. })
    }
}

impl Facts {
    /// The user let a call make a directory that the session may write in.
    pub(super) fn note_added_dir(&mut self, call: &CallId, adds_dir: Option<&String>) {
        let mut calls = self.open.iter_mut().flat_map(|open| &mut open.calls);
        if let Some(open) = calls.find(|open| open.call.id == *call) {
            open.adds_dir = adds_dir.cloned();
        }
    }

    /// Why the sandbox blocked a call that has no result yet. If such a call runs again, it runs unsandboxed.
    #[must_use]
    pub fn blocked(&self, call: &CallId) -> Option<&str> {
        let mut calls = self.open.iter().flat_map(|open| &open.calls);
        let open = calls.find(|open| open.call.id == *call && open.stage != CallStage::Closed)?;
        open.blocked.as_ref().map(|blocked| blocked.reason.as_str())
    }

    /// Quarantined files that a call's command created under protected names; the user may have them restored.
    #[must_use]
    pub fn quarantined(&self, call: &CallId) -> &[Quarantined] {
        let mut calls = self.open.iter().flat_map(|open| &open.calls);
        let open = calls.find(|open| open.call.id == *call && open.stage != CallStage::Closed);
        let blocked = open.and_then(|open| open.blocked.as_ref());
        blocked.map_or(&[], |blocked| &blocked.quarantined)
    }

    pub(super) fn is_blocked(&self, call: &CallId) -> bool {
        self.blocked(call).is_some()
    }

    pub(super) fn apply_blocked(&mut self, blocked: &ToolBlocked) {
        let calls = self.open.iter_mut().flat_map(|open| &mut open.calls);
        // A call is blocked only once: an unsandboxed run cannot be blocked.
        let fresh = |open: &&mut OpenCall| {
            open.call.id == blocked.call
                && open.stage != CallStage::Closed
                && open.blocked.is_none()
        };
        for open in calls.filter(fresh) {
            open.blocked = Some(Box::new(blocked.clone()));
            open.stage = CallStage::Blocked;
        }
    }

    /// Refuses an unsandboxed run for the rest of the turn: the user is not asked about the same call again.
    pub(super) fn keep_inside(&mut self, call: &CallId, words: Option<String>) {
        let Some(open) = &mut self.open else { return };
        let kept = open.calls.iter().find(|open| open.call.id == *call);
        if let Some(kept) = kept.filter(|kept| !kept.input_sha256.is_empty()) {
            open.kept_inside.insert(kept.input_sha256.clone());
        }
        open.stage(call, CallStage::KeptInside { words });
    }
}
