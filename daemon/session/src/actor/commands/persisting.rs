//! Answers that hold always. Their rule is on disk before their record is: a record that is acknowledged never speaks of
//! a rule that is not kept. Where the daemon dies in between, the question is still open and the rule counts already;
//! the same answer once more changes nothing of it.

use std::sync::Arc;

use proto::{ErrorName, Failure, InteractionId};

use crate::actor::Actor;
use crate::actor::commands::interactions::Answering;
use crate::actor::inbox::Happened;
use crate::actor::replies::refuse;

/// An answer whose rule is being written, and those to the same interaction that came after it.
pub(crate) struct Persisting {
    first: Answering,
    behind: Vec<Answering>,
}

impl Actor {
    /// Holds an answer back while the rule of an earlier one to the same interaction is being written; gives back any other.
    pub(crate) fn wait_behind(&mut self, answer: Answering) -> Option<Answering> {
        let id = &answer.params.interaction_id;
        let mut persisting = self.interactions.persisting.iter_mut();
        match persisting.find(|persisting| persisting.first.params.interaction_id == *id) {
            Some(persisting) => {
                persisting.behind.push(answer);
                None
            }
            None => Some(answer),
        }
    }

    /// Has the rule of an answer written, which was checked.
    pub(crate) fn persist(&mut self, answer: Answering, rule: String) {
        let (kept, happened) = (Arc::clone(self.calls.kept_rules()), self.happened.clone());
        let id = answer.params.interaction_id.clone();
        self.interactions.persisting.push(Persisting {
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
            let _ = happened.send(Happened::RuleKept { id, kept });
        });
    }

    /// The rule is on disk, or will not be.
    pub(crate) fn rule_kept(&mut self, id: &InteractionId, kept: Result<(), Failure>) {
        let persisting = &mut self.interactions.persisting;
        let mut written = persisting.iter();
        let Some(place) = written.position(|it| it.first.params.interaction_id == *id) else {
            return;
        };
        let Persisting { first, behind } = persisting.remove(place);
        match kept {
            Err(failure) => refuse(first.reply, failure),
            Ok(()) => match self.answerable(&first.params).err() {
                // Its turn was stopped meanwhile. What the user wants holds all the same.
                Some(failure) => refuse(first.reply, ended_meanwhile(failure)),
                None => self.resolve(first),
            },
        }
        for next in behind {
            self.answer(next);
        }
    }
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
