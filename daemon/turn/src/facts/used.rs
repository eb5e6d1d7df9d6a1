//! What requests used.

use proto::Record;
use proto::outcome::UsageTotals;
use proto::record::{Purpose, Usage};

use super::Facts;

impl Facts {
    pub(super) fn apply_usage(&mut self, usage: &Usage, record: &Record) {
        let totals = UsageTotals::of(usage);
        self.usage.add(&totals);
        self.cache.apply(usage, record.at, &self.wire);
        // A summary is one whole answer of the model too: a scripted one finds its place by their number.
        self.answered += u64::from(usage.purpose == Purpose::Summary);
        if usage.reported && usage.purpose == Purpose::Answer {
            self.measure = Some((usage.request_bytes, usage.prompt_tokens));
            self.cached_tokens = Some(usage.cached_tokens);
            self.context_tokens = usage.prompt_tokens.saturating_add(usage.output_tokens);
        }
        if let Some(open) = &mut self.open {
            open.usage.add(&totals);
        }
    }
}
