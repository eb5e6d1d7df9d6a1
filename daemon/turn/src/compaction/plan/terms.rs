//! The terms of a compaction: what may stay and what must become free, measured by the model's window.

use std::collections::BTreeSet;

use proto::ItemId;
use proto::reset::Trigger;

use super::{ConversationMessage, FullContext};
use crate::compaction::summary::{self, RestatedState};

/// User messages with at most this many tokens stay verbatim, and in a small window those of at most this part of it.
const USER_TOKENS: u64 = 4_000;
const USER_PART: u64 = 8;
/// After folding, the context must be below this percentage of the window.
const LANDS_UNDER: u64 = 60;
/// An automatic compaction must free this percentage of the window.
const FREES: u64 = 25;
/// If the system prompt and the tools take much of the window, both are measured by the room behind them: up to this
/// percentage of the window, of which this percentage must be free.
pub(super) const FILLS: u64 = 80;
const FREES_OF_ROOM: u64 = 50;
/// Size of a summary in tokens, and in a small window this part of it.
const SUMMARY_TOKENS: u64 = 1_500;
const SUMMARY_PART: u64 = 10;
const SUMMARY_PART_OF_ROOM: u64 = 4;
/// A manual compaction must fold at least this many tokens: fewer are no longer than the summary that replaces them.
pub(super) const WORTH: u64 = 200;
/// An excerpt's summary request fills at most this percentage of the window, and shows at most this percentage of the
/// conversation that was too long. This leaves room for the summary, and for wrong estimates.
const EXCERPT_OF_WINDOW: u64 = 70;
const EXCERPT_OF_ALL: u64 = 60;
/// If the whole conversation fills more than this percentage of the window, its summary request has no room for a summary.
pub(super) const ALL_OF_WINDOW: u64 = 95;

/// The ratio of bytes to tokens, measured with the newest request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenRatio {
    pub bytes: u64,
    pub tokens: u64,
}

impl TokenRatio {
    /// Takes the ratio from a measured request (bytes, tokens); without one, four bytes per token.
    #[must_use]
    pub fn new(measured: Option<(u64, u64)>) -> Self {
        match measured {
            Some((bytes, tokens)) if bytes > 0 && tokens > 0 => Self { bytes, tokens },
            _ => Self {
                bytes: 4,
                tokens: 1,
            },
        }
    }

    /// Converts tokens to bytes, rounded down.
    #[must_use]
    pub fn bytes(self, tokens: u64) -> u64 {
        let bytes = u128::from(tokens) * u128::from(self.bytes) / u128::from(self.tokens);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Estimates the tokens of this many bytes, rounded up.
    #[must_use]
    pub fn tokens(self, bytes: u64) -> u64 {
        let tokens = (u128::from(bytes) * u128::from(self.tokens)).div_ceil(self.bytes.into());
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }
}

/// The inputs of a compaction plan.
#[derive(Clone, Debug)]
pub struct CompactionTerms {
    pub trigger: Trigger,
    /// The user said what the summary should keep, so shortening results alone is not enough.
    pub instructed: bool,
    /// Size of the model's context window in tokens; 0: unknown.
    pub window: u64,
    /// Tokens of the newest request and its answer; 0: unknown.
    pub context: u64,
    pub measure: TokenRatio,
    /// Bytes of the request before the first message.
    pub prefix_bytes: u64,
    pub pins: BTreeSet<ItemId>,
    /// Number of this compaction in the session, from 1.
    pub number: u64,
    /// The summary, written by the model or mechanical; `None`: not written yet.
    pub summary: Option<String>,
    pub mechanical: bool,
    pub restated: RestatedState,
}

impl CompactionTerms {
    /// The same; if the window is unknown, with one that the conversation fills to four fifths.
    pub(super) fn with_window(&self, messages: &[ConversationMessage]) -> Self {
        let window = match self.window {
            0 => self.before(messages).saturating_mul(5) / 4,
            window => window,
        };
        Self {
            window,
            ..self.clone()
        }
    }

    /// The most tokens of a user message that stays verbatim.
    pub(super) fn user_limit(&self) -> u64 {
        USER_TOKENS.min(self.window / USER_PART)
    }

    /// This percentage of the tokens that a compacted context has left beside what stays whatever it takes (`fixed`).
    /// Without a limit in a large window.
    pub(super) fn share_of_free_tokens(&self, fixed: u64, percent: u64) -> u64 {
        if self.window >= USER_TOKENS * USER_PART {
            return u64::MAX;
        }
        let taken = self.prefix_tokens().saturating_add(self.summary_limit());
        let left = (self.lands_under_percent() / 100).saturating_sub(taken.saturating_add(fixed));
        left * percent / 100
    }

