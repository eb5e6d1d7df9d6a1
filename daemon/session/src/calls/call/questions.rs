//! How a running call asks the user: the session opens the question, and the answer comes back to the call.

use std::sync::atomic::{AtomicU64, Ordering};

use contract::{ElicitationAnswer, Questions, SamplingAnswer, SamplingRequest};
use futures::future::BoxFuture;
use proto::CallId;
use proto::params::elicitation::Elicitation;
use tokio::sync::oneshot;

use crate::calls::events::CallEvent;
use crate::reporter::Reporter;

/// The questions of one call.
pub(super) struct CallQuestions {
    call: CallId,
    asked: AtomicU64,
    reporter: Reporter<CallEvent>,
}

impl CallQuestions {
    pub(super) fn new(call: CallId, reporter: Reporter<CallEvent>) -> Self {
        Self {
            call,
            asked: AtomicU64::new(0),
            reporter,
        }
    }
}

/// Withdraws the question when it is dropped before the answer.
struct Withdrawal {
    call: CallId,
    number: u64,
    reporter: Reporter<CallEvent>,
    is_answered: bool,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        if !self.is_answered {
            self.reporter.report(CallEvent::Withdraws {
                call: self.call.clone(),
                number: self.number,
            });
        }
    }
}

impl Questions for CallQuestions {
    fn ask(&self, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let (call, reporter) = (self.call.clone(), self.reporter.clone());
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let mut withdrawal = Withdrawal {
                call: call.clone(),
                number,
                reporter: reporter.clone(),
                is_answered: false,
            };
            reporter.report(CallEvent::Asks {
                call,
                number,
                question: Box::new(question),
                reply,
            });
            let answer = answer.await;
            withdrawal.is_answered = true;
            // Dropped: the session has ended.
            answer.unwrap_or(ElicitationAnswer::Cancel)
        })
    }

    fn sample(
        &self,
        shown: Elicitation,
        request: SamplingRequest,
    ) -> BoxFuture<'static, SamplingAnswer> {
        let (asking, reporter) = (self.ask(shown), self.reporter.clone());
        Box::pin(async move {
            match asking.await {
                ElicitationAnswer::Accept(_) => {}
                ElicitationAnswer::Decline | ElicitationAnswer::Cancel => {
                    return SamplingAnswer::Declined;
                }
            }
            let (reply, answer) = oneshot::channel();
            let request = Box::new(request);
            reporter.report(CallEvent::Samples { request, reply });
            let ended = |_| SamplingAnswer::Failed("the session has ended".to_owned());
            answer.await.unwrap_or_else(ended)
        })
    }
}
