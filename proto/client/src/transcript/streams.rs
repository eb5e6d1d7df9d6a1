//! Messages in progress: answers and reasoning as they grow, and what becomes of them.

use std::collections::HashMap;

use proto::ItemId;
use proto::item::{AssistantMessage, Finish};
use proto::live::{Delta, Partial};

use super::{AnswerText, At, Change, Entry, EntryKind, Status, Thought, Transcript};
use crate::growing::{PartialTexts, SyncChange, TextGrowth, TextRemainder};
use crate::text::Cleaner;

/// What grows.
#[derive(Debug, Default)]
pub(super) struct Streams {
    text: PartialTexts,
    reasoning: PartialTexts,
    items: HashMap<ItemId, Message>,
}

/// A message in progress.
#[derive(Debug, Default)]
struct Message {
    answer: GrowingText,
    thought: GrowingText,
    /// The reasoning may be longer than the received part: the finished message shows.
    torn: bool,
}

/// A text of it.
#[derive(Debug, Default)]
struct GrowingText {
    /// The entry that contains it; there is none as long as it is blank.
    entry: Option<u64>,
    cleaner: Cleaner,
    blank: String,
}

impl GrowingText {
    /// What a piece adds to the entry, cleaned; `None`: nothing, or blanks before the first word.
    fn take(&mut self, text: &str) -> Option<String> {
        let text = self.cleaner.push(text);
        if self.entry.is_some() {
            return Some(text).filter(|text| !text.is_empty());
        }
        self.blank.push_str(&text);
        if self.blank.trim().is_empty() {
            return None;
        }
        let text = std::mem::take(&mut self.blank);
        Some(text.trim_start_matches('\n').to_owned())
    }
}

impl<T: AnswerText> Transcript<T> {
    pub(super) fn text(&mut self, delta: Delta, at: At) {
        self.end_others(Some(&delta.item));
        if let Some(grown) = self.streams.text.grow(delta) {
            self.answer_grows(grown, at);
        }
    }

    pub(super) fn reasoning(&mut self, delta: Delta, at: At) {
        self.end_others(Some(&delta.item));
        let Some(grown) = self.streams.reasoning.grow(delta) else {
            return;
        };
        if grown.from == 0 {
            self.supersede_thought(&grown.item);
        }
        self.think(&grown.item, &grown.text, at);
    }

    /// A call of the message grows: it has thought enough.
    pub(super) fn calls(&mut self, item: &ItemId) {
        self.thought_done(item);
    }

    pub(super) fn partial(&mut self, partial: &Partial, at: At) {
        let text = self.streams.text.partial(partial);
        let reasoning = self.streams.reasoning.partial(partial);
        if partial.superseded {
            self.supersede_thought(&partial.item);
            self.supersede_answer(&partial.item, at, true);
            self.streams.items.remove(&partial.item);
        } else if text || reasoning {
            self.changes.push(Change::Stopped);
            self.tell(at, Status::BrokeOff);
        }
    }

    /// The messages in progress, as the daemon has them after we were away.
    pub(super) fn synced(&mut self, deltas: Vec<Delta>, at: At) {
        for message in self.streams.items.values_mut() {
            message.torn = true;
        }
        let live = |item: &ItemId| deltas.iter().any(|delta| delta.item == *item);
        // One that has no words yet is not reported; its next piece brings it back.
        self.streams.reasoning.only(live);
        for synced in self.streams.text.synced(deltas) {
            match synced {
                // They may be finished yet; at the latest the end of the turn settles them.
                SyncChange::Broken(_) => self.changes.push(Change::Stopped),
                SyncChange::Anew(item) => self.supersede_answer(&item, at, false),
                SyncChange::TextGrowth(grown) => {
                    self.end_others(Some(&grown.item));
                    self.answer_grows(grown, at);
                }
            }
        }
    }

    pub(super) fn assistant(&mut self, message: &AssistantMessage, at: At) {
        self.end_others(Some(&message.item));
        self.finish_thought(message, at);
        let finished = self.streams.text.finish(&message.item, &message.text);
        match finished.rest {
            TextRemainder::More(rest) => self.answer(&message.item, rest, at),
            TextRemainder::Less => {}
            TextRemainder::Other(text) => {
                self.supersede_answer(&message.item, at, false);
                self.answer(&message.item, text, at);
            }
        }
        let words = self.streams.items.remove(&message.item).unwrap_or_default();
        match (words.answer.entry, message.finish) {
            (Some(id), finish) => {
                self.finish_answer(id, finish);
                if let Some(entry) = self.find(id) {
                    entry.seq = at.seq;
                }
            }
            // The entry reports that there are no words.
            (None, finish @ (Finish::Length | Finish::ContentFilter | Finish::Interrupted)) => {
                let id = self.push(at, answer(Some(finish)));
                self.changes.push(Change::Settled(id));
            }
            (None, Finish::Stop | Finish::ToolCalls | Finish::Paused) => {}
        }
    }

    /// A turn has ended, or nothing can come any more: what grew until now will not.
    pub(super) fn streams_end(&mut self) {
        self.end_others(None);
        self.streams.text.turn_ended();
        self.streams.reasoning.turn_ended();
    }

    /// One message is in progress at a time: another one that is shown broke off.
    fn end_others(&mut self, but: Option<&ItemId>) {
        let items = &mut self.streams.items;
        if items.keys().all(|item| Some(item) == but) {
            return;
        }
        let mut ended: Vec<_> = items.extract_if(|item, _| Some(item) != but).collect();
        ended.sort_by(|one, other| one.0.cmp(&other.0));
        for (_, message) in ended {
            if let Some(id) = message.thought.entry {
                self.finish_reasoning(id);
            }
            if let Some(id) = message.answer.entry {
                self.finish_answer(id, Finish::Interrupted);
            }
        }
    }

