//! Tool calls, collected from their pieces.
//!
//! Servers number, name and repeat the pieces in their own ways; what they have in common is gathered here. Gives
//! calls out only when the answer is over. Called by the kinds.

use std::collections::HashSet;

use proto::CallId;
use proto::item::{Finish, ToolCall};

use crate::read::Batch;

/// Calls of one answer. More is a model that runs wild.
const CALLS_MAX: usize = 512;

/// An answer wants more calls than any model means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// A piece of a call, as it came.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Piece<'a> {
    pub index: Option<u64>,
    pub id: &'a str,
    pub name: &'a str,
    pub arguments: &'a str,
    /// The piece is a call of its own: the answer was not streamed.
    pub whole: bool,
}

/// How far the arguments of a finished answer can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The vendor said that the calls are whole. What doesn't parse is the model's own mistake.
    Whole,
    /// The answer ended without a reason: calls that parse are whole.
    Parsed,
    /// The answer was cut: the last call, and any that doesn't parse, may be half a call.
    AllButLast,
}

/// How an answer of the vendors that say why it ended has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It has not.
    Open,
    /// With a reason.
    Reason(Finish),
    /// Without a reason, after something was said.
    Bare,
}

impl End {
    /// Why the answer ended, and how far its calls can be trusted; `None` where it has not. Vendors say `stop` beside
    /// calls, and that there are calls beside none: what is there decides.
    pub fn judged(self, calls: &Calls) -> Option<(Finish, Trust)> {
        let trust = match self {
            Self::Open => return None,
            Self::Reason(
                finish @ (Finish::Length | Finish::ContentFilter | Finish::Interrupted),
            ) => return Some((finish, Trust::AllButLast)),
            Self::Bare => Trust::Parsed,
            Self::Reason(Finish::Stop | Finish::ToolCalls) => Trust::Whole,
        };
        let finish = match calls.is_empty() {
            true => Finish::Stop,
            false => Finish::ToolCalls,
        };
        Some((finish, trust))
    }
}

/// The calls so far, in the order in which they began.
pub(crate) struct Calls {
    slots: Vec<Slot>,
    ids: HashSet<String>,
    /// Assistant messages before this one: makes generated ids the same on each try, and others in each answer.
    answered: u64,
}

struct Slot {
    /// The vendor's number, where it gives one.
    index: Option<u64>,
    /// The vendor's id, or empty.
    vendor_id: String,
    /// Our number: the order in which calls come out.
    place: u32,
    id: String,
    name: String,
    arguments: String,
    depth: Depth,
}

impl Calls {
    pub(crate) fn new(answered: u64) -> Self {
        Self {
            slots: Vec::new(),
            ids: HashSet::new(),
            answered,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes a piece.
    pub(crate) fn take(&mut self, piece: Piece<'_>, batch: &mut Batch) -> Result<(), TooMany> {
        let found = if piece.whole { None } else { self.find(piece) };
        let (at, begins) = match found {
            Some(at) => (at, false),
            None => (self.begin(piece)?, true),
        };
        let slot = &mut self.slots[at];
        let named = slot.name.is_empty() && !piece.name.is_empty();
        if named {
            slot.name.push_str(piece.name);
        }
        slot.depth.push(piece.arguments);
        slot.arguments.push_str(piece.arguments);
        if begins || named || !piece.arguments.is_empty() {
            batch.delta(slot.place, &slot.id, &slot.name, piece.arguments);
        }
        Ok(())
    }

    /// The call that a piece belongs to; `None` where it begins one.
    fn find(&self, piece: Piece<'_>) -> Option<usize> {
        let newest = self.slots.len().checked_sub(1)?;
        let at = match piece.index {
            // The newest of that number: Ollama numbers every call 0.
            Some(index) => self
                .slots
                .iter()
                .rposition(|slot| slot.index == Some(index))?,
            None if !piece.id.is_empty() => self
                .slots
                .iter()
                .rposition(|slot| slot.vendor_id == piece.id)?,
            None => newest,
        };
        let slot = &self.slots[at];
        let other_id =
            !piece.id.is_empty() && !slot.vendor_id.is_empty() && piece.id != slot.vendor_id;
        // Without an id, a name behind whole arguments begins another call.
        let again = piece.id.is_empty() && !piece.name.is_empty() && slot.depth.is_closed();
        (!other_id && !again).then_some(at)
    }

    fn begin(&mut self, piece: Piece<'_>) -> Result<usize, TooMany> {
        if self.slots.len() >= CALLS_MAX {
            return Err(TooMany);
        }
        let free = self
            .slots
            .iter()
            .map(|slot| slot.place + 1)
            .max()
            .unwrap_or(0);
        let wanted = piece
            .index
            .and_then(|index| u32::try_from(index).ok())
            .filter(|index| *index < u32::MAX / 2);
        let place = match wanted {
            Some(wanted) if self.slots.iter().all(|slot| slot.place != wanted) => wanted,
            _ => free,
        };
        let id = self.unique(piece.id);
        self.slots.push(Slot {
            index: piece.index,
            vendor_id: piece.id.to_owned(),
            place,
            id,
            name: String::new(),
            arguments: String::new(),
            depth: Depth::default(),
        });
        Ok(self.slots.len() - 1)
    }

    /// An id that no other call of the answer has.
    fn unique(&mut self, wanted: &str) -> String {
        let number = self.slots.len() + 1;
        let mut id = match wanted {
            "" => format!("call_{}_{number}", self.answered + 1),
            wanted => wanted.to_owned(),
        };
        while !self.ids.insert(id.clone()) {
            id = format!("{id}_{number}");
        }
        id
    }

    /// Calls so far.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Calls that come out before those of this index.
    pub(crate) fn before(&self, index: u64) -> usize {
        self.slots
            .iter()
            .filter(|slot| u64::from(slot.place) < index)
            .count()
    }

    /// The arguments so far of the newest call of this index.
    pub(crate) fn arguments(&self, index: u64) -> Option<&str> {
        let slot = self.slots.iter().rfind(|slot| slot.index == Some(index));
        slot.map(|slot| slot.arguments.as_str())
    }

    /// Gives the calls out, in their order.
    pub(crate) fn finish(&mut self, trust: Trust) -> Vec<ToolCall> {
        let mut slots = std::mem::take(&mut self.slots);
        slots.sort_by_key(|slot| slot.place);
        let last = slots.len().saturating_sub(1);
        let parses = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let call = |(index, slot): (usize, Slot)| {
            let cut = match trust {
                Trust::Whole => false,
                Trust::Parsed => !parses(&slot.arguments),
                Trust::AllButLast => index == last || !parses(&slot.arguments),
            };
            ToolCall {
                id: CallId(slot.id),
                name: slot.name,
                arguments: slot.arguments,
                cut,
                found: false,
            }
        };
        slots.into_iter().enumerate().map(call).collect()
    }
}

/// Follows the nesting of a JSON text that comes in pieces, in one pass over its bytes.
#[derive(Debug, Default)]
struct Depth {
    depth: usize,
    opened: bool,
    in_string: bool,
    escaped: bool,
}

impl Depth {
    fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => {
                    self.opened = true;
                    self.depth += 1;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether everything that was opened is closed again.
    fn is_closed(&self) -> bool {
        self.opened && self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests;
