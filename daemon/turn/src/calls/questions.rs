//! What people are asked: for a yes to a call, and what the model wants to know. Numbered together; answered in any
//! order, each once.

use contract::Outcome;
use proto::item::{Display, ToolCall};
use proto::params::approval::{Approval, Decision as Answered, Scope};
use proto::params::question::{Ask, Question};
use proto::record::{ApprovalResolved, QuestionAnswered};
use proto::state::{State, WaitingFor};
use proto::{ApprovalId, Body, CallId, Pid, QuestionId};

use crate::facts::Answerer;
use crate::input::{Answers, Resolution};
use crate::machine::{Phase, Step};
use crate::words;

/// What a call comes to whose questions were settled: `words` for the model, and for people what was said, in a line.
pub(super) fn outcome(by: Answerer, words: &str) -> Outcome {
    let text = words::answers_in_a_line(words);
    Outcome {
        display: Display::Line { text },
        ..Outcome::with_status(by.status(), words)
    }
}

impl Step<'_> {
    /// The session, and the id of the next question to a person, of whatever kind.
    pub(super) fn next_question(&self) -> (Pid, String) {
        let created = self.facts.created.as_ref();
        let session = created.map(|created| created.pid).unwrap_or_default();
        (session, format!("{session}.{}", self.facts.questions + 1))
    }

    /// Asks a person for a yes to a call.
    pub(super) fn ask_person(&mut self, mut question: Approval) {
        let (session, id) = self.next_question();
        question.session = session;
        question.approval_id = ApprovalId(id);
        question.asked_at = self.now.wall;
        let cause = format!("approval {}", question.approval_id);
        self.append(Body::ApprovalRequested(question));
        self.state(State::Waiting, Some(WaitingFor::Approval), &cause, None);
    }

    /// Asks a person in the model's name.
    pub(super) fn ask_questions(&mut self, call: &ToolCall, questions: Vec<Ask>) {
        let (session, id) = self.next_question();
        let question_id = QuestionId(id);
        let cause = format!("question {question_id}");
        self.append(Body::QuestionAsked(Question {
            question_id,
            session,
            call: call.id.clone(),
            questions,
            asked_at: self.now.wall,
        }));
        self.state(State::Waiting, self.facts.waits_for_person(), &cause, None);
    }

    /// A person's answers to the model's questions have come, or nobody's.
    pub(crate) fn replied(&mut self, phase: Phase, answers: Answers) -> Phase {
        let Phase::Calls(mut calls) = phase else {
            return phase;
        };
        let Some(question) = self.facts.asked.get(&answers.question_id).cloned() else {
            return Phase::Calls(calls);
        };
        let by = answers.by.clone();
        self.append(Body::QuestionAnswered(QuestionAnswered {
            question_id: answers.question_id,
            call: question.call.clone(),
            replies: answers.replies,
            by: answers.by,
            unattended: answers.unattended,
            request_id: answers.request_id,
        }));
        self.answered_by(&by);
        self.close_what_cannot_run(&mut calls);
        self.proceed(calls)
    }

    /// A person has answered: the session runs again, or waits for the next answer.
    pub(super) fn answered_by(&mut self, by: &str) {
        let cause = format!("answered by {by}");
        match self.facts.waits_for_person() {
            None => self.state(State::Running, None, &cause, None),
            Some(next) if self.facts.state.waiting_for != Some(next) => {
                self.state(State::Waiting, Some(next), &cause, None);
            }
            Some(_) => {}
        }
    }

    /// A person said yes or no to a call, or the daemon had to.
    pub(crate) fn resolved(&mut self, phase: Phase, resolution: Resolution) -> Phase {
        let Phase::Calls(mut calls) = phase else {
            return phase;
        };
        let Some(question) = self.facts.pending.get(&resolution.approval_id).cloned() else {
            return Phase::Calls(calls);
        };
        let scope = Scope::chosen(
            &question.scopes,
            resolution.decision,
            resolution.scope.as_ref(),
        )
        .cloned();
        self.append(Body::ApprovalResolved(ApprovalResolved {
            approval_id: resolution.approval_id,
            call: question.call.clone(),
            decision: resolution.decision,
            scope,
            note: resolution.note,
            by: resolution.by.clone(),
            unattended: resolution.unattended,
            request_id: resolution.request_id,
        }));
        self.answered_by(&resolution.by);
        if resolution.decision == Answered::Deny
            && let Some(call) = self
                .open_calls()
                .into_iter()
                .find(|call| call.id == question.call)
        {
            self.close_denied(&mut calls, &call);
            self.close_what_cannot_run(&mut calls);
        }
        self.proceed(calls)
    }

    /// Open questions end with the turn: nobody can answer them any more.
    pub(crate) fn close_questions(&mut self) {
        self.close_questions_where(words::TURN_STOPPED, |_| true);
        if self.facts.waits_for_person().is_none() && self.facts.state.waiting_for.is_some() {
            self.state(State::Running, None, "stopping", None);
        }
    }

    /// Answers open approvals with a no, and open questions and plans with nothing, in the daemon's name.
    pub(crate) fn close_questions_where(&mut self, why: &str, which: impl Fn(&CallId) -> bool) {
        let asked: Vec<_> = self.facts.asked.values().cloned().collect();
        for question in asked.into_iter().filter(|asked| which(&asked.call)) {
            self.append(Body::QuestionAnswered(QuestionAnswered {
                question_id: question.question_id,
                call: question.call,
                replies: Vec::new(),
                by: "reasonix".into(),
                unattended: false,
                request_id: None,
            }));
        }
        let plans: Vec<_> = self.facts.plans.values().cloned().collect();
        for plan in plans.into_iter().filter(|plan| which(&plan.call)) {
            self.leave_plan(plan.plan_id, plan.call, false);
        }
        let open: Vec<_> = self.facts.pending.values().cloned().collect();
        for question in open.into_iter().filter(|open| which(&open.call)) {
            self.append(Body::ApprovalResolved(ApprovalResolved {
                approval_id: question.approval_id,
                call: question.call,
                decision: Answered::Deny,
                scope: None,
                note: Some(why.to_owned()),
                by: "reasonix".into(),
                unattended: false,
                request_id: None,
            }));
        }
    }
}
