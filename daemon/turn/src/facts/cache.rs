//! The expected contents of the provider's cache, as a fold.
//!
//! Computed from the log alone, so a restarted daemon expects the same.

use std::collections::BTreeSet;

use proto::Stamp;
use proto::record::{CacheMiss, MissCause, Purpose, Usage};
use proto::reset::Wire;

/// A miss counts if the cache served less than half of the expected tokens, and at least this many fewer. Providers do not
/// cache shorter prompts (OpenAI's and Anthropic's documentation, 2026), and a smaller miss costs next to nothing.
const SHORT_MIN: u64 = 1_024;
/// Assumed lifetime of cache entries if the provider documents none: most keep them for five minutes or more.
const TTL_GUESS_MS: u64 = 5 * 60 * 1_000;

/// What earlier requests have left in the provider's cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheHistory {
    /// The newest answered request, if the next one extends it and its length is known.
    previous: Option<PreviousRequest>,
    /// Number of cache resets. Requests before and after a reset are not compared.
    pub resets: u64,
    /// Providers that have reported cache use.
    reporting: BTreeSet<String>,
    /// A cache miss was reported to users.
    missed: bool,
    /// A change of earlier bytes was reported to users.
    rewritten: bool,
}

/// An answered request.
#[derive(Clone, Debug, PartialEq)]
struct PreviousRequest {
    provider: String,
    model: String,
    prompt_tokens: u64,
    /// When it was sent.
    sent: Stamp,
}

impl CacheHistory {
    /// Forgets the previous request, because the next one changes earlier bytes.
    pub(super) fn reset(&mut self) {
        self.previous = None;
        self.resets += 1;
    }

    /// Whether a miss with this cause was already reported to users. Later ones only show in the displayed cache share.
    #[must_use]
    pub fn is_reported(&self, cause: MissCause) -> bool {
        match cause {
            MissCause::Ours => self.rewritten,
            MissCause::Vendor | MissCause::Expired | MissCause::ProbablyExpired => self.missed,
            MissCause::NotReported => true,
        }
    }

    fn note_miss(&mut self, cause: MissCause) {
        match cause {
            MissCause::Ours => self.rewritten = true,
            MissCause::Vendor | MissCause::Expired | MissCause::ProbablyExpired => {
                self.missed = true;
            }
            MissCause::NotReported => {}
        }
    }

    /// Applies the usage of a request that was answered at `at`.
    pub(super) fn apply(&mut self, usage: &Usage, at: Stamp, wire: &Wire) {
        if let Some(miss) = &usage.cache_miss {
            self.note_miss(miss.cause);
        }
        if usage.purpose != Purpose::Answer {
            return;
        }
        let or_sessions = |own: &String, sessions: &String| match own.is_empty() {
            true => sessions.clone(),
            false => own.clone(),
        };
        let provider = or_sessions(&usage.provider, &wire.provider);
        if reports_cache(usage) {
            self.reporting.insert(provider.clone());
        }
        self.previous = has_known_length(usage).then(|| PreviousRequest {
            provider,
            model: or_sessions(&usage.model, &wire.model),
            prompt_tokens: usage.prompt_tokens,
            sent: sent(usage, at),
        });
    }

    /// Tokens of this request that an ideal prefix cache would serve: the previous prompt, in whole blocks of `block`
    /// tokens. `None`: unknown.
    pub fn expected(&self, usage: &Usage, block: u64) -> Option<u64> {
        let previous = self.previous_of(usage)?;
        // The provider may count fewer tokens than before, for instance because it drops old reasoning.
        let prompt = previous.prompt_tokens.min(usage.prompt_tokens);
        let block = block.max(1);
        Some(prompt / block * block)
    }

    /// Tokens of the newest request to this model that the provider's cache should still hold, in whole blocks of `block`.
    /// If the lifetime of entries is unknown (`ttl_ms` 0), assumes five minutes.
    #[must_use]
    pub fn holds(&self, wire: &Wire, now: Stamp, ttl_ms: u64, block: u64) -> u64 {
        let Some(previous) = &self.previous else {
            return 0;
        };
        let ttl = if ttl_ms > 0 { ttl_ms } else { TTL_GUESS_MS };
        let age = u64::try_from(now.0.saturating_sub(previous.sent.0)).unwrap_or(0);
        let same = previous.provider == wire.provider && previous.model == wire.model;
        let block = block.max(1);
        match same && age <= ttl {
            true => previous.prompt_tokens / block * block,
            false => 0,
        }
    }

    /// When the previous request was sent, which the next one extends.
    #[must_use]
    pub fn sent(&self) -> Option<Stamp> {
        self.previous.as_ref().map(|previous| previous.sent)
    }

    /// The cause if the cache served far less than `expected_cached` of a request that was answered at `at`, or if the
    /// request changed earlier bytes (`rewritten`). `ttl_ms`: lifetime of unused cache entries; 0: unknown.
    pub fn miss(
        &self,
        usage: &Usage,
        at: Stamp,
        ttl_ms: u64,
        rewritten: Option<&str>,
    ) -> Option<CacheMiss> {
        let sent = sent(usage, at);
        let gap_ms = self.previous.as_ref().map_or(0, |previous| {
            // Wall clock times, because the daemon may have restarted in between. The clock may have been set back.
            u64::try_from(sent.0.saturating_sub(previous.sent.0)).unwrap_or(0)
        });
        let miss = |cause| CacheMiss {
            cause,
            gap_ms,
            differs: rewritten.map(str::to_owned),
        };
        if rewritten.is_some() {
            return Some(miss(MissCause::Ours));
        }
        let expected = usage.expected_cached?;
        let short = expected.saturating_sub(usage.cached_tokens);
        if usage.cached_tokens >= expected / 2 || short < SHORT_MIN {
            return None;
        }
        Some(miss(match ttl_ms {
            _ if !self.reporting.contains(&usage.provider) && !reports_cache(usage) => {
                MissCause::NotReported
            }
            0 if gap_ms > TTL_GUESS_MS => MissCause::ProbablyExpired,
            ttl if ttl > 0 && gap_ms > ttl => MissCause::Expired,
            _ => MissCause::Vendor,
        }))
    }

    /// The request that this one extends.
    fn previous_of(&self, usage: &Usage) -> Option<&PreviousRequest> {
        self.previous.as_ref().filter(|previous| {
            usage.purpose == Purpose::Answer
                && has_known_length(usage)
                && previous.provider == usage.provider
                && previous.model == usage.model
        })
    }
}

fn has_known_length(usage: &Usage) -> bool {
    usage.reported && usage.prompt_tokens > 0
}

/// Whether this usage reports cache use.
fn reports_cache(usage: &Usage) -> bool {
    usage.cached_tokens > 0 || usage.cache_write_tokens > 0
}

/// When a request was sent, computed from the end of its answer (`at`).
fn sent(usage: &Usage, at: Stamp) -> Stamp {
    let took = i64::try_from(usage.duration_ms).unwrap_or(i64::MAX);
    Stamp(at.0.saturating_sub(took))
}

#[cfg(test)]
mod tests;
