//! Answers of users to interactions. The first answer counts (I6), and only with the hash of the shown content (I24).
//!
//! The rule of an answer that holds always is on disk before its record: a record that is acknowledged never speaks of a rule
//! that is not kept. If the daemon dies in between, the question is still open and the rule counts already; the same answer
//! once more changes nothing of it.

use std::collections::HashMap;
use std::sync::Arc;

use proto::params::Empty;
use proto::params::interaction::{AnswerParams, Interaction, InteractionAnswer};
use proto::record::{CallEdit, InteractionResolved};
use proto::{ErrorName, Failure, InteractionId, Seq, Stamp};
use turn::Input;
use turn::facts::{answer_refusal, content_of_answer, edited_command, persisted_rule};
use turn::input::InteractionResolution;

use crate::actor::Actor;
use crate::actor::inbox::{Happened, Reply};
use crate::actor::replies::refuse;
use crate::tasks;

/// Why open interactions are closed when the last user leaves a headless run.
const LAST_LEFT: &str = "the last client that could answer has disconnected. Allow the call with a rule (`--allow`), or use `--on-ask wait`.";

/// An answer on its way.
pub(crate) struct PendingAnswer {
    pub params: AnswerParams,
    pub by: String,
    pub reply: Reply<Empty>,
}

/// An answer whose rule is being written, and those to the same interaction that came after it.
struct Persisting {
    first: PendingAnswer,
    waiting: Vec<PendingAnswer>,
}

/// What the actor knows of interactions beside the log.
#[derive(Default)]
pub(crate) struct InteractionState {
    /// Where those of this life were opened in the log: none is shown before it is durable.
    opened_at: HashMap<InteractionId, Seq>,
    /// Answers whose rules are being written.
    persisting: Vec<Persisting>,
}

impl InteractionState {
    pub fn opened(&mut self, interaction: &Interaction, seq: Seq) {
        self.opened_at
            .insert(interaction.interaction_id.clone(), seq);
    }

    /// Whether the record that opened it is on disk.
    pub fn is_durable(&self, interaction: &Interaction, durable: Seq) -> bool {
        let opened_at = self.opened_at.get(&interaction.interaction_id);
        opened_at.is_none_or(|seq| *seq <= durable)
    }
}

impl Actor {
    pub(crate) fn answer(&mut self, answer: PendingAnswer) {
        let Some(PendingAnswer { params, by, reply }) = self.wait_behind(answer) else {
            return;
        };
        let content = content_of_answer(&params.interaction_id, &params.answer);
        let Some(reply) = self.unless_repeated(params.request_id, &content, reply) else {
            return;
        };
        let open = match self.answerable(&params) {
            Ok(open) => open,
            Err(failure) => return refuse(reply, failure),
        };
        let rule = persisted_rule(&open.request, &params.answer).map(str::to_owned);
        let edit = match self.edit_of(open, &params.answer) {
            Ok(edit) => edit,
            Err(failure) => return refuse(reply, failure),
        };
        let answer = PendingAnswer { params, by, reply };
        match rule {
            Some(rule) => self.persist(answer, rule),
            None => self.resolve(answer, edit),
        }
    }

    /// The change of the call that an answer makes, if any.
    fn edit_of(
        &self,
        open: &Interaction,
        answer: &InteractionAnswer,
    ) -> Result<Option<CallEdit>, Failure> {
        let Some(command) = edited_command(&open.request, answer) else {
            return Ok(None);
        };
        let calls = self.machine.facts().open.iter();
        let mut calls = calls.flat_map(|turn| &turn.calls);
        let Some(waits) = calls.find(|waits| waits.call.id == open.call) else {
            return Err(Failure::new(
                ErrorName::Stale,
                "The call no longer waits for an answer.",
                "View the session again.",
            ));
        };
        let environment = self.calls.call_environment();
        environment
            .with_command(&waits.effective(), command)
            .map(Some)
    }

    /// Takes an answer that was checked.
    pub(crate) fn resolve(&mut self, answer: PendingAnswer, edit: Option<CallEdit>) {
        let PendingAnswer { params, by, reply } = answer;
        let seq = self.machine.facts().seq.next();
        if edit.is_some()
            && let Some(open) = self
                .machine
                .facts()
                .interactions
                .get(&params.interaction_id)
        {
            // Hooks let another command through.
            self.hooks.forget(&open.call);
        }
        self.step(Input::Resolved(Box::new(InteractionResolution {
            interaction_id: params.interaction_id,
            answer: Some(params.answer),
            edit,
            reason: None,
            by,
            unattended: false,
            request_id: params.request_id,
        })));
        self.reply_when(seq, reply, Empty {});
    }

