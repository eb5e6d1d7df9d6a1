//! The cache guard: reports when the provider's cache served far less than expected, and why.

use proto::record::{CacheMiss, Level, MissCause, Usage};

use crate::machine::Step;
use crate::words;

impl Step<'_> {
    /// Fills in the expected cache hits of a request, and the reason if the cache served fewer. `rewritten`: where
    /// earlier bytes of the request changed.
    pub(crate) fn check_cache(&self, usage: &mut Usage, rewritten: Option<&str>) {
        let limits = self.limits;
        let cache = &self.facts.cache;
        usage.expected_cached = cache.expected(usage, limits.cache_block);
        usage.cache_miss = cache.miss(usage, self.now.wall, limits.cache_ttl_ms, rewritten);
    }

    /// Notifies users of a cache miss; our own bugs get a higher level than other causes. Skips providers that report
    /// nothing about their cache: there is no way to judge them. Called once per cause and session.
    pub(crate) fn notify_cache_miss(&mut self, usage: &Usage, miss: &CacheMiss) {
        let level = match miss.cause {
            MissCause::Ours => Level::Error,
            MissCause::Vendor => Level::Warning,
            MissCause::Expired | MissCause::ProbablyExpired => Level::Info,
            MissCause::NotReported => return,
        };
        self.notice(
            level,
            words::cache_miss(usage, miss, self.limits.cache_ttl_ms),
        );
    }
}
