//! The plan of a compaction: what stays, what is shortened, what is folded, and whether that is worth it.

use std::collections::BTreeSet;

use proto::item::{Item, UserMessage, Voice};
use proto::reset::{Compaction, Piece, Trigger};
use proto::{ItemId, Seq};

use super::shorten::shorten;
use super::summary::{self, RestatedState};

/// User messages of at most so many tokens stay word for word.
const USER_TOKENS: u64 = 4_000;
/// The newest messages stay, up to this part of the window: per cent. Where that is too much to land well, less.
const TAILS: [u64; 4] = [20, 10, 5, 0];
/// If shortened results alone bring it down to this part of the window, nothing is folded.
const SHORTENED_TO: u64 = 55;
/// What is folded has to land below this part of the window.
const LANDS_UNDER: u64 = 60;
/// What happens by itself has to free this part of the window.
const FREES: u64 = 25;
/// What a summary is taken for before it is there, in tokens.
const SUMMARY_TOKENS: u64 = 1_500;
/// A person's compaction folds at least so many tokens: fewer are no longer than what stands in their place.
const WORTH: u64 = 200;
/// A request for a summary of an excerpt fills at most this part of the window, and of what was too long: per cent. Room is
/// left for the summary, and for estimates that are wrong.
const EXCERPT_OF_WINDOW: u64 = 70;
const EXCERPT_OF_ALL: u64 = 60;
/// With all of the conversation a request for a summary has no room for the summary beyond this part of the window.
const ALL_OF_WINDOW: u64 = 95;

/// A message of the conversation, as it stands in requests.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationMessage {
    /// Where it stands: a run of one record, or an element.
    pub piece: Piece,
    pub item: Item,
    /// Of its wire bytes.
    pub bytes: u64,
    /// In the log no other message stands between it and the one before it.
    pub follows: bool,
}

/// How many tokens so many bytes are, as the newest request has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenRatio {
    pub bytes: u64,
    pub tokens: u64,
}

impl TokenRatio {
    /// From a request that was measured; four bytes a token where there was none.
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

    /// So many bytes are so many tokens, rounded down.
    #[must_use]
    pub fn bytes(self, tokens: u64) -> u64 {
        let bytes = u128::from(tokens) * u128::from(self.bytes) / u128::from(self.tokens);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// An estimate, rounded up.
    #[must_use]
    pub fn tokens(self, bytes: u64) -> u64 {
        let tokens = (u128::from(bytes) * u128::from(self.tokens)).div_ceil(self.bytes.into());
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }
}

/// What a plan is made by.
#[derive(Clone, Debug)]
pub struct CompactionTerms {
    pub trigger: Trigger,
    /// A person said what the summary is to keep: shortened results alone are not what was asked for.
    pub instructed: bool,
    /// Tokens that the model can take; 0: not known.
    pub window: u64,
    /// Tokens of the newest request and its answer; 0: not known.
    pub context: u64,
    pub measure: TokenRatio,
    /// Bytes of what stands before the messages.
    pub prefix_bytes: u64,
    pub pins: BTreeSet<ItemId>,
    /// Which compaction of the session it will be, from 1.
    pub number: u64,
    /// What the model wrote, or what was put together without it; `None`: not yet.
    pub summary: Option<String>,
    pub mechanical: bool,
    pub restated: RestatedState,
}

/// What a compaction comes to.
#[allow(
    clippy::large_enum_variant,
    reason = "one is made at a time, and taken apart at once"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum CompactionPlan {
    /// It is not worth it.
    Nothing(NothingToCompact),
    /// What may not be folded is too much by itself: so many tokens.
    Full { kept: u64 },
    /// The messages at these places are to be folded: a summary of them is wanted.
    Ask { fold: Vec<usize> },
    /// What requests begin with from now on.
    Done {
        parts: Vec<BasePart>,
        done: Compaction,
    },
}

/// Why nothing is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NothingToCompact {
    /// All messages have to stay.
    NothingToFold,
    /// It would free less than a quarter of the window.
    TooLittle,
}

