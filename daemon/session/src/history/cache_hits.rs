//! What the provider's cache served of a session's requests, folded from its records.
//!
//! Pure. Whoever reads the log feeds it.

use proto::params::cache::{CacheOutput, CacheRow, CacheTotals, CachedRequest};
use proto::record::{MissCause, Purpose, Usage};
use proto::{Body, Record, Seq, Stamp};

/// Rows of a page where the caller does not say.
const PAGE: u64 = 200;
/// Rows of a page at most. A row is bounded (names of provider and model are the config's), so a page fits a frame.
const PAGE_MAX: u64 = 1_000;

/// The fold.
#[derive(Default)]
pub struct Cached {
    after: Seq,
    limit: u64,
    rows: Vec<CacheRow>,
    more: bool,
    totals: CacheTotals,
    /// When the newest request of the conversation was sent.
    sent: Option<Stamp>,
    /// The newest request left something in the cache that the next one may use.
    kept: bool,
}

impl Cached {
    /// The rows after `after`; `limit` 0: as many as a page has.
    pub fn new(after: Seq, limit: u64) -> Self {
        Self {
            after,
            limit: match limit {
                0 => PAGE,
                limit => limit.min(PAGE_MAX),
            },
            ..Self::default()
        }
    }

    /// Whether records of this kind say anything about the cache: others need not be read.
    pub fn reads(kind: &str) -> bool {
        matches!(kind, "usage" | "cache.reset")
    }

    /// Takes the next record in.
    pub fn take(&mut self, record: &Record) {
        let row = match &record.body {
            Body::Usage(usage) => CacheRow::Request(self.request(usage, record)),
            Body::CacheReset(reset) => {
                self.totals.resets += 1;
                self.kept = false;
                CacheRow::Reset {
                    seq: record.seq,
                    at: record.at,
                    reason: reset.reason.clone(),
                }
            }
            _ => return,
        };
        if record.seq <= self.after {
            return;
        }
        if self.rows.len() as u64 >= self.limit {
            self.more = true;
            return;
        }
        self.rows.push(row);
    }

    fn request(&mut self, usage: &Usage, record: &Record) -> CachedRequest {
        self.count(usage);
        let mut gap_ms = None;
        if usage.purpose == Purpose::Answer {
            let took = i64::try_from(usage.duration_ms).unwrap_or(i64::MAX);
            let sent = Stamp(record.at.0.saturating_sub(took));
            gap_ms = self
                .sent
                // The clock may have been put back.
                .map(|before| u64::try_from(sent.0.saturating_sub(before.0)).unwrap_or(0));
            self.sent = Some(sent);
            self.kept = usage.reported;
        }
        CachedRequest {
            seq: record.seq,
            at: record.at,
            turn: record.turn.unwrap_or(0),
            step: usage.step,
            attempt: usage.attempt,
            provider: usage.provider.clone(),
            model: usage.model.clone(),
            purpose: usage.purpose,
            reported: usage.reported,
            prompt_tokens: usage.prompt_tokens,
            cached_tokens: usage.cached_tokens,
            expected_cached: usage.expected_cached,
            gap_ms,
            miss: usage.cache_miss.clone(),
        }
    }

    fn count(&mut self, usage: &Usage) {
        let totals = &mut self.totals;
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        totals.requests += 1;
        totals.reported += u64::from(usage.reported);
        add(&mut totals.prompt_tokens, usage.prompt_tokens);
        add(&mut totals.cached_tokens, usage.cached_tokens);
        add(
            &mut totals.expected_cached,
            usage.expected_cached.unwrap_or(0),
        );
        match usage.cache_miss.as_ref().map(|miss| miss.cause) {
            Some(MissCause::Ours) => totals.rewrites += 1,
            Some(MissCause::Expired | MissCause::ProbablyExpired | MissCause::Vendor) => {
                totals.misses += 1;
            }
            Some(MissCause::NotReported) | None => {}
        }
    }

    /// The page. `ttl_ms`: how long the provider keeps its cache after the last use; 0: not known.
    pub fn finish(self, prefix_sha256: String, prefix_bytes: u64, ttl_ms: u64) -> CacheOutput {
        let ttl = i64::try_from(ttl_ms).ok().filter(|ttl| *ttl > 0);
        let expires = |ttl: i64| {
            let sent = self.sent.filter(|_| self.kept)?;
            Some(Stamp(sent.0.saturating_add(ttl)))
        };
        let last = self.rows.last().map(|row| match row {
            CacheRow::Request(request) => request.seq,
            CacheRow::Reset { seq, .. } => *seq,
        });
        CacheOutput {
            next: last.filter(|_| self.more),
            rows: self.rows,
            totals: self.totals,
            prefix_sha256,
            prefix_bytes,
            ttl_ms: (ttl_ms > 0).then_some(ttl_ms),
            expires_at: ttl.and_then(expires),
        }
    }
}

#[cfg(test)]
mod tests;
