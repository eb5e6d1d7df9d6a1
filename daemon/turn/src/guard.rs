//! The cache guard: says when the vendor's cache served far less than it should have, and why.

use proto::record::{CacheMiss, Level, MissCause, Usage};

use crate::machine::Step;
use crate::words;

impl Step<'_> {
    /// What is to be expected of the cache, and what became of it. `rewritten`: where earlier bytes have changed.
    pub(crate) fn guard(&self, usage: &mut Usage, rewritten: Option<&str>) {
        let limits = self.limits;
        let cache = &self.facts.cache;
        usage.expected_cached = cache.expected(usage, limits.cache_block);
        usage.cache_miss = cache.miss(usage, self.now.wall, limits.cache_ttl_ms, rewritten);
    }

    /// Tells people, once a session: bugs of ours apart from other causes. What nobody can judge (the vendor says nothing of its cache) is not told.
    pub(crate) fn tell_miss(&mut self, usage: &Usage, miss: &CacheMiss) {
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
