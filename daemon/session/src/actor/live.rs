//! What viewers see before it is in the log: growing answers, output of running calls, and that nothing comes.

use std::sync::Arc;

use proto::CallId;
use proto::live::{Live, ToolOutput};

use crate::actor::Actor;
use crate::calls::call::Printed;

impl Actor {
    pub(crate) fn live(&mut self, live: &Live) {
        let facts = self.machine.facts();
        let turn = facts.open.as_ref().map(|open| open.number);
        let after = self.journal.last();
        self.viewers.live(after, turn, live);
        self.viewers.release(self.journal.durable());
    }

    /// Sends subscribers the text that was added since the last frame.
    pub(crate) fn show_growth(&mut self) {
        self.viewers.begin_frame();
        let fresh = self.requests.take_fresh();
        for live in &fresh {
            self.live(live);
        }
        if !fresh.is_empty() {
            self.requests.schedule_draft();
        }
        let running: Vec<_> = self
            .calls
            .running()
            .iter()
            .map(|(call, running)| (call.clone(), Arc::clone(&running.printed)))
            .collect();
        for (call, printed) in running {
            self.show_output(&call, &printed);
        }
    }

    pub(super) fn silence_due(&self) -> Option<tokio::time::Instant> {
        self.requests.in_flight()?.silence_due()
    }

    /// Reports that nothing comes of the answer that is waited for. The session goes on waiting.
    pub(super) fn report_silence(&mut self) {
        if let Some(ms) = self.requests.note_silence() {
            self.live(&Live::Status(serde_json::json!({"no_data_ms": ms})));
            self.tell_seen();
        }
    }

    pub(super) fn show_output(&mut self, call: &CallId, printed: &Printed) {
        if let Some((offset, text)) = printed.take() {
            self.live(&Live::ToolOutput(ToolOutput {
                call: call.clone(),
                offset,
                text,
            }));
        }
    }
}
