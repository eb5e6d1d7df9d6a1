//! The excerpt of a conversation that is too long to send whole when asking the model for a summary.

use std::ops::Range;

use proto::item::Item;

use super::plan::{ConversationMessage, units};
use super::shorten::{saved, shorten};

/// A part of a conversation. Earlier messages are shown as a list; later ones stay verbatim anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The messages to show, with long results shortened.
    pub shown: Range<usize>,
    /// Indices of the messages that are folded but not shown.
    pub left_out: Vec<usize>,
}

/// Selects the newest of the messages to fold that fit into `room` (wire bytes). An answer always stays with the results
/// of its calls. `None`: not even the newest fits.
#[must_use]
pub fn excerpt(messages: &[ConversationMessage], fold: &[usize], room: u64) -> Option<Excerpt> {
    let end = fold.last()? + 1;
    let units = units(messages);
    let end = units.iter().find(|unit| unit.end >= end)?.end;
    let (mut start, mut used) = (end, 0_u64);
    for unit in units.iter().rev().skip_while(|unit| unit.end > end) {
        let bytes = messages[unit.clone()].iter().map(shown_bytes);
        used = used.saturating_add(bytes.sum());
        if used > room {
            break;
        }
        start = unit.start;
    }
    let left_out = fold.iter().copied().filter(|at| *at < start).collect();
    let shown = start..end;
    (!shown.is_empty()).then_some(Excerpt { shown, left_out })
}

/// Wire bytes of a message as shown in the excerpt.
fn shown_bytes(message: &ConversationMessage) -> u64 {
    let saved = match &message.item {
        Item::Tool(tool) => shorten(tool, None).map_or(0, |short| saved(tool, &short)),
        _ => 0,
    };
    message.bytes.saturating_sub(saved)
}
