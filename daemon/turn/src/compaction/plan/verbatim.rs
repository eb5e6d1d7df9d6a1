//! The messages that stay verbatim although they are older than the tail: pinned ones, earlier summaries and what the user
//! wrote, as far as there is room.

use std::collections::BTreeSet;
use std::ops::Range;

use proto::ItemId;
use proto::item::Item;

use super::{CompactionTerms, ConversationMessage};
use crate::compaction::summary;

/// In a small window the user's messages and the earlier summaries together take at most this percentage of what a compacted
/// context has left beside pins: where they take more, the oldest are folded as well, except the first. Else nothing could be
/// folded.
const USER_SHARE: u64 = 75;
/// Earlier summaries take at most this percentage of it: where they take more, the oldest are folded into the new one. Else
/// they alone would fill the window after some compactions.
const SUMMARIES_SHARE: u64 = 50;

/// Indices of messages that stay together.
pub(in crate::compaction) type Unit = Range<usize>;

/// Groups messages that stay together: a user message alone; an answer with the results of its calls.
pub(in crate::compaction) fn units(messages: &[ConversationMessage]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match (&message.item, units.last_mut()) {
            (Item::Tool(_), Some(unit)) => unit.end = at + 1,
            _ => units.push(at..at + 1),
        }
    }
    units
}

/// Tokens of a unit.
pub(super) fn unit_tokens(
    messages: &[ConversationMessage],
    terms: &CompactionTerms,
    unit: &Unit,
) -> u64 {
    let bytes = messages[unit.clone()].iter().map(|message| message.bytes);
    terms.measure.tokens(bytes.sum())
}

fn has_pin(messages: &[ConversationMessage], terms: &CompactionTerms, unit: &Unit) -> bool {
    let mut members = messages[unit.clone()].iter();
    members.any(|member| is_pinned(id(member), &terms.pins))
}

/// Where the earlier summaries are that stay: all, or in a small window the newest that have room.
fn summaries_that_stay(
    messages: &[ConversationMessage],
    terms: &CompactionTerms,
    units: &[Unit],
) -> BTreeSet<usize> {
    let tokens = |unit: &Unit| unit_tokens(messages, terms, unit);
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
pub(super) fn verbatim(
    messages: &[ConversationMessage],
    terms: &CompactionTerms,
    units: &[Unit],
    tail: usize,
) -> Vec<bool> {
    let tokens = |unit: &Unit| unit_tokens(messages, terms, unit);
    let summaries = summaries_that_stay(messages, terms, units);
    let is_fixed = |unit: &&Unit| has_pin(messages, terms, unit) || summaries.contains(&unit.start);
    let from_user = |unit: &Unit| {
        let mut members = messages[unit.clone()].iter();
        members.any(|member| is_from_user(&member.item))
    };
    let sum =
        |units: &mut dyn Iterator<Item = &Unit>| units.map(tokens).fold(0, u64::saturating_add);
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

/// Whether the user wrote this message.
pub(super) fn is_from_user(item: &Item) -> bool {
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

pub(super) fn id(message: &ConversationMessage) -> &ItemId {
    match &message.item {
        Item::User(user) => &user.item,
        Item::Assistant(assistant) => &assistant.item,
        Item::Tool(tool) => &tool.item,
    }
}
