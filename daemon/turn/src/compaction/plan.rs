//! The plan of a compaction: which messages stay, are shortened or are folded, and whether that frees enough.

use std::collections::BTreeSet;

use proto::item::{Item, UserMessage, Voice};
use proto::reset::{Compaction, Piece, Trigger};
use proto::{ItemId, Seq};

use super::shorten::{saved as saved_by, shorten};
use super::summary::{self, RestatedState};

/// User messages with at most this many tokens stay verbatim, and in a small window those of at most this part of it.
const USER_TOKENS: u64 = 4_000;
const USER_PART: u64 = 8;
/// In such a window all of them and the earlier summaries together take at most this percentage of what a compacted context
/// has left beside pins: where they take more, the oldest are folded as well, except the first. Else nothing could be folded.
const USER_SHARE: u64 = 75;
/// Earlier summaries take at most this percentage of it: where they take more, the oldest are folded into the new one. Else
/// they alone would fill the window after some compactions.
const SUMMARIES_SHARE: u64 = 50;
/// Percentages of the window for the newest messages, which stay. Smaller ones are tried if the result is too large.
const TAILS: [u64; 4] = [20, 10, 5, 0];
/// If shortening results alone reduces the context to this percentage of the window, nothing is folded.
const SHORTENED_TO: u64 = 55;
/// After folding, the context must be below this percentage of the window.
const LANDS_UNDER: u64 = 60;
/// An automatic compaction must free this percentage of the window.
const FREES: u64 = 25;
/// If the system prompt and the tools take much of the window, both are measured by the room behind them: up to this
/// percentage of the window, of which this percentage must be free.
const FILLS: u64 = 80;
const FREES_OF_ROOM: u64 = 50;
/// Size of a summary in tokens, and in a small window this part of it.
const SUMMARY_TOKENS: u64 = 1_500;
const SUMMARY_PART: u64 = 10;
const SUMMARY_PART_OF_ROOM: u64 = 4;
/// A manual compaction must fold at least this many tokens: fewer are no longer than the summary that replaces them.
const WORTH: u64 = 200;
/// An excerpt's summary request fills at most this percentage of the window, and shows at most this percentage of the
/// conversation that was too long. This leaves room for the summary, and for wrong estimates.
const EXCERPT_OF_WINDOW: u64 = 70;
const EXCERPT_OF_ALL: u64 = 60;
/// If the whole conversation fills more than this percentage of the window, its summary request has no room for a summary.
const ALL_OF_WINDOW: u64 = 95;

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
    let before = terms.before(messages);
    let window = terms.window;
    let units = units(messages);
    // A user may compact at any fill level, so a manual compaction is measured by the conversation, not by the window.
    let whole = match terms.trigger {
        Trigger::Manual => window.min(before),
        Trigger::Auto | Trigger::TooLong => window,
    };
    let sketch = |tail: u64| Sketch::new(messages, terms, &units, whole * tail / 100);
    let all = sketch(TAILS[0]);
    let shortened = all.shortened();
    let freed = |after: u64| before.saturating_sub(after) * 100 >= terms.frees_percent(whole);
    if !terms.instructed
        && shortened.count > 0
        && shortened.after <= window * SHORTENED_TO / 100
        && freed(shortened.after)
    {
        return all.done(&shortened, &[], None, before);
    }
    let by_itself = terms.trigger != Trigger::Manual;
    let lands = |after: u64| after * 100 < terms.lands_under_percent();
    // A request that does not fit is worth more than the room that a compaction usually leaves: a newest message that takes
    // much of a small window must stay.
    let is_over = terms.trigger == Trigger::TooLong || before * 100 >= window * ALL_OF_WINDOW;
    let fits = |after: u64| is_over && after < before && after * 100 < window * FILLS;
    // The summary is of what was to be folded before it was written: its own length changes nothing of that.
    let unwritten = terms.unwritten_summary_tokens();
    let mut best = None;
    for tail in TAILS {
        let sketch = sketch(tail);
        let fold = sketch.foldable();
        if fold.is_empty() {
            continue;
        }
        let expected = sketch
            .without(sketch.bytes_of(&fold))
            .saturating_add(unwritten);
        let after = sketch.after_folding(&fold);
        // By hand the longest tail stays. Else, if none lands, the one that leaves the least is taken.
        if best.is_none() || by_itself || lands(expected) {
            best = Some((sketch, fold, after));
        }
        if lands(expected) && (terms.trigger != Trigger::Auto || freed(expected)) {
            break;
        }
    }
    // If only the newest messages are too large, they can be folded later: unless the request was refused, it is sent.
    let newest = Sketch::new(messages, terms, &units, 0);
    let stuck = terms.trigger == Trigger::TooLong || !lands(newest.after_all());
    let Some((sketch, fold, after)) = best else {
        return match by_itself && stuck && !lands(before) {
            true => CompactionPlan::Full(terms.full(before, 0)),
            false => CompactionPlan::Nothing(NothingToCompact::NothingToFold),
        };
    };
    if by_itself && !lands(after) && !fits(after) {
        return match stuck {
            true => CompactionPlan::Full(terms.full(after, sketch.tokens_of(&fold))),
            false => CompactionPlan::Nothing(NothingToCompact::TooLittle),
        };
    }
    if terms.trigger == Trigger::Auto && !freed(after) && !fits(after) {
        return CompactionPlan::Nothing(NothingToCompact::TooLittle);
    }
    let written = terms.summary.as_deref().unwrap_or_default();
    let shorter = written.is_empty() || after < before;
    let gains = shorter && sketch.tokens_of(&fold) >= WORTH;
    if !by_itself && !gains {
        return CompactionPlan::Nothing(NothingToCompact::TooLittle);
    }
    match &terms.summary {
        None => CompactionPlan::Ask { fold },
        Some(text) => {
            let text = summary::wrapped(text, &terms.restated, terms.mechanical);
            let none = Shortened::default();
            sketch.done(&none, &fold, Some(text), before)
        }
    }
}