/// A part of what requests begin with.
#[derive(Clone, Debug, PartialEq)]
pub enum BasePart {
    /// It stays as it is.
    Keep(Piece),
    /// It stands in the place of others, and has to be rendered.
    New(Item),
}

/// Plans a compaction of these messages, in their order.
#[must_use]
pub fn plan(messages: &[ConversationMessage], terms: &CompactionTerms) -> CompactionPlan {
    let before = terms.before(messages);
    let window = match terms.window {
        // Not known: the one that this would fill to four fifths.
        0 => before.saturating_mul(5) / 4,
        window => window,
    };
    let units = units(messages);
    // A person asks at any fill: then what counts is what there is, and not the window.
    let whole = match terms.trigger {
        Trigger::Manual => window.min(before),
        Trigger::Auto | Trigger::TooLong => window,
    };
    let sketch = |tail: u64| Sketch::new(messages, terms, &units, whole * tail / 100);
    let all = sketch(TAILS[0]);
    let shortened = all.shortened();
    let freed = |after: u64| before.saturating_sub(after) * 100 >= whole * FREES;
    if !terms.instructed
        && shortened.count > 0
        && shortened.after <= window * SHORTENED_TO / 100
        && freed(shortened.after)
    {
        return all.done(&shortened, &[], None, before);
    }
    let mut best = None;
    for tail in TAILS {
        let sketch = sketch(tail);
        let fold = sketch.foldable();
        if fold.is_empty() {
            continue;
        }
        let after = sketch.after_folding(&fold);
        let lands = after * 100 < window * LANDS_UNDER;
        if best.is_none() || lands {
            best = Some((sketch, fold, after));
        }
        if lands {
            break;
        }
    }
    let by_itself = terms.trigger != Trigger::Manual;
    let lands = |after: u64| after * 100 < window * LANDS_UNDER;
    // Where only the newest messages are too many, they are older soon: a request that is not refused is sent.
    let newest = Sketch::new(messages, terms, &units, 0);
    let stuck = terms.trigger == Trigger::TooLong || !lands(newest.after_all());
    let Some((sketch, fold, after)) = best else {
        return match by_itself && stuck && !lands(before) {
            true => CompactionPlan::Full { kept: before },
            false => CompactionPlan::Nothing(NothingToCompact::NothingToFold),
        };
    };
    if by_itself && !lands(after) {
        return match stuck {
            true => CompactionPlan::Full { kept: after },
            false => CompactionPlan::Nothing(NothingToCompact::TooLittle),
        };
    }
    if terms.trigger == Trigger::Auto && !freed(after) {
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
    /// Whether a request for a summary that shows all of these messages has no room for its answer.
    #[must_use]
    pub fn is_too_long_to_show(&self, messages: &[ConversationMessage]) -> bool {
        let before = u128::from(self.before(messages));
        self.window > 0 && before * 100 > u128::from(self.window) * u128::from(ALL_OF_WINDOW)
    }

    /// The wire bytes that messages of an excerpt may have.
    #[must_use]
    pub fn excerpt_room(&self, messages: &[ConversationMessage]) -> u64 {
        let of_all = self.before(messages) / 100 * EXCERPT_OF_ALL;
        let of_window = self.window / 100 * EXCERPT_OF_WINDOW;
        let tokens = match self.window {
            0 => of_all,
            _ => of_all.min(of_window),
        };
        let bytes = self.measure.bytes(tokens.saturating_sub(SUMMARY_TOKENS));
        bytes.saturating_sub(self.prefix_bytes)
    }

    /// Tokens of the summary, with what is named again behind it.
    fn summary_tokens(&self) -> u64 {
        let text = self.summary.as_deref().unwrap_or_default();
        let whole = summary::wrapped(text, &self.restated, self.mechanical);
        let whole = self.measure.tokens(whole.len() as u64);
        match text.trim().is_empty() {
            // It is not written yet.
            true => whole.saturating_add(SUMMARY_TOKENS),
            false => whole,
        }
    }

    /// Tokens that there are now.
    fn before(&self, messages: &[ConversationMessage]) -> u64 {
        let bytes: u64 = messages.iter().map(|message| message.bytes).sum();
        let estimated = self.measure.tokens(self.prefix_bytes.saturating_add(bytes));
        estimated.max(self.context)
    }
}

/// Messages that go together: a user's alone; an answer with the results of its calls.
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

/// One way to do it: which messages are the tail, and which of those before it stay.
struct Sketch<'a> {
    messages: &'a [ConversationMessage],
    terms: &'a CompactionTerms,
    /// Where the tail begins.
    tail: usize,
    /// Of the messages before it: which stay.
    stays: Vec<bool>,
}

