//! Texts of MCP servers that the session's model answers: requests beside the turn, which the user has approved.

use contract::{SamplingAnswer, SamplingRequest};
use tokio::sync::oneshot;

use crate::actor::Actor;
use crate::actor::inbox::Happened;
use crate::request::server_sampling;
use crate::tasks;

impl Actor {
    /// Asks the session's model. If the session is ending, `reply` is dropped.
    pub(crate) fn begin_sampling(
        &mut self,
        request: SamplingRequest,
        mut reply: oneshot::Sender<SamplingAnswer>,
    ) {
        let goes_on =
            self.life.closing.is_empty() && !self.life.handed_over && !self.journal.is_closed();
        let Some(open) = self.machine.facts().open.as_ref().filter(|_| goes_on) else {
            return;
        };
        let around = self.around(open.next_item());
        let (number, recorder, cancel) = self.requests.start_extraction();
        let happened = self.happened.clone();
        tasks::spawn(async move {
            let answering = server_sampling::answer(around, &request, &recorder);
            let answer = tokio::select! {
                // Its usage was noted by who cancelled it.
                () = cancel.cancelled() => return,
                // The call needs no answer any more.
                () = reply.closed() => None,
                answer = answering => Some(answer),
            };
            // The actor may have ended.
            let _ = happened.send(Happened::SamplingEnded { number });
            if let Some(answer) = answer {
                let _ = reply.send(answer.unwrap_or_else(SamplingAnswer::Failed));
            }
        });
    }

    /// A request for a server has ended: its usage counts.
    pub(crate) fn sampling_ended(&mut self, number: u64) {
        if let Some(recorder) = self.requests.finish_extraction(number) {
            self.note_spent(&recorder);
        }
    }
}
