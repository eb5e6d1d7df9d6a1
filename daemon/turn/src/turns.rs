//! How a turn begins and ends. What follows its end is decided in `next`.

use proto::item::Voice;
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::params::session::QueuedPrompt;
use proto::record::{SessionExited, SessionReopened, TurnStarted};
use proto::state::State;
use proto::{Body, Failure, PromptId, RequestId};

use crate::input::{Effect, StopReason};
use crate::machine::{Phase, Step};
use crate::next::{DecisionMoment, Exit, NextStep};

impl Step<'_> {
    /// Starts the turn of this prompt, which stands first in the queue.
    pub(crate) fn start_prompt(&mut self, prompt: PromptId) -> Phase {
        let Some(prompt) = self
            .facts
            .queue
            .front()
            .filter(|first| first.prompt_id == prompt)
        else {
            return Phase::Idle;
        };
        let prompt = prompt.clone();
        if self.facts.exited.is_some() {
            self.append(Body::SessionReopened(SessionReopened {
                by: prompt.by.clone(),
            }));
        }
        self.append(Body::TurnStarted(TurnStarted {
            prompt_id: prompt.prompt_id,
        }));
        self.state(State::Running, None, "prompt", None);
        self.arm_timeout();
        let spoken = self.facts.spoken > 0;
        let context = if spoken {
            self.note.take()
        } else {
            self.opening()
        };
        self.say_prompt(prompt, context, Voice::Prompt);
        self.ask()
    }

    /// Sends a prompt as a message, with what users' commands printed before it, and what its references led to.
    pub(crate) fn say_prompt(
        &mut self,
        prompt: QueuedPrompt,
        context: Option<String>,
        voice: Voice,
    ) {
        let references = self.facts.references.get(&prompt.prompt_id);
        let references = references.map(|text| text.to_string());
        let parts = [context, self.facts.user_results(), references];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let context = (!parts.is_empty()).then(|| parts.join("\n\n"));
        self.say(prompt.text, Some(prompt.prompt_id), context, voice);
    }

    /// What stands before the words of a message, where it is the first of the conversation. After a rewind to the very
    /// beginning it is what stood there before.
    pub(crate) fn opening(&mut self) -> Option<String> {
        if self.facts.spoken > 0 {
            return None;
        }
        let context = self.context.take();
        context.or_else(|| self.facts.opening.clone())
    }

    /// Ends the open turn, and goes on with what follows.
    pub fn end_turn(
        &mut self,
        outcome: OutcomeKind,
        reason: Option<Reason>,
        error: Option<Failure>,
    ) -> Phase {
        let Some(open) = self.facts.open.clone() else {
            return Phase::Idle;
        };
        let (outcome, error) = self.first_cause(outcome, error);
        let left = !open.denied.is_empty() && !open.ok_since_denial;
        // What was looked at behind a plan that nobody approved is not what the run was for.
        let blocked = outcome == OutcomeKind::Completed && (left || open.unapproved.is_some());
        let (outcome, reason) = if blocked {
            // Contract, decision 22: what had to be denied unattended stopped the run.
            (OutcomeKind::Blocked, Some(Reason::Denied))
        } else {
            (outcome, reason)
        };
        self.hold.clock = None;
        self.hold.too_long = 0;
        let duration_ms = self.hold.ran.ran(&open, self.now.mono_ms);
        let unheard = reason == Some(Reason::Shutdown) || outcome == OutcomeKind::Killed;
        let reported = self.hold.tell_ends && !unheard;
        let ended = TurnEnded {
            outcome,
            reason,
            text: with_plan(open.text, open.unapproved),
            error,
            usage: open.usage,
            steps: open.steps,
            tool_calls: open.tool_calls,
            duration_ms,
            denied: open.denied,
            hooks: reported,
        };
        if reported && self.facts.state.state == State::Waiting {
            // What it waited for is no more, and the state that follows the turn comes later.
            self.state(State::Running, None, "turn ends", None);
        }
        self.append(Body::TurnEnded(ended));
        if reported {
            self.effects.push(Effect::TellEnd);
            return Phase::Ending { stop: None };
        }
        self.after_turn(None)
    }

    /// Goes on behind the end of a turn. `stop`: what was to stop the session meanwhile.
    pub(crate) fn after_turn(&mut self, stop: Option<StopReason>) -> Phase {
        let next = self.next(DecisionMoment::TurnEnded, stop);
        let cause = match next {
            NextStep::Wait { for_person: true } => "the daemon stopped",
            NextStep::Wait { .. } | NextStep::StartPrompt(_) | NextStep::Exit(_) => "turn ended",
        };
        self.follow(next, Some(cause))
    }

    /// Ends the session. It can be resumed.
    pub(crate) fn exit(&mut self, exit: Exit, request_id: Option<RequestId>) -> Phase {
        if self.facts.exited.is_none() {
            self.append(Body::SessionExited(SessionExited {
                outcome: exit.outcome,
                reason: exit.reason,
                exit_code: exit.code,
                request_id,
            }));
        }
        Phase::Idle
    }
}

/// The words that a turn ends with. A plan that nobody was there to approve is a part of them: it is what a script gets.
fn with_plan(text: String, unapproved: Option<String>) -> String {
    match unapproved {
        None => text,
        Some(plan) if text.trim().is_empty() => plan,
        Some(plan) if text.contains(plan.trim()) => text,
        Some(plan) => format!("{plan}\n\n{text}"),
    }
}
