//! Assembles tool calls from their fragments.
//!
//! Servers number, name and repeat fragments in different ways. This module handles the common
//! part. It returns calls only when the answer has ended. Called by the kinds.

use std::collections::HashSet;

use proto::CallId;
use proto::item::{Finish, ToolCall};
use serde_json::value::RawValue;

use crate::part_batch::PartBatch;

/// Maximum calls of one answer. More indicates a runaway model.
const CALLS_MAX: usize = 512;

/// The answer has too many calls.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooManyCalls;

/// A fragment of a call, as received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallFragment<'a> {
    pub index: Option<u64>,
    pub id: &'a str,
    pub name: &'a str,
    pub arguments: &'a str,
    /// The fragment is a complete call: the answer was not streamed.
    pub whole: bool,
}

impl<'a> CallFragment<'a> {
    /// More arguments of the call with this index.
    pub(crate) fn indexed(index: u64, arguments: &'a str) -> Self {
        Self {
            index: Some(index),
            arguments,
            ..Self::default()
        }
    }
}

/// Which calls of a finished answer are known to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentTrust {
    /// The vendor confirmed that the calls are complete. Invalid JSON is then the model's own
    /// mistake.
    Whole,
    /// The answer ended without a reason: calls with valid JSON are complete.
    Parsed,
    /// The answer was truncated: the last call, and any with invalid JSON, may be incomplete.
    AllButLast,
}

/// How an answer ended, for vendors that report a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerEnd {
    /// It has not ended.
    Open,
    /// With a reason.
    Reason(Finish),
    /// Without a reason, but with content.
    Bare,
}

impl AnswerEnd {
    /// Why the answer ended, and which calls are complete. `None` if it has not ended. Vendors
    /// report `stop` beside calls, and calls without any, so the actual calls decide.
    pub fn judged(self, calls: &Calls) -> Option<(Finish, ArgumentTrust)> {
        let trust = match self {
            Self::Open => return None,
            Self::Reason(
                finish @ (Finish::Length | Finish::ContentFilter | Finish::Interrupted),
            ) => return Some((finish, ArgumentTrust::AllButLast)),
            Self::Bare => ArgumentTrust::Parsed,
            Self::Reason(Finish::Stop | Finish::ToolCalls | Finish::Paused) => ArgumentTrust::Whole,
        };
        let finish = match calls.is_empty() {
            true if self == Self::Reason(Finish::Paused) => Finish::Paused,
            true => Finish::Stop,
            false => Finish::ToolCalls,
        };
        Some((finish, trust))
    }
}

/// The calls so far, in the order in which they started.
pub(crate) struct Calls {
    slots: Vec<CallSlot>,
    ids: HashSet<String>,
    /// Number of assistant messages before this one. Makes generated ids equal on each retry and
    /// unique per answer.
    answered: u64,
}

struct CallSlot {
    /// The vendor's index, if it sends one.
    index: Option<u64>,
    /// The vendor's id, or empty.
    vendor_id: String,
    /// Our index: the position of the call in the result.
    place: u32,
    id: String,
    name: String,
    arguments: String,
    depth: JsonDepth,
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

    /// Adds a fragment.
    pub(crate) fn take(
        &mut self,
        piece: CallFragment<'_>,
        batch: &mut PartBatch,
    ) -> Result<(), TooManyCalls> {
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

    /// The call that a fragment continues, or `None` if it starts one.
    fn find(&self, piece: CallFragment<'_>) -> Option<usize> {
        let newest = self.slots.len().checked_sub(1)?;
        let at = match piece.index {
            // The newest call with that index: Ollama uses index 0 for every call.
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
        // vLLM and SGLang have given each fragment of a call a new id. A fragment without a name continues the call with its
        // index, as long as that call's arguments are incomplete or the fragment has none.
        let is_more = piece.index.is_some()
            && piece.name.is_empty()
            && (piece.arguments.is_empty() || !slot.depth.is_closed());
        // Without an id, a name after complete arguments starts another call. It does not if the call has an id and the
        // fragment only repeats its name.
        let is_repeat =
            !slot.vendor_id.is_empty() && slot.name == piece.name && piece.arguments.is_empty();
        let again =
            piece.id.is_empty() && !piece.name.is_empty() && slot.depth.is_closed() && !is_repeat;
        ((!other_id || is_more) && !again).then_some(at)
    }

    fn begin(&mut self, piece: CallFragment<'_>) -> Result<usize, TooManyCalls> {
        if self.slots.len() >= CALLS_MAX {
            return Err(TooManyCalls);
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
        self.slots.push(CallSlot {
            index: piece.index,
            vendor_id: piece.id.to_owned(),
            place,
            id,
            name: String::new(),
            arguments: String::new(),
            depth: JsonDepth::default(),
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

    /// Number of calls so far.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Number of calls that precede those with this index.
    pub(crate) fn before(&self, index: u64) -> usize {
        self.slots
            .iter()
            .filter(|slot| u64::from(slot.place) < index)
            .count()
    }

    /// The arguments so far of the newest call with this index.
    pub(crate) fn arguments(&self, index: u64) -> Option<&str> {
        let slot = self.slots.iter().rfind(|slot| slot.index == Some(index));
        slot.map(|slot| slot.arguments.as_str())
    }

    /// The vendor's id of the newest call with this index, perhaps empty.
    pub(crate) fn vendor_id(&self, index: u64) -> Option<&str> {
        let slot = self.slots.iter().rfind(|slot| slot.index == Some(index));
        slot.map(|slot| slot.vendor_id.as_str())
    }

    /// Forgets the newest call with this index, which was none of ours.
    pub(crate) fn forget(&mut self, index: u64) {
        if let Some(at) = self
            .slots
            .iter()
            .rposition(|slot| slot.index == Some(index))
        {
            self.slots.remove(at);
        }
    }

    /// Returns the calls in order.
    pub(crate) fn finish(&mut self, trust: ArgumentTrust) -> Vec<ToolCall> {
        let mut slots = std::mem::take(&mut self.slots);
        slots.sort_by_key(|slot| slot.place);
        let last = slots.len().saturating_sub(1);
        let parses = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let call = |(index, mut slot): (usize, CallSlot)| {
            if let Some(second) = second_of_two(&slot.arguments) {
                slot.arguments = second;
            }
            let cut = match trust {
                ArgumentTrust::Whole => false,
                ArgumentTrust::Parsed => !parses(&slot.arguments),
                ArgumentTrust::AllButLast => index == last || !parses(&slot.arguments),
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

/// The second of two JSON values, if the first is an empty object or the same: some gateways send the arguments with the
/// start of a call, empty or not, and stream them again.
fn second_of_two(arguments: &str) -> Option<String> {
    let mut values = serde_json::Deserializer::from_str(arguments).into_iter::<&RawValue>();
    let (first, second) = (values.next()?.ok()?.get(), values.next()?.ok()?.get());
    let is_echo = first == "{}" || first == second;
    (is_echo && second.starts_with('{') && values.next().is_none()).then(|| second.to_owned())
}

/// Tracks the nesting of a JSON text that arrives in fragments, in one pass.
#[derive(Debug, Default)]
struct JsonDepth {
    depth: usize,
    opened: bool,
    in_string: bool,
    escaped: bool,
}

impl JsonDepth {
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

    /// Whether every opened bracket is closed.
    fn is_closed(&self) -> bool {
        self.opened && self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests;
