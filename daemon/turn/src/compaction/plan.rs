//! The plan of a compaction: which messages stay, are shortened or are folded, and whether that frees enough.

use proto::item::Item;
use proto::reset::{Compaction, Piece, Trigger};

use self::sketch::{Shortened, Sketch};
use self::terms::{ALL_OF_WINDOW, FILLS, WORTH};
use self::verbatim::Unit;
use super::summary;

mod sketch;
mod terms;
mod verbatim;

pub use terms::{CompactionTerms, TokenRatio};
pub use verbatim::is_pinned;
pub(super) use verbatim::units;

/// Percentages of the window for the newest messages, which stay. Smaller ones are tried if the result is too large.
const TAILS: [u64; 4] = [20, 10, 5, 0];
/// If shortening results alone reduces the context to this percentage of the window, nothing is folded.
const SHORTENED_TO: u64 = 55;

/// A message of the conversation, as sent in requests.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationMessage {
    /// Its location: a run of one record, or an element of a reset.
    pub piece: Piece,
    pub item: Item,
    /// Its size on the wire, where an image counts as much as text of as many tokens.
    pub bytes: u64,
    /// Whether it directly follows the previous message in the log.
    pub follows: bool,
}

/// The result of planning a compaction.
#[allow(
    clippy::large_enum_variant,
    reason = "one is made at a time, and taken apart at once"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum CompactionPlan {
    /// Compaction would not free enough.
    Nothing(NothingToCompact),
    /// What may not be folded is too large by itself.
    Full(FullContext),
    /// A summary of the messages at these indices is needed, to fold them.
    Ask { fold: Vec<usize> },
    /// The messages that requests start with from now on.
    Done {
        parts: Vec<BasePart>,
        done: Compaction,
    },
}

/// Why a context is full, and what a user can do about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FullContext {
    /// Tokens that would be left.
    pub kept: u64,
    /// The system prompt and the tools alone leave no room.
    pub is_prefix: bool,
    /// There are pinned messages.
    pub has_pins: bool,
    /// A manual compaction would fold something.
    pub folds_manually: bool,
}

/// Why a conversation is not compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NothingToCompact {
    /// All messages must stay.
    NothingToFold,
    /// It would free less than a quarter of the window.
    TooLittle,
}

/// A message of a conversation's new beginning.
#[derive(Clone, Debug, PartialEq)]
pub enum BasePart {
    /// An existing message, unchanged.
    Keep(Piece),
    /// A message that replaces others, still to be rendered.
    New(Item),
}

/// Plans a compaction of these messages, given in conversation order.
#[must_use]
pub fn plan(messages: &[ConversationMessage], terms: &CompactionTerms) -> CompactionPlan {
    let terms = terms.with_window(messages);
    let planned = plan_with(messages, &terms);
    let failed = matches!(
        planned,
        CompactionPlan::Full(_) | CompactionPlan::Nothing(NothingToCompact::TooLittle)
    );
    match &terms.summary {
        // A small model wrote more than the window has room for.
        Some(text) if failed && terms.trigger != Trigger::Manual => {
            let room = terms.measure.bytes(terms.summary_limit());
            let summary = Some(summary::cut(
                text,
                usize::try_from(room).unwrap_or(usize::MAX),
            ));
            plan_with(messages, &CompactionTerms { summary, ..terms })
        }
        _ => planned,
    }
}

fn plan_with(messages: &[ConversationMessage], terms: &CompactionTerms) -> CompactionPlan {
    let planner = Planner::new(messages, terms);
    if let Some(done) = planner.shorten() {
        return done;
    }
    let Some(fold) = planner.choose_fold() else {
        return planner.without_fold();
    };
    if let Some(refusal) = planner.refuse(&fold) {
        return refusal;
    }
    match &terms.summary {
        None => CompactionPlan::Ask { fold: fold.places },
        Some(text) => {
            let text = summary::wrapped(text, &terms.restated, terms.mechanical);
            let none = Shortened::default();
            let sketch = &fold.sketch;
            sketch.done(&none, &fold.places, Some(text), planner.before)
        }
    }
}

/// Weighs what a compaction under these terms would free.
struct Planner<'a> {
    messages: &'a [ConversationMessage],
    terms: &'a CompactionTerms,
    units: Vec<Unit>,
    /// Tokens of the conversation before the compaction.
    before: u64,
    /// The tokens that tails and freed room are measured by.
    whole: u64,
}

/// The messages that a compaction would fold.
struct Fold<'a> {
    sketch: Sketch<'a>,
    /// Their indices.
    places: Vec<usize>,
    /// Tokens that would be left.
    after: u64,
}

