//! Streamed text of messages in progress, put together of pieces that may come twice, overlap, or be missing. Pure.
//!
//! One for each text of a message: its answer, its reasoning. Shown text is never lost and never doubled,
//! through reconnects, crashes of the daemon and new attempts.

use std::collections::HashMap;

use proto::ItemId;
use proto::live::{Delta, Partial};

/// Texts of messages that are not finished.
#[derive(Debug, Default)]
pub struct PartialTexts {
    /// The streamed part of each.
    growing: HashMap<ItemId, String>,
    /// The streamed parts of those of this turn that broke off: they may be finished yet, after a crash of the daemon.
    broken: HashMap<ItemId, String>,
}

/// What a text has grown by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextGrowth {
    pub item: ItemId,
    /// Bytes of it that were there before. 0 where something was shown of it already: it has started again.
    pub from: usize,
    /// The new text; never empty.
    pub text: String,
}

/// What a `sync` says of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncChange {
    /// These are not in progress any more. They may be finished yet. Never none.
    Broken(Vec<ItemId>),
    /// A new attempt under the same name: it does not begin with the streamed text.
    Anew(ItemId),
    TextGrowth(TextGrowth),
}

/// What a finished text adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished<'a> {
    /// It was in progress until now.
    pub open: bool,
    pub rest: TextRemainder<'a>,
}

/// How a finished text relates to the streamed part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRemainder<'a> {
    /// This follows it; often nothing.
    More(&'a str),
    /// Less was kept than was streamed.
    Less,
    /// It is another text.
    Other(&'a str),
}

impl PartialTexts {
    /// The new part of a delta. After a gap there is none: the finished text contains the rest.
    pub fn grow(&mut self, delta: Delta) -> Option<TextGrowth> {
        // A text that broke off and starts again has no new text yet.
        let broken = self.broken.remove(&delta.item);
        let shown = self
            .growing
            .entry(delta.item.clone())
            .or_insert_with(|| broken.filter(|_| delta.offset > 0).unwrap_or_default());
        let from = shown.len();
        let offset = usize::try_from(delta.offset).ok()?;
        let known = from.checked_sub(offset)?;
        let new = delta.text.get(known..).filter(|new| !new.is_empty())?;
        shown.push_str(new);
        Some(TextGrowth {
            item: delta.item,
            from,
            text: new.to_owned(),
        })
    }

    /// The streamed part does not count any more, or broke off. Whether anything was in progress.
    pub fn partial(&mut self, partial: &Partial) -> bool {
        let Some(shown) = self.growing.remove(&partial.item) else {
            return false;
        };
        if !partial.superseded {
            self.broken.insert(partial.item.clone(), shown);
        }
        true
    }

    /// Takes messages in progress as a `sync` has them: the streamed parts of others were dropped while we were away.
    pub fn synced(&mut self, live: Vec<Delta>) -> Vec<SyncChange> {
        let mut all = Vec::new();
        let gone = self.only(|item| live.iter().any(|delta| delta.item == *item));
        if !gone.is_empty() {
            all.push(SyncChange::Broken(gone));
        }
        for delta in live {
            if let Some(shown) = self.broken.remove(&delta.item) {
                self.growing.entry(delta.item.clone()).or_insert(shown);
            }
            let shown = self.growing.get(&delta.item);
            let other = shown.is_some_and(|shown| {
                delta.offset == 0
                    && !delta.text.starts_with(shown.as_str())
                    && !shown.starts_with(&delta.text)
            });
            if other {
                self.growing.remove(&delta.item);
                all.push(SyncChange::Anew(delta.item.clone()));
            }
            all.extend(self.grow(delta).map(SyncChange::TextGrowth));
        }
        all
    }

    /// Those that are not in progress any more broke off. Returns them.
    pub fn only(&mut self, in_progress: impl Fn(&ItemId) -> bool) -> Vec<ItemId> {
        let gone: HashMap<_, _> = self
            .growing
            .extract_if(|item, _| !in_progress(item))
            .collect();
        let mut items: Vec<_> = gone.keys().cloned().collect();
        items.sort();
        self.broken.extend(gone);
        items
    }

    /// Takes a finished text; it is forgotten.
    pub fn finish<'a>(&mut self, item: &ItemId, text: &'a str) -> Finished<'a> {
        let shown = self.growing.remove(item);
        let broken = self.broken.remove(item);
        let open = shown.is_some();
        let shown = shown.or(broken).unwrap_or_default();
        let rest = match text.strip_prefix(shown.as_str()) {
            Some(rest) => TextRemainder::More(rest),
            // The kept text may be shorter than the shown one.
            None if shown.starts_with(text) => TextRemainder::Less,
            None => TextRemainder::Other(text),
        };
        Finished { open, rest }
    }

    /// A turn has ended: what broke off in it is not finished any more.
    pub fn turn_ended(&mut self) {
        self.broken.clear();
    }
}

#[cfg(test)]
mod tests;
