//! An answer that begins again within its stream: the provider's gateway asked another server after content of the first.

use proto::record::Purpose;

use crate::input::Answer;
use crate::machine::{Phase, Step};

impl Step<'_> {
    /// Handles that another message begins. The one before (`dropped`) is billed too, but is not part of the answer.
    pub(crate) fn answer_restarted(&mut self, phase: Phase, dropped: &Answer) -> Phase {
        let mut phase = self.request_sent(phase);
        let is_summary = matches!(phase, Phase::Compacting(_));
        let Some(asking) = phase.request().cloned() else {
            return phase;
        };
        let purpose = match is_summary {
            true => Purpose::Summary,
            false => Purpose::Answer,
        };
        if dropped.reported.is_some() {
            self.log_usage_for(&asking, dropped, purpose);
        }
        if !is_summary {
            self.supersede(&asking, dropped);
        }
        phase
    }
}
