//! Saves the state of files before a session changes them.
//!
//! For file tools: the state of each place, with its content. For commands: the whole work tree, in a separate git
//! repository of the session. Both are durable before the call starts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use contract::Spawn;
use proto::Pid;
use proto::record::{Changed, CheckpointCreated, FileState, Kept};
use store::blob::BlobStore;
use workspace::{PathState, Survey, Workspace};

use crate::shadow;

/// Maximum files of a work tree; in larger ones, changes by commands are not tracked.
pub(crate) const TREE_MAX: usize = 20_000;
/// Maximum changed places of one call to report.
pub(crate) const CHANGED_MAX: usize = 20_000;
/// Maximum places without a checkpoint to name, per call.
const NAMED_MAX: usize = 3;
/// Maximum bytes of changed files to hash after a command.
const HASHED_MAX: u64 = 256 * 1024 * 1024;

/// Saves the files of one session. Its directory and its repository are below the session's directory.
pub struct Keeper {
    pub(crate) session: Pid,
    pub(crate) blobs: BlobStore,
    pub(crate) dir: PathBuf,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) spawn: Arc<dyn Spawn>,
    /// The state of the repository; locked while git runs.
    pub(crate) shadow: Mutex<shadow::Shadow>,
}

/// A checkpoint, and the `own` member of its log line.
#[derive(Debug, Default)]
pub struct Checkpoint {
    pub record: CheckpointCreated,
    pub own: Option<String>,
}

/// The recorded state to compare with when a call has ended.
#[derive(Clone, Debug, Default)]
pub enum Watched {
    #[default]
    Nothing,
    /// The places of the call. `below`: including the contents of directories.
    Places {
        before: BTreeMap<PathBuf, PathState>,
        below: bool,
    },
    /// The state of the work tree.
    Tree(Arc<Survey>),
}

impl Checkpoint {
    pub fn of_files(files: Vec<Kept>, own: Option<String>) -> Self {
        let record = CheckpointCreated {
            files,
            ..CheckpointCreated::default()
        };
        Self { record, own }
    }
}

impl Keeper {
    pub fn new(session: Pid, dir: &Path, workspace: Arc<Workspace>, spawn: Arc<dyn Spawn>) -> Self {
        Self {
            session,
            blobs: BlobStore::new(dir),
            dir: dir.to_owned(),
            workspace,
            spawn,
            shadow: Mutex::default(),
        }
    }

    /// The session's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Records the work tree before a command; saves it before the first command of a turn. Blocks. `path`: where to
    /// find `git`.
    pub fn before_command(&self, path: &str, tree_kept: bool) -> (Watched, Option<Checkpoint>) {
        let skipped = |why: String| {
            let record = CheckpointCreated {
                skipped: Some(why),
                ..CheckpointCreated::default()
            };
            (!tree_kept).then_some(Checkpoint { record, own: None })
        };
        let Some(repository) = self.workspace.repository() else {
            let why = "Changes by commands cannot be undone: this is not a git work tree.";
            return (Watched::Nothing, skipped(why.to_owned()));
        };
        let tree = match self.workspace.survey(TREE_MAX, None) {
            Ok(tree) => Arc::new(tree),
            Err(error) => {
                let why = format!("Changes by commands cannot be undone: {error}.");
                return (Watched::Nothing, skipped(why));
            }
        };
        let watched = Watched::Tree(Arc::clone(&tree));
        if tree_kept {
            return (watched, None);
        }
        match self.take(&repository, &tree, path) {
            Ok((id, own)) => {
                let blind = tree.blind.as_ref().map(|why| {
                    format!("Changes by commands to files that git both tracks and ignores cannot be undone: {why}.")
                });
                let record = CheckpointCreated {
                    tree: Some(id),
                    skipped: blind,
                    ..CheckpointCreated::default()
                };
                let own = Some(own.to_json());
                (watched, Some(Checkpoint { record, own }))
            }
            Err(why) => {
                let why = format!("Changes by commands cannot be undone: {why}.");
                (watched, skipped(why))
            }
        }
    }

    /// The changes since then. Blocks.
    pub fn changed(&self, watched: &Watched) -> Vec<Changed> {
        match watched {
            Watched::Nothing => Vec::new(),
            Watched::Places { before, below } => self.changed_places(before, *below),
            Watched::Tree(before) => self.changed_tree(before),
        }
    }

    fn changed_tree(&self, before: &Survey) -> Vec<Changed> {
        let root = self.workspace.root();
        let unknown = |why: String| Changed {
            path: root.to_string_lossy().into_owned(),
            now: FileState::Unknown { why },
        };
        let after = match self.workspace.survey(TREE_MAX, Some(before)) {
            Ok(after) => after,
            Err(error) => return vec![unknown(format!("its changes are unknown: {error}"))],
        };
        let paths = before.differences(&after);
        let (mut changed, mut hashed) = (Vec::new(), 0_u64);
        for relative in paths.iter().take(CHANGED_MAX) {
            let path = root.join(relative);
            if let Some(workspace::SurveyEntry::Leaf(leaf)) = after.places.get(relative) {
                hashed = hashed.saturating_add(leaf.bytes);
            }
            let now = if hashed > HASHED_MAX {
                let why = "too many changes at once".to_owned();
                FileState::Unknown { why }
            } else {
                self.workspace.snapshot(&path, false).there.into()
            };
            let path = path.to_string_lossy().into_owned();
            changed.push(Changed { path, now });
        }
        let left = paths.len().saturating_sub(CHANGED_MAX);
        if left > 0 {
            changed.push(unknown(format!("it changed {left} more files")));
        }
        let unkept = before.unkept_differences(&after);
        let (crowded, nameless): (Vec<_>, Vec<_>) =
            unkept.into_iter().partition(|path| path.to_str().is_some());
        let ignored = self.workspace.newly_ignored(before, &after);
        for (paths, what) in [
            (
                crowded,
                "changes to tracked files among very many ignored ones",
            ),
            (nameless, "changes to files whose names are not text"),
            (ignored, "changes to files that git ignores"),
        ] {
            if !paths.is_empty() {
                let first = first_of(&paths);
                changed.push(unknown(format!("no checkpoint for {what} ({first})")));
            }
        }
        changed
    }
}

/// The first of these places for display; bytes that are not text are escaped.
fn first_of(paths: &[PathBuf]) -> String {
    let named = paths.iter().take(NAMED_MAX);
    let mut named: Vec<String> = named
        .map(|path| format!("{:?}", path.as_os_str()))
        .collect();
    let more = paths.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    named.join(", ")
}
