//! What requests used.

use proto::Record;
use proto::outcome::UsageTotals;
use proto::record::{Purpose, Usage};

use super::Facts;

/// Bytes of a request that are ten tokens: between English with code (40) and Chinese (30).
const TEN_TOKENS_BYTES: u64 = 35;

/// Tokens of a request that the provider did not count.
fn estimate(request_bytes: u64) -> u64 {
    request_bytes.saturating_mul(10).div_ceil(TEN_TOKENS_BYTES)
}

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
            self.context_estimated = false;
        } else if usage.purpose == Purpose::Answer && usage.request_bytes > 0 {
            // Otherwise the context would never be compacted.
            self.context_tokens = estimate(usage.request_bytes);
            self.context_estimated = true;
        }
        if let Some(open) = &mut self.open {
            open.usage.add(&totals);
        }
    }
}