    /// How long a summary should be, in tokens.
    pub(super) fn summary_limit(&self) -> u64 {
        let of_room = self.room() / SUMMARY_PART_OF_ROOM;
        summary_limit(self.window).min(of_room)
    }

    /// How long the model's summary may be, in words: four fifths of its tokens.
    #[must_use]
    pub fn summary_words(&self, messages: &[ConversationMessage]) -> u64 {
        let limit = self.with_window(messages).summary_limit();
        (limit * 4 / 50 * 10).max(10)
    }

    /// Tokens of the system prompt and the tools.
    fn prefix_tokens(&self) -> u64 {
        self.measure.tokens(self.prefix_bytes)
    }

    /// Tokens between the prefix and a full context.
    fn room(&self) -> u64 {
        (self.window * FILLS / 100).saturating_sub(self.prefix_tokens())
    }

    /// The context after folding must be smaller; in hundredths of tokens.
    pub(super) fn lands_under_percent(&self) -> u64 {
        let behind = self.prefix_tokens() * 100 + self.room() * (100 - FREES_OF_ROOM);
        behind.max(self.window * LANDS_UNDER)
    }

    /// What must become free, of this much; in hundredths of tokens.
    pub(super) fn frees_percent(&self, whole: u64) -> u64 {
        (whole * FREES).min(self.room() * FREES_OF_ROOM)
    }

    /// A context of which this much must stay. `folded`: tokens of the messages that may be folded.
    pub(super) fn full(&self, kept: u64, folded: u64) -> FullContext {
        FullContext {
            kept,
            is_prefix: self.room() < self.window / SUMMARY_PART,
            has_pins: !self.pins.is_empty(),
            folds_manually: folded >= WORTH.max(self.summary_tokens()),
        }
    }

    /// Whether a summary request with all of these messages leaves no room for its answer.
    #[must_use]
    pub fn is_too_long_to_show(&self, messages: &[ConversationMessage]) -> bool {
        let before = self.before(messages);
        let most = u128::from(self.window) * u128::from(ALL_OF_WINDOW);
        let leaves_none = before.saturating_add(self.summary_limit()) > self.window;
        self.window > 0 && (u128::from(before) * 100 > most || leaves_none)
    }

    /// Maximum wire bytes for the messages of an excerpt.
    #[must_use]
    pub fn excerpt_room(&self, messages: &[ConversationMessage]) -> u64 {
        // The prefix goes along whatever is shown.
        let prefix = self.prefix_tokens();
        let conversation = self.before(messages).saturating_sub(prefix);
        let of_all = prefix.saturating_add(conversation / 100 * EXCERPT_OF_ALL);
        let of_window = self.window / 100 * EXCERPT_OF_WINDOW;
        let tokens = match self.window {
            0 => of_all,
            _ => of_all.min(of_window),
        };
        let summary = self.with_window(messages).summary_limit();
        let bytes = self.measure.bytes(tokens.saturating_sub(summary));
        bytes.saturating_sub(self.prefix_bytes)
    }

    /// Maximum wire bytes for the messages that another model is shown, whose window has this many tokens; 0: unknown,
    /// so the session's own counts.
    #[must_use]
    pub fn excerpt_room_in(&self, window: u64, messages: &[ConversationMessage]) -> u64 {
        let window = match (window, self.window) {
            (0, 0) => return self.measure.bytes(self.before(messages)),
            (0, own) => own,
            (other, _) => other,
        };
        let tokens = window / 100 * EXCERPT_OF_WINDOW;
        let summary = summary_limit(window);
        self.measure.bytes(tokens.saturating_sub(summary))
    }

    /// Tokens of the summary, including the restated state after it.
    pub(super) fn summary_tokens(&self) -> u64 {
        match self.summary.as_deref().map(str::trim) {
            None | Some("") => self.unwritten_summary_tokens(),
            Some(text) => self.tokens_of_summary(text),
        }
    }

    /// The same as long as it is not written: an estimate.
    pub(super) fn unwritten_summary_tokens(&self) -> u64 {
        self.tokens_of_summary("")
            .saturating_add(self.summary_limit())
    }

    fn tokens_of_summary(&self, text: &str) -> u64 {
        let whole = summary::wrapped(text, &self.restated, self.mechanical);
        self.measure.tokens(whole.len() as u64)
    }

    /// Tokens of the conversation before the compaction.
    pub(super) fn before(&self, messages: &[ConversationMessage]) -> u64 {
        let bytes: u64 = messages.iter().map(|message| message.bytes).sum();
        let estimated = self.measure.tokens(self.prefix_bytes.saturating_add(bytes));
        estimated.max(self.context)
    }
}

/// How long a summary should be in a window of this size, in tokens.
fn summary_limit(window: u64) -> u64 {
    SUMMARY_TOKENS.min(window / SUMMARY_PART)
}