impl<'a> Planner<'a> {
    fn new(messages: &'a [ConversationMessage], terms: &'a CompactionTerms) -> Self {
        let before = terms.before(messages);
        // A user may compact at any fill level, so a manual compaction is measured by the conversation, not by the window.
        let whole = match terms.trigger {
            Trigger::Manual => terms.window.min(before),
            Trigger::Auto | Trigger::TooLong => terms.window,
        };
        Self {
            messages,
            terms,
            units: units(messages),
            before,
            whole,
        }
    }

    /// A split whose tail takes this percentage.
    fn sketch(&self, tail: u64) -> Sketch<'a> {
        let room = self.whole * tail / 100;
        Sketch::new(self.messages, self.terms, &self.units, room)
    }

    /// Whether no user requested the compaction.
    fn is_by_itself(&self) -> bool {
        self.terms.trigger != Trigger::Manual
    }

    /// Whether enough becomes free if this many tokens are left.
    fn frees_enough(&self, after: u64) -> bool {
        self.before.saturating_sub(after) * 100 >= self.terms.frees_percent(self.whole)
    }

    /// Whether this many tokens leave the room that a compaction should leave.
    fn lands(&self, after: u64) -> bool {
        after * 100 < self.terms.lands_under_percent()
    }

    /// Whether a request that did not fit does with this many tokens. That is worth more than the room that a compaction
    /// usually leaves: a newest message that takes much of a small window must stay.
    fn makes_it_fit(&self, after: u64) -> bool {
        let (window, before) = (self.terms.window, self.before);
        let is_over =
            self.terms.trigger == Trigger::TooLong || before * 100 >= window * ALL_OF_WINDOW;
        is_over && after < before && after * 100 < window * FILLS
    }

    /// Whether a later compaction could not help either. If only the newest messages are too large, they can be folded later:
    /// unless the request was refused, it is sent.
    fn is_stuck(&self) -> bool {
        let newest = self.sketch(0);
        self.terms.trigger == Trigger::TooLong || !self.lands(newest.after_all())
    }

    /// Only shortens results, if that frees enough.
    fn shorten(&self) -> Option<CompactionPlan> {
        let all = self.sketch(TAILS[0]);
        let shortened = all.shortened();
        let is_enough = !self.terms.instructed
            && shortened.count > 0
            && shortened.after <= self.terms.window * SHORTENED_TO / 100
            && self.frees_enough(shortened.after);
        is_enough.then(|| all.done(&shortened, &[], None, self.before))
    }

    /// What to fold. `None`: nothing may be folded.
    fn choose_fold(&self) -> Option<Fold<'a>> {
        // The summary is of what was to be folded before it was written: its own length changes nothing of that.
        let unwritten = self.terms.unwritten_summary_tokens();
        let mut best = None;
        for tail in TAILS {
            let sketch = self.sketch(tail);
            let places = sketch.foldable();
            if places.is_empty() {
                continue;
            }
            let expected = sketch
                .without(sketch.bytes_of(&places))
                .saturating_add(unwritten);
            let after = sketch.after_folding(&places);
            let lands = self.lands(expected);
            // By hand the longest tail stays. Else, if none lands, the one that leaves the least is taken.
            if best.is_none() || self.is_by_itself() || lands {
                best = Some(Fold {
                    sketch,
                    places,
                    after,
                });
            }
            if lands && (self.terms.trigger != Trigger::Auto || self.frees_enough(expected)) {
                break;
            }
        }
        best
    }

    /// The plan if nothing may be folded.
    fn without_fold(&self) -> CompactionPlan {
        match self.is_by_itself() && !self.lands(self.before) && self.is_stuck() {
            true => CompactionPlan::Full(self.terms.full(self.before, 0)),
            false => CompactionPlan::Nothing(NothingToCompact::NothingToFold),
        }
    }

    /// The plan if it is not worth it to fold these messages.
    fn refuse(&self, fold: &Fold<'_>) -> Option<CompactionPlan> {
        let too_little = || Some(CompactionPlan::Nothing(NothingToCompact::TooLittle));
        let folded = fold.sketch.tokens_of(&fold.places);
        if !self.is_by_itself() {
            let is_written = self.terms.summary.as_ref().is_some_and(|it| !it.is_empty());
            let gains = (!is_written || fold.after < self.before) && folded >= WORTH;
            return if gains { None } else { too_little() };
        }
        let fits = self.makes_it_fit(fold.after);
        if !self.lands(fold.after) && !fits {
            return match self.is_stuck() {
                true => Some(CompactionPlan::Full(self.terms.full(fold.after, folded))),
                false => too_little(),
            };
        }
        let is_enough = self.terms.trigger != Trigger::Auto || self.frees_enough(fold.after);
        if is_enough || fits {
            None
        } else {
            too_little()
        }
    }
}

#[cfg(test)]
mod tests;