/// Results that are shortened.
#[derive(Default)]
struct Shortened {
    by_place: Vec<(usize, Item)>,
    count: u64,
    after: u64,
}

impl<'a> Sketch<'a> {
    fn new(
        messages: &'a [ConversationMessage],
        terms: &'a CompactionTerms,
        units: &[std::ops::Range<usize>],
        room: u64,
    ) -> Self {
        let tokens = |unit: &std::ops::Range<usize>| {
            let bytes = messages[unit.clone()].iter().map(|message| message.bytes);
            terms.measure.tokens(bytes.sum())
        };
        let mut tail = messages.len();
        let mut used = 0_u64;
        for unit in units.iter().rev() {
            used = used.saturating_add(tokens(unit));
            // The newest stays, whatever it is: the model is about to go on from it.
            if used > room && tail < messages.len() {
                break;
            }
            tail = unit.start;
        }
        let mut stays = vec![false; tail];
        for unit in units.iter().take_while(|unit| unit.start < tail) {
            let members = &messages[unit.clone()];
            let pinned = members
                .iter()
                .any(|member| is_pinned(id(member), &terms.pins));
            let spoken = members.iter().any(|member| {
                is_spoken(&member.item) && terms.measure.tokens(member.bytes) <= USER_TOKENS
            });
            let summary = members.iter().any(
                |member| matches!(&member.item, Item::User(user) if summary::is_summary(user)),
            );
            stays[unit.clone()].fill(pinned || spoken || summary);
        }
        Self {
            messages,
            terms,
            tail,
            stays,
        }
    }

    /// The places of what may be folded.
    fn foldable(&self) -> Vec<usize> {
        let places = self.stays.iter().enumerate();
        places
            .filter_map(|(at, stays)| (!stays).then_some(at))
            .collect()
    }

    /// Tokens of the messages at these places.
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

    /// Tokens that are left without so many bytes of the messages.
    fn without(&self, bytes: u64) -> u64 {
        let all: u64 = self.messages.iter().map(|message| message.bytes).sum();
        let left = all.saturating_sub(bytes);
        let measure = self.terms.measure;
        measure.tokens(self.terms.prefix_bytes.saturating_add(left))
    }

    /// The long results before the tail, cut.
    fn shortened(&self) -> Shortened {
        let mut saved = 0_u64;
        let mut by_place = Vec::new();
        for at in self.foldable() {
            let message = &self.messages[at];
            let Item::Tool(tool) = &message.item else {
                continue;
            };
            let Some(short) = shorten(tool, seq_of(&message.piece)) else {
                continue;
            };
            saved += (tool.text.len() - short.text.len().min(tool.text.len())) as u64;
            by_place.push((at, Item::Tool(short)));
        }
        Shortened {
            count: by_place.len() as u64,
            after: self.without(saved),
            by_place,
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
        let mut shorts = shortened.by_place.iter().peekable();
        let folded: BTreeSet<usize> = fold.iter().copied().collect();
        // A vendor may demand that a person speaks first: where the first that stays is an answer, the summary does.
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
        })
    }

    /// Where the folded messages stand, as runs of records.
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

/// Whether it is a person's own words.
fn is_spoken(item: &Item) -> bool {
    matches!(item, Item::User(user) if matches!(user.voice, Voice::Prompt | Voice::Steer))
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
