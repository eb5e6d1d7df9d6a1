//! What subscribers have seen of an answer in progress, kept beside the log until the log has the answer.

use std::path::Path;
use std::time::Duration;

use proto::ItemId;
use serde::{Deserialize, Serialize};
use store::sidecar::Sidecar;
use tokio::time::Instant;
use turn::Answer;

use crate::actor::Actor;
use crate::aside::AsideFile;

/// Between two writes (contract, chapter 20): a crash costs at most so much of what was seen.
const KEEP_EVERY: Duration = Duration::from_millis(500);

/// The content of the side file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    item: ItemId,
    text: String,
    reasoning: String,
}

/// Keeps the answer in progress.
pub struct Keeping {
    file: AsideFile,
    /// The request whose answer the file holds; `Some(0)`: one of an earlier life.
    stands: Option<u64>,
    /// Bytes of text and reasoning that it holds.
    bytes: (usize, usize),
    /// When it is to be looked at again.
    pub due: Option<Instant>,
    last: Option<Instant>,
}

impl Keeping {
    /// `found`: a file of an earlier life is there.
    pub fn new(dir: &Path, found: bool) -> Self {
        Self {
            file: AsideFile::new(dir.to_path_buf(), Sidecar::Partial),
            stands: found.then_some(0),
            bytes: (0, 0),
            due: None,
            last: None,
        }
    }

    /// Another answer begins: it is kept from so long after it was seen first.
    pub fn begin(&mut self) {
        self.last = None;
        self.due = None;
    }

    /// Waits for what is being written.
    pub async fn rest(&mut self) {
        self.file.rest().await;
    }
}

/// What an earlier life kept: whether there is a file, and what can be read of it. Blocks.
pub fn found(dir: &Path) -> (bool, Option<(ItemId, Answer)>) {
    let Some(content) = store::sidecar::get(dir, Sidecar::Partial) else {
        return (false, None);
    };
    let kept = serde_json::from_slice::<Kept>(&content).ok();
    let answer = kept.map(|kept| {
        let answer = Answer {
            text: kept.text,
            reasoning: kept.reasoning,
            ..Answer::default()
        };
        (kept.item, answer)
    });
    (true, answer)
}

impl Actor {
    /// Something of the answer in progress was shown: it is kept before long.
    pub(crate) fn keep_soon(&mut self) {
        if self.keeping.due.is_none() {
            let now = Instant::now();
            let last = self.keeping.last.unwrap_or(now);
            self.keeping.due = Some(now.max(last + KEEP_EVERY));
        }
    }

    /// Keeps what could be seen of the answer in progress: what was sent, behind everything durable.
    pub(crate) fn keep(&mut self) {
        self.keeping.due = None;
        let Some(gather) = self.gather.as_ref().filter(|gather| !gather.unseen) else {
            return;
        };
        let (text, reasoning) = self.fanout.seen_of(&gather.item);
        let seen = (
            gather.answer.text.get(..text),
            gather.answer.reasoning.get(..reasoning),
        );
        let behind = text < gather.answer.text.len() || reasoning < gather.answer.reasoning.len();
        let (number, grown) = (gather.number, (text, reasoning));
        if let (Some(text), Some(reasoning)) = seen
            && grown != (0, 0)
            && (self.keeping.stands != Some(number) || self.keeping.bytes != grown)
        {
            let kept = Kept {
                item: gather.item.clone(),
                text: text.to_owned(),
                reasoning: reasoning.to_owned(),
            };
            if let Ok(content) = serde_json::to_vec(&kept) {
                self.keeping.file.put(content);
                self.keeping.stands = Some(number);
                self.keeping.bytes = grown;
            }
        }
        self.keeping.last = Some(Instant::now());
        if behind {
            // Held back for the disk: it is not kept before it is sent.
            self.keep_soon();
        }
    }

    /// Takes the file away once nothing stands in it that the log does not tell better.
    pub(crate) fn drop_kept(&mut self) {
        let Some(number) = self.keeping.stands else {
            return;
        };
        let grows = self
            .gather
            .as_ref()
            .is_some_and(|gather| gather.number == number);
        // What a hand-over cut off stands nowhere else: the next life goes on from it.
        let asleep = self.machine.is_suspended();
        if grows || asleep || self.journal.failed.is_some() || !self.journal.is_settled() {
            return;
        }
        self.keeping.stands = None;
        self.keeping.file.remove();
    }
}
