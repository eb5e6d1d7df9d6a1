//! The loop detector: finds calls that repeat with the same result, although nothing changed in between.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use proto::item::ToolKind;

use super::canonical_text;

/// How many recent calls are remembered.
pub const WINDOW: usize = 6;

/// The same call is refused when it is made this many times.
pub const THRESHOLD: usize = 3;

/// Whether repeated calls of this kind are useful: they read the output of a running command, which grows by itself.
#[must_use]
pub fn is_exempt(kind: ToolKind) -> bool {
    kind == ToolKind::CommandOutput
}

/// The newest calls of a turn that have results, whether they ran or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentCalls {
    calls: VecDeque<RecentCall>,
}

/// A remembered call: only hashes, so that large arguments take no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RecentCall {
    call: u64,
    result: u64,
    writes: bool,
}

/// The hash of a call; equal for calls that mean the same.
#[must_use]
pub fn hash_call(tool: &str, arguments: &str) -> u64 {
    hash(&(tool, canonical_text(arguments)))
}

/// The hash of a value; stable across processes of the same build.
pub(crate) fn hash(thing: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

impl RecentCalls {
    /// Whether this call repeats too often and must not run.
    #[must_use]
    pub fn is_loop(&self, call: u64) -> bool {
        let back = self.calls.iter().rev();
        // After another call changed something, this one may have a new result.
        let mut same = back
            .take_while(|recent| recent.call == call || !recent.writes)
            .filter(|recent| recent.call == call);
        let Some(newest) = same.next() else {
            return false;
        };
        // If its result changed the last time, it may change again.
        let alike = same.take_while(|recent| recent.result == newest.result);
        alike.count() + 2 >= THRESHOLD
    }

    /// Remembers a call and the hash of its result. `writes`: the call may have changed files or other state.
    pub fn note(&mut self, call: u64, result: u64, writes: bool) {
        self.calls.push_back(RecentCall {
            call,
            result,
            writes,
        });
        if self.calls.len() > WINDOW {
            self.calls.pop_front();
        }
    }

    /// Forgets all calls, so that any of them may be repeated.
    pub fn clear(&mut self) {
        self.calls.clear();
    }

    /// Whether no call is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}
