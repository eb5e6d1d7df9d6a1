//! Records of files: contents kept before a change, the files a call left and knows, the files a rewind restored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::params::history::What;
use crate::record::Todo;
use crate::{CallId, RequestId, Seq};

/// `checkpoint.created`: content of files before the first change of a call in its turn, or before a rewind. On disk
/// before the change. The content is in the `own` member of the line, or in blobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointCreated {
    /// The call that changes them; absent: a rewind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Kept>,
    /// Git object id of the workspace tree before a command, to find the changes of commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Why changes of commands of this turn cannot be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// What stood at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// Absolute.
    pub path: String,
    pub was: FileState,
}

/// Current state of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    /// Absolute.
    pub path: String,
    pub now: FileState,
}

/// A file that was read or written, at the state that the model knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFile {
    /// Absolute.
    pub path: String,
    /// Hash of the content, hexadecimal.
    pub sha256: String,
    pub bytes: u64,
    /// Nanoseconds since 1970.
    pub modified_ns: i64,
    pub inode: u64,
    /// The model knows only the start of it: a change is reported, and an edit needs the file to be read first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// A file that others changed, at the state that a message told the model about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedFile {
    /// Absolute.
    pub path: String,
    /// Absent: it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Nanoseconds since 1970; 0 if it was deleted.
    #[serde(default)]
    pub modified_ns: i64,
    /// Hash of the content, hexadecimal; absent if it was deleted, or too long to be read for the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A place in the file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FileState {
    Absent,
    File {
        /// Hash of the content, hexadecimal.
        sha256: String,
        bytes: u64,
        /// Permission bits.
        mode: u32,
    },
    Link {
        target: String,
    },
    Directory,
    /// It was not kept.
    Unknown {
        why: String,
    },
}

/// `session.rewound`: messages after a turn are hidden (never erased), files are restored, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRewound {
    /// Newest visible turn.
    pub to_turn: u64,
    pub what: What,
    /// The undone rewind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Seq>,
    /// Records that form the conversation now, as runs (first and last); absent: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Vec<(Seq, Seq)>>,
    /// The to-do list that is in force now; absent: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todos: Option<Vec<Todo>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RewoundFile>,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// What became of one file in a rewind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewoundFile {
    /// Absolute.
    pub path: String,
    pub result: RewoundResult,
    /// State before the rewind; an undo restores it.
    pub before: FileState,
    /// State after the rewind.
    pub after: FileState,
}

impl RewoundFile {
    /// Whether the rewind removed it (in a preview: would remove it), because it did not exist then.
    #[must_use]
    pub fn was_removed(&self) -> bool {
        self.result == RewoundResult::Restored && self.after == FileState::Absent
    }
}

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum RewoundResult {
    /// It is as it was then.
    Restored,
    /// It was so already.
    Same,
    /// Somebody else has changed it since; it was left alone.
    ChangedSince,
    /// It could not be restored.
    Failed { why: String },
}
