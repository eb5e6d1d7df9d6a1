//! The policy's decisions about calls, and denied calls, as a fold.

use contract::{Decision, EffectivePermissions};
use proto::CallId;
use proto::outcome::{Denied, DeniedAgent};
use proto::record::{AgentFinished, PolicyDecided, Unattended, Verdict};

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
                    _ if decided.layer == Decision::ANSWER_LAYER => {
                        Some(words::denied_by_policy(decided))
                    }
                    [] => words::kept_inside_by_policy(decided),
                    _ => Some(format!("It is not put back: {}.", decided.rule)),
                };
                self.keep_inside(&decided.call, words);
            }
            return;
        }
        let unattended = decided.unattended == Some(Unattended::Denied);
        if unattended {
            self.note_unattended_denial(
                &decided.call,
                &decided.subject,
                decided.why.as_deref().unwrap_or_default(),
            );
        }
        if unattended || decided.verdict == Verdict::Deny {
            let words = words::denied_by_policy(decided);
            if decided.layer == EffectivePermissions::LAYER {
                // The session's permissions may change later in the same turn, so this denial is not final.
                self.stage_denied(&decided.call, words);
            } else {
                self.deny(&decided.call, words);
            }
        }
    }

    /// Denies a call for the rest of the turn: the user is not asked about the same call again.
    pub(super) fn deny(&mut self, call: &CallId, words: String) {
        let Some(open) = &mut self.open else { return };
        let denied = open.calls.iter().find(|open| open.call.id == *call);
        // A call that the policy never judged (only in an edited log) has no hash to compare.
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

    /// Notes a call that was denied because no client was attached to approve it.
    pub(super) fn note_unattended_denial(&mut self, call: &CallId, subject: &str, why: &str) {
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
            agent: None,
        });
    }

    /// Notes the calls of a sub-agent that were denied because no client was attached to approve them.
    pub(super) fn note_agents_denials(&mut self, finished: &AgentFinished) {
        let Some(open) = self.open.as_mut().filter(|_| !finished.denied.is_empty()) else {
            return;
        };
        let denied = finished.denied.iter().map(|denied| {
            let agent = DeniedAgent {
                session: finished.pid,
                name: finished.agent.clone(),
            };
            denied.clone().of_agent(&finished.call, agent)
        });
        open.denied.extend(denied);
        // Work that a denial did not stop went on after it. The result of its call follows, unless it was in the
        // background.
        open.ok_since_denial = !finished.blocked;
    }
}