impl CompactionTerms {
    /// The same; if the window is unknown, with one that the conversation fills to four fifths.
    fn with_window(&self, messages: &[ConversationMessage]) -> Self {
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
    fn user_limit(&self) -> u64 {
        USER_TOKENS.min(self.window / USER_PART)
    }

    /// This percentage of the tokens that a compacted context has left beside what stays whatever it takes (`fixed`).
    /// Without a limit in a large window.
    fn share_of_free_tokens(&self, fixed: u64, percent: u64) -> u64 {
        if self.window >= USER_TOKENS * USER_PART {
            return u64::MAX;
        }
        let taken = self.prefix_tokens().saturating_add(self.summary_limit());
        let left = (self.lands_under_percent() / 100).saturating_sub(taken.saturating_add(fixed));
        left * percent / 100
    }

    /// How long a summary should be, in tokens.
    fn summary_limit(&self) -> u64 {
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
    fn lands_under_percent(&self) -> u64 {
        let behind = self.prefix_tokens() * 100 + self.room() * (100 - FREES_OF_ROOM);
        behind.max(self.window * LANDS_UNDER)
    }

    /// What must become free, of this much; in hundredths of tokens.
    fn frees_percent(&self, whole: u64) -> u64 {
        (whole * FREES).min(self.room() * FREES_OF_ROOM)
    }

    /// A context of which this much must stay. `folded`: tokens of the messages that may be folded.
    fn full(&self, kept: u64, folded: u64) -> FullContext {
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
    fn summary_tokens(&self) -> u64 {
        match self.summary.as_deref().map(str::trim) {
            None | Some("") => self.unwritten_summary_tokens(),
            Some(text) => self.tokens_of_summary(text),
        }
    }

    /// The same as long as it is not written: an estimate.
    fn unwritten_summary_tokens(&self) -> u64 {
        self.tokens_of_summary("")
            .saturating_add(self.summary_limit())
    }

    fn tokens_of_summary(&self, text: &str) -> u64 {
        let whole = summary::wrapped(text, &self.restated, self.mechanical);
        self.measure.tokens(whole.len() as u64)
    }

    /// Tokens of the conversation before the compaction.
    fn before(&self, messages: &[ConversationMessage]) -> u64 {
        let bytes: u64 = messages.iter().map(|message| message.bytes).sum();
        let estimated = self.measure.tokens(self.prefix_bytes.saturating_add(bytes));
        estimated.max(self.context)
    }
}

/// How long a summary should be in a window of this size, in tokens.
fn summary_limit(window: u64) -> u64 {
    SUMMARY_TOKENS.min(window / SUMMARY_PART)
}

/// Groups messages that stay together: a user message alone; an answer with the results of its calls.
pub(super) fn units(messages: &[ConversationMessage]) -> Vec<std::ops::Range<usize>> {
    let mut units: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match (&message.item, units.last_mut()) {
            (Item::Tool(_), Some(unit)) => unit.end = at + 1,
            _ => units.push(at..at + 1),
        }
    }
    units
}

/// One candidate split: which messages form the tail, and which of the earlier ones stay.
struct Sketch<'a> {
    messages: &'a [ConversationMessage],
    terms: &'a CompactionTerms,
    /// Index of the tail's first message.
    tail: usize,
    /// For each message before the tail: whether it stays.
    stays: Vec<bool>,
}

/// The shortened results of a split.
#[derive(Default)]
struct Shortened {
    by_index: Vec<(usize, Item)>,
    count: u64,
    after: u64,
}

/// Tokens of a unit.
fn unit_tokens(
    messages: &[ConversationMessage],
    terms: &CompactionTerms,
    unit: &std::ops::Range<usize>,
) -> u64 {
    let bytes = messages[unit.clone()].iter().map(|message| message.bytes);
    terms.measure.tokens(bytes.sum())
}

fn has_pin(
    messages: &[ConversationMessage],
    terms: &CompactionTerms,
    unit: &std::ops::Range<usize>,
) -> bool {
    let mut members = messages[unit.clone()].iter();
    members.any(|member| is_pinned(id(member), &terms.pins))
}

/// Where the earlier summaries are that stay: all, or in a small window the newest that have room.
fn summaries_that_stay(
    messages: &[ConversationMessage],
    terms: &CompactionTerms,
    units: &[std::ops::Range<usize>],
) -> BTreeSet<usize> {
    let tokens = |unit: &std::ops::Range<usize>| unit_tokens(messages, terms, unit);
    let pinned = units.iter().filter(|unit| has_pin(messages, terms, unit));
    let pinned = pinned.map(tokens).fold(0, u64::saturating_add);
    let mut room = terms.share_of_free_tokens(pinned, SUMMARIES_SHARE);
    let summaries = units.iter().rev().filter(|unit| {
        let mut members = messages[(*unit).clone()].iter();
        let has_summary = members
            .any(|member| matches!(&member.item, Item::User(user) if summary::is_summary(user)));
        has_summary && !has_pin(messages, terms, unit)
    });
    let fitting = summaries.take_while(|unit| match room.checked_sub(tokens(unit)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    });
    fitting.map(|unit| unit.start).collect()
}

/// For each message before the tail: whether it stays.
fn verbatim(
    messages: &[ConversationMessage],
    terms: &CompactionTerms,
    units: &[std::ops::Range<usize>],
    tail: usize,
) -> Vec<bool> {
    let tokens = |unit: &std::ops::Range<usize>| unit_tokens(messages, terms, unit);
    let summaries = summaries_that_stay(messages, terms, units);
    let is_fixed = |unit: &&std::ops::Range<usize>| {
        has_pin(messages, terms, unit) || summaries.contains(&unit.start)
    };
    let from_user = |unit: &std::ops::Range<usize>| {
        let mut members = messages[unit.clone()].iter();
        members.any(|member| is_from_user(&member.item))
    };
    let sum = |units: &mut dyn Iterator<Item = &std::ops::Range<usize>>| {
        units.map(tokens).fold(0, u64::saturating_add)
    };
    let pinned = sum(&mut units.iter().filter(|unit| has_pin(messages, terms, unit)));
    let mut earlier = units.iter().filter(|unit| summaries.contains(&unit.start));
    let earlier = sum(&mut earlier);
    let room = terms.share_of_free_tokens(pinned, USER_SHARE);
    let mut room = room.saturating_sub(earlier);
    let mut stays = vec![false; tail];
    let (fixed, others): (Vec<_>, Vec<_>) = units
        .iter()
        .take_while(|unit| unit.start < tail)
        .partition(is_fixed);
    for unit in fixed {
        stays[unit.clone()].fill(true);
    }
    let limit = terms.user_limit();
    let spoken = others.into_iter();
    let mut spoken: Vec<_> = spoken
        .filter(|unit| from_user(unit) && tokens(unit) <= limit)
        .collect();
    // The first mostly says what the work is, and the newest what it is about now.
    if let Some(first) = spoken.first().copied()
        && let Some(left) = room.checked_sub(tokens(first))
    {
        room = left;
        stays[first.clone()].fill(true);
        spoken.remove(0);
    }
    for unit in spoken.into_iter().rev() {
        let Some(left) = room.checked_sub(tokens(unit)) else {
            break;
        };
        room = left;
        stays[unit.clone()].fill(true);
    }
    stays
}

impl<'a> Sketch<'a> {
    fn new(
        messages: &'a [ConversationMessage],
        terms: &'a CompactionTerms,
        units: &[std::ops::Range<usize>],
        room: u64,
    ) -> Self {
        let mut tail = messages.len();
        let mut used = 0_u64;
        for unit in units.iter().rev() {
            used = used.saturating_add(unit_tokens(messages, terms, unit));
            // The newest always stays: the model is about to continue from it.
            if used > room && tail < messages.len() {
                break;
            }
            tail = unit.start;
        }
        let stays = verbatim(messages, terms, units, tail);
        Self {
            messages,
            terms,
            tail,
            stays,
        }
    }

