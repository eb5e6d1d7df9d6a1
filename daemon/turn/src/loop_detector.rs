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

/// A command that sleeps, or that its own `timeout` ended, has waited if it ran at least this long.
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
    let waits = || {
        // Line ends of the command are escaped in the JSON text.
        let text = arguments.replace("\\n", " ");
        let separates = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.');
        let words: Vec<&str> = text.split(separates).collect();
        let sleeps = |word: &&str| word.split('.').any(|part| part == "sleep");
        words.iter().any(sleeps) || is_over(&words, duration_ms)
    };
    match kind {
        ToolKind::CommandOutput => Counting::Ignored,
        ToolKind::Command if duration_ms >= WAITED_MIN_MS && waits() => Counting::StartsAnew,
        _ => Counting::Counts,
    }
}

/// Whether a command ran for as long as a `timeout` in it allows: that has ended it.
fn is_over(words: &[&str], duration_ms: u64) -> bool {
    let is_timeout = |word: &str| matches!(word, "timeout" | "gtimeout");
    let mut starts = words.iter().enumerate();
    starts.any(|(at, word)| {
        let rest = words.get(at + 1..).unwrap_or_default();
        let limit = limit_ms(rest).filter(|_| is_timeout(word));
        limit.is_some_and(|limit| limit <= duration_ms)
    })
}

/// The limit that these words after `timeout` begin with, behind its options: `-k 5 1.5m make`.
fn limit_ms(words: &[&str]) -> Option<u64> {
    let mut words = words.iter().filter(|word| !word.is_empty());
    let limit = loop {
        let word = words.next()?;
        if !word.starts_with('-') {
            break word;
        }
        if matches!(*word, "-k" | "-s" | "--kill-after" | "--signal") {
            words.next()?;
        }
    };
    let (number, unit_ms) = match limit.char_indices().next_back()? {
        (at, 's') => (&limit[..at], 1_000.0),
        (at, 'm') => (&limit[..at], 60_000.0),
        (at, 'h') => (&limit[..at], 3_600_000.0),
        (at, 'd') => (&limit[..at], 86_400_000.0),
        _ => (*limit, 1_000.0),
    };
    let limit = number.parse::<f64>().ok()? * unit_ms;
    let ends = limit > 0.0;
    // Not below 0, and a limit that is larger than any duration ends nothing.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    ends.then_some(limit as u64)
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