    /// What an answer is for; or why it does not count: nothing waits for it, or something else than was shown, or it does
    /// not fit.
    pub(crate) fn answerable(&self, params: &AnswerParams) -> Result<&Interaction, Failure> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        let facts = self.machine.facts();
        let Some(open) = facts.interactions.get(&params.interaction_id) else {
            let mut settled = facts.settled.iter();
            let first =
                settled.find(|(settled, _)| settled.interaction_id == params.interaction_id);
            return Err(match first {
                Some((first, at)) => answered_first(first, *at),
                None => Failure::new(
                    ErrorName::NotFound,
                    format!("There is no open question `{}`.", params.interaction_id),
                    "List open questions with `reasonix inbox`.",
                ),
            });
        };
        if open.shown_hash != params.shown_hash {
            return Err(Failure::new(
                ErrorName::Stale,
                "The question has changed since it was shown.",
                "View it again, then answer.",
            ));
        }
        answer_refusal(&open.request, &params.answer).map_or(Ok(open), Err)
    }

    /// Closes everything that waits: the last user who could have answered has left.
    pub(crate) fn close_unattended(&mut self) {
        let open: Vec<_> = self.machine.facts().interactions.keys().cloned().collect();
        for interaction_id in open {
            self.step(Input::Resolved(Box::new(InteractionResolution {
                interaction_id,
                answer: None,
                edit: None,
                reason: Some(LAST_LEFT.into()),
                by: "reasonix".into(),
                unattended: true,
                request_id: None,
            })));
        }
    }

    /// Holds an answer back while the rule of an earlier one to the same interaction is being written; gives back any other.
    pub(crate) fn wait_behind(&mut self, answer: PendingAnswer) -> Option<PendingAnswer> {
        let id = &answer.params.interaction_id;
        let mut persisting = self.interactions.persisting.iter_mut();
        match persisting.find(|persisting| persisting.first.params.interaction_id == *id) {
            Some(persisting) => {
                persisting.waiting.push(answer);
                None
            }
            None => Some(answer),
        }
    }

    /// Has the rule of an answer written, which was checked.
    pub(crate) fn persist(&mut self, answer: PendingAnswer, rule: String) {
        let (kept, happened) = (Arc::clone(self.calls.kept_rules()), self.happened.clone());
        let id = answer.params.interaction_id.clone();
        self.interactions.persisting.push(Persisting {
            first: answer,
            waiting: Vec::new(),
        });
        tasks::spawn_blocking(move || {
            let work = std::panic::AssertUnwindSafe(|| kept.keep(&rule));
            let kept = std::panic::catch_unwind(work).unwrap_or_else(|_| {
                let text = "The rule could not be saved because of a bug in Reasonix.";
                Err(Failure::new(
                    ErrorName::Internal,
                    text,
                    "Allow it once instead.",
                ))
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
        let Persisting { first, waiting } = persisting.remove(place);
        match kept {
            Err(failure) => refuse(first.reply, failure),
            Ok(()) => match self.answerable(&first.params).err() {
                // Its turn was stopped meanwhile. What the user wants holds all the same.
                Some(failure) => refuse(first.reply, ended_meanwhile(failure)),
                None => self.resolve(first, None),
            },
        }
        for next in waiting {
            self.answer(next);
        }
    }
}

/// The failure for an answer that came second: who was first, when, and how they decided.
fn answered_first(first: &InteractionResolved, at: Stamp) -> Failure {
    let by = &first.by;
    let decision = first.answer.as_ref().and_then(|answer| answer.decision());
    let said = match &decision {
        Some((_, words)) => format!("{by} answered first: {words}."),
        None => format!("{by} answered first."),
    };
    let failure = Failure::new(
        ErrorName::AlreadyResolved,
        said,
        "There is nothing left to do.",
    )
    .with("by", by.clone());
    let failure = match decision {
        Some((word, _)) => failure.with("decision", word),
        None => failure,
    };
    failure.with("at", at.to_string())
}

fn ended_meanwhile(failure: Failure) -> Failure {
    let text = format!(
        "The rule was saved, but the question is already closed: {}",
        failure.message
    );
    Failure {
        message: text,
        hint: "Show the rule with `reasonix permissions list`; remove it with `reasonix permissions revoke`."
            .into(),
        ..failure
    }
}
