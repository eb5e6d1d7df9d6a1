//! Reasoning extraction in the actor: it starts requests beside the turn, and logs their findings and their usage.

use std::sync::Arc;

use proto::record::{Level, Notice, ReasoningExtracted};
use proto::{Body, ItemId};

use crate::actor::Actor;
use crate::actor::inbox::Happened;
use crate::request::reasoning::{SideRequestBudget, SideRequestContext, SideRequestTarget};
use crate::request::side_requests::UsageRecorder;
use crate::tasks;

impl Actor {
    /// SideRequestContext an answer of this session.
    pub(crate) fn around(&self, item: ItemId) -> SideRequestContext {
        let options = &self.machine.facts().options;
        let open = self.machine.facts().open.as_ref();
        SideRequestContext {
            assembly: Arc::clone(&self.assembly),
            cwd: self.calls.call_environment().workspace.cwd().to_path_buf(),
            model: options.model.clone().unwrap_or_default(),
            keys: Arc::clone(self.requests.keys()),
            ground: self.ground(),
            item,
            step: open.map_or(0, |open| open.steps + 1),
            side_budget: SideRequestBudget {
                budget_member: self.requests.budget().clone(),
                ran_ms: self.ran_ms(),
                expected: self.expected(),
            },
        }
    }

    /// Begins the extraction of an answer, if it is enabled and there is anything to extract.
    pub(crate) fn begin_extraction(&mut self, around: SideRequestContext, trace: String) {
        let goes_on =
            self.life.closing.is_empty() && !self.life.handed_over && !self.journal.is_closed();
        if !goes_on || !turn::extraction::is_worth(&trace) {
            return;
        }
        let (number, recorder, cancel) = self.requests.start_extraction();
        let happened = self.happened.clone();
        tasks::spawn(async move {
            let extracting = async {
                let aide = SideRequestTarget::find(around).await?;
                aide.extract(&trace, (&recorder, 0)).await
            };
            tokio::select! {
                () = cancel.cancelled() => {}
                found = extracting => {
                    // The actor may have ended.
                    let _ = happened.send(Happened::ReasoningExtracted { number, found });
                }
            }
        });
    }

    /// An extraction has come to its end.
    pub(crate) fn extracted(&mut self, number: u64, found: Result<ReasoningExtracted, String>) {
        let Some(recorder) = self.requests.finish_extraction(number) else {
            return;
        };
        self.note_spent(&recorder);
        match found {
            Ok(found) => self.note(Body::ReasoningExtracted(found)),
            Err(why) if self.requests.is_first_failed_extraction() => {
                self.note(Body::Notice(Notice {
                    level: Level::Info,
                    text: format!(
                        "The reasoning could not be extracted: {why}. This notice appears only once; the session continues."
                    ),
                }));
            }
            Err(_) => {}
        }
    }

    /// Drops the extractions under way. Their usage, as far as it is known, counts.
    pub(crate) fn drop_extractions(&mut self) {
        for recorder in self.requests.stop_extractions() {
            self.note_spent(&recorder);
        }
    }

    /// Puts what requests beside the conversation took into the log.
    pub(crate) fn note_spent(&mut self, recorder: &UsageRecorder) {
        for usage in recorder.take() {
            let reported = self.weighed_beside(&usage);
            self.note(Body::Usage(usage));
            for text in reported {
                let level = Level::Warning;
                self.note(Body::Notice(Notice { level, text }));
            }
        }
    }

    /// Puts what samples of the request in flight have taken so far into the log.
    pub(crate) fn note_samples(&mut self) {
        let Some(gather) = self.requests.in_flight() else {
            return;
        };
        let Some(recorder) = gather.side_requests().cloned() else {
            return;
        };
        if gather.answer().reported.is_some() {
            gather.leave_out_taken();
        }
        self.note_spent(&recorder);
    }

    /// Appends a record that changes nothing in the turn.
    pub(crate) fn note(&mut self, body: Body) {
        if self.journal.is_closed() {
            return;
        }
        let now = self.now();
        let effects = self.machine.record(body, now);
        self.perform(effects);
    }
}
