//! The client's transcript: answers as Markdown, without entries that are shown elsewhere on the screen.

use client::transcript::{self as shared, AnswerText};
use proto::item::{CallStatus, Display, Finish};
use proto::outcome::OutcomeKind;

use crate::render::markdown::Markdown;

pub use shared::{Status, Thought, ToolOutcome, ToolRun, printed};

/// The transcript of the session that is followed.
pub type Transcript = shared::Transcript<Markdown>;
/// Something that was said or done.
pub type Entry = shared::Entry<Markdown>;
/// Kinds of entries.
pub type EntryKind = shared::EntryKind<Markdown>;

/// A completed turn shorter than this gets no entry for its end.
const LONG_MS: u64 = 10_000;

impl AnswerText for Markdown {
    fn push(&mut self, text: &str) {
        Self::push(self, text);
    }

    fn finish(&mut self) {
        Self::finish(self);
    }

    fn text(&self) -> &str {
        Self::text(self)
    }

    fn is_printed(&self) -> bool {
        self.whole() > 0
    }

    /// Questions open as dialogs, and the current state is in the status line.
    fn shows(kind: &EntryKind) -> bool {
        match kind {
            EntryKind::Interaction(_) | EntryKind::Todos(_) => false,
            EntryKind::Resolved { asked, resolved } => asked.needs_words(resolved),
            EntryKind::Tool(tool) => !is_denial_shown(tool),
            EntryKind::Child { background, .. } => *background,
            EntryKind::Answer { text, finish, .. } => {
                *finish != Some(Finish::Interrupted) || !text.text().is_empty()
            }
            EntryKind::Ended { ended, explained } => {
                ended.outcome != OutcomeKind::Completed
                    || ended.error.is_some()
                    || ended
                        .denied
                        .iter()
                        .any(|denied| !explained.contains(&denied.call))
                    || ended.duration_ms > LONG_MS
            }
            EntryKind::Status(status) => !matches!(
                **status,
                Status::Behind(_)
                    | Status::Mode { .. }
                    | Status::OnlyReads { .. }
                    | Status::Retry { .. }
                    | Status::Joined { .. }
                    | Status::Left { .. }
            ),
            EntryKind::User { .. }
            | EntryKind::Reasoning { .. }
            | EntryKind::Rewound(_)
            | EntryKind::Notice { .. }
            | EntryKind::Divider { .. } => true,
        }
    }
}

/// Whether a call was denied by an answer that has an entry: the fold leaves no words in its outcome.
fn is_denial_shown(tool: &ToolRun) -> bool {
    tool.outcome.as_ref().is_some_and(|outcome| {
        let is_empty = matches!(&outcome.display, Display::Line { text } if text.is_empty());
        outcome.status == CallStatus::Denied && is_empty
    })
}

#[cfg(test)]
pub(crate) mod tests;
