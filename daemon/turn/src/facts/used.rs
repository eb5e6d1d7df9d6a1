//! The usage of requests, as a fold.

use proto::Record;
use proto::outcome::UsageTotals;
use proto::record::{Purpose, Usage};

use super::Facts;

/// Estimated bytes per ten tokens: between English with code (40) and Chinese (30).
const TEN_TOKENS_BYTES: u64 = 35;

/// Estimates the tokens of a request if the provider did not report them.
fn estimate(request_bytes: u64) -> u64 {
    request_bytes.saturating_mul(10).div_ceil(TEN_TOKENS_BYTES)
}

impl Facts {
    pub(super) fn apply_usage(&mut self, usage: &Usage, record: &Record) {
        let totals = UsageTotals::of(usage);
        self.usage.add(&totals);
        self.cache.apply(usage, record.at, &self.wire);
        // A summary is a complete answer too: a scripted provider counts it to find its position.
        self.answered += u64::from(usage.purpose == Purpose::Summary);
        if usage.reported && usage.purpose == Purpose::Answer {
            self.measure = Some((usage.request_bytes, usage.prompt_tokens));
            self.cached_tokens = Some(usage.cached_tokens);
            self.context_tokens = usage.prompt_tokens.saturating_add(usage.output_tokens);
            self.context_estimated = false;
        } else if usage.purpose == Purpose::Answer && usage.request_bytes > 0 {
            // Without an estimate the context would never be compacted.
            self.context_tokens = estimate(usage.request_bytes);
            self.context_estimated = true;
        }
        if let Some(open) = &mut self.open {
            open.usage.add(&totals);
        }
    }
}
