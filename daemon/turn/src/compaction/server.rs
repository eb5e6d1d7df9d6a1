//! A compaction by the provider itself: what its data stands for, and where it stands.
//!
//! The data comes first in requests, because a provider may ignore or refuse what stands before it. The user's messages
//! follow word for word, then the state of the work, then the newest messages.

use std::collections::BTreeSet;

use proto::ItemId;
use proto::item::{Item, UserMessage, Voice};

use super::plan::{BasePart, CompactionTerms, ConversationMessage, units};
use super::summary::{self, is_summary, mechanical};
use super::transcript::transcript;

/// Maximum bytes of the text that stands for a compaction which only the provider can read.
const STAND_IN_MAX: u64 = 24_000;
/// Its first line.
const OPAQUE: &str =
    "(Only the provider can read its own summary. This is a list of what it replaced.)\n";
/// It has at most one part in so many of what it stands for.
const STAND_IN_SHARE: u64 = 4;

/// The text that stands for a compaction which only the provider can read: a list, and the newest of the folded messages
/// as far as they fit. Another provider is sent it in place of the compaction.
#[must_use]
pub fn stand_in(messages: &[ConversationMessage], fold: &[usize]) -> String {
    let folded: BTreeSet<usize> = fold.iter().copied().collect();
    let bytes: u64 = fold.iter().map(|at| messages[*at].bytes).sum();
    let room = STAND_IN_MAX.min(bytes / STAND_IN_SHARE);
    let (mut newest, mut used, mut start) = (Vec::new(), 0, messages.len());
    for unit in units(messages).into_iter().rev() {
        let text: String = unit
            .clone()
            .filter(|at| folded.contains(at))
            .map(|at| transcript(std::slice::from_ref(&messages[at])))
            .collect();
        used += text.len() as u64;
        if used > room {
            break;
        }
        start = unit.start;
        newest.push(text);
    }
    let list: Vec<usize> = fold.iter().copied().filter(|at| *at < start).collect();
    let mut text = OPAQUE.to_owned();
    text.push_str(&mechanical(messages, &list));
    let newest: String = newest.into_iter().rev().collect();
    if !newest.is_empty() {
        text.push_str("\n## The newest of it\n");
        text.push_str(&newest);
    }
    text
}

/// Takes the summary out of the parts of a plan, for the provider's compaction to stand before them. The state of the work
/// takes its place. Returns the message that the compaction stands for.
#[must_use]
pub fn lead(parts: Vec<BasePart>, text: &str, terms: &CompactionTerms) -> (Item, Vec<BasePart>) {
    let is_placed =
        |part: &BasePart| matches!(part, BasePart::New(Item::User(message)) if is_summary(message));
    let state = summary::state(&terms.restated);
    let mut rest = Vec::with_capacity(parts.len());
    for part in parts {
        match is_placed(&part) {
            false => rest.push(part),
            true if state.is_empty() => {}
            true => rest.push(BasePart::New(said(
                ItemId(format!("d{}.state", terms.number)),
                state.clone(),
            ))),
        }
    }
    let id = summary::item_id(terms.number);
    (said(id, summary::wrapped_first(text)), rest)
}

fn said(item: ItemId, text: String) -> Item {
    Item::User(UserMessage {
        item,
        prompt_id: None,
        text,
        context: None,
        voice: Voice::Daemon,
        from: None,
        attached: Vec::new(),
        reported: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
