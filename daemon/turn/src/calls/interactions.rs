//! Interactions of the turn's calls: opened, answered once, or closed by the daemon. They share one numbering and can be
//! answered in any order. `facts::interactions` interprets the answers.

use contract::Outcome;
use proto::item::{CallStatus, Display, ToolCall};
use proto::params::interaction::{
    ApprovalDecision, Interaction, InteractionAnswer, InteractionKind, InteractionRequest, Question,
};
use proto::record::InteractionResolved;
use proto::state::{Mode, State};
use proto::{Body, CallId, InteractionId};

use crate::facts::{Answerer, recorded_answer};
use crate::input::InteractionResolution;
use crate::machine::{CallsInProgress, Phase, Step};
use crate::words;

/// The outcome of a call whose questions or plan were answered: `words` for the model, and a one-line form for the user.
pub(super) fn outcome(by: Answerer, words: &str) -> Outcome {
    let text = words::answers_in_one_line(words);
    Outcome {
        display: Display::Line { text },
        ..Outcome::with_status(by.status(), words)
    }
}

impl Step<'_> {
    /// Asks the user the model's questions. If no client is attached, reports that to the model.
    pub(super) fn ask_questions(
        &mut self,
        calls: &mut CallsInProgress,
        call: &ToolCall,
        questions: Vec<Question>,
        shown_hash: String,
        attended: bool,
    ) {
        if attended {
            self.wait_for_user(
                &call.id,
                shown_hash,
                InteractionRequest::Questions { questions },
            );
        } else {
            let outcome = Outcome::with_status(CallStatus::Ok, words::NOBODY_ANSWERS);
            self.close(calls, call, outcome, 0);
        }
    }

    /// Presents a plan in plan mode. If no client is attached, closes it at once.
    pub(super) fn present_plan(
        &mut self,
        calls: &mut CallsInProgress,
        call: &ToolCall,
        plan: String,
        shown_hash: String,
        attended: bool,
    ) {
        if self.facts.options.mode != Some(Mode::Plan) {
            return self.close(calls, call, Outcome::refused(words::NO_PLAN_MODE), 0);
        }
        let request = InteractionRequest::Plan { plan };
        if attended {
            self.wait_for_user(&call.id, shown_hash, request);
            return;
        }
        let open = self.open_interaction(&call.id, shown_hash, request);
        self.close_interaction(open, None, true);
        self.close_what_cannot_run(calls);
    }

    /// Opens an interaction. The call waits for its answer.
    pub(super) fn wait_for_user(
        &mut self,
        call: &CallId,
        shown_hash: String,
        request: InteractionRequest,
    ) -> InteractionId {
        let kind = request.kind();
        let open = self.open_interaction(call, shown_hash, request);
        let cause = format!("{} {}", kind.as_str(), open.interaction_id);
        self.state(State::Waiting, self.facts.waits_for_person(), &cause, None);
        open.interaction_id
    }

    fn open_interaction(
        &mut self,
        call: &CallId,
        shown_hash: String,
        request: InteractionRequest,
    ) -> Interaction {
        let created = self.facts.created.as_ref();
        let session = created.map(|created| created.pid).unwrap_or_default();
        let number = self.facts.interactions_opened + 1;
        let interaction = Interaction {
            interaction_id: InteractionId(format!("{session}.{number}")),
            session,
            call: call.clone(),
            shown_hash,
            opened_at: self.now.wall,
            request,
        };
        self.append(Body::InteractionOpened(interaction.clone()));
        interaction
    }

    /// Handles a user's answer, or that no client is left that could answer.
    pub(crate) fn resolved(&mut self, phase: Phase, resolution: InteractionResolution) -> Phase {
        let Phase::Calls(mut calls) = phase else {
            return phase;
        };
        let Some(open) = self.facts.interactions.get(&resolution.interaction_id) else {
            return Phase::Calls(calls);
        };
        let open = open.clone();
        let answer = resolution
            .answer
            .map(|answer| recorded_answer(&open.request, answer));
        let by = resolution.by.clone();
        let record = InteractionResolved {
            interaction_id: resolution.interaction_id,
            call: open.call.clone(),
            answer: answer.clone(),
            edit: resolution.edit,
            reason: resolution.reason,
            by: resolution.by,
            unattended: resolution.unattended,
            request_id: resolution.request_id,
        };
        self.append(Body::InteractionResolved(record.clone()));
        self.deny_other_approvals(record);
        self.pass_answer_on(&mut calls, &open, answer.as_ref());
        self.update_state_after_answer(&by);
        self.close_what_cannot_run(&mut calls);
        self.proceed(calls)
    }

    /// If an answer denies all calls of the model's answer that need an approval, the open questions about others have
    /// the same answer.
    fn deny_other_approvals(&mut self, resolved: InteractionResolved) {
        let Some(InteractionAnswer::Approval {
            decision: ApprovalDecision::DenyRest,
            ..
        }) = resolved.answer
        else {
            return;
        };
        let open = self.facts.interactions.values();
        let others: Vec<_> = open
            .filter(|open| open.request.kind() == InteractionKind::Approval)
            .map(|open| (open.interaction_id.clone(), open.call.clone()))
            .collect();
        for (interaction_id, call) in others {
            self.append(Body::InteractionResolved(InteractionResolved {
                interaction_id,
                call,
                request_id: None,
                ..resolved.clone()
            }));
        }
    }

    /// Updates the session's state after an answer: it runs again, or waits for the next answer.
    pub(super) fn update_state_after_answer(&mut self, by: &str) {
        let cause = format!("answered by {by}");
        match self.facts.waits_for_person() {
            None => self.state(State::Running, None, &cause, None),
            Some(next) if self.facts.state.waiting_for != Some(next) => {
                self.state(State::Waiting, Some(next), &cause, None);
            }
            Some(_) => {}
        }
    }

    /// Closes all open interactions when the turn ends.
    pub(crate) fn close_interactions(&mut self) {
        self.close_interactions_where(words::TURN_STOPPED, |_| true);
        if self.facts.waits_for_person().is_none() && self.facts.state.waiting_for.is_some() {
            self.state(State::Running, None, "stopping", None);
        }
    }

    /// Closes the open interactions of some calls, in the daemon's name.
    pub(crate) fn close_interactions_where(&mut self, why: &str, which: impl Fn(&CallId) -> bool) {
        let open: Vec<_> = self.facts.interactions.values().cloned().collect();
        for interaction in open.into_iter().filter(|open| which(&open.call)) {
            self.close_interaction(interaction, Some(why.to_owned()), false);
        }
    }

    /// Closes the questions of calls that ran when the daemon died: nothing waits for their answers.
    pub(crate) fn close_lost_questions(&mut self) {
        let kind = InteractionKind::Elicitation;
        let open = self.facts.interactions.values();
        let lost: Vec<_> = open
            .filter(|open| open.request.kind() == kind)
            .cloned()
            .collect();
        for interaction in lost {
            self.close_interaction(interaction, Some(words::QUESTION_LOST.to_owned()), false);
        }
    }

    pub(super) fn close_interaction(
        &mut self,
        open: Interaction,
        reason: Option<String>,
        unattended: bool,
    ) {
        self.append(Body::InteractionResolved(InteractionResolved {
            interaction_id: open.interaction_id,
            call: open.call,
            answer: None,
            edit: None,
            reason,
            by: "reasonix".into(),
            unattended,
            request_id: None,
        }));
    }
}
