//! Decisions about calls, as a fold: what policy said, and which calls were denied.

use contract::EffectivePermissions;
use proto::CallId;
use proto::outcome::Denied;
use proto::record::{PolicyDecided, Unattended, Verdict};

use super::Facts;
use super::open::CallStage;
use crate::words;

impl Facts {
    pub(super) fn apply_decided(&mut self, decided: &PolicyDecided) {
        let calls = self.open.iter_mut().flat_map(|open| &mut open.calls);
        for open in calls.filter(|open| open.call.id == decided.call) {
            open.read_only = decided.read_only;
            open.input_sha256.clone_from(&decided.input_sha256);
            if !decided.tool.is_empty() {
                open.tool.clone_from(&decided.tool);
            }
        }
        if self.is_blocked(&decided.call) {
            if decided.unattended.is_some() || decided.verdict == Verdict::Deny {
                let words = match self.quarantined(&decided.call) {
                    [] => words::kept_inside_by_policy(decided),
                    _ => Some(format!("It is not put back: {}.", decided.rule)),
                };
                self.keep_inside(&decided.call, words);
            }
            return;
        }
        let unattended = decided.unattended == Some(Unattended::Denied);
        if unattended {
            self.nobody_there(
                &decided.call,
                &decided.subject,
                decided.why.as_deref().unwrap_or_default(),
            );
        }
        if unattended || decided.verdict == Verdict::Deny {
            let words = words::denied_by_policy(decided);
            if decided.layer == EffectivePermissions::LAYER {
                // What the session may not do now it may do later in the same turn.
                self.stage_denied(&decided.call, words);
            } else {
                self.deny(&decided.call, words);
            }
        }
    }

    /// A call was denied, for good: the same call is not asked about again in this turn.
    pub(super) fn deny(&mut self, call: &CallId, words: String) {
        let Some(open) = &mut self.open else { return };
        let denied = open.calls.iter().find(|open| open.call.id == *call);
        // What policy never looked at (in an edited log) is like no other call.
        if let Some(denied) = denied.filter(|denied| !denied.input_sha256.is_empty()) {
            open.refused.insert(denied.input_sha256.clone());
        }
        open.stage(call, CallStage::Denied { words });
    }

    fn stage_denied(&mut self, call: &CallId, words: String) {
        if let Some(open) = &mut self.open {
            open.stage(call, CallStage::Denied { words });
        }
    }

    /// Notes a call that was denied because nobody was there to say yes.
    pub(super) fn nobody_there(&mut self, call: &CallId, subject: &str, why: &str) {
        let Some(open) = &mut self.open else { return };
        let tool = open
            .calls
            .iter()
            .find(|open| open.call.id == *call)
            .map(|open| open.tool.clone());
        open.denied.push(Denied {
            call: call.clone(),
            tool: tool.unwrap_or_default(),
            subject: subject.to_owned(),
            why: why.to_owned(),
        });
    }
}