    fn answer_grows(&mut self, grown: TextGrowth, at: At) {
        if grown.from == 0 {
            self.supersede_answer(&grown.item, at, false);
        }
        self.answer(&grown.item, &grown.text, at);
    }

    /// More of an answer.
    fn answer(&mut self, item: &ItemId, text: &str, at: At) {
        let message = self.streams.items.entry(item.clone()).or_default();
        let torn = message.torn;
        let entry = message.answer.entry;
        let Some(text) = message.answer.take(text) else {
            return;
        };
        if !torn {
            self.thought_done(item);
        }
        let id = entry.unwrap_or_else(|| {
            let turn = At {
                seq: None,
                turn: at.turn,
            };
            self.push(turn, answer(None))
        });
        if let Some(message) = self.streams.items.get_mut(item) {
            message.answer.entry = Some(id);
        }
        if let Some(entry) = self.find(id)
            && let EntryKind::Answer { text: answer, .. } = &mut entry.kind
        {
            let from = answer.text().len();
            answer.push(&text);
            self.changes.push(Change::TextGrowth(id, from));
        }
    }

    /// The shown part of an answer does not count: it is removed or, if some of it may be printed, marked as ended.
    fn supersede_answer(&mut self, item: &ItemId, at: At, attempt: bool) {
        let Some(message) = self.streams.items.get_mut(item) else {
            return;
        };
        let words = std::mem::take(&mut message.answer);
        let Some(index) = words.entry.and_then(|id| self.index(id)) else {
            return;
        };
        match self.entries.get(index) {
            Some(entry) if !entry.is_printed() => {
                self.entries.remove(index);
            }
            Some(entry) => {
                self.finish_answer(entry.id, Finish::Interrupted);
                self.tell(at, Status::StartsAgain { attempt });
            }
            None => {}
        }
    }

    fn finish_answer(&mut self, id: u64, with: Finish) {
        if let Some(entry) = self.find(id)
            && let EntryKind::Answer { text, finish, .. } = &mut entry.kind
            && finish.is_none()
        {
            text.finish();
            *finish = Some(with);
            self.changes.push(Change::Settled(id));
        }
    }

    /// More of the reasoning.
    fn think(&mut self, item: &ItemId, text: &str, at: At) {
        let message = self.streams.items.entry(item.clone()).or_default();
        let entry = message.thought.entry;
        let Some(more) = message.thought.take(text) else {
            return;
        };
        if let Some(entry) = entry.and_then(|id| self.find(id)) {
            if let EntryKind::Reasoning { thought, .. } = &mut entry.kind {
                thought.push(&more);
            }
            return;
        }
        let turn = At {
            seq: None,
            turn: at.turn,
        };
        let kind = EntryKind::Reasoning {
            thought: Thought::from(more.as_str()),
            done: false,
        };
        let index = self.before_answer(item);
        let id = self.insert(index, turn, kind);
        if let Some(message) = self.streams.items.get_mut(item) {
            message.thought.entry = Some(id);
        }
    }

    /// Where reasoning is put: before the answer that it led to, as long as nothing of that can be printed; else last.
    fn before_answer(&self, item: &ItemId) -> usize {
        let answer = self.streams.items.get(item);
        let index = answer
            .and_then(|message| message.answer.entry)
            .and_then(|id| self.index(id));
        let unprinted = index.filter(|index| {
            let entry = self.entries.get(*index);
            entry.is_some_and(|entry| !entry.is_printed())
        });
        unprinted.unwrap_or(self.entries.len())
    }

    fn thought_done(&mut self, item: &ItemId) {
        let message = self.streams.items.get_mut(item);
        let thought = message.map(|message| std::mem::take(&mut message.thought));
        if let Some(id) = thought.and_then(|thought| thought.entry) {
            self.finish_reasoning(id);
        }
    }

    fn finish_reasoning(&mut self, id: u64) {
        if let Some(entry) = self.find(id)
            && let EntryKind::Reasoning { done, .. } = &mut entry.kind
        {
            *done = true;
            self.changes.push(Change::Settled(id));
        }
    }

    /// Reasoning of an attempt that does not count goes, unless it was done.
    fn supersede_thought(&mut self, item: &ItemId) {
        let message = self.streams.items.get_mut(item);
        let thought = message.map(|message| std::mem::take(&mut message.thought));
        if let Some(index) = thought
            .and_then(|thought| thought.entry)
            .and_then(|id| self.index(id))
        {
            self.entries.remove(index);
        }
    }

    fn finish_thought(&mut self, message: &AssistantMessage, at: At) {
        let item = &message.item;
        let finished = self.streams.reasoning.finish(item, &message.reasoning);
        match finished.rest {
            TextRemainder::More(rest) => self.think(item, rest, at),
            TextRemainder::Less => {}
            TextRemainder::Other(text) => {
                self.supersede_thought(item);
                self.think(item, text, at);
            }
        }
        self.thought_done(item);
    }
}

impl<T: AnswerText> Entry<T> {
    /// Whether it is an answer of which some may be printed.
    fn is_printed(&self) -> bool {
        matches!(&self.kind, EntryKind::Answer { text, .. } if text.is_printed())
    }
}

fn answer<T: AnswerText>(finish: Option<Finish>) -> EntryKind<T> {
    EntryKind::Answer {
        text: T::default(),
        finish,
        plan: None,
    }
}
