//! Answers of people to questions about calls.

use proto::params::Empty;
use proto::params::approval::{AnswerParams, Decision, Scope};
use proto::{ApprovalId, ErrorName, Failure};
use turn::Input;
use turn::facts::content_of_answer;
use turn::input::Resolution;

use crate::actor::Actor;
use crate::actor::persisting::Answering;
use crate::actor::replies::{answered_first, nothing_waits, refuse};

impl Actor {
    pub(crate) fn answer(&mut self, answer: Answering) {
        let Some(Answering { params, by, reply }) = self.wait_behind(answer) else {
            return;
        };
        let content = content_of_answer(&params.approval_id, params.decision);
        let Some(reply) = self.unless_repeated(params.request_id, &content, reply) else {
            return;
        };
        if let Some(refusal) = self.refusal().or_else(|| self.answer_refusal(&params)) {
            return refuse(reply, refusal);
        }
        let answer = Answering { params, by, reply };
        match answer.params.decision {
            Decision::AllowAlways => self.keep_always(answer),
            Decision::AllowOnce | Decision::AllowSession | Decision::Deny => self.resolve(answer),
        }
    }

    /// Takes an answer that was checked.
    pub(crate) fn resolve(&mut self, answer: Answering) {
        let Answering { params, by, reply } = answer;
        let seq = self.machine.facts().seq.next();
        self.step(Input::Resolved(Box::new(Resolution {
            approval_id: params.approval_id,
            decision: params.decision,
            scope: params.scope,
            note: params.note,
            by,
            unattended: false,
            request_id: params.request_id,
        })));
        self.reply_when(seq, reply, Empty {});
    }

    /// Why an answer does not count: nothing waits for it, or something else than was shown, or it was not offered.
    pub(crate) fn answer_refusal(&self, params: &AnswerParams) -> Option<Failure> {
        let Some(open) = self.machine.facts().pending.get(&params.approval_id) else {
            return Some(self.not_pending(&params.approval_id));
        };
        if open.shown_hash != params.shown_hash {
            return Some(Failure::new(
                ErrorName::Stale,
                "What was shown is not what waits.",
                "Look at it again, and answer what you see.",
            ));
        }
        let chosen = Scope::chosen(&open.scopes, params.decision, params.scope.as_ref());
        let foreign = match params.decision {
            Decision::AllowSession | Decision::AllowAlways => chosen.is_none(),
            Decision::AllowOnce | Decision::Deny => params
                .scope
                .as_ref()
                .is_some_and(|named| open.scopes.iter().all(|scope| scope.rule != named.rule)),
        };
        foreign.then(|| {
            Failure::new(
                ErrorName::InvalidParams,
                match params.decision {
                    Decision::AllowAlways => "This cannot be allowed always.",
                    _ => "This scope was not offered.",
                },
                "Take one of the scopes of the approval, or allow it once.",
            )
        })
    }

    /// What became of an approval that does not wait; or what else has this number.
    fn not_pending(&self, id: &ApprovalId) -> Failure {
        let facts = self.machine.facts();
        let mut resolved = facts.resolved.iter();
        if let Some((first, at)) = resolved.find(|(resolved, _)| resolved.approval_id == *id) {
            let value = serde_json::to_value(first.decision).unwrap_or_default();
            return answered_first(&first.by, *at, Some((words(first.decision), value)));
        }
        if facts.asked.keys().any(|asked| asked.0 == id.0) {
            return Failure::new(
                ErrorName::NotFound,
                format!("`{id}` is a question of the model."),
                format!("`reasonix inbox answer {id} …` answers it."),
            );
        }
        if facts.plans.keys().any(|plan| plan.0 == id.0) {
            return Failure::new(
                ErrorName::NotFound,
                format!("`{id}` is a plan of the model."),
                format!(
                    "`reasonix inbox allow {id}` approves it, `reasonix inbox deny {id}` sends it back."
                ),
            );
        }
        nothing_waits("approval", &id.0)
    }
}

fn words(decision: Decision) -> &'static str {
    match decision {
        Decision::AllowOnce => "allowed once",
        Decision::AllowSession => "allowed for the session",
        Decision::AllowAlways => "allowed always",
        Decision::Deny => "denied",
    }
}