    /// Indices of the messages that may be folded.
    fn foldable(&self) -> Vec<usize> {
        let places = self.stays.iter().enumerate();
        places
            .filter_map(|(at, stays)| (!stays).then_some(at))
            .collect()
    }

    /// Tokens of the messages at these indices.
    fn tokens_of(&self, places: &[usize]) -> u64 {
        self.terms.measure.tokens(self.bytes_of(places))
    }

    fn bytes_of(&self, places: &[usize]) -> u64 {
        places.iter().map(|at| self.messages[*at].bytes).sum()
    }

    fn after_folding(&self, fold: &[usize]) -> u64 {
        self.without(self.bytes_of(fold))
            .saturating_add(self.terms.summary_tokens())
    }

    /// Tokens that would be left if the tail were folded too.
    fn after_all(&self) -> u64 {
        let stays = |at: usize| self.stays.get(at).is_some_and(|stays| *stays);
        let places = 0..self.messages.len();
        let fold: Vec<_> = places.filter(|at| !stays(*at)).collect();
        self.after_folding(&fold)
    }

    /// Tokens left after removing this many bytes from the messages.
    fn without(&self, bytes: u64) -> u64 {
        let all: u64 = self.messages.iter().map(|message| message.bytes).sum();
        let left = all.saturating_sub(bytes);
        let measure = self.terms.measure;
        measure.tokens(self.terms.prefix_bytes.saturating_add(left))
    }

