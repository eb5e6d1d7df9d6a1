//! Clients that wait for something to have come: a turn's end, a question, the session's end.

use proto::Failure;
use proto::params::session::{Until, WaitOutput};
use proto::state::{State, WaitingFor};

use crate::actor::Actor;
use crate::actor::inbox::Reply;

/// A client that waits.
pub(crate) struct Waiter {
    until: Until,
    reply: Reply<WaitOutput>,
}

impl Waiter {
    pub(crate) fn is_gone(&self) -> bool {
        self.reply.is_closed()
    }
}

impl Actor {
    pub(crate) fn wait(&mut self, until: Until, reply: Reply<WaitOutput>) {
        self.replies.waiters.push(Waiter { until, reply });
        self.answer_waiters();
    }

    pub(crate) fn answer_waiters(&mut self) {
        if self.replies.waiters.is_empty()
            || (self.journal.durable() != self.journal.last() && !self.journal.is_closed())
        {
            return;
        }
        for waiter in std::mem::take(&mut self.replies.waiters) {
            match self.waited(waiter.until) {
                Some(output) => {
                    let _ = waiter.reply.send(output);
                }
                None if waiter.reply.is_closed() => {}
                None => self.replies.waiters.push(waiter),
            }
        }
    }

    /// Prompts wait after a turn that the daemon's end cut off, and nothing happens until the user says more.
    fn waits_for_a_word(&self) -> bool {
        self.machine.is_idle()
            && !self.machine.facts().paused
            && !self.machine.is_suspended()
            && !self.life.handed_over
    }

    fn waited(&self, until: Until) -> Option<Result<WaitOutput, Failure>> {
        let facts = self.machine.facts();
        let attention = until == Until::Attention
            && facts.state.state == State::Waiting
            && facts
                .state
                .waiting_for
                .is_some_and(WaitingFor::needs_person);
        let command = facts.user_command().is_some();
        let rests =
            facts.exited.is_some() || !command && (self.is_settled() || self.waits_for_a_word());
        let done = match until {
            Until::Turn => rests,
            Until::Attention => rests || attention,
            Until::Exit => facts.exited.is_some(),
        };
        if !done {
            // In a session that takes no records the awaited event never comes: nobody is notified that it did.
            return self.refusal().filter(|_| self.journal.is_closed()).map(Err);
        }
        let exit_code = match (&facts.exited, &facts.ended) {
            _ if attention => 75,
            (Some(exited), _) => exited.exit_code,
            (None, Some(ended)) => {
                let goal = facts.goal_exit_code();
                goal.unwrap_or_else(|| ended.exit_code())
            }
            (None, None) => 0,
        };
        Some(Ok(WaitOutput {
            done: true,
            attention,
            ended: facts.ended.clone(),
            exited: facts.exited,
            exit_code,
        }))
    }
}
