//! What the vendor's cache can be expected to hold of the conversation, as a fold.
//!
//! The log alone says it, so a daemon that starts again expects the same.

use std::collections::BTreeSet;

use proto::Stamp;
use proto::record::{CacheMiss, MissCause, Purpose, Usage};
use proto::reset::Wire;

/// A miss is told where the cache served under half of what was expected, and at least so many tokens less: below that
/// vendors' caches do not begin (OpenAI's and Anthropic's documentation, 2026), and it costs next to nothing.
const SHORT_MIN: u64 = 1_024;
/// Where the vendor does not say how long its cache keeps things: most say five minutes or more.
const TTL_GUESS_MS: u64 = 5 * 60 * 1_000;

/// What requests before have left in the cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheHistory {
    /// The newest answered request, where the next one extends it and it said how long it was.
    previous: Option<Previous>,
    /// Resets so far: a request is compared with no request from before one.
    pub resets: u64,
    /// Providers that have said something of their caches.
    send: BTreeSet<String>,
    /// The cache did not serve what it should have, and that was reported.
    missed: bool,
    /// Earlier bytes have changed, and that was reported.
    rewritten: bool,
}

/// A request that was answered.
#[derive(Clone, Debug, PartialEq)]
struct Previous {
    provider: String,
    model: String,
    prompt_tokens: u64,
    /// When it was sent.
    sent: Stamp,
}

impl CacheHistory {
    /// Earlier bytes change with the next request.
    pub(super) fn reset(&mut self) {
        self.previous = None;
        self.resets += 1;
    }

    /// Whether people know of misses of this kind already: later ones are seen in the share that is shown.
    #[must_use]
    pub fn is_reported(&self, cause: MissCause) -> bool {
        match cause {
            MissCause::Ours => self.rewritten,
            MissCause::Vendor | MissCause::Expired | MissCause::ProbablyExpired => self.missed,
            MissCause::NotReported => true,
        }
    }

    fn missed(&mut self, cause: MissCause) {
        match cause {
            MissCause::Ours => self.rewritten = true,
            MissCause::Vendor | MissCause::Expired | MissCause::ProbablyExpired => {
                self.missed = true;
            }
            MissCause::NotReported => {}
        }
    }

    /// A request was answered at `at`.
    pub(super) fn apply(&mut self, usage: &Usage, at: Stamp, wire: &Wire) {
        if let Some(miss) = &usage.cache_miss {
            self.missed(miss.cause);
        }
        if usage.purpose != Purpose::Answer {
            return;
        }
        let or_sessions = |own: &String, sessions: &String| match own.is_empty() {
            true => sessions.clone(),
            false => own.clone(),
        };
        let provider = or_sessions(&usage.provider, &wire.provider);
        if lists(usage) {
            self.send.insert(provider.clone());
        }
        self.previous = says_its_length(usage).then(|| Previous {
            provider,
            model: or_sessions(&usage.model, &wire.model),
            prompt_tokens: usage.prompt_tokens,
            sent: sent(usage, at),
        });
    }

    /// What an ideal cache of prefixes would have served of this request: the prompt before it, in whole blocks of
    /// `block` tokens. `None`: that cannot be said.
    pub fn expected(&self, usage: &Usage, block: u64) -> Option<u64> {
        let previous = self.before(usage)?;
        // A vendor may count less than before: it leaves out old reasoning, for instance.
        let prompt = previous.prompt_tokens.min(usage.prompt_tokens);
        let block = block.max(1);
        Some(prompt / block * block)
    }

    /// Tokens that the vendor's cache still holds of the newest request to this model, in whole blocks of `block`. Where it
    /// is not known how long it keeps things (`ttl_ms` 0), five minutes.
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

    /// When the newest request was sent that the next one extends.
    #[must_use]
    pub fn sent(&self) -> Option<Stamp> {
        self.previous.as_ref().map(|previous| previous.sent)
    }

    /// Why the cache served far less than `expected_cached` of a request that was answered at `at`, or that the request
    /// has changed earlier bytes (`rewritten`). `ttl_ms`: how long the vendor keeps what was used last; 0: not known.
    pub fn miss(
        &self,
        usage: &Usage,
        at: Stamp,
        ttl_ms: u64,
        rewritten: Option<&str>,
    ) -> Option<CacheMiss> {
        let sent = sent(usage, at);
        let gap_ms = self.previous.as_ref().map_or(0, |previous| {
            // The wall clock, which may have been put back: a restart may lie between.
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
            _ if !self.send.contains(&usage.provider) && !lists(usage) => MissCause::NotReported,
            0 if gap_ms > TTL_GUESS_MS => MissCause::ProbablyExpired,
            ttl if ttl > 0 && gap_ms > ttl => MissCause::Expired,
            _ => MissCause::Vendor,
        }))
    }

    /// The request that this one extends.
    fn before(&self, usage: &Usage) -> Option<&Previous> {
        self.previous.as_ref().filter(|previous| {
            usage.purpose == Purpose::Answer
                && says_its_length(usage)
                && previous.provider == usage.provider
                && previous.model == usage.model
        })
    }
}

fn says_its_length(usage: &Usage) -> bool {
    usage.reported && usage.prompt_tokens > 0
}

/// Whether the vendor says something of its cache here.
fn lists(usage: &Usage) -> bool {
    usage.cached_tokens > 0 || usage.cache_write_tokens > 0
}

/// When a request was sent whose answer ended at `at`.
fn sent(usage: &Usage, at: Stamp) -> Stamp {
    let took = i64::try_from(usage.duration_ms).unwrap_or(i64::MAX);
    Stamp(at.0.saturating_sub(took))
}

#[cfg(test)]
mod tests;
