//! What the session knows of one file: the state that it read, short content, and the state that was reported since.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use workspace::FileStamp;

/// Bytes of a file whose content is kept.
pub(super) const CONTENT_MAX: u64 = 64 * 1024;
/// Bytes of all contents together; those used longest ago are forgotten first.
const CONTENTS_MAX: usize = 4 * 1024 * 1024;

/// Of a file, short.
pub(super) type Content = Arc<[u8]>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileKnowledge {
    /// When it was read or written last, by the memory's clock.
    pub(super) used: u64,
    /// The state that the model knows: whoever edits the file must find it at this one.
    pub(super) stamp: FileStamp,
    /// The content that the next change is compared with: as read, or as reported since.
    pub(super) content: Option<Content>,
    pub(super) reported: ReportedState,
    /// The model knows only its start: its changes are reported, but it was not read.
    pub(super) partial: bool,
}

/// The newest state of a file that was reported to the model, or needed no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportedState {
    /// That of the stamp.
    Stamp,
    Gone,
    At {
        size: u64,
        mtime_ns: i128,
        /// Where the content was looked at.
        sha256: Option<[u8; 32]>,
    },
}

impl ReportedState {
    /// Whether that is the state of this stamp.
    pub(super) fn is_at(&self, stamp: &FileStamp) -> bool {
        match self {
            Self::Stamp => true,
            Self::Gone => false,
            Self::At { sha256, .. } => *sha256 == Some(stamp.sha256),
        }
    }
}

impl FileKnowledge {
    /// A file that was just read or written.
    pub(super) fn new(used: u64, stamp: FileStamp, content: Option<Content>) -> Self {
        Self {
            used,
            stamp,
            content,
            reported: ReportedState::Stamp,
            partial: false,
        }
    }

    /// The same for a session that is not loaded.
    pub(super) fn without_content(&self) -> Self {
        Self {
            content: None,
            ..self.clone()
        }
    }
}

/// Drops contents until the others fit.
pub(super) fn forget_contents(read: &mut HashMap<PathBuf, FileKnowledge>) {
    let size = |known: &FileKnowledge| known.content.as_ref().map_or(0, |content| content.len());
    let mut whole: usize = read.values().map(size).sum();
    while whole > CONTENTS_MAX {
        let holding = read.values_mut().filter(|known| known.content.is_some());
        let Some(oldest) = holding.min_by_key(|known| known.used) else {
            return;
        };
        whole -= size(oldest);
        oldest.content = None;
    }
}
