//! The draft of an answer in progress: what subscribers have seen of it, in a file beside the log until the log has the
//! answer.

use std::path::Path;
use std::time::Duration;

use proto::ItemId;
use serde::{Deserialize, Serialize};
use store::sidecar::Sidecar;
use tokio::time::Instant;
use turn::Answer;

use crate::journal::sidecar::SidecarFile;
use crate::request::gather::Gather;

/// Between two writes (contract, chapter 20): a crash costs at most so much of the shown text.
const WRITE_EVERY: Duration = Duration::from_millis(500);

/// The content of the draft file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct DraftContent {
    item: ItemId,
    text: String,
    reasoning: String,
}

/// The draft file of one session.
pub struct Draft {
    file: SidecarFile,
    /// The request whose answer the file holds; `Some(0)`: one of an earlier life.
    holds: Option<u64>,
    /// Bytes of text and reasoning that it holds.
    bytes: (usize, usize),
    /// When it is to be written next.
    due: Option<Instant>,
    written: Option<Instant>,
}

impl Draft {
    /// `found`: a file of an earlier life is there.
    pub fn new(dir: &Path, found: bool) -> Self {
        Self {
            file: SidecarFile::new(dir.to_path_buf(), Sidecar::Partial),
            holds: found.then_some(0),
            bytes: (0, 0),
            due: None,
            written: None,
        }
    }

    /// Another answer begins: its draft is first written some time after it was first seen.
    pub fn begin(&mut self) {
        self.written = None;
        self.due = None;
    }

    /// Nothing of the answer in progress counts any more, and more of it comes.
    pub fn restart(&mut self) {
        self.remove();
        self.bytes = (0, 0);
        self.begin();
    }

    /// Something of the answer in progress was shown: it is written before long.
    pub fn schedule(&mut self) {
        if self.due.is_none() {
            let now = Instant::now();
            let written = self.written.unwrap_or(now);
            self.due = Some(now.max(written + WRITE_EVERY));
        }
    }

    /// When it is to be written next.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Writes what subscribers have seen of an answer. `seen`: bytes of its text and reasoning.
    pub fn write(&mut self, gather: &Gather, seen: (usize, usize)) {
        let (text, reasoning) = (&gather.answer().text, &gather.answer().reasoning);
        if let (Some(text), Some(reasoning)) = (text.get(..seen.0), reasoning.get(..seen.1))
            && seen != (0, 0)
            && (self.holds != Some(gather.number()) || self.bytes != seen)
        {
            let content = DraftContent {
                item: gather.item().clone(),
                text: text.to_owned(),
                reasoning: reasoning.to_owned(),
            };
            if let Ok(content) = serde_json::to_vec(&content) {
                self.file.put(content);
                self.holds = Some(gather.number());
                self.bytes = seen;
            }
        }
        self.written = Some(Instant::now());
        if seen.0 < text.len() || seen.1 < reasoning.len() {
            // The rest waits for the disk: it is not written before it is sent.
            self.schedule();
        }
    }

    /// Nothing is to be written now.
    pub fn unschedule(&mut self) {
        self.due = None;
    }

    /// The request whose answer the file holds.
    pub fn holds(&self) -> Option<u64> {
        self.holds
    }

    pub fn remove(&mut self) {
        self.holds = None;
        self.file.remove();
    }

    /// Waits for the write under way.
    pub async fn rest(&mut self) {
        self.file.rest().await;
    }
}

/// The draft that an earlier life left: whether there is a file, and what can be read of it. Blocks.
pub fn found(dir: &Path) -> (bool, Option<(ItemId, Answer)>) {
    let Some(content) = store::sidecar::get(dir, Sidecar::Partial) else {
        return (false, None);
    };
    let draft = serde_json::from_slice::<DraftContent>(&content).ok();
    let answer = draft.map(|draft| {
        let answer = Answer {
            text: draft.text,
            reasoning: draft.reasoning,
            ..Answer::default()
        };
        (draft.item, answer)
    });
    (true, answer)
}