    /// Shortens the long results before the tail.
    fn shortened(&self) -> Shortened {
        let mut saved = 0_u64;
        let mut by_index = Vec::new();
        for at in self.foldable() {
            let message = &self.messages[at];
            let Item::Tool(tool) = &message.item else {
                continue;
            };
            let Some(short) = shorten(tool, seq_of(&message.piece)) else {
                continue;
            };
            saved += saved_by(tool, &short);
            by_index.push((at, Item::Tool(short)));
        }
        Shortened {
            count: by_index.len() as u64,
            after: self.without(saved),
            by_index,
        }
    }

    fn done(
        &self,
        shortened: &Shortened,
        fold: &[usize],
        summary: Option<String>,
        before: u64,
    ) -> CompactionPlan {
        let mut parts = Vec::new();
        let mut shorts = shortened.by_index.iter().peekable();
        let folded: BTreeSet<usize> = fold.iter().copied().collect();
        // Some providers require the first message to be the user's. If the first message that stays is an answer, the
        // summary goes before it.
        let first = (0..self.messages.len()).find(|at| !folded.contains(at));
        let first = first.filter(|at| matches!(self.messages[*at].item, Item::Assistant(_)));
        let place = first.map_or(self.tail, |first| first.min(self.tail));
        for (at, message) in self.messages.iter().enumerate() {
            if at == place
                && let Some(text) = &summary
            {
                parts.push(BasePart::New(self.summary_item(text)));
            }
            if let Some((_, item)) = shorts.next_if(|(place, _)| *place == at) {
                parts.push(BasePart::New(item.clone()));
            } else if !folded.contains(&at) {
                parts.push(BasePart::Keep(message.piece.clone()));
            }
        }
        let after = match &summary {
            Some(_) => self.after_folding(fold),
            None => shortened.after,
        };
        CompactionPlan::Done {
            parts,
            done: Compaction {
                trigger: self.terms.trigger,
                tokens_before: before,
                tokens_after: after,
                folded: fold.len() as u64,
                shortened: shortened.count,
                kept: (self.messages.len() - fold.len()) as u64 - shortened.count,
                summary: summary.unwrap_or_default(),
                mechanical: self.terms.mechanical,
                server: false,
                archive: self.archive(fold),
            },
        }
    }

