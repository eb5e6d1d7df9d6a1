//! Calls that go in circles: the same again and again with the same result, and nothing between that could change it.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use proto::item::ToolKind;

use super::canonical_text;

/// Calls that are looked back over.
pub const WINDOW: usize = 6;

/// The same call is held back when it comes this often.
pub const THRESHOLD: usize = 3;

/// Whether the same call is a new question each time: it reads what goes on by itself.
#[must_use]
pub fn is_exempt(kind: ToolKind) -> bool {
    kind == ToolKind::CommandOutput
}

/// The newest calls of a turn that have their results, run or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentCalls {
    calls: VecDeque<Past>,
}

/// A call as far as it is remembered: digests, so that large arguments cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Past {
    call: u64,
    result: u64,
    writes: bool,
}

/// What two calls have in common that mean the same.
#[must_use]
pub fn digest(tool: &str, arguments: &str) -> u64 {
    hash(&(tool, canonical_text(arguments)))
}

/// The digest of a thing: the same in each life of a build.
pub(crate) fn hash(thing: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

impl RecentCalls {
    /// Whether this call is one too many, and must not run.
    #[must_use]
    pub fn is_one_too_many(&self, call: u64) -> bool {
        let back = self.calls.iter().rev();
        // Behind a change of something else it may find something new.
        let mut same = back
            .take_while(|past| past.call == call || !past.writes)
            .filter(|past| past.call == call);
        let Some(newest) = same.next() else {
            return false;
        };
        // What came to something else the last time may do so again.
        let alike = same.take_while(|past| past.result == newest.result);
        alike.count() + 2 >= THRESHOLD
    }

    /// Notes a call and the digest of its result. `writes`: it may have changed things.
    pub fn note(&mut self, call: u64, result: u64, writes: bool) {
        self.calls.push_back(Past {
            call,
            result,
            writes,
        });
        if self.calls.len() > WINDOW {
            self.calls.pop_front();
        }
    }

    /// Whatever was asked before may be asked again.
    pub fn clear(&mut self) {
        self.calls.clear();
    }

    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}
