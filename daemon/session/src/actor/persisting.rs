//! Answers that hold always. Their rule is on disk before their record is: a record that is acknowledged never speaks of
//! a rule that is not kept. Where the daemon dies in between, the question is still open and the rule counts already;
//! the same answer once more changes nothing of it.

use std::sync::Arc;

use proto::params::Empty;
use proto::params::approval::{AnswerParams, Scope};
use proto::{ApprovalId, ErrorName, Failure};

use crate::actor::Actor;
use crate::actor::inbox::{Happened, Reply};
use crate::actor::replies::refuse;

/// An answer to a question about a call, on its way.
pub(crate) struct Answering {
    pub params: AnswerParams,
    pub by: String,
    pub reply: Reply<Empty>,
}

/// An answer whose rule is being written, and those to the same question that came behind it.
pub(crate) struct Lasting {
    first: Answering,
    behind: Vec<Answering>,
}

impl Actor {
    /// Holds an answer to a question back that another answer is being kept for; gives back any other.
    pub(crate) fn wait_behind(&mut self, answer: Answering) -> Option<Answering> {
        let id = &answer.params.approval_id;
        let mut lasting = self.lasting.iter_mut();
        match lasting.find(|lasting| lasting.first.params.approval_id == *id) {
            Some(lasting) => {
                lasting.behind.push(answer);
                None
            }
            None => Some(answer),
        }
    }

    /// Has the rule of an answer written, which was checked.
    pub(crate) fn keep_always(&mut self, answer: Answering) {
        let params = &answer.params;
        let pending = &self.machine.facts().pending;
        let rule = pending.get(&params.approval_id).and_then(|open| {
            Scope::chosen(&open.scopes, params.decision, params.scope.as_ref())
                .map(|scope| scope.rule.clone())
        });
        let Some(rule) = rule else {
            return refuse(answer.reply, not_offered());
        };
        let (kept, happened) = (Arc::clone(self.calls.kept_rules()), self.happened.clone());
        let approval_id = params.approval_id.clone();
        self.lasting.push(Lasting {
            first: answer,
            behind: Vec::new(),
        });
        tokio::task::spawn_blocking(move || {
            let work = std::panic::AssertUnwindSafe(|| kept.keep(&rule));
            let kept = std::panic::catch_unwind(work).unwrap_or_else(|_| {
                let text = "The rule could not be kept, because of a bug in Reasonix.";
                Err(Failure::new(ErrorName::Internal, text, "Allow it once."))
            });
            // Nobody listens in a session that has ended: its question is still open.
            let _ = happened.send(Happened::RuleKept { approval_id, kept });
        });
    }

    /// The rule is on disk, or will not be.
    pub(crate) fn rule_kept(&mut self, approval_id: &ApprovalId, kept: Result<(), Failure>) {
        let mut lasting = self.lasting.iter();
        let place = lasting.position(|lasting| lasting.first.params.approval_id == *approval_id);
        let Some(place) = place else {
            return;
        };
        let Lasting { first, behind } = self.lasting.remove(place);
        match kept {
            Err(failure) => refuse(first.reply, failure),
            Ok(()) => match self
                .refusal()
                .or_else(|| self.answer_refusal(&first.params))
            {
                // Its turn was stopped meanwhile. What the person wants holds all the same.
                Some(failure) => refuse(first.reply, ended_meanwhile(failure)),
                None => self.resolve(first),
            },
        }
        for next in behind {
            self.answer(next);
        }
    }
}

fn not_offered() -> Failure {
    Failure::new(
        ErrorName::InvalidParams,
        "This cannot be allowed always.",
        "Take one of the scopes of the approval, or allow it once.",
    )
}

fn ended_meanwhile(failure: Failure) -> Failure {
    let text = format!(
        "The rule is kept, but the question has ended: {}",
        failure.message
    );
    Failure {
        message: text,
        hint: "`reasonix permissions list` shows it, `reasonix permissions revoke` takes it back."
            .into(),
        ..failure
    }
}
