//! Questions that running calls ask the user: those of MCP servers. The call keeps running; the answer goes to it.
//!
//! A question lives as long as its call: one that is open when the daemon dies is closed by recovery.

use contract::ElicitationAnswer;
use proto::CallId;
use proto::params::interaction::{Interaction, InteractionAnswer, InteractionRequest};

use crate::facts::elicitation_answer;
use crate::input::{CallQuestion, Effect};
use crate::machine::{CallsInProgress, Phase, Step};
use crate::words;

impl Step<'_> {
    /// Asks the user the question of a running call. If no user can be asked now, the call learns that at once.
    pub(crate) fn call_asks(&mut self, phase: Phase, asked: CallQuestion) -> Phase {
        let Phase::Calls(mut calls) = phase else {
            self.answer_call(asked.call, asked.number, ElicitationAnswer::Cancel);
            return phase;
        };
        let mut open = self.facts.interactions.values();
        let has_one = open.any(|open| open.call == asked.call);
        let can_ask = asked.attended && !has_one && !self.hold.suspending;
        if !can_ask || !calls.running.contains(&asked.call) {
            self.answer_call(asked.call, asked.number, ElicitationAnswer::Cancel);
            return Phase::Calls(calls);
        }
        let request = InteractionRequest::Elicitation(asked.question);
        let id = self.wait_for_user(&asked.call, asked.shown_hash, request);
        calls.questions.insert(id, asked.number);
        Phase::Calls(calls)
    }

    /// Closes the question of a running call that does not need the answer any more.
    pub(crate) fn call_withdraws(&mut self, phase: Phase, call: &CallId, number: u64) -> Phase {
        match phase {
            Phase::Calls(mut calls) => {
                self.close_questions(&mut calls, words::WITHDRAWN, |asked, known| {
                    asked == call && known == number
                });
                Phase::Calls(calls)
            }
            Phase::Idle
            | Phase::Asking(_)
            | Phase::Planning
            | Phase::Compacting(_)
            | Phase::Held
            | Phase::Rewinding { .. }
            | Phase::Stopping { .. }
            | Phase::Ending { .. } => phase,
        }
    }

    /// Closes the questions of running calls that `which` selects by their call and number. The calls learn it.
    pub(crate) fn close_questions(
        &mut self,
        calls: &mut CallsInProgress,
        why: &str,
        which: impl Fn(&CallId, u64) -> bool,
    ) {
        let open: Vec<_> = calls
            .questions
            .iter()
            .filter_map(|(id, number)| Some((self.facts.interactions.get(id)?.clone(), *number)))
            .filter(|(open, number)| which(&open.call, *number))
            .collect();
        if open.is_empty() {
            return;
        }
        for (open, number) in open {
            calls.questions.remove(&open.interaction_id);
            let call = open.call.clone();
            self.close_interaction(open, Some(why.to_owned()), false);
            self.answer_call(call, number, ElicitationAnswer::Cancel);
        }
        self.update_state_after_answer("reasonix");
    }

    /// Gives the answer to a question to the call that asked it, if a running call did.
    pub(super) fn pass_answer_on(
        &mut self,
        calls: &mut CallsInProgress,
        open: &Interaction,
        answer: Option<&InteractionAnswer>,
    ) {
        if let Some(number) = calls.questions.remove(&open.interaction_id) {
            let answer = elicitation_answer(&open.request, answer);
            self.answer_call(open.call.clone(), number, answer);
        }
    }

    fn answer_call(&mut self, call: CallId, number: u64, answer: ElicitationAnswer) {
        self.effects.push(Effect::AnswerCall {
            call,
            number,
            answer,
        });
    }
}
