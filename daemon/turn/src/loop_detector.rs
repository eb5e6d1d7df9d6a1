//! The loop detector: finds calls that keep giving the same result, so that a model in a loop does not go on forever.
//!
//! A call counts as a repetition only if its result is the same too. Calls are *in a row* while at most
//! [`DIFFERENT_MAX`] different ones, each with its result, take turns. So a call whose result changes never counts, nor
//! does a test that fails in the same way after each of several edits.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use proto::item::ToolKind;

use crate::repair::canonical_text;

/// At this many repetitions in a row the model is warned.
pub const WARN_AT: usize = 5;

/// At this many repetitions in a row the turn ends.
pub const END_AT: usize = 10;

/// How many different calls, each with its result, may take turns in a row.
const DIFFERENT_MAX: usize = 3;

/// How many calls are remembered: a longer row has a call that occurs `END_AT` times.
const REMEMBERED_MAX: usize = DIFFERENT_MAX * END_AT;

/// A command that sleeps and ran at least this long has waited.
const WAITED_MIN_MS: u64 = 1_000;

/// What the detector makes of a call that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// It counts as a repetition if its result is the same.
    Counts,
    /// It is ignored: it reads the output of a running command, which grows by itself.
    Ignored,
    /// It has waited, so that calls after it look again at something that may have changed: a new row starts.
    StartsAnew,
}

/// How a call counts. `duration_ms`: how long it ran.
#[must_use]
pub fn counting(kind: ToolKind, arguments: &str, duration_ms: u64) -> Counting {
    let sleeps = || {
        arguments
            .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
            .any(|word| word == "sleep")
    };
    match kind {
        ToolKind::CommandOutput => Counting::Ignored,
        ToolKind::Command if duration_ms >= WAITED_MIN_MS && sleeps() => Counting::StartsAnew,
        _ => Counting::Counts,
    }
}

/// The newest calls of a turn with their results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentCalls {
    /// The newest is the last.
    calls: VecDeque<CallAndResult>,
    /// A call was repeated so often that the turn must end.
    in_loop: bool,
}

/// A call and its result, as hashes, so that large ones take no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallAndResult {
    pub call: u64,
    pub result: u64,
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
    /// How many times this call has given this result in a row, if it does so once more.
    #[must_use]
    pub fn count_with(&self, new: CallAndResult) -> usize {
        let mut different = vec![new];
        let mut row = self.calls.iter().rev().take_while(|recent| {
            if !different.contains(recent) {
                different.push(**recent);
            }
            different.len() <= DIFFERENT_MAX
        });
        1 + row.by_ref().filter(|recent| **recent == new).count()
    }

    /// Remembers a call that has its result.
    pub fn note(&mut self, new: CallAndResult) {
        self.in_loop |= self.count_with(new) >= END_AT;
        self.calls.push_back(new);
        if self.calls.len() > REMEMBERED_MAX {
            self.calls.pop_front();
        }
    }

    /// Whether a call was repeated so often that the turn must end.
    #[must_use]
    pub fn is_loop(&self) -> bool {
        self.in_loop
    }

    /// Starts a new row. A loop that was found stays found.
    pub fn start_row(&mut self) {
        self.calls.clear();
    }
}
