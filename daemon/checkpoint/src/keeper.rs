//! Keeps what files were before a session changes them.
//!
//! By tools: what stands at each place, with its content. By commands: the whole work tree, in a repository of the
//! session's own. Both are durable before the call starts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use contract::Spawn;
use proto::Pid;
use proto::record::{Changed, CheckpointCreated, FileState, Kept};
use store::blob::BlobStore;
use workspace::{PathState, Survey, Workspace};

use crate::shadow;

/// Files of a work tree that are looked at: with more, what commands change is not followed.
pub(crate) const TREE_MAX: usize = 20_000;
/// Changed places of one call that are told.
pub(crate) const CHANGED_MAX: usize = 20_000;
/// Places of one call that are named where no checkpoint holds them.
const NAMED_MAX: usize = 3;
/// Bytes of changed files that are read after a command to say what they are.
const HASHED_MAX: u64 = 256 * 1024 * 1024;

/// Keeps what the files of one session were. Its directory and its repository are below the session's.
pub struct Keeper {
    pub(crate) session: Pid,
    pub(crate) blobs: BlobStore,
    pub(crate) dir: PathBuf,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) spawn: Arc<dyn Spawn>,
    /// What the repository holds; locked while git runs.
    pub(crate) shadow: Mutex<shadow::Shadow>,
}

/// A checkpoint, and what stands beside it in its line.
#[derive(Debug, Default)]
pub struct Checkpoint {
    pub record: CheckpointCreated,
    pub own: Option<String>,
}

/// What is compared when a call has ended.
#[derive(Clone, Debug, Default)]
pub enum Watched {
    #[default]
    Nothing,
    /// What was at the places of the call. `below`: also what was in those that are directories.
    Places {
        before: BTreeMap<PathBuf, PathState>,
        below: bool,
    },
    /// What stood in the work tree.
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

    /// What a command may change: looked at before each, kept before the first of a turn. Blocks. `path`: where `git` is
    /// looked for.
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

    /// What has changed since. Blocks.
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

/// The first of these places for a person to read, with what is no text in them written so that it can be read.
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
