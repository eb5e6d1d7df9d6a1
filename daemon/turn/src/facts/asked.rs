//! What people are asked, as a fold: decisions, approvals, questions of the model, and what was answered.

use contract::EffectivePermissions;
use proto::outcome::Denied;
use proto::params::approval::{Approval, Decision};
use proto::params::question::Question;
use proto::record::{ApprovalResolved, PolicyDecided, QuestionAnswered, Unattended, Verdict};
use proto::state::WaitingFor;
use proto::{CallId, Record};

use super::Facts;
use super::content::{content_of_answer, content_of_replies};
use super::open::{Answerer, Stage};
use crate::words;

/// Resolved approvals that are remembered, so that a late answer can be told who was first.
pub(super) const RESOLVED_KEPT: usize = 256;

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
                self.keep_inside(&decided.call, words::kept_inside_by_policy(decided));
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

    pub(super) fn apply_requested(&mut self, approval: &Approval) {
        self.questions += 1;
        self.pending
            .insert(approval.approval_id.clone(), approval.clone());
        if let Some(open) = &mut self.open {
            open.ask(&approval.call, Stage::Asked(approval.approval_id.clone()));
        }
    }

    pub(super) fn apply_questions(&mut self, question: &Question) {
        self.questions += 1;
        self.asked
            .insert(question.question_id.clone(), question.clone());
        if let Some(open) = &mut self.open {
            let stage = Stage::Questioned(question.question_id.clone());
            open.ask(&question.call, stage);
        }
    }

    /// A call was denied, for good: the same call is not asked about again in this turn.
    fn deny(&mut self, call: &CallId, words: String) {
        let Some(open) = &mut self.open else { return };
        let denied = open.calls.iter().find(|open| open.call.id == *call);
        // What policy never looked at (in an edited log) is like no other call.
        if let Some(denied) = denied.filter(|denied| !denied.input_sha256.is_empty()) {
            open.refused.insert(denied.input_sha256.clone());
        }
        open.stage(call, Stage::Denied { words });
    }

    fn stage_denied(&mut self, call: &CallId, words: String) {
        if let Some(open) = &mut self.open {
            open.stage(call, Stage::Denied { words });
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

    pub(super) fn apply_answered(&mut self, answered: &QuestionAnswered, record: &Record) {
        if !answered.unattended {
            self.clear_circles();
        }
        let asked = self.asked.remove(&answered.question_id);
        // What was never asked (in an edited log) says nothing about its call.
        if let (Some(asked), Some(open)) = (asked, &mut self.open) {
            let by = match (answered.replies.is_empty(), answered.unattended) {
                (false, _) => Answerer::Person,
                (true, true) => Answerer::Nobody,
                (true, false) => Answerer::Daemon,
            };
            let words = words::answers(by, &asked, answered);
            open.stage(&asked.call, Stage::Answered { by, words });
        }
        self.remember(
            answered.request_id,
            record,
            content_of_replies(&answered.question_id, &answered.replies),
            None,
        );
        self.replied.push_back((answered.clone(), record.at));
        if self.replied.len() > RESOLVED_KEPT {
            self.replied.pop_front();
        }
    }

    /// Whether a person is waited for, and for what.
    #[must_use]
    pub fn waits_for_person(&self) -> Option<WaitingFor> {
        if !self.pending.is_empty() {
            return Some(WaitingFor::Approval);
        }
        if !self.asked.is_empty() {
            return Some(WaitingFor::Question);
        }
        (!self.plans.is_empty()).then_some(WaitingFor::Plan)
    }

    pub(super) fn apply_resolved(&mut self, resolved: &ApprovalResolved, record: &Record) {
        if !resolved.unattended {
            self.clear_circles();
        }
        let asked = self.pending.remove(&resolved.approval_id);
        // The question says which call it was about, whatever an edited log has its answer say.
        let call = asked
            .as_ref()
            .map_or(&resolved.call, |asked| &asked.call)
            .clone();
        let escape = self.is_blocked(&call);
        if resolved.unattended
            && !escape
            && let Some(asked) = &asked
        {
            self.nobody_there(
                &call,
                &asked.subject,
                resolved.note.as_deref().unwrap_or_default(),
            );
        }
        if resolved.decision == Decision::AllowSession
            && let Some(scope) = &resolved.scope
        {
            self.grants.push(scope.clone());
        }
        if escape && resolved.decision == Decision::Deny {
            self.keep_inside(&call, Some(words::kept_inside(resolved)));
        } else if resolved.decision == Decision::Deny {
            self.deny(&call, words::denied_by_answer(resolved));
        } else if let Some(open) = &mut self.open {
            let shown_hash = asked.map(|asked| asked.shown_hash).unwrap_or_default();
            open.stage(&call, Stage::Approved { shown_hash });
        }
        self.remember(
            resolved.request_id,
            record,
            content_of_answer(&resolved.approval_id, resolved.decision),
            None,
        );
        self.resolved.push_back((resolved.clone(), record.at));
        if self.resolved.len() > RESOLVED_KEPT {
            self.resolved.pop_front();
        }
    }
}
