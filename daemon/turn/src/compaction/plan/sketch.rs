//! One candidate split of a conversation: what it would leave, and the new beginning that it makes.

use std::collections::BTreeSet;

use proto::Seq;
use proto::item::{Item, UserMessage, Voice};
use proto::reset::{Compaction, Piece};

use super::verbatim::{Unit, unit_tokens, verbatim};
use super::{BasePart, CompactionPlan, CompactionTerms, ConversationMessage};
use crate::compaction::shorten::{saved as saved_by, shorten};
use crate::compaction::summary;

/// One candidate split: which messages form the tail, and which of the earlier ones stay.
pub(super) struct Sketch<'a> {
    messages: &'a [ConversationMessage],
    terms: &'a CompactionTerms,
    /// Index of the tail's first message.
    tail: usize,
    /// For each message before the tail: whether it stays.
    stays: Vec<bool>,
}

/// The shortened results of a split.
#[derive(Default)]
pub(super) struct Shortened {
    by_index: Vec<(usize, Item)>,
    pub(super) count: u64,
    pub(super) after: u64,
}

impl<'a> Sketch<'a> {
    pub(super) fn new(
        messages: &'a [ConversationMessage],
        terms: &'a CompactionTerms,
        units: &[Unit],
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
    pub(super) fn foldable(&self) -> Vec<usize> {
        let places = self.stays.iter().enumerate();
        places
            .filter_map(|(at, stays)| (!stays).then_some(at))
            .collect()
    }

    /// Tokens of the messages at these indices.
    pub(super) fn tokens_of(&self, places: &[usize]) -> u64 {
        self.terms.measure.tokens(self.bytes_of(places))
    }

    pub(super) fn bytes_of(&self, places: &[usize]) -> u64 {
        places.iter().map(|at| self.messages[*at].bytes).sum()
    }

    pub(super) fn after_folding(&self, fold: &[usize]) -> u64 {
        self.without(self.bytes_of(fold))
            .saturating_add(self.terms.summary_tokens())
    }

    /// Tokens that would be left if the tail were folded too.
    pub(super) fn after_all(&self) -> u64 {
        let stays = |at: usize| self.stays.get(at).is_some_and(|stays| *stays);
        let places = 0..self.messages.len();
        let fold: Vec<_> = places.filter(|at| !stays(*at)).collect();
        self.after_folding(&fold)
    }

    /// Tokens left after removing this many bytes from the messages.
    pub(super) fn without(&self, bytes: u64) -> u64 {
        let all: u64 = self.messages.iter().map(|message| message.bytes).sum();
        let left = all.saturating_sub(bytes);
        let measure = self.terms.measure;
        measure.tokens(self.terms.prefix_bytes.saturating_add(left))
    }

    /// Shortens the long results before the tail.
    pub(super) fn shortened(&self) -> Shortened {
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

    pub(super) fn done(
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

pub(super) fn seq_of(piece: &Piece) -> Option<Seq> {
    match piece {
        Piece::Run(seq, _) => Some(*seq),
        Piece::Element { .. } => None,
    }
}
