//! What the tools of one session remember from call to call.

use std::any::Any;
use std::sync::Arc;

use proto::record::{FileState, KnownFile, ReportedFile};

/// A file that the model knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownState {
    pub file: KnownFile,
    /// What the session itself has left there since, if that is something else.
    pub left: Option<FileState>,
    /// The state that a message has since reported to the model; others wrote it.
    pub reported: Option<ReportedFile>,
    /// The content, if it is at hand: a later change is shown as a diff.
    pub content: Option<Arc<[u8]>>,
}

/// What others have changed in files that the model knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalChanges {
    /// In words for the model.
    pub text: String,
    /// The files, at the states that the text is about.
    pub files: Vec<ReportedFile>,
}

/// What a memory keeps while its session is not loaded. Only the implementation that took it reads it.
pub type MemorySnapshot = Box<dyn Any + Send + Sync>;

/// The memory of one session's tools. The session creates it through its assembly, keeps it while it is loaded, and
/// passes it to every call. The methods that look at files block.
pub trait ToolMemory: Any + Send + Sync {
    /// What outlives this memory when its session is evicted. `None`: nothing.
    fn snapshot(&self) -> Option<MemorySnapshot> {
        None
    }

    /// Takes over what an earlier memory of the same session has kept. Replaces what [`ToolMemory::note_known_files`] said.
    fn restore(&self, snapshot: MemorySnapshot) {
        drop(snapshot);
    }

    /// Notes the files that the model knows according to the log, the oldest first.
    fn note_known_files(&self, files: &[KnownState]) {
        let _ = files;
    }

    /// The model knows these files, the oldest first, and no others: a rewind has changed the conversation.
    fn replace_known_files(&self, files: &[KnownState]) {
        let _ = files;
    }

    /// Whether the model knows this file: it has read or written it, or was given it.
    fn knows(&self, path: &str) -> bool {
        let _ = path;
        false
    }

    /// The model no longer knows these files.
    fn forget_files(&self, paths: &[String]) {
        let _ = paths;
    }

    /// The messages that reported changes of these files are folded: the model knows the files at these states, and what is
    /// otherwise is reported again.
    fn forget_reports(&self, files: &[KnownState]) {
        let _ = files;
    }

    /// Reads the contents that are missing of known files, as far as they are short and unchanged: later changes can be shown.
    fn read_missing_contents(&self) {}

    /// What others have changed in known files. Reports each change once.
    fn describe_external_changes(&self) -> Option<ExternalChanges> {
        None
    }

    /// Whether others have changed known files, which is not reported by this. Blocks.
    fn has_external_changes(&self) -> bool {
        false
    }

    /// Takes the current state of the known files as the session's own work: it is not reported.
    fn accept_changes(&self) {}
}

/// Remembers nothing.
impl ToolMemory for () {}