    fn summary_item(&self, text: &str) -> Item {
        Item::User(UserMessage {
            item: summary::item_id(self.terms.number),
            prompt_id: None,
            text: text.to_owned(),
            context: None,
            voice: Voice::Daemon,
            from: None,
            attached: Vec::new(),
            reported: Vec::new(),
        })
    }

    /// The folded messages as runs of records in the log.
    fn archive(&self, fold: &[usize]) -> Vec<(Seq, Seq)> {
        let mut runs: Vec<(Seq, Seq)> = Vec::new();
        let mut last_place = None;
        for at in fold {
            let before = last_place == at.checked_sub(1) && self.messages[*at].follows;
            let Some(seq) = seq_of(&self.messages[*at].piece) else {
                continue;
            };
            match runs.last_mut() {
                Some((_, last)) if before && *last < seq => *last = seq,
                _ => runs.push((seq, seq)),
            }
            last_place = Some(*at);
        }
        runs
    }
}

/// Whether the user wrote this message.
fn is_from_user(item: &Item) -> bool {
    matches!(item, Item::User(user) if user.voice.is_user())
}

/// Whether a message is pinned, by its own id or by its turn's (`m7` of `m7.3`).
#[must_use]
pub fn is_pinned(id: &ItemId, pins: &BTreeSet<ItemId>) -> bool {
    let turn =
        id.0.split_once('.')
            .map(|(turn, _)| ItemId(turn.to_owned()));
    pins.contains(id) || turn.is_some_and(|turn| pins.contains(&turn))
}

fn id(message: &ConversationMessage) -> &ItemId {
    match &message.item {
        Item::User(user) => &user.item,
        Item::Assistant(assistant) => &assistant.item,
        Item::Tool(tool) => &tool.item,
    }
}

fn seq_of(piece: &Piece) -> Option<Seq> {
    match piece {
        Piece::Run(seq, _) => Some(*seq),
        Piece::Element { .. } => None,
    }
}

#[cfg(test)]
mod tests;
